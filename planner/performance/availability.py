"""Share of the GPU-hours that work: failures, repair, and the spare servers of each kind."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.design.cluster import Cluster
from planner.ledger import Ledger, Line
from planner.performance.assumed import Assumed
from planner.performance.reliability import availability_with_spares, down_fraction
from planner.scenario.givens import assume, wish_line
from planner.scenario.parts import GroupParts
from planner.units import SECONDS_PER_HOUR


def failure_rates(assumed: Assumed) -> dict[str, Line]:
    """Failures an hour of a GPU, of a node beside its GPUs, of its software, and of a link."""
    names = {
        "gpu": ("gpu_failures_per_gpu_hour", "Failures of a GPU"),
        "node": ("node_failures_per_node_hour", "Hardware failures of a node, without its GPUs"),
        "software": ("software_failures_per_node_hour", "Software and host interruptions of a node"),
        "link": ("link_failures_per_link_hour", "Failures of a link"),
    }
    return {
        name: assume(assumed.ledger, assumed.catalog, "performance", key, label, "1/h")
        for name, (key, label) in names.items()
    }


def enter_availability(ledger: Ledger, cluster: Cluster) -> None:
    """Mean share of GPU-hours that work, spare servers standing in for those under repair."""
    assumed, parts = Assumed(ledger, cluster.parts.catalog), cluster.parts
    rates = failure_rates(assumed)
    repair = assume(ledger, parts.catalog, "performance", "node_repair_hours", "Repair of a node", "h")
    per_node = parts.gpus / cluster.nodes
    hourly = assumed.use(rates["gpu"]) * per_node + assumed.use(rates["node"])
    down = down_fraction(
        failures_per_s=hourly / SECONDS_PER_HOUR, repair_s=assumed.use(repair) * SECONDS_PER_HOUR
    )
    planned = wish_line(
        ledger, parts.loaded, "performance.spare_fraction", "Spare servers availability is computed with",
        "fraction", parts.spare_fraction, "cluster", "spare_fraction",
    )  # fmt: skip
    available = [_available(cluster, kind, assumed.use(planned), down) for kind in parts.kinds]
    ledger.compute(
        "performance.availability_fraction", "Share of GPU-hours available", "fraction",
        available[0] if len(available) == 1 else sum(available) / parts.gpus, function=availability_with_spares,
        inputs=[*assumed.lines, ledger["cluster.gpus"]],
        note="nodes under repair, less those that spares replace"
        + ("" if len(available) == 1 else "; a spare server stands in for its own kind, mean over all GPUs"),
    )  # fmt: skip


def _available(cluster: Cluster, kind: GroupParts, planned: Floats, down: Floats) -> Floats:
    """Share of the GPU-hours of a kind of server that work, of several kinds times its GPUs.

    Whole servers are kept, each of as many nodes as it has trays.
    """
    parts, servers = cluster.parts, cluster.parts.servers_of(kind)
    gpus = servers * kind.server.item.gpus
    nodes = np.array([gpus * cluster.nodes / parts.gpus])
    spare = np.ceil(np.round(planned * servers, 6)) * (nodes / servers)
    found = availability_with_spares(wanted_nodes=nodes, spare_nodes=spare, down_fraction=down)
    return found.available_fraction if len(parts.kinds) == 1 else found.available_fraction * gpus
