"""What a sized fleet costs, and what the network does to it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from planner.choices import Precision, WeightFormat
from planner.performance.serving_points import Objective
from planner.study.api_prices import api_offers
from planner.study.sizing import load_of, size_fleets
from planner.study.sizing_machines import candidates_of, edited, servers_of
from planner.study.sizing_network import domain_effects, hand_over, spanning_effects
from planner.study.sizing_price import Priced, fleet_edits, priced
from tests.serving_fleet import candidate, fleet, shelf

TIGHT = Objective(2.0, 0.05)
LOAD = load_of(
    peak_requests_per_s=300.0,
    hourly_fraction=[0.5] * 12 + [1.0] * 12,
    regions=[],
    spare_replicas=1,
    startup_s=300.0,
)


@cache
def best(server: str = "hgx-h200") -> Priced:
    found = size_fleets([candidate(server)], LOAD, TIGHT).fleets[0]
    return priced(fleet(), shelf(), 0, found, LOAD)


def value(name: str) -> float:
    found = best().value(name)
    assert found is not None
    return found


def test_input_and_output_tokens_add_up_to_the_fleets_bill() -> None:
    hour_s, mega = 3600.0, 1e6
    requests = LOAD.mean_requests_per_s * hour_s
    bill = (
        requests * (2048 * value("usd_per_mtoken_input") + 512 * value("usd_per_mtoken_output_decode")) / mega
    )
    assert bill == pytest.approx(value("usd_per_hour"), rel=1e-12)
    assert requests * 512 * value("usd_per_mtoken_output") / mega == pytest.approx(
        value("usd_per_hour"), rel=1e-12
    )


def test_costs_stand_in_their_order() -> None:
    assert value("usd_per_mtoken_output_saturated") < value("usd_per_mtoken_output_full")
    # sold in its scheduled hours alone, full replicas can cost more than a load that stays all day
    evaluation = best().evaluation
    assert evaluation is not None
    used = evaluation.ledger.scalar("money.utilisation_fraction")
    assert value("usd_per_mtoken_output_full") * used < value("usd_per_mtoken_output")
    assert value("usd_per_mtoken_output_autoscaled") < value("usd_per_mtoken_output_rented")


def test_the_plan_is_evaluated_with_the_fleet() -> None:
    one = best()
    assert one.evaluation is not None
    assert one.evaluation.parts.gpus == one.fleet.gpus
    assert one.value("gpus") == one.fleet.gpus
    hour = one.evaluation.ledger.scalar("unit.usd_per_gpu_hour")
    assert value("usd_per_hour") == pytest.approx(hour * one.fleet.gpus, rel=1e-12)


def test_the_rent_is_the_cheapest_offer_on_demand_and_has_a_date() -> None:
    one = best()
    assert one.rental is not None and one.rental.term_months == 0 and one.rental.as_of
    assert one.evaluation is not None
    source = one.evaluation.ledger["sizing.rent_usd_per_gpu_hour"].source
    assert source is not None and source.source and source.as_of


def test_the_fleet_costs_as_much_as_the_api_at_the_load_it_names() -> None:
    even, price = value("api_even_requests_per_s"), value("usd_per_mtoken_output_api")
    assert even * 512 * 3600 * price / 1e6 == pytest.approx(value("usd_per_hour"), rel=1e-12)


def test_mean_power_lies_between_idle_and_serving() -> None:
    one = best()
    assert one.evaluation is not None
    idle, load = (
        one.evaluation.ledger.scalar(f"power.facility_{state}w") for state in ("idle_", "inference_")
    )
    assert idle < value("power_w") < load
    assert value("tokens_per_j") == pytest.approx(value("output_tokens_per_s") / value("power_w"))


def test_another_server_brings_its_cooling_and_drops_the_rental_of_the_old_one() -> None:
    one = size_fleets([candidate("gb200-nvl72")], LOAD, TIGHT).fleets[0]
    edits = dict(fleet_edits(fleet(), shelf(), 0, one))
    assert edits["cluster", "groups", 0, "server"] == "gb200-nvl72"
    assert edits["money", "rental"] is None and edits["site", "cooling"] != "air"
    scenario = edited(fleet(), list(edits.items())).scenario
    assert scenario.cluster.groups[0].gpus == one.gpus


def test_a_fleet_that_the_plan_cannot_have_says_why() -> None:
    one = size_fleets([candidate()], LOAD, TIGHT).fleets[0]
    found = priced(fleet("site.cooling=rear-door", "site.rack_limit_kw=5"), shelf(), 0, one, LOAD)
    assert found.evaluation is None and found.why_not
    assert found.value("usd_per_hour") is None


def test_a_larger_domain_never_raises_the_tail_or_the_price() -> None:
    found = domain_effects(candidate(), TIGHT, usd_per_gpu_hour=2.0)
    assert [one.replica_gpus for one in found] == [1, 2, 4, 8]
    tails = [one.least_per_token_p99_s for one in found]
    prices = [one.usd_per_mtoken_output for one in found]
    assert tails == sorted(tails, reverse=True) and tails[-1] < tails[0]
    assert prices == sorted(prices, reverse=True)


def test_replicas_across_nics_are_slower_than_in_a_domain_and_gain_from_a_faster_nic() -> None:
    evaluation = best().evaluation
    assert evaluation is not None
    inside = domain_effects(candidate(), TIGHT, usd_per_gpu_hour=2.0)[-1]
    across = spanning_effects(candidate(), TIGHT, evaluation, usd_per_gpu_hour=2.0)
    assert [one.nic_gbit_per_s for one in across] == [200.0, 400.0, 800.0]
    assert all(one.least_per_token_p99_s > inside.least_per_token_p99_s for one in across)
    rates = [one.output_tokens_per_s_per_gpu for one in across]
    assert rates == sorted(rates) and rates[0] < rates[-1] < inside.output_tokens_per_s_per_gpu


def test_moving_a_cache_takes_its_bytes_over_the_rate() -> None:
    evaluation = best().evaluation
    assert evaluation is not None
    layout = best().fleet.capacity.layout
    moved = hand_over(candidate(), layout, evaluation)
    assert moved is not None
    # 80 layers x 8 heads x 128 x keys and values, one byte each in fp8, 2,048 tokens
    assert moved.cache_bytes == 80 * 8 * 128 * 2 * 2048
    ideal = moved.cache_bytes * 8 / (moved.nic_gbit_per_s * 1e9) / layout.attention_ranks[0]
    assert ideal <= moved.seconds < 2 * ideal


def test_prices_of_an_api_are_the_cheapest_first_and_none_of_a_later_date() -> None:
    found = api_offers(shelf(), "llama-3.1-70b", input_tokens=2048, output_tokens=512, as_of="2026-11-30")
    assert len(found) >= 2
    assert [one.usd_per_mtoken for one in found] == sorted(one.usd_per_mtoken for one in found)
    for one in found:
        item = one.entry.item
        expected = item.usd_per_mtoken_output.value + 4 * item.usd_per_mtoken_input.value
        assert one.usd_per_mtoken == pytest.approx(expected)
    assert not api_offers(shelf(), "llama-3.1-70b", input_tokens=1, output_tokens=1, as_of="2025-11-30")
    assert not api_offers(shelf(), "bloom-176b", input_tokens=1, output_tokens=1, as_of="2026-11-30")


def test_all_servers_are_those_that_can_be_bought_the_plans_own_first() -> None:
    parts = best().evaluation.parts  # type: ignore[union-attr]
    found = servers_of(["all"], parts)
    assert found[0] == "hgx-h200" and len(found) > 10 and len(set(found)) == len(found)
    assert servers_of([], parts) == ["hgx-h200"]


def test_a_precision_that_a_gpu_lacks_is_no_candidate() -> None:
    found, refused = candidates_of(fleet(), shelf(), 0, servers=["hgx-h200"], precisions=[Precision.FP4])
    assert not found and "no fp4 arithmetic" in refused[0][2]


def test_weights_of_four_bits_are_tried_beside_16_bit_products_and_priced_as_they_were_sized() -> None:
    found, refused = candidates_of(fleet(), shelf(), 0, servers=["hgx-h200"], precisions=[Precision.BF16])
    assert not refused and [one.format_name for one in found] == ["bf16", "w4a16"]
    wide, narrow = size_fleets(found, LOAD, TIGHT).fleets[::-1]
    assert narrow.candidate.weights is WeightFormat.INT4 and narrow.gpus < wide.gpus
    edits = fleet_edits(fleet(), shelf(), 0, narrow)
    assert (("workloads", 0, "weights"), "int4") in edits
    one = priced(fleet(), shelf(), 0, narrow, LOAD)
    assert one.evaluation is not None
    rate = one.evaluation.ledger.scalar("performance.serving.output_tokens_per_s_per_gpu")
    assert rate == pytest.approx(float(narrow.capacity.point.output_tokens_per_s_per_gpu[0]), rel=0.02)


def test_a_stated_format_is_taken_back_where_another_one_is_sized() -> None:
    stated = fleet("workloads.chat.precision=bf16", "workloads.chat.weights=int4")
    found, _ = candidates_of(stated, shelf(), 0, servers=["hgx-h200"], precisions=[])
    assert {one.format_name for one in found} == {"w4a16", "fp8"}
    eight = next(one for one in found if one.format_name == "fp8")
    edits = fleet_edits(stated, shelf(), 0, size_fleets([eight], LOAD, TIGHT).fleets[0])
    assert (("workloads", 0, "weights"), None) in edits
    assert edited(stated, edits).scenario.workloads[0].weights is None


def test_formats_that_a_precision_does_not_take_are_said() -> None:
    found, refused = candidates_of(
        fleet(), shelf(), 0, servers=["hgx-h200"], precisions=[Precision.FP8], weights=[WeightFormat.INT4]
    )
    assert not found and "none of the weights" in refused[0][2]


def test_a_server_alone_serves_as_it_does_in_the_plan() -> None:
    from planner.catalog.schema import Server
    from planner.evaluate import evaluate
    from planner.study.sizing_machines import alone, served_of

    server = shelf().get(Server, "hgx-h200")
    one = evaluate(edited(fleet(), alone(fleet(), shelf(), 0, server, Precision.FP8)), shelf())
    apart, own = served_of(one, fleet().scenario.workloads[0]).server, candidate().server
    assert np.array_equal(apart.chip.memory_bytes_per_s, own.chip.memory_bytes_per_s)
    assert np.array_equal(apart.constants.memory_use_fraction, own.constants.memory_use_fraction)
