"""Electrical load of the IT equipment, part by part and by state. Nameplate is not load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.design.inventory import Consumer, State
from planner.ledger import Ledger, Line
from planner.ledger.nodes import added


@dataclass(frozen=True, slots=True)
class Load:
    """Ledger lines of one consumer's draw by state."""

    consumer: Consumer
    watts: dict[State, Line]


_TOTALS = {
    State.IDLE: ("power.it_idle_w", "IT power, idle"),
    State.TYPICAL: ("power.it_w", "IT power under load"),
    State.PEAK: ("power.it_peak_w", "IT power, peak"),
}


def it_load(ledger: Ledger, consumers: Sequence[Consumer]) -> tuple[Load, ...]:
    """Enter every part's draw and the totals: count x watts, summed."""
    loads = tuple(
        Load(
            one,
            {
                state: ledger.derive(
                    f"power.{one.slug}.{state}_w", f"{one.label}, {state}", "W", one.count * watts
                )
                for state, watts in one.watts.items()
            },
        )
        for one in consumers
    )
    for state, (key, label) in _TOTALS.items():
        ledger.derive(key, label, "W", added(load.watts[state] for load in loads))
    return loads
