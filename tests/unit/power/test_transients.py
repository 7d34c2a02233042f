"""Short peaks and the feeds of racks."""

from __future__ import annotations

import numpy as np
import pytest

from planner.power.transients import feeds_needed
from tests.unit.power.parts import planned, value

OVER = "overrides: {assumption.power_transient_server_ratio: {value: 2, unit: '1', reason: measured here}}"


def test_feeds_carry_the_derated_peak_and_the_swing_within_their_overload() -> None:
    def needed(peak: float, short: float) -> float:
        found = feeds_needed(
            peak_w=np.array([peak]), short_w=np.array([short]), rating_w=np.array([40e3]),
            derating=np.array([0.8]), overload_ratio=np.array([1.25]),
        )  # fmt: skip
        return float(found[0])

    assert needed(32e3, 32e3) == 1 and needed(33e3, 33e3) == 2
    assert needed(32e3, 50e3) == 1 and needed(32e3, 51e3) == 2


def test_a_rack_draws_as_many_servers_as_it_holds_and_swings_above_its_steady_draw() -> None:
    plan = planned()
    held, typical = value(plan, "power.rack.hgx-h200.servers"), value(plan, "watts.hgx-h200.typical_w")
    assert value(plan, "power.rack.hgx-h200.peak_w") == pytest.approx(
        held * value(plan, "watts.hgx-h200.peak_w")
    )
    assert value(plan, "power.rack.hgx-h200.transient_w") == pytest.approx(1.15 * held * typical)


def test_a_rack_without_redundancy_has_half_the_feeds() -> None:
    double, single = planned(site="redundancy: 2N"), planned(site="redundancy: N")
    assert value(double, "power.rack.hgx-h200.feeds") == 2 * value(single, "power.rack.hgx-h200.feeds")


def test_a_swing_above_a_stated_rack_limit_is_refused_with_remedies() -> None:
    plan = planned(site="rack_limit_kw: 11", end=OVER)
    assert plan.refusal is not None
    problem = plan.refusal.problems[0]
    assert "swings to" in problem.message and problem.key == "site.rack_limit_kw"
    edits = {remedy.path: remedy.value for remedy in problem.remedies}
    enough = edits[("site", "rack_limit_kw")]
    assert planned(site=f"rack_limit_kw: {enough}", end=OVER).refusal is None


def test_a_rack_that_no_feed_carries_is_refused_with_remedies() -> None:
    end = (
        "overrides: {assumption.circuit_derating_fraction: {value: 0.01, unit: fraction, reason: local code}}"
    )
    plan = planned(end=end)
    assert plan.refusal is not None
    assert "its feeds carry" in plan.refusal.problems[0].message
    assert any(remedy.path == ("site", "rack_limit_kw") for remedy in plan.refusal.problems[0].remedies)


def test_the_ups_is_sized_for_the_swing_where_it_passes_its_overload() -> None:
    own = "housing: own"
    calm, wild = planned(site=own), planned(site=own, end=OVER.replace("value: 2", "value: 3"))
    assert value(wild, "power.it_transient_w") > 1.5 * value(calm, "power.it_transient_w")
    assert (
        value(wild, "power.ups.units_needed") * value(wild, "power.ups.unit_kw")
        > value(calm, "power.ups.units_needed") * value(calm, "power.ups.unit_kw")
    )  # fmt: skip
