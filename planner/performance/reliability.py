"""Failures of a job, checkpoints against them, and the share of time that is left as progress."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats

NEWTON_STEPS = 8


def interruptions_per_s(
    *,
    gpus: Floats,
    nodes: Floats,
    links: Floats,
    gpu_failures_per_s: Floats,
    node_failures_per_s: Floats,
    link_failures_per_s: Floats,
    job_failures_per_s: Floats,
) -> Floats:
    """Unplanned interruptions of a job, where any failure stops it.

    Args:
        gpus, nodes, links: Parts of the job.
        gpu_failures_per_s, node_failures_per_s, link_failures_per_s: Rate of one part; the node's without its GPUs.
        job_failures_per_s: Rate that doesn't grow with the job (its own software).

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        Rates add where failures are independent. Llama-3 (arxiv-2407.21783): 419 in 54 days on 16,384 GPUs.

    >>> none = np.array([0.0])
    >>> rate = interruptions_per_s(gpus=np.array([16384.0]), nodes=none, links=none,
    ...     gpu_failures_per_s=np.array([1.97328e-5 / 3600.0]), node_failures_per_s=none,
    ...     link_failures_per_s=none, job_failures_per_s=none)
    >>> (rate * 86400.0 * 54.0).round(1)
    array([419.])
    """
    parts = gpus * gpu_failures_per_s + nodes * node_failures_per_s + links * link_failures_per_s
    return np.asarray(parts + job_failures_per_s)


def mean_time_between_s(*, interruptions_per_s: Floats) -> Floats:
    """Mean time between interruptions, infinite where there are none.

    >>> mean_time_between_s(interruptions_per_s=np.array([0.5, 0.0]))
    array([ 2., inf])
    """
    safe = np.where(interruptions_per_s > 0.0, interruptions_per_s, 1.0)
    return np.where(interruptions_per_s > 0.0, 1.0 / safe, np.inf)


def checkpoint_write_s(
    *, checkpoint_bytes: Floats, storage_bytes_per_s: Floats, writers: Floats, writer_bytes_per_s: Floats
) -> Floats:
    """Time to write a checkpoint, bound by the storage or by those who write.

    Args:
        checkpoint_bytes: Whole checkpoint.
        storage_bytes_per_s: Write rate of the storage.
        writers: Nodes (or ranks) that write.
        writer_bytes_per_s: Rate of one of them.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> checkpoint_write_s(checkpoint_bytes=np.array([4e12]), storage_bytes_per_s=np.array([2e12]),
    ...     writers=np.array([100.0]), writer_bytes_per_s=np.array([1e10]))
    array([4.])
    """
    return np.asarray(checkpoint_bytes / np.minimum(storage_bytes_per_s, writers * writer_bytes_per_s))


def young_interval_s(*, stall_s: Floats, mean_time_between_s: Floats) -> Floats:
    """First-order best time between checkpoints: sqrt(2 x stall x MTBF).

    Source:
        young-1974.

    >>> young_interval_s(stall_s=np.array([50.0]), mean_time_between_s=np.array([10000.0]))
    array([1000.])
    """
    return np.asarray(np.sqrt(2.0 * stall_s * mean_time_between_s))


def daly_interval_s(*, stall_s: Floats, mean_time_between_s: Floats) -> Floats:
    """Daly's higher-order best time of work between checkpoints; the MTBF where a stall exceeds twice that.

    Source:
        daly-2006.

    >>> daly_interval_s(stall_s=np.array([50.0]), mean_time_between_s=np.array([10000.0])).round(2)
    array([966.94])
    """
    half = stall_s / (2.0 * mean_time_between_s)
    series = np.sqrt(2.0 * stall_s * mean_time_between_s) * (1.0 + np.sqrt(half) / 3.0 + half / 9.0) - stall_s
    return np.where(half < 1.0, series, mean_time_between_s)


def best_interval_s(*, stall_s: Floats, mean_time_between_s: Floats, least_s: Floats) -> Floats:
    """Work between checkpoints that wastes least under exponential failures, not below a floor.

    Solves exp(-(t + stall) / M) = 1 - t / M by Newton's method from Daly's value.

    Args:
        stall_s: Time that a checkpoint stops the job, above 0.
        mean_time_between_s: MTBF of the job.
        least_s: Floor: one step, or the write time of an asynchronous checkpoint.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        daly-2006 (exact condition of the optimum).

    >>> best_interval_s(stall_s=np.array([50.0]), mean_time_between_s=np.array([10000.0]),
    ...     least_s=np.array([1.0])).round(2)
    array([966.95])
    """
    mtbf = np.asarray(mean_time_between_s + 0.0 * stall_s)
    share = np.minimum(daly_interval_s(stall_s=stall_s, mean_time_between_s=mtbf) / mtbf, 1.0 - 1e-9)
    decay = np.exp(-stall_s / mtbf)
    for _ in range(NEWTON_STEPS):
        curve = decay * np.exp(-share)
        step = (curve - 1.0 + share) / np.maximum(1.0 - curve, 1e-300)
        share = np.clip(share - step, 1e-12, 1.0)
    return np.maximum(share * mtbf, least_s)


@dataclass(frozen=True, slots=True)
class Goodput:
    """Shares of a job's wall time, shape (n,); they add up to 1."""

    useful_fraction: Floats
    checkpoint_fraction: Floats
    lost_work_fraction: Floats
    restart_fraction: Floats


def goodput(
    *,
    interval_s: Floats,
    stall_s: Floats,
    commit_lag_s: Floats,
    restart_s: Floats,
    mean_time_between_s: Floats,
) -> Goodput:
    """Where the wall time of a job goes under exponential failures, restarts that may fail included.

    A segment of work and its checkpoint take M exp(R/M) (exp((t + stall) / M) - 1) in the mean.

    Args:
        interval_s: Work between checkpoints.
        stall_s: Time that a checkpoint stops the job.
        commit_lag_s: Further time until an asynchronous checkpoint counts: work that a failure also loses.
        restart_s: From a failure to work again: notice, replace, start, load.
        mean_time_between_s: MTBF of the job, finite.

    Returns:
        Shares of the shape that the arguments broadcast to.

    Source:
        daly-2006 (complete expected time).

    >>> shares = goodput(interval_s=np.array([1000.0]), stall_s=np.array([10.0]), commit_lag_s=np.array([0.0]),
    ...     restart_s=np.array([600.0]), mean_time_between_s=np.array([11135.0]))
    >>> shares.useful_fraction.round(4), shares.lost_work_fraction.round(4)
    (array([0.8963]), array([0.0423]))
    """
    mtbf = mean_time_between_s
    failures = np.expm1((interval_s + stall_s) / mtbf)
    again = np.expm1((restart_s + commit_lag_s) / mtbf)
    worked = mtbf * failures
    restarts = worked * again
    total = worked + restarts
    restart_share = restart_s / np.maximum(restart_s + commit_lag_s, 1e-300)
    return Goodput(
        useful_fraction=interval_s / total,
        checkpoint_fraction=stall_s / total,
        lost_work_fraction=(worked - interval_s - stall_s + restarts * (1.0 - restart_share)) / total,
        restart_fraction=restarts * restart_share / total,
    )


def down_fraction(*, failures_per_s: Floats, repair_s: Floats) -> Floats:
    """Share of time that a part is out of service.

    >>> down_fraction(failures_per_s=np.array([1e-6]), repair_s=np.array([250000.0]))
    array([0.2])
    """
    return np.asarray(failures_per_s * repair_s / (1.0 + failures_per_s * repair_s))


def _standard_normal_above(z: Floats) -> Floats:
    """Chance that a standard normal exceeds z (Abramowitz-Stegun 26.2.17, within 1e-7)."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(z))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    above = np.asarray(np.exp(-z * z / 2.0) / np.sqrt(2.0 * np.pi) * series)
    return np.where(z >= 0.0, above, 1.0 - above)


@dataclass(frozen=True, slots=True)
class Spares:
    """What spare nodes leave, shape (n,).

    Attributes:
        available_fraction: Mean share of the wanted nodes that run.
        full_fraction: Share of time in which all wanted nodes run.
        mean_down: Nodes out of service in the mean.
    """

    available_fraction: Floats
    full_fraction: Floats
    mean_down: Floats


def availability_with_spares(*, wanted_nodes: Floats, spare_nodes: Floats, down_fraction: Floats) -> Spares:
    """Nodes in service where spares stand in for those under repair.

    The number down is taken as normal with a binomial's mean and variance. The error is below 0.01 in the share of
    time with all nodes once 10 nodes are down in the mean, and larger below that.

    Args:
        wanted_nodes: Nodes of the job.
        spare_nodes: Further nodes.
        down_fraction: Share of time that a node is out of service, see `down_fraction`.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> spares = availability_with_spares(wanted_nodes=np.array([1000.0]), spare_nodes=np.array([0.0]),
    ...     down_fraction=np.array([0.02]))
    >>> spares.available_fraction.round(3), spares.mean_down
    (array([0.98]), array([20.]))
    """
    total = wanted_nodes + spare_nodes
    mean = total * down_fraction
    deviation = np.sqrt(np.maximum(mean * (1.0 - down_fraction), 1e-300))
    distance = (spare_nodes - mean) / deviation
    density = np.exp(-distance * distance / 2.0) / np.sqrt(2.0 * np.pi)
    short = deviation * (density - distance * _standard_normal_above(distance))
    short = np.where(mean > 0.0, np.maximum(short, 0.0), 0.0)
    full = 1.0 - _standard_normal_above((spare_nodes + 0.5 - mean) / deviation)
    return Spares(1.0 - short / wanted_nodes, np.where(mean > 0.0, full, 1.0), mean + 0.0 * short)
