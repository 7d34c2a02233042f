"""Which way heat leaves, where that is impossible, and what the loops draw."""

from __future__ import annotations

import pytest

from tests.unit.power.plans import found, tried, value


def test_a_typed_temperature_replaces_the_places() -> None:
    cold, warm = (found("h200-1024-ndr", f"site.mean_temperature_c={one}") for one in (0, 25))
    assert value(cold, "site.mean_temperature_c") == 0
    assert value(cold, "power.pue") < value(found("h200-1024-ndr"), "power.pue") < value(warm, "power.pue")


def test_dry_coolers_are_refused_where_the_water_gets_too_warm() -> None:
    evaluation = tried(
        "h200-1024-ndr", "site.location=singapore", "site.cooling=rear-door", "site.heat_rejection=dry-cooler"
    )
    assert evaluation.refusal is not None
    problem = evaluation.refusal.problems[0]
    assert "Singapore" in problem.message and "19 C or less" in problem.message
    assert len(problem.offered) >= 3
    for remedy in problem.offered:
        if remedy.edits == ((("site", "heat_rejection"), "auto"),):
            cured = found(
                "h200-1024-ndr",
                "site.location=singapore",
                "site.cooling=rear-door",
                "site.heat_rejection=auto",
            )
            assert value(cured, "power.cooling.air.compressor_hours") > 8000
            break
    else:
        pytest.fail("no remedy that the scenario can take")


def test_warm_water_needs_no_compressor_in_a_cold_place() -> None:
    evaluation = found("b300-2048-cpo", "site.heat_rejection=dry-cooler", "site.location=iceland")
    assert value(evaluation, "power.cooling.liquid.compressor_hours") == 0
    assert value(evaluation, "power.water_l_per_year") == 0
