"""PUE in the hottest hours of each month: what a demand meter sees over the seasons."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.ledger import Axis, Ledger, Line
from planner.ledger.nodes import Expr, added, lookup
from planner.power.cooling import Hall, hall_of, loop_hours
from planner.power.pue import overhead_with
from planner.scenario.parts import Parts


def hottest_over_year(month_hours: Floats) -> Floats:
    """Each month's largest value over the year's largest; 1 where nothing is ever drawn.

    Args:
        month_hours: Shape (n, 12, hours), power for a watt of heat.

    Returns:
        Shape (n, 12), 1 in the month that has the year's largest.

    >>> hottest_over_year(np.array([[[0.1, 0.2], [0.2, 0.4]]]))
    array([[0.5, 1. ]])
    >>> hottest_over_year(np.zeros((1, 2, 3)))
    array([[1., 1.]])
    """
    largest = month_hours.max(axis=2)
    whole = largest.max(axis=1, keepdims=True)
    return np.asarray(np.where(whole > 0.0, largest / np.where(whole > 0.0, whole, 1.0), 1.0))


def hottest_pue_in(ledger: Ledger, parts: Parts, calendar_month: Line) -> Expr:
    """PUE in the hottest hours of a month of the calendar; in the hottest month it is ``power.hottest_pue``.

    Only the plant outdoors follows the season: losses, fans in the hall and pumps are the year's.

    Args:
        ledger: With the PUE and what the loops draw (`planner.power.pue.enter_pue`).
        parts: The hall's.
        calendar_month: 1 for January, over the plan's months.
    """
    one = hall_of(parts)
    outdoors = added(
        ledger[f"power.cooling.{loop}_heat_fraction"]
        * ledger[f"power.cooling.{loop}.hottest_fraction"]
        * lookup(_season(ledger, one, loop), calendar_month)
        for loop in one.loops
    )
    return 1 + ledger["power.overhead_scale_ratio"] * overhead_with(ledger, one, outdoors)


def _season(ledger: Ledger, one: Hall, loop: str) -> Line:
    """Table of the year: what the plant outdoors draws in each month's hottest hours over the year's."""
    key = f"power.cooling.{loop}.hottest_by_month_ratio"
    if key in ledger:
        return ledger[key]
    found = loop_hours(ledger, one, loop)
    return ledger.compute(
        key, f"Plant outdoors in a month's hottest hours over the year's, January first, for heat in {loop}", "1",
        hottest_over_year(found.compressor_fraction + found.fan_fraction), function=hottest_over_year,
        inputs=[f"power.cooling.{loop}.compressor_fraction"], axis=Axis.TABLE,
        note=f"from the same hours of the year as {one.way_of(loop)} for the year's average",
    )  # fmt: skip
