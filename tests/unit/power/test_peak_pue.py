"""PUE in the hottest hours by month agrees with the year's hottest and with the months' averages."""

from __future__ import annotations

import numpy as np
import pytest

from planner.ledger import Axis, Line
from planner.ledger.lines import Ledger
from planner.power.climate import MONTH_NAMES
from planner.power.peak_pue import hottest_over_year, hottest_pue_in
from planner.sourced import Basis, Source
from tests.unit.power.plans import found

PLANS = [
    ("h200-1024-ndr",),
    ("gb200-nvl72-16",),
    ("gb200-nvl72-16", "site.pue=1.3"),
    ("h200-1024-ndr", "site.cooling=air-hyperscale", "site.heat_rejection=evaporative"),
]


def calendar(ledger: Ledger) -> Line:
    """A year's months over and over, January in month 0."""
    source = Source("test", "planner-defaults", Basis.PUBLISHED)
    months = [float(at % 12 + 1) for at in range(ledger.months)]
    return ledger.given("test.calendar", "Month", "month", months, source, axis=Axis.MONTH)


@pytest.mark.parametrize("plan", PLANS, ids=" ".join)
def test_the_hottest_month_is_the_years_hottest_and_no_month_is_below_its_average(
    plan: tuple[str, ...],
) -> None:
    evaluation = found(*plan)
    ledger = evaluation.ledger
    line = ledger.derive("test.pue", "PUE", "1", hottest_pue_in(ledger, evaluation.parts, calendar(ledger)))
    by_month = ledger.value(line)[0, :12]
    average = [ledger.scalar(f"power.month_pue.{name}") for name in MONTH_NAMES]
    assert by_month.max() == pytest.approx(ledger.scalar("power.hottest_pue"), rel=1e-12)
    assert (by_month >= np.array(average) - 1e-12).all()


def test_the_largest_month_is_one_and_the_others_are_shares_of_it() -> None:
    hours = np.array([[[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]]])
    assert hottest_over_year(hours).tolist() == [[0.4, 1.0, 0.8]]
