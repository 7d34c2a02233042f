"""Whether what is ordered can work on its date: lead times of quotes, installation, burn-in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil
from typing import TYPE_CHECKING

from planner.design.orders import Order, orders_of
from planner.design.quoted import Key, Quoted, needs, quoted_prices
from planner.errors import DesignError, Problem, Remedy
from planner.ledger import Ledger, Line
from planner.ledger.nodes import maximum
from planner.scenario.givens import assume
from planner.scenario.parts import Parts

if TYPE_CHECKING:
    from planner.design.bom import Demand

DAYS_PER_WEEK = 7


@dataclass(frozen=True, slots=True)
class Ready:
    """When an order works at the earliest.

    Attributes:
        days: Ledger line of the days from the order to service.
        last: The quote whose delivery comes last.
    """

    order: Order
    days: Line
    first: date
    last: Quoted

    @property
    def late(self) -> bool:
        """Whether the scenario wants it to work before."""
        return self.order.in_service is not None and self.first > self.order.in_service


def priced_by_quotes(ledger: Ledger, parts: Parts, demands: Sequence[Demand]) -> dict[Key, Quoted]:
    """Prices that the bill takes from the scenario's quotes, whose lead times keep its dates.

    Raises:
        ScenarioError: The files of quotes are wrong.
        DesignError: Quotes that can't be taken, or that come too late.
    """
    quoted = quoted_prices(ledger, parts, demands)
    if quoted:
        orders = orders_of(parts.loaded, parts.as_of)
        bought = needs(ledger, demands, orders, replaced=False)
        refuse_late(parts, ready_dates(ledger, parts, quoted, bought, orders))
    return quoted


def ready_dates(
    ledger: Ledger, parts: Parts, quoted: Mapping[Key, Quoted], bought: Mapping[Key, Sequence[float]],
    orders: Sequence[Order], under: str = "procurement",
) -> tuple[Ready, ...]:  # fmt: skip
    """Enter the lead times that quotes state, and the day on which each order can work.

    Orders of which no quoted part states a lead time are left out.

    Args:
        bought: What each order buys of each part.
        under: Beginning of the keys.
    """
    found = []
    for index, order in enumerate(orders):
        waiting = [
            key for key, one in sorted(quoted.items())
            if one.line.lead_time_weeks is not None and key in bought and bought[key][index] > 0
        ]  # fmt: skip
        if not waiting:
            continue
        weeks = [_weeks(ledger, under, key, quoted[key]) for key in waiting]
        install = assume(
            ledger,
            parts.catalog,
            "procurement",
            "install_weeks",
            "From the last delivery to burn-in",
            "weeks",
        )
        burn_in = assume(ledger, parts.catalog, "network", "burn_in_days", "Burn-in", "days")
        days = ledger.derive(
            f"{under}.phase.{order.id}.ready_days", f"From order to service, {order.id}", "days",
            (maximum(*weeks) + install) * DAYS_PER_WEEK + burn_in,
            note="the longest lead time that its quotes state, then installation, then burn-in",
        )  # fmt: skip
        last = quoted[max(zip(weeks, waiting, strict=True), key=lambda pair: ledger.scalar(pair[0]))[1]]
        first = order.ordered + timedelta(days=ceil(ledger.scalar(days) - 1e-9))
        found.append(Ready(order, days, first, last))
    return tuple(found)


def refuse_late(parts: Parts, ready: Sequence[Ready]) -> None:
    """Refuse phases that their quotes' lead times make late.

    Raises:
        DesignError: Each of them, with the earliest date.
    """
    problems = []
    for one in ready:
        if not one.late or one.order.index is None or one.order.in_service is None:
            continue
        path = ("phases", one.order.index, "in_service")
        early = one.order.ordered - (one.first - one.order.in_service)
        remedies = (
            Remedy(f"in service on {one.first}", path, one.first.isoformat()),
            Remedy(f"order on {early}", ("phases", one.order.index, "order"), early.isoformat()),
            Remedy("a quote with a shorter lead time"),
        )
        problems.append(
            Problem(
                f"is {one.order.in_service}, and {one.last.line.title} delivers '{one.last.line.part}' in "
                f"{one.last.line.lead_time_weeks:g} weeks: the earliest is {one.first}",
                parts.loaded.document.place(path), f"phases.{one.order.index}.in_service", remedies=remedies,
            )
        )  # fmt: skip
    if problems:
        raise DesignError(problems)


def _weeks(ledger: Ledger, under: str, key: Key, quoted: Quoted) -> Line:
    name = f"{under}.part.{key[0]}{'.metres' if quoted.line.unit == 'm' else ''}.lead_weeks"
    if name in ledger:
        return ledger[name]
    line = quoted.line
    assert line.lead_time_weeks is not None
    label = f"Lead time of {line.part}, {line.title}"
    return ledger.given(name, label, "weeks", line.lead_time_weeks, quoted.source)
