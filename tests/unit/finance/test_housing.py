"""What a rented hall and a building of one's own cost."""

from __future__ import annotations

from math import ceil

import pytest

from tests.unit.power.plans import found, value


def test_rent_follows_whole_blocks_not_the_average() -> None:
    plain = found("h200-1024-ndr")
    blocks = found("h200-1024-ndr", "site.colocation_block_kw=500")
    peak = value(plain, "power.it_peak_w") / 1e3
    assert value(plain, "power.reserved_it_kw") == pytest.approx(peak)
    assert value(blocks, "power.reserved_it_kw") == 500 * ceil(peak / 500)
    rents = [one.ledger.value("cash.opex_space_usd")[0, 5] for one in (plain, blocks)]
    assert rents[1] / rents[0] == pytest.approx(500 * ceil(peak / 500) / peak)


def test_liquid_space_costs_its_premium_unless_the_rent_is_typed() -> None:
    liquid = found("gb200-nvl72-16")
    month = -liquid.ledger.value("cash.opex_space_usd")[0, 5] / value(liquid, "power.reserved_it_kw")
    market = value(liquid, "site.colocation_usd_per_kw_month")
    premium = value(liquid, "assumption.colocation_liquid_premium_fraction")
    assert month == pytest.approx(market * (1 + premium))
    typed = found("gb200-nvl72-16", "site.colocation_usd_per_kw_month=200")
    assert "assumption.colocation_liquid_premium_fraction" not in typed.ledger


def test_a_building_costs_more_with_more_spares_and_with_liquid() -> None:
    cost = {
        one: value(found("h100-16384-roce", f"site.redundancy={one}"), "capex.facility_usd")
        for one in ("N", "N+1", "2N")
    }
    assert cost["N"] < cost["N+1"] < cost["2N"]
    evaluation = found("gb200-nvl72-16", "site.housing=own")
    plain = value(evaluation, "site.construction_usd_per_w") * value(evaluation, "power.it_peak_w")
    premium = value(evaluation, "assumption.construction_ai_premium_fraction")
    assert value(evaluation, "capex.facility_usd") == pytest.approx(plain * (1 + premium))
    assert "capex.cooling_usd" not in evaluation.ledger


def test_the_parts_of_the_purchase_make_the_purchase() -> None:
    built = found("gb200-nvl72-16").built
    assert built is not None
    ledger = found("gb200-nvl72-16").ledger
    whole = sum(ledger.scalar(line.key) for line in built.capex.classes)
    assert whole == pytest.approx(ledger.scalar("capex.total_usd"))
    assert whole == pytest.approx(
        ledger.scalar(built.capex.compute.key) + ledger.scalar(built.capex.network.key)
    )
