"""How the parts of a plan are split over its orders: one for each phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import ceil

from planner.scenario.load import Loaded
from planner.scenario.schema import Phase

UPPER_TIERS = ("spine", "core")
"""Tiers that come with the first order."""
ALL = "all"
"""Name of the one order of a scenario without phases."""


@dataclass(frozen=True, slots=True)
class Order:
    """One purchase.

    Attributes:
        index: Place in the scenario's list of phases; None where it has none.
        ordered: First day of the order; of a month its first.
        in_service: Last day on which it has to work; None where the scenario has no phases.
        fraction: Share of the plan's GPUs.
        of_server: Share of each kind of server, by its id, where the plan's groups are of several.
    """

    id: str
    index: int | None
    ordered: date
    in_service: date | None
    fraction: float
    of_server: Mapping[str, float] = field(default_factory=dict)


def first_day(text: str) -> date:
    """First day of a month, or the day.

    >>> first_day("2026-11"), first_day("2026-11-30")
    (datetime.date(2026, 11, 1), datetime.date(2026, 11, 30))
    """
    return date.fromisoformat(text if len(text) == 10 else f"{text}-01")


def last_day(text: str) -> date:
    """Last day of a month, or the day.

    >>> last_day("2026-02"), last_day("2026-11-03")
    (datetime.date(2026, 2, 28), datetime.date(2026, 11, 3))
    """
    if len(text) == 10:
        return date.fromisoformat(text)
    year, month = (int(part) for part in text.split("-"))
    return date.fromordinal(date(year + month // 12, month % 12 + 1, 1).toordinal() - 1)


def orders_of(loaded: Loaded, as_of: str) -> tuple[Order, ...]:
    """Orders in the sequence in which they come into service, as the timeline of the money has them."""
    scenario = loaded.scenario
    if not scenario.phases:
        return (Order(ALL, None, first_day(as_of), None, 1.0),)
    total = sum(group.gpus for group in scenario.cluster.groups)
    found = []
    for phase in sorted(scenario.phases, key=lambda one: (one.in_service, one.order, one.id)):
        gpus = sum(group.gpus for group in scenario.cluster.groups if scenario.phase_of(group) is phase)
        index = scenario.phases.index(phase)
        own = _of_servers(loaded, phase)
        found.append(
            Order(phase.id, index, first_day(phase.order), last_day(phase.in_service), gpus / total, own)
        )
    return tuple(found)


def _of_servers(loaded: Loaded, phase: Phase) -> dict[str, float]:
    """Share of each kind of server that a phase buys; empty where all are of one kind."""
    scenario, whole, own = loaded.scenario, Counter[str](), Counter[str]()
    for group in scenario.cluster.groups:
        whole[group.server] += group.gpus
        own[group.server] += group.gpus if scenario.phase_of(group) is phase else 0
    return {server: own[server] / gpus for server, gpus in whole.items()} if len(whole) > 1 else {}


def split(
    count: float, orders: Sequence[Order], *, where: str = "", whole: bool = True, server: str = ""
) -> tuple[float, ...]:
    """What each order buys of a part; the orders add up to the count.

    Spines and cores come with the first order, everything else with its servers; pieces are bought early
    rather than late.

    Args:
        where: Tier of a switch.
        whole: Whether it comes in pieces.
        server: Kind of server that it is or sits in, which the orders may buy in another ratio than GPUs.

    >>> half = [Order(name, None, date(2027, 1, 1), None, 0.5) for name in ("one", "two")]
    >>> split(5, half), split(4, half, where="spine"), split(5, half, whole=False)
    ((3.0, 2.0), (4.0, 0.0), (2.5, 2.5))
    """
    if where in UPPER_TIERS:
        return (float(count), *(0.0 for _ in orders[1:]))
    bought, share, before = [], 0.0, 0.0
    for order in orders:
        share += order.of_server.get(server, order.fraction)
        after = float(min(count, ceil(count * share - 1e-9) if whole else count * share))
        bought.append(after - before)
        before = after
    return tuple(bought)
