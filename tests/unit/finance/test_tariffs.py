"""Memory of a ratchet, anniversaries of a contract, windows of a tariff."""

from __future__ import annotations

import numpy as np
import pytest

from planner.finance.tariffs import billed_demand_kw, energy_bill, escalated, time_of_use_usd_per_kwh

PEAK = np.array([[1000.0, *[100.0] * 13]])


@pytest.mark.parametrize("months", [0, 1, 11, 12])
def test_a_ratchet_remembers_as_many_months_as_it_says(months: int) -> None:
    billed = billed_demand_kw(peak_kw=PEAK, ratchet_fraction=np.array([0.8]), months_before=months)[0]
    assert billed[0] == 1000.0
    np.testing.assert_array_equal(billed[1 : months + 1], 800.0)
    np.testing.assert_array_equal(billed[months + 1 :], 100.0)


def test_a_ratchet_leaves_the_peaks_as_they_were() -> None:
    before = PEAK.copy()
    billed_demand_kw(peak_kw=PEAK, ratchet_fraction=np.array([0.8]), months_before=11)
    np.testing.assert_array_equal(PEAK, before)


def test_a_price_rises_on_the_anniversary_and_not_in_january() -> None:
    price = escalated(
        price=np.array([100.0, 200.0]), rise_fraction=np.array([0.1, 0.0]), months=15, anniversary=9
    )
    np.testing.assert_allclose(price[0], [*[100.0] * 3, *[110.0] * 12])
    np.testing.assert_allclose(price[1], 200.0)


def test_demand_is_billed_on_the_peak_and_energy_on_the_average() -> None:
    """The same energy in half the time doubles the demand charge and leaves the energy charge."""
    price = np.array([0.06]), np.array([15.0]), np.array([0.0])
    even, bunched = (
        energy_bill(
            energy_kwh=np.array([7300.0]), usd_per_kwh=price[0], demand_kw=np.array([kw]), usd_per_kw=price[1],
            fixed_usd=price[2],
        )
        for kw in (10.0, 20.0)
    )  # fmt: skip
    assert bunched.energy_usd[0] == even.energy_usd[0]
    assert bunched.demand_usd[0] == 2 * even.demand_usd[0]


def test_a_flat_tariff_by_time_is_the_flat_price() -> None:
    found = time_of_use_usd_per_kwh(
        energy_fractions=np.array([[0.2, 0.8], [0.5, 0.5]]), usd_per_kwh=np.array([0.07, 0.07])
    )
    np.testing.assert_allclose(found, 0.07)
