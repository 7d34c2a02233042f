"""What a plan's replicas do at the load that a workload states: their latencies there, and whether they keep up at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.ledger import Ledger, Line
from planner.performance.serve import Served
from planner.performance.serving import OperatingPoint, full_batch
from planner.performance.serving_points import at_rate, slower


@dataclass(frozen=True, slots=True)
class AtLoad:
    """Replicas under a stated peak, shape (n,).

    Attributes:
        replicas: That serve, spare ones out.
        saturated_fraction: Peak over the most that they answer; from 1 on requests wait ever longer.
        point: One of them with its share of the peak; where it is saturated, with its largest batch.
    """

    replicas: int
    saturated_fraction: Floats
    point: OperatingPoint


def replicas_there(gpus: int, replica_gpus: int, server_gpus: int) -> int:
    """Whole replicas on so many accelerators, none of which spans two servers that could hold it.

    >>> replicas_there(24, 4, 8), replicas_there(24, 3, 8), replicas_there(24, 16, 8)
    (6, 6, 1)
    """
    if replica_gpus > server_gpus:
        return gpus // replica_gpus
    return gpus // server_gpus * (server_gpus // replica_gpus)


def at_load(found: Served, peak_per_s: Floats, spare: int, token: Floats, first: Floats) -> AtLoad:
    """How the plan's replicas do at the peak, all regions together, when the spare ones are out.

    Args:
        found: The workload, one kind of replica for prompts and answers.
        peak_per_s: Requests a second in the busiest hour, shape (n,).
        spare: Replicas that are out, of all regions.
        token, first: True over predicted times for each token and to the first one, shape (n,).
    """
    place, layout = found.placed[0], found.layout
    there = replicas_there(place.gpus, int(layout.gpus[0]), place.group.server.item.gpus)
    serving = max(there - spare, 1)
    rate = peak_per_s / serving
    most = found.point.rate_per_s / found.point.load_fraction
    point = at_rate(found.server, requests=found.requests, layout=layout, rate_per_s=rate * token)
    return AtLoad(serving, rate / most, slower(point, token, first))


def at_load_lines(
    ledger: Ledger, found: Served, peak: Line, spare: Line, inputs: Sequence[Line | str]
) -> None:
    """Enter latencies at the stated load and how far it is from what the replicas answer at most.

    Args:
        ledger: Holds the workload's operating point and load.
        found: The workload; separate pools have no lines here.
        peak, spare: Lines of the load.
        inputs: What the operating point and the load rest on.
    """
    if found.pools is not None:
        return
    key, load = found.key, found.workload.load
    assert load is not None
    out = load.spare_replicas * max(len(load.regions), 1)
    there = at_load(
        found, ledger.value(peak), out, ledger.value(f"{key}.model_error_ratio"),
        ledger.value(f"{key}.first_token_error_ratio"),
    )  # fmt: skip
    own = [*inputs, f"{key}.model_error_ratio", f"{key}.first_token_error_ratio", "cluster.gpus"]
    latency = there.point.latency
    over = "; where the load saturates them, with all the sequences that fit, and the wait grows without end"
    for name, label, unit, value, function, note in (
        ("serving_replicas", "Replicas that serve, spare ones out", "1", np.array([float(there.replicas)]),
         replicas_there, "whole ones on the workload's GPUs"),
        ("saturated_fraction", "Peak over the most that these replicas answer", "fraction",
         there.saturated_fraction, full_batch, "whatever the latency; from 1 on requests wait ever longer"),
        ("batch_sequences", "Sequences decoded at once by a replica at the peak", "1", there.point.batch_sequences, at_rate,
         "mean, each replica with its share of the peak" + over),
        ("ttft_p99_s", "Time to first token at the stated load, 99th percentile", "s", latency.first_token_p99_s,
         at_rate, "at the peak, each replica with its share" + over),
        ("tpot_p99_s", "Time for each token at the stated load, 99th percentile", "s", latency.per_token_p99_s, at_rate,
         "at the peak, each replica with its share" + over),
    ):  # fmt: skip
        ledger.compute(f"{key}.load.{name}", label, unit, value, function=function, inputs=own, note=note)
