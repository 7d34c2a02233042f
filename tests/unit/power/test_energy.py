"""Energy by month."""

from __future__ import annotations

import pytest

from planner.power.climate import MONTH_NAMES
from tests.unit.power.plans import found, value

PLANS = [
    ("h200-1024-ndr",),
    ("gb200-nvl72-16",),
    ("gb200-nvl72-16", "site.pue=1.3"),
    ("h200-1024-ndr", "site.cooling=air-hyperscale", "site.heat_rejection=evaporative"),
]


@pytest.mark.parametrize("plan", PLANS, ids=" ".join)
def test_months_add_up_to_the_year(plan: tuple[str, ...]) -> None:
    evaluation = found(*plan)
    months = [value(evaluation, f"power.energy_kwh.{month}") for month in MONTH_NAMES]
    assert sum(months) == pytest.approx(value(evaluation, "power.energy_kwh_per_year"), rel=1e-12)
    pues = [value(evaluation, f"power.month_pue.{month}") for month in MONTH_NAMES]
    assert min(pues) <= value(evaluation, "power.pue") <= max(pues) <= value(evaluation, "power.hottest_pue")
    assert pues[6] >= pues[0]
