"""Watts lost in each stage of the chain come to all electrical losses, whatever the PUE."""

from __future__ import annotations

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.power.chain import STAGES
from planner.scenario.load import load_scenario


@pytest.mark.parametrize("change", ["site.pue=null", "site.pue=1.6", "site.redundancy=2N"])
def test_losses_of_the_stages_are_all_electrical_losses(change: str) -> None:
    ledger = evaluate(load_scenario("h200-1024-ndr", changes=[change]), open_catalog()).ledger
    lost = sum(ledger.scalar(f"power.chain.{stage}_loss_w") for stage in STAGES)
    assert lost == pytest.approx(ledger.scalar("power.distribution_loss_w"), rel=1e-12)
    total = ledger.scalar("power.it_w") + lost + ledger.scalar("power.cooling_w")
    assert total == pytest.approx(ledger.scalar("power.facility_w"), rel=1e-12)
