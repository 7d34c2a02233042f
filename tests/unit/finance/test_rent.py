"""Rent for the same work, and its unit costs."""

from __future__ import annotations

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.ledger import Ledger
from planner.scenario.load import load_scenario


def ledger_of(*changes: str, name: str = "h200-1024-ndr") -> Ledger:
    return evaluate(load_scenario(name, changes=list(changes)), open_catalog()).ledger


def test_on_demand_a_scheduled_hour_costs_its_rent_and_the_run_its_hours() -> None:
    ledger = ledger_of()
    assert ledger.scalar("rent.usd_per_gpu_hour_sold") == pytest.approx(
        ledger.scalar("rent.usd_per_gpu_hour")
    )
    assert ledger.scalar("rent.usd_per_training_run") == pytest.approx(
        ledger.scalar("performance.training.gpu_hours") * ledger.scalar("rent.usd_per_gpu_hour")
    )


def test_a_committed_term_is_paid_for_idle_hours_too() -> None:
    ledger = ledger_of("money.rental=semianalysis-h200-3y")
    over = ledger.scalar("rent.usd_per_gpu_hour_sold") / ledger.scalar("rent.usd_per_gpu_hour")
    assert over == pytest.approx(
        ledger.scalar("unit.pv_gpu_hours_installed") / ledger.scalar("unit.pv_gpu_hours_sold")
    )
    assert over > 1.1
    assert "rent.break_even_utilisation_fraction" not in ledger


def test_owning_costs_as_much_as_rent_at_the_break_even_utilisation() -> None:
    ledger = ledger_of()
    share = ledger.scalar("rent.break_even_utilisation_fraction")
    rent = ledger.scalar("rent.usd_per_gpu_hour") * ledger.scalar("unit.pv_gpu_hours_available") * share
    assert rent == pytest.approx(ledger.scalar("tco.npv_usd"))


def test_rented_tokens_cost_their_share_of_an_hour() -> None:
    ledger = ledger_of(name="h200-serving-fleet")
    rate = ledger.scalar("performance.serving.output_tokens_per_s_per_gpu") * 3600
    useful = ledger.scalar("performance.serving.goodput_fraction")
    assert ledger.scalar("rent.usd_per_mtoken_output") == pytest.approx(
        ledger.scalar("rent.usd_per_gpu_hour") * 1e6 / rate / useful
    )


def test_rent_is_compared_with_the_cost_before_tax() -> None:
    ledger = ledger_of("money.tax={rate_fraction: 0.25}")
    saved = ledger.scalar("rent.npv_usd") - ledger.scalar("tco.before_tax_npv_usd")
    assert ledger.scalar("rent.saved_by_owning_usd") == pytest.approx(saved)
