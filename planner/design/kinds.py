"""Servers of several kinds in one plan: whether one fabric joins them, and whether their workloads may span them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from planner.design.fabric_checks import WITHOUT_SWITCHES
from planner.errors import DesignError, Problem, Remedy
from planner.scenario.parts import GroupParts, Parts
from planner.scenario.schema import Workload, WorkloadKind


@dataclass(frozen=True, slots=True)
class NodeFront:
    """What the fabric sees of a node: a server, or a tray of a rack-scale system.

    Attributes:
        gpus, adapters: Of a node.
        domain_gpus: GPUs of the scale-up domain it belongs to.
        port_gbit_per_s, ports: Of one adapter.
        cage: Form of an adapter's cage; modules and cables fit one.
        lane_gbit_per_s: Of an adapter's lanes.
        protocols: That an adapter speaks, where no switch says which one is spoken.
    """

    gpus: int
    adapters: int
    domain_gpus: int
    port_gbit_per_s: float
    ports: int
    cage: str
    lane_gbit_per_s: float
    protocols: tuple[str, ...]


WORDS = {
    "gpus": "GPUs in a node", "adapters": "network adapters in a node", "domain_gpus": "GPUs in a scale-up domain",
    "port_gbit_per_s": "Gbit/s at a port of an adapter", "ports": "ports at an adapter",
    "cage": "as an adapter's cage", "lane_gbit_per_s": "Gbit/s in a lane of an adapter",
    "protocols": "as an adapter's protocol",
}  # fmt: skip
"""Fields of `NodeFront` as they follow their value in a sentence."""
OF_ADAPTER = ("port_gbit_per_s", "ports", "cage", "lane_gbit_per_s", "protocols")
"""Of these, the ones that another adapter changes."""


def node_shape(group: GroupParts) -> tuple[int, int]:
    """GPUs and adapters of one fabric node of a group."""
    server = group.server.item
    trays = server.trays if server.is_rack and server.trays else 1
    return server.gpus // trays, server.compute_nics.count // trays


def node_front(parts: Parts, group: GroupParts) -> NodeFront:
    """What the fabric sees of a group's nodes."""
    gpus, adapters = node_shape(group)
    nic = group.nic.item
    bare = parts.loaded.scenario.network.topology in WITHOUT_SWITCHES
    return NodeFront(
        gpus, adapters, group.server.item.scaleup_domain_gpus, nic.port_rate_gbit_per_s.value, nic.ports, nic.cage,
        nic.lane_rate_gbit_per_s, tuple(nic.fabrics) if bare else (),
    )  # fmt: skip


def joinable(parts: Parts) -> GroupParts:
    """The group whose nodes stand for all: one fabric joins nodes that are alike to it.

    Raises:
        DesignError: They aren't; says what differs.
    """
    found = unlike_nodes(parts)
    if found:
        raise DesignError(found)
    return parts.groups[0]


def unlike_nodes(parts: Parts) -> list[Problem]:
    """Kinds of servers that one fabric can't join, each against the first with all that differs."""
    first = parts.groups[0]
    own = node_front(parts, first)
    found = []
    for group in parts.kinds[1:]:
        other = node_front(parts, group)
        names = [one.name for one in fields(NodeFront) if getattr(own, one.name) != getattr(other, one.name)]
        if names:
            said = ", ".join(
                f"{_value(getattr(own, name))} and {_value(getattr(other, name))} {WORDS[name]}"
                for name in names
            )
            found.append(
                Problem(
                    f"groups '{first.wish.id}' and '{group.wish.id}' can't share a fabric: "
                    f"'{first.server.item.id}' and '{group.server.item.id}' have {said}",
                    parts.loaded.document.place(("cluster", "groups", parts.groups.index(group), "server")),
                    "cluster.groups",
                    remedies=(*_adapters(parts, first, group, names), Remedy("plan them as two scenarios")),
                )
            )
    return found


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return " or ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _adapters(parts: Parts, first: GroupParts, group: GroupParts, names: Sequence[str]) -> list[Remedy]:
    """One adapter for all servers, where nothing but adapters differs and the leaf speaks its protocol."""
    if not set(names) <= set(OF_ADAPTER):
        return []
    spoken = parts.tiers[0].switch.item.fabric if parts.tiers else None
    return [
        Remedy(f"network.nic: {one.id} in all servers", ("network", "nic"), one.id)
        for one in (first.nic.item, group.nic.item)
        if spoken is None or spoken in one.fabrics
    ]


def spanning_workloads(parts: Parts) -> list[Problem]:
    """Workloads that would run over accelerators of several kinds as if they were one.

    A workload has its share of the time on all servers. Separate pools alone put two kinds to different work.
    """
    if len(parts.machines) < 2:
        return []
    return [
        _spanning(parts, index, workload)
        for index, workload in enumerate(parts.loaded.scenario.workloads)
        if workload.kind is WorkloadKind.TRAINING or workload.disaggregated is None
    ]


def _spanning(parts: Parts, index: int, workload: Workload) -> Problem:
    kinds = " and ".join(f"'{one.wish.id}' ({one.server.item.id})" for one in parts.machines)
    serving = workload.kind is WorkloadKind.SERVING
    does = "serves prompts and answers on the same GPUs" if serving else "trains over all GPUs"
    apart = (
        [Remedy("disaggregated: auto, prefill on one kind and decode on the other",
                ("workloads", index, "disaggregated"), "auto")]
        if serving
        else []
    )  # fmt: skip
    field = "disaggregated" if serving else "kind"
    return Problem(
        f"'{workload.id}' {does}, and groups {kinds} are not of one kind",
        parts.loaded.document.place(("workloads", index, "kind")),
        f"workloads.{index}.{field}",
        remedies=(
            *apart,
            *(_all_of(parts, one) for one in parts.machines),
            Remedy("plan them as two scenarios"),
        ),
    )


def _all_of(parts: Parts, kind: GroupParts) -> Remedy:
    """Every group of one kind of server, with as many whole servers as its GPUs fill."""
    size, edits = kind.server.item.gpus, list[tuple[tuple[str | int, ...], Any]]()
    for index, group in enumerate(parts.groups):
        if group.machine == kind.machine:
            continue
        edits.append((("cluster", "groups", index, "server"), kind.server.item.id))
        if group.wish.gpus % size:
            edits.append((("cluster", "groups", index, "gpus"), -(-group.wish.gpus // size) * size))
    path, value = edits[0]
    return Remedy(f"groups of '{kind.server.item.id}' alone", path, value, tuple(edits[1:]))
