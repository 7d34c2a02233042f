"""What is bought: adapters, each in the place it is bought for."""

from __future__ import annotations

from planner.catalog.schema import Server
from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.scenario.load import load_scenario


def test_one_adapter_for_the_fabric_and_for_the_front_end_is_counted_in_both_places() -> None:
    ledger = evaluate(
        load_scenario("h200-1024-ndr", changes=["network.nic=bluefield-3"]), open_catalog()
    ).ledger
    server = open_catalog().get(Server, "hgx-h200")
    assert server.frontend_nics is not None and server.frontend_nics.nic == "bluefield-3"
    for where, each in (("", server.compute_nics.count), (".front-end", server.frontend_nics.count)):
        count = ledger.value(ledger[f"bom.bluefield-3.hgx-h200{where}.designed"])
        assert float(count[0]) == 128 * each
