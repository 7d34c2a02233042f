"""What the cost of serving rests on: the share of time in prompts, the throughput without limits, the load's needs."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.design.cluster import Cluster
from planner.ledger import Ledger, Line
from planner.performance.assumed import rows
from planner.performance.fleet import day_requests_per_s, replicas_needed, running_replicas, whole_servers
from planner.performance.inference import Layout
from planner.performance.serve import Served
from planner.performance.serving import OperatingPoint, Requests, Server, largest_batch, operating_point
from planner.performance.serving_at_load import at_load_lines
from planner.performance.serving_machines import layouts_of, one_draw
from planner.performance.serving_points import row_at, serving_points
from planner.scenario.givens import assume, wish_line
from planner.scenario.schema import Workload


def saturated_point(server: Server, *, requests: Requests, layouts: Layout) -> OperatingPoint:
    """The highest throughput per GPU whatever the latency: a replica that is never without waiting requests.

    Args:
        server, requests: What serves and what is asked; with draws, the first one's layout and batch stand for all.
        layouts: Replicas to try.

    Returns:
        Shape (n,).
    """
    points = serving_points(rows(server, 1), requests=rows(requests, 1), layouts=layouts)
    rates = np.where(points.fits, points.point.output_tokens_per_s_per_gpu, 0.0)
    row, column = np.unravel_index(int(rates.argmax()), rates.shape)
    return operating_point(
        server, requests=requests, layout=row_at(points.layouts, (int(row), 0)),
        batch_sequences=points.point.batch_sequences[[int(row)], [int(column)]],
    )  # fmt: skip


def serving_lines(ledger: Ledger, cluster: Cluster, found: Served, index: int) -> None:
    """Enter what the cost of a serving workload rests on, and what its load needs.

    Args:
        ledger: Holds the workload's operating point; takes lines beneath its key.
        cluster: What is built.
        found: The workload.
        index: Its place in the scenario.
    """
    key = found.key
    inputs = ledger.inputs_of(f"{key}.output_tokens_per_s_per_gpu")
    ledger.compute(
        f"{key}.prefill_share_fraction", "Share of GPU time in prompts", "fraction",
        np.clip(found.point.rate_per_s * found.point.prefill_s, 0.0, 1.0), function=operating_point, inputs=inputs,
        note="requests a second x the marginal time of one prompt in a step",
    )  # fmt: skip
    ledger.compute(
        f"{key}.output_tokens_per_s_per_gpu_saturated", "Output tokens of a GPU at saturation", "tokens/s",
        _saturated_per_gpu(cluster, found, ledger.value(f"{key}.model_error_ratio")), function=saturated_point,
        inputs=inputs,
        note="the most of any replica and batch, whatever the latency: requests always wait"
        + ("" if len(found.placed) == 1 else "; mean over all kinds of machines, each by itself"),
    )  # fmt: skip
    if found.workload.load is not None:
        _load_lines(ledger, cluster, found, index)


def _saturated_per_gpu(cluster: Cluster, found: Served, ratio: Floats) -> Floats:
    """Output tokens a second of a GPU, mean over every kind of machine by itself; 0 of one that holds no weights."""
    each = []
    for one in found.placed:
        layouts = layouts_of(cluster, one.group)
        first, asked = one_draw(one.server), rows(found.requests, 1)
        holds = largest_batch(first, requests=asked, layout=layouts).max() >= 1.0
        most = saturated_point(one.server, requests=found.requests, layouts=layouts) if holds else None
        each.append(np.zeros(1) if most is None else most.output_tokens_per_s_per_gpu / ratio)
    gpus = sum(one.gpus for one in found.placed)
    if len(each) == 1:
        return each[0]
    return np.asarray(sum(value * (one.gpus / gpus) for value, one in zip(each, found.placed, strict=True)))


def startup_line(ledger: Ledger, cluster: Cluster, workload: Workload, index: int, key: str) -> Line:
    """Time from asking for a replica until it serves: the workload's, else the catalog's time to load a model."""
    assert workload.load is not None
    if workload.load.startup_s is None:
        return assume(
            ledger, cluster.parts.catalog, "network", "model_load_target_s",
            "Time in which all nodes load a model", "s",
        )  # fmt: skip
    return wish_line(
        ledger, cluster.parts.loaded, f"{key}.load.startup_s", "Start-up of a replica", "s",
        workload.load.startup_s, "workloads", index, "load", "startup_s",
    )  # fmt: skip


def _load_lines(ledger: Ledger, cluster: Cluster, found: Served, index: int) -> None:
    """Replicas that the load needs at the workload's operating point, against those that are there."""
    key, load, loaded = found.key, found.workload.load, cluster.parts.loaded
    assert load is not None
    peak = wish_line(
        ledger, loaded, f"{key}.load.requests_per_s", "Requests in the busiest hour", "requests/s",
        load.requests_per_s, "workloads", index, "load", "requests_per_s",
    )  # fmt: skip
    spare = wish_line(
        ledger, loaded, f"{key}.load.spare_replicas", "Spare replicas of a region", "1", load.spare_replicas,
        "workloads", index, "load", "spare_replicas",
    )  # fmt: skip
    startup = startup_line(ledger, cluster, found.workload, index, key)
    days = load_days(found.workload, ledger.value(peak))
    rate = np.reshape(found.point.rate_per_s, (-1, 1))
    ranks = found.layout.gpus
    needed = sum(
        replicas_needed(requests_per_s=day, replica_requests_per_s=rate).max(axis=-1) for day in days
    )
    server_gpus = np.array([float(cluster.parts.groups[0].server.item.gpus)])
    servers = sum(
        whole_servers(
            replicas=replicas_needed(requests_per_s=day, replica_requests_per_s=rate).max(axis=-1)
            + ledger.value(spare),
            replica_gpus=ranks, server_gpus=server_gpus,
        )
        for day in days
    )  # fmt: skip
    ahead = ledger.scalar(startup)
    running = sum(
        running_replicas(
            needed=replicas_needed(requests_per_s=day, replica_requests_per_s=rate), startup_s=ahead
        ).mean(axis=-1)
        + ledger.value(spare)
        for day in days
    )
    inputs: list[Line | str] = [
        f"{key}.output_tokens_per_s_per_gpu", f"{key}.replica_gpus", peak, spare, startup,
    ]  # fmt: skip
    counted = "at each region's peak, rounded up there"
    if found.pools is not None:
        counted += "; in the GPUs of a decode replica, both pools in the plan's ratio"
    for name, label, value, function, note in (
        ("replicas", "Replicas for the load", needed, replicas_needed, counted),
        ("gpus", "GPUs for the load, spare ones included", servers * server_gpus, whole_servers,
         "whole servers in each region"),
        ("mean_gpus", "GPUs over the day with autoscaling", running * ranks, running_replicas,
         "each replica asked for its start-up time ahead; the curve is known"),
        ("mean_requests_per_s", "Requests a second over the day", sum(day.mean(axis=-1) for day in days),
         day_requests_per_s, "mean of all regions"),
    ):  # fmt: skip
        unit = "requests/s" if name == "mean_requests_per_s" else "1"
        ledger.compute(f"{key}.load.{name}", label, unit, value, function=function, inputs=inputs, note=note)
    at_load_lines(ledger, found, peak, spare, inputs)
    ledger.derive(
        f"{key}.load.covered_fraction", "GPUs of the plan over those for the load", "fraction",
        ledger["cluster.gpus"] * ledger[f"workload.{found.workload.id}.scheduled_fraction"]
        / ledger[f"{key}.load.gpus"],
        note="below 1 the plan can't carry the load with its spare replicas",
    )  # fmt: skip


def load_days(workload: Workload, peak_requests_per_s: Floats) -> list[Floats]:
    """Each region's load over a day in UTC.

    Args:
        workload: With a load.
        peak_requests_per_s: Sum of the regions' peaks, shape (n,).

    Returns:
        One array of shape (n, 288) for each region.
    """
    load = workload.load
    assert load is not None
    curve = np.ones(24) if load.hourly_fraction is None else np.array(load.hourly_fraction)
    regions = [(one.share_fraction, one.utc_offset_hours) for one in load.regions] or [(1.0, 0.0)]
    return [
        day_requests_per_s(
            peak_requests_per_s=peak_requests_per_s * share, hourly_fraction=curve,
            utc_offset_hours=np.full(np.shape(peak_requests_per_s), offset),
        )
        for share, offset in regions
    ]  # fmt: skip
