"""The optics decision: variants of one plan, what differs between them and what must not."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.schema import Switch, Transceiver
from planner.catalog.store import Catalog, open_catalog
from planner.errors import DesignError
from planner.evaluate import evaluate
from planner.ledger import Axis
from planner.scenario.load import load_scenario
from planner.sourced import Basis
from planner.study.optics import Comparison, Variant, compare_optics
from planner.study.optics_variants import Approach, changed

XDR = "b300-2048-cpo"
BEFORE_Q3450 = ("as_of=2026-01-15", "network.leaf.switch=q3400", "network.spine.switch=q3400")


@pytest.fixture(scope="module")
def shelf() -> Catalog:
    return open_catalog()


@pytest.fixture(scope="module")
def xdr(shelf: Catalog) -> Comparison:
    return compare_optics(load_scenario(XDR), shelf)


@pytest.fixture(scope="module")
def roadmap(shelf: Catalog) -> Comparison:
    return compare_optics(load_scenario(XDR, changes=BEFORE_Q3450), shelf)


@pytest.fixture(scope="module")
def ethernet(shelf: Catalog) -> Comparison:
    return compare_optics(load_scenario("h100-16384-roce"), shelf)


def of(comparison: Comparison, approach: Approach) -> Variant:
    return next(one for one in comparison.variants if one.approach is approach)


def test_each_variant_is_the_scenario_with_fields_of_its_network_edited(ethernet: Comparison) -> None:
    planned = ethernet.loaded.scenario
    for one in ethernet.built:
        assert all(key.startswith("network.") for key in one.plan.changes)
        assert one.plan.loaded is not None
        scenario = one.plan.loaded.scenario
        assert scenario.model_copy(update={"network": planned.network}) == planned


def test_a_variant_evaluated_by_hand_from_its_changes_costs_the_same(
    ethernet: Comparison, shelf: Catalog
) -> None:
    linear = of(ethernet, Approach.LINEAR)
    edits = [f"{key}={str(value).lower()}" for key, value in linear.plan.changes.items()]
    alone = evaluate(load_scenario("h100-16384-roce", changes=edits), shelf)
    assert alone.ledger.scalar("tco.npv_usd") == pytest.approx(linear.value("tco.npv_usd"), rel=1e-12)


def test_linear_modules_stand_at_every_switch_and_nowhere_else(ethernet: Comparison) -> None:
    for one in ethernet.built:
        bought = {row.demand.entry.item.id for row in one.built.bom}
        assert ("osfp-800g-lpo-2xdr4" in bought) == (one.approach is Approach.LINEAR)


def test_pluggable_optics_hold_no_copper_and_copper_first_does(ethernet: Comparison) -> None:
    copper, pluggable = of(ethernet, Approach.COPPER), of(ethernet, Approach.PLUGGABLE)
    fabric = {"node-leaf", "leaf-spine", "spine-core"}
    rows = [row for row in pluggable.built.cluster.cabling.rows if row.tier in fabric]
    assert rows and not any(row.kind.is_copper for row in rows)
    assert any(row.kind.is_copper for row in copper.built.cluster.cabling.rows if row.tier in fabric)
    assert copper.value("optics.failures_per_year") < pluggable.value("optics.failures_per_year")


@pytest.mark.parametrize("which", ["xdr", "ethernet", "roadmap"])
def test_optics_get_no_credit_for_latency_or_time(which: str, request: pytest.FixtureRequest) -> None:
    """Latency, steps and outcomes are those of the topology, whatever carries the bits."""
    comparison: Comparison = request.getfixturevalue(which)
    first, *others = comparison.built
    words = ("latency", "_s", "goodput", "efficiency", "outcome.waiting_fraction", "outcome.gpu_utilisation")
    timed = [
        line.key
        for line in first.ledger
        if line.axis is Axis.SCALAR
        and line.key.startswith(("network.", "performance.", "outcome."))
        and any(word in line.key for word in words)
    ]
    assert "network.hop_latency_us" in timed
    for other in others:
        for key in timed:
            assert other.value(key) == pytest.approx(first.value(key), rel=1e-12), f"{other.approach} {key}"


def test_a_scenario_of_packaged_switches_gets_its_pluggable_sibling_by_name(xdr: Comparison) -> None:
    pluggable = of(xdr, Approach.PLUGGABLE)
    assert pluggable.plan.changes["network.leaf.switch"] == "q3400"
    assert any("q3400 in place of q3450 (leaf, spine)" in note for note in pluggable.plan.notes)
    for tier in ("leaf", "spine"):
        key = f"design.fabric.{tier}_switches"
        assert pluggable.value(key) == of(xdr, Approach.PACKAGED).value(key)


def test_a_variant_without_a_sibling_says_why(shelf: Catalog) -> None:
    found = compare_optics(load_scenario("h200-1024-ndr"), shelf)
    for approach in (Approach.LINEAR, Approach.PACKAGED):
        one = of(found, approach)
        assert one.evaluation is None
        assert "64 ports of 400 Gbit/s" in one.why_not and "qm9700" in one.why_not


def test_the_far_end_of_a_packaged_port_is_single_mode_at_its_lane_rate(xdr: Comparison) -> None:
    modules = {
        row.demand.entry.item.id
        for row in of(xdr, Approach.PACKAGED).built.bom
        if row.demand.asset_class == "optics" and row.demand.entry.item.lane_rate_gbit_per_s == 200
    }
    assert modules == {"osfp-800g-dr4"}


def test_wavelength_ports_are_not_joined_to_parallel_fibre(ethernet: Comparison) -> None:
    one = of(ethernet, Approach.PACKAGED)
    assert one.evaluation is None and "tomahawk-5-bailly" in one.why_not and "wavelengths" in one.why_not


def test_a_roadmap_part_is_worth_something_and_in_no_order(roadmap: Comparison) -> None:
    packaged = of(roadmap, Approach.PACKAGED)
    assert packaged.evaluation is not None and not packaged.orderable
    assert packaged.plan.roadmap == ("q3450: can be ordered from 2026-06",)
    assert roadmap.best is not None and roadmap.best.orderable
    bought = {row.demand.entry.item.id for row in roadmap.best.built.bom}
    assert "q3450" not in bought


def test_a_part_that_can_be_ordered_by_the_first_order_is_no_roadmap(shelf: Catalog) -> None:
    later = (*BEFORE_Q3450, "phases=[{id: one, order: 2026-07, in_service: 2026-10}]")
    found = compare_optics(load_scenario(XDR, changes=later), shelf)
    assert found.day == "2026-07"
    assert not of(found, Approach.PACKAGED).plan.roadmap


def test_liquid_switches_bring_loops_and_a_busbar_and_in_an_air_hall_pumps(shelf: Catalog) -> None:
    air = compare_optics(
        load_scenario(XDR, changes=["site.cooling=air-hyperscale", "site.rack_limit_kw=80"]), shelf
    )
    packaged, pluggable = of(air, Approach.PACKAGED), of(air, Approach.PLUGGABLE)
    assert pluggable.value("optics.liquid_usd") == 0 and pluggable.value("optics.pumps_w") == 0
    assert packaged.value("optics.liquid_usd") > 0 and packaged.value("optics.pumps_w") > 0
    extra = packaged.value("optics.npv_usd") - packaged.value("tco.npv_usd")
    assert extra >= packaged.value("optics.liquid_usd")


def test_an_engine_takes_its_switch_and_a_module_only_its_cage(xdr: Comparison) -> None:
    """So co-packaged optics lose more GPU-hours though fewer parts fail at the switch."""
    packaged, pluggable = of(xdr, Approach.PACKAGED), of(xdr, Approach.PLUGGABLE)
    assert packaged.value("optics.failures.modules_per_year") < pluggable.value(
        "optics.failures.modules_per_year"
    )
    assert packaged.value("optics.failures.engines_per_year") == pytest.approx(
        (32 + 18) * 72 * packaged.value("afr.nvidia-quantum-x-photonics.afr_fraction")
    )
    assert packaged.value("optics.repair_gpu_hours_per_year") > pluggable.value(
        "optics.repair_gpu_hours_per_year"
    )


def test_failures_add_up_over_kinds_and_parts(xdr: Comparison) -> None:
    for one in xdr.built:
        parts = [
            line.key
            for line in one.ledger
            if line.key.startswith("optics.")
            and line.key.endswith(".failures_per_year")
            and line.key.count(".") > 1
        ]
        assert sum(one.value(key) for key in parts) == pytest.approx(one.value("optics.failures_per_year"))


def test_every_number_of_the_comparison_reaches_a_source(xdr: Comparison) -> None:
    for one in xdr.built:
        for line in one.ledger:
            if line.key.startswith(("optics.", "afr.")):
                waiting, seen = [line.key], set[str]()
                while waiting:
                    key = waiting.pop()
                    if key in seen:
                        continue
                    seen.add(key)
                    found = one.ledger[key]
                    below = one.ledger.inputs_of(key)
                    assert below or found.source is not None or found.expression is not None, key
                    waiting += below


@pytest.mark.parametrize("claims", [False, True])
def test_claims_stay_off_unless_asked_for(shelf: Catalog, claims: bool) -> None:
    found = compare_optics(load_scenario(XDR), shelf, claims=claims)
    assert any(one.approach is Approach.CLAIMED for one in found.variants) == claims
    assert all(claim.conditions for claim in found.claims)
    assert any(claim.used for claim in found.claims) == claims
    for one in found.built:
        bases = {
            line.source.basis
            for line in one.ledger
            if line.source is not None and line.key.startswith("watts.q3450")
        }
        assert (Basis.CLAIM in bases) == (one.approach is Approach.CLAIMED)
    assert found.best is None or found.best.approach is not Approach.CLAIMED


def test_the_energy_price_where_two_variants_cost_the_same_is_where_evaluation_says_so(
    shelf: Catalog,
) -> None:
    """The closed form is exact since present values are linear in the energy price; 1e-9 is rounding."""
    loaded = load_scenario("h100-16384-roce", changes=["site.electricity_usd_per_kwh=0.05"])
    # linear modules at a price that only dear energy makes up for
    dear = Overlaid(shelf, 2500.0)
    found = compare_optics(loaded, dear)
    even = next(one for one in found.energy if one.frugal is Approach.LINEAR)
    assert even.usd_per_kwh is not None and even.usd_per_kwh > 0.05
    there = compare_optics(changed(loaded, {"site.electricity_usd_per_kwh": even.usd_per_kwh}, "even"), dear)
    one, other = of(there, Approach.LINEAR), of(there, Approach.PLUGGABLE)
    assert one.value("optics.npv_usd") == pytest.approx(other.value("optics.npv_usd"), rel=1e-9)


class Overlaid(Catalog):
    """The catalog with another price of the linear module."""

    def __init__(self, base: Catalog, usd: float) -> None:
        super().__init__(base.folders)
        entry = super().entry(Transceiver, "osfp-800g-lpo-2xdr4")
        price = entry.item.price_usd
        assert price is not None
        item = entry.item.model_copy(
            update={"price_usd": price.model_copy(update={"value": usd, "high": usd})}
        )
        self._entries[("transceivers", item.id)] = type(entry)(item, entry.document, entry.digest)


def test_saved_watts_feed_no_gpus_that_racks_or_money_do_not_allow(
    ethernet: Comparison, xdr: Comparison
) -> None:
    for comparison in (ethernet, xdr):
        for saved in comparison.saved.values():
            assert saved.gpus <= min(saved.by_power, saved.by_rack, saved.by_cooling, saved.by_money)
    saved = xdr.saved[Approach.PACKAGED]
    assert saved.by_power > 0 and saved.by_money == 0
    pluggable, packaged = of(xdr, Approach.PLUGGABLE), of(xdr, Approach.PACKAGED)
    assert saved.saved_w == pytest.approx(
        pluggable.value("power.it_peak_w")
        - packaged.value("power.it_peak_w")
        - packaged.value("optics.pumps_w")
    )


def test_spares_are_a_poisson_quantile_and_more_than_the_mean(xdr: Comparison) -> None:
    for one in xdr.built:
        counts = [
            line.key
            for line in one.ledger
            if line.key.startswith("optics.spares.") and line.key.endswith(".count")
        ]
        assert counts
        for key in counts:
            assert one.value(key) >= np.floor(one.value(key.replace(".count", ".failures")))


def test_a_plan_without_switches_is_refused(shelf: Catalog) -> None:
    with pytest.raises(DesignError, match="no switches"):
        compare_optics(load_scenario("h100-8-lab"), shelf)


def test_the_catalog_is_as_it_was_after_a_what_if(shelf: Catalog) -> None:
    compare_optics(load_scenario(XDR, changes=BEFORE_Q3450), shelf)
    assert shelf.get(Switch, "q3450").available == "2026-06"
    assert shelf.get(Switch, "sn6810").price_usd is None


def test_a_plan_that_cannot_be_built_in_any_optics_says_why_once(shelf: Catalog) -> None:
    with pytest.raises(DesignError) as refused:
        compare_optics(load_scenario(XDR, changes=["site.rack_limit_kw=5"]), shelf)
    assert len({problem.message for problem in refused.value.problems}) == len(refused.value.problems)
