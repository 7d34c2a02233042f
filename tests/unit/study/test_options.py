"""Own, lease or rent: the same hours, cash that adds up, break-evens that hold when they are put in."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.errors import InputError
from planner.finance.options import difference_rate_fraction
from planner.scenario.load import load_scenario
from planner.study.options import Comparison, Way, own_or_rent


@cache
def compared(*changes: str, name: str = "h200-1024-ndr", reference: str | None = None) -> Comparison:
    return own_or_rent(load_scenario(name, changes=list(changes)), open_catalog(), reference=reference)


def test_the_reference_is_the_plan_as_it_stands_and_comes_first() -> None:
    found = compared()
    assert found.options[0] is found.reference
    assert found.reference.id == "owned-colocation"
    assert found.reference.value("npv_usd") == pytest.approx(found.ledger.scalar("tco.npv_usd"))
    assert found.reference.value("saved_npv_usd") == 0.0
    rest = [one.value("npv_usd") for one in found.options[1:]]
    assert rest == sorted(rest)


def test_every_way_of_holding_gpus_is_there() -> None:
    assert {one.way for one in compared().options} == set(Way)


def test_the_other_housing_is_a_plan_of_its_own() -> None:
    here, there = compared(), compared("site.housing=own")
    assert {one.id for one in here.options if one.way is Way.OWNED} == {"owned-colocation", "owned-own"}
    assert there.reference.id == "owned-own"
    own = next(one for one in here.options if one.id == "owned-own")
    assert own.value("npv_usd") == pytest.approx(there.reference.value("npv_usd"))


def test_fields_of_one_housing_do_not_stop_the_other() -> None:
    found = compared("site.colocation_usd_per_kw_month=150.0", "site.colocation_block_kw=100.0")
    assert not [why for what, why in found.left_out if what == "the other housing"]


def test_a_building_that_is_paid_first_keeps_the_other_housing_on_its_own_dates() -> None:
    dates = "money.construction={order: 2026-06, in_service: 2026-11}"
    found = compared("site.housing=own", dates)
    hired = next(one for one in found.options if one.id == "owned-colocation")
    alone = compared().reference.cash
    first = found.reference.cash.shape[0] - alone.shape[0]
    assert first == 5
    assert hired.cash[:first].tolist() == [0.0] * first
    assert hired.cash[first:] == pytest.approx(alone)


def test_every_option_is_divided_by_the_same_scheduled_hours() -> None:
    found = compared()
    hours = found.ledger.scalar("unit.pv_gpu_hours_sold")
    for one in found.options:
        assert one.value("usd_per_gpu_hour") * hours == pytest.approx(one.value("npv_usd"))


def test_rent_on_demand_pays_scheduled_hours_and_a_term_all_of_them() -> None:
    found = compared()
    for way, hours in ((Way.ON_DEMAND, "timing.gpu_hours_sold"), (Way.COMMITTED, "timing.gpu_hours")):
        for one in (one for one in found.options if one.way is way):
            assert one.offer is not None
            assert -one.cash == pytest.approx(found.ledger.value(hours)[0] * one.offer.usd_per_gpu_hour)


def test_at_the_break_even_utilisation_the_two_plans_cost_the_same() -> None:
    found = compared()
    for one in found.options:
        pair = None if one is found.reference else found.pair(one, found.reference)
        if one.way is not Way.ON_DEMAND or pair is None or pair.utilisation_fraction is None:
            continue
        there = compared(f"money.utilisation_fraction={pair.utilisation_fraction!r}")
        other = next(each for each in there.options if each.id == one.id)
        assert other.value("npv_usd") == pytest.approx(there.reference.value("npv_usd"), rel=2e-3)


def test_the_break_even_month_is_where_cash_so_far_crosses_for_good() -> None:
    found = compared()
    pairs = [pair for pair in found.pairs if pair.month not in (None, 0)]
    assert pairs
    for pair in pairs:
        assert pair.month is not None
        gap = np.cumsum(pair.option.cash - pair.other.cash)
        assert gap[pair.month - 1] < 0 <= gap[pair.month :].min()


def test_differences_return_the_rate_of_the_two_cash_series() -> None:
    found = compared()
    one = next(one for one in found.options if one.id == "crusoe-h200")
    rate = difference_rate_fraction(flows=one.cash[None], reference_flows=found.reference.cash[None])
    assert one.value("difference_rate_fraction") == pytest.approx(rate[0])
    assert rate[0] > 0.3


def test_another_reference_changes_the_differences_and_nothing_else() -> None:
    plain, other = compared(), compared(reference="crusoe-h200")
    assert other.reference.id == "crusoe-h200"
    for one in other.options:
        same = next(each for each in plain.options if each.id == one.id)
        assert one.value("npv_usd") == pytest.approx(same.value("npv_usd"))
        assert one.value("saved_npv_usd") == pytest.approx(
            other.reference.value("npv_usd") - one.value("npv_usd")
        )


def test_an_unknown_reference_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match="crusoe-h200"):
        own_or_rent(load_scenario("h200-1024-ndr"), open_catalog(), reference="cruso-h200")


LEASE = "money.lease={{payment_fraction_per_month: 0.025, term_months: {months}, timing: {timing}{more}}}"


def leased(*, months: int = 48, timing: str = "arrears", more: str = "") -> tuple[Comparison, np.ndarray]:
    found = compared("money.horizon_months=48", LEASE.format(months=months, timing=timing, more=more))
    one = next(one for one in found.options if one.way is Way.LEASED)
    return found, one.cash


def test_a_lease_replaces_the_servers_price_by_its_payments() -> None:
    found, cash = leased()
    price = found.ledger.scalar("capex.servers_usd")
    saved = cash - found.reference.cash
    assert saved[0] == pytest.approx(price)
    assert saved[1:-1] == pytest.approx(-0.025 * price)
    resale = found.ledger.value("options.leased.resale_usd")[0]
    assert saved[-1] == pytest.approx(-0.025 * price - resale[-1])


def test_payments_in_advance_come_a_month_earlier_and_cost_more() -> None:
    (found, late), (other, early) = leased(), leased(timing="advance")
    price = found.ledger.scalar("capex.servers_usd")
    assert early[0] - late[0] == pytest.approx(-0.025 * price)
    assert (early - late).sum() == pytest.approx(0.0, abs=1.0)
    values = [
        next(one for one in each.options if one.way is Way.LEASED).value("npv_usd") for each in (found, other)
    ]
    assert values[1] > values[0]


def test_a_buyout_is_used_where_the_servers_are_worth_more() -> None:
    found, plain = leased()
    _, cheap = leased(more=", buyout_fraction: 0.05")
    _, dear = leased(more=", buyout_fraction: 0.9")
    price, resale = (
        found.ledger.scalar("capex.servers_usd"),
        found.ledger.value("options.leased.resale_usd")[0][-1],
    )
    assert resale > 0.05 * price
    assert cheap[-1] - plain[-1] == pytest.approx(resale - 0.05 * price)
    assert dear == pytest.approx(plain)


def test_servers_bought_out_before_the_end_are_kept_and_sold() -> None:
    found, cash = leased(months=24, more=", buyout_fraction: 0.3")
    price = found.ledger.scalar("capex.servers_usd")
    gap = cash - found.reference.cash
    assert gap[23] == pytest.approx(-0.025 * price)
    assert gap[24] == pytest.approx(-(0.025 + 0.3) * price)
    assert gap[25:] == pytest.approx(0.0, abs=1e-6)


def test_without_a_lease_the_rent_is_a_lessors_sum_and_says_so() -> None:
    one = next(one for one in compared().options if one.way is Way.LEASED)
    assert "no lease is offered" in one.notes[0]
    assert one.ledger["options.leased.lessor_rate_fraction"].source is not None


def test_effective_cost_spreads_what_is_paid_at_once_and_adds_up_to_what_is_billed() -> None:
    found = compared()
    for one in found.options:
        effective = found.ledger.value(f"options.{one.id}.effective_usd")[0]
        assert effective.sum() == pytest.approx(-one.cash.sum())
        assert np.ptp(effective[1:]) == pytest.approx(0.0, abs=1.0)


def test_the_newest_offer_of_a_provider_and_term_stands_for_it_and_later_ones_are_left_out() -> None:
    found = compared("as_of=2026-01-31")
    offers = [one.offer for one in found.options if one.offer is not None]
    assert len({(offer.provider, offer.term_months) for offer in offers}) == len(offers)
    assert ("packet-h200", "of 2026-06, after the plan's date") in found.left_out
    h100 = own_or_rent(
        load_scenario("h200-1024-ndr", changes=["cluster.groups.0.server=hgx-h100", "money.rental=null"]),
        open_catalog(),
    )
    why = dict(h100.left_out)
    assert why["aws-h100-2025-03"] == "older than aws-h100-2026"
    assert why["idx-sd-h100"] == "a price index"


def test_an_accelerator_that_nobody_rents_out_is_owned_or_leased_and_says_so() -> None:
    found = compared("cluster.groups.0.server=gaudi3-8way", "money.rental=null", name="h100-8-lab")
    assert {one.way for one in found.options} == {Way.OWNED, Way.LEASED}
    assert ("renting", "the catalog has no offer of gaudi3") in found.left_out
