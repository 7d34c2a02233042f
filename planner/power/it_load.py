"""Electrical load of the IT equipment, part by part and by state, measured at its inlets.

Losses of the supplies inside servers are in it. Nameplate is not load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.design.cluster import Cluster
from planner.design.inventory import Consumer, State
from planner.ledger import Ledger, Line
from planner.ledger.nodes import added
from planner.power.server_lines import KINDS, server_lines


@dataclass(frozen=True, slots=True)
class Load:
    """Ledger lines of one consumer's draw by state: of all of them, and of each."""

    consumer: Consumer
    watts: dict[State, Line]
    each: dict[State, Line]


_TOTALS = {
    State.IDLE: ("power.it_idle_w", "IT power, idle"),
    State.TYPICAL: ("power.it_w", "IT power under load"),
    State.PEAK: ("power.it_peak_w", "IT power, peak"),
}


def it_load(ledger: Ledger, cluster: Cluster, consumers: Sequence[Consumer]) -> tuple[Load, ...]:
    """Enter every part's draw and the totals: count x watts, summed.

    Args:
        ledger: Holds the predicted performance, from which servers' draws follow.
        cluster: What is built.
        consumers: Parts that draw power; servers come without their draw.
    """
    groups = {group.server.item.id: group for group in cluster.parts.groups}
    loads = tuple(
        _load(ledger, one, one.watts or server_lines(ledger, cluster, groups[one.slug])) for one in consumers
    )
    for state, (key, label) in _TOTALS.items():
        ledger.derive(key, label, "W", added(load.watts[state] for load in loads))
    _by_kind(ledger, cluster, loads)
    return loads


def _load(ledger: Ledger, one: Consumer, watts: dict[State, Line]) -> Load:
    lines = {
        state: ledger.derive(f"power.{one.slug}.{state}_w", f"{one.label}, {state}", "W", one.count * each)
        for state, each in watts.items()
    }
    return Load(one, lines, watts)


def _by_kind(ledger: Ledger, cluster: Cluster, loads: Sequence[Load]) -> None:
    """IT power while all of it trains or serves, and the sum of nameplates."""
    servers = [load for load in loads if not load.consumer.watts]
    others = added(load.watts[State.TYPICAL] for load in loads if load.consumer.watts)
    for kind in dict.fromkeys(one.kind for one in cluster.parts.loaded.scenario.workloads):
        name = KINDS[kind]
        ledger.derive(
            f"power.it_{name}_w", f"IT power while {'training' if name == 'training' else 'serving'}", "W",
            added(load.consumer.count * ledger[f"watts.{load.consumer.slug}.{name}_w"] for load in servers)
            + others,
        )  # fmt: skip
    ledger.derive(
        "power.it_nameplate_w", "Nameplates of servers, peaks of the rest", "W",
        added(
            load.consumer.count * ledger[f"watts.{load.consumer.slug}.max_w"]
            if not load.consumer.watts
            else load.watts[State.PEAK]
            for load in loads
        ),
        note="what the sum of the plates says; no draw comes near it",
    )  # fmt: skip
