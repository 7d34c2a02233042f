"""What an evaluation means: shares, limits, money, power, and what moves when something changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.errors import ScenarioError
from planner.evaluate import Evaluation, evaluate
from planner.present.view.build import view
from planner.scenario.load import load_scenario
from planner.study.bands import ranged, with_ranges

CATALOG = open_catalog()


def found(name: str, *changes: str) -> Evaluation:
    evaluation = evaluate(load_scenario(name, changes=changes), CATALOG)
    assert evaluation.refusal is None, evaluation.refusal
    return evaluation


def value(evaluation: Evaluation, key: str) -> float:
    return evaluation.ledger.scalar(key)


def mixed(tmp_path: Path, training: float, serving: float) -> Evaluation:
    path = tmp_path / "mixed.yaml"
    path.write_text(
        "extends: h200-1024-ndr\nname: mixed\nworkloads:\n"
        f"  - {{id: pretrain, share_fraction: {training}}}\n"
        f"  - {{id: chat, kind: serving, model: llama-3.1-70b, precision: fp8, share_fraction: {serving}}}\n"
    )
    return found(str(path))


def test_half_the_time_serves_half_the_tokens_and_trains_twice_as_long(tmp_path: Path) -> None:
    whole, half = found("h200-1024-ndr"), mixed(tmp_path, 0.5, 0.5)
    quarter = mixed(tmp_path, 0.25, 0.25)
    days = "performance.training.days_to_train"
    tokens = "outcome.serving_output_tokens_per_s"
    assert value(half, days) == pytest.approx(2 * value(whole, days))
    assert value(half, tokens) == pytest.approx(2 * value(quarter, tokens))
    per_gpu = value(half, "performance.serving.output_tokens_per_s_per_gpu")
    assert value(half, tokens) == pytest.approx(per_gpu * 1024 * 0.5)


def test_time_given_to_no_workload_is_idle(tmp_path: Path) -> None:
    full, half = mixed(tmp_path, 0.5, 0.5), mixed(tmp_path, 0.25, 0.25)
    assert 1 - value(half, "outcome.idle_fraction") == pytest.approx(
        (1 - value(full, "outcome.idle_fraction")) / 2
    )


def test_hours_given_to_no_workload_draw_idle_power(tmp_path: Path) -> None:
    full, half = mixed(tmp_path, 0.5, 0.5), mixed(tmp_path, 0.25, 0.25)
    assert value(half, "power.busy_fraction") == pytest.approx(value(full, "power.busy_fraction") / 2)
    assert value(half, "power.energy_kwh_per_year") < value(full, "power.energy_kwh_per_year")


def test_the_first_phase_to_work_brings_the_spines_in_design_and_in_money(tmp_path: Path) -> None:
    path = tmp_path / "late.yaml"
    path.write_text(
        "extends: h200-phased\nname: late\nphases:\n"
        "  - {id: first, order: 2026-12, in_service: 2028-01}\n  - {id: second, order: 2027-03, in_service: 2027-06}\n"
    )
    evaluation = found(str(path))
    assert evaluation.built is not None
    parts = {part.id: part for part in evaluation.built.fabric_phases}
    assert (parts["second"].spines, parts["first"].spines) == (16, 0)
    shares = [value(evaluation, f"phase.{name}.network_share_fraction") for name in ("second", "first")]
    assert shares[0] > shares[1]


def test_outcomes_are_means_over_workloads_by_their_share(tmp_path: Path) -> None:
    both = mixed(tmp_path, 0.75, 0.25)
    parts = sum(value(both, line.key) for line in both.ledger if line.key.startswith("outcome.parts."))
    assert parts == pytest.approx(1)
    goodput = [value(both, f"performance.{kind}.goodput_fraction") for kind in ("training", "serving")]
    assert value(both, "performance.goodput_fraction") == pytest.approx(0.75 * goodput[0] + 0.25 * goodput[1])


def test_mixed_work_draws_between_training_and_serving(tmp_path: Path) -> None:
    training, both = found("h200-1024-ndr"), mixed(tmp_path, 0.5, 0.5)
    assert value(both, "power.it_w") < value(training, "power.it_w")


def test_a_fabric_that_balances_worse_trains_slower() -> None:
    step = "performance.training.step_s"
    tuned = value(found("h100-16384-roce"), step)
    plain = value(found("h100-16384-roce", "network.behaviour=ethernet-ecmp-plain"), step)
    assert plain > tuned * 1.01


def test_oversubscription_slows_all_to_all_of_experts() -> None:
    expert = "workloads.0.model=qwen3-30b-a3b"
    plan = "workloads.0.plan={tensor: 1, pipeline: 1, expert: 64, microbatch: 1, sharding: zero1}"
    step = "performance.training.step_s"
    fair = value(found("h200-1024-ndr", expert, plan), step)
    tight = value(found("h200-1024-ndr", expert, plan, "network.leaf.oversubscription=4"), step)
    assert tight > fair * 1.05


def test_an_owned_building_keeps_its_book_value_at_the_end() -> None:
    evaluation = found("h100-16384-roce")
    left = evaluation.ledger.value("cash.residual_usd")[0, -1]
    building = value(evaluation, "capex.facility_usd")
    life = value(evaluation, "assumption.facility_life_years")
    servers = value(evaluation, "capex.servers_usd") * value(evaluation, "assumption.residual_fraction_year5")
    assert left == pytest.approx(servers + building * (1 - 5 / life))


def test_both_power_limits_are_judged_at_peak() -> None:
    peak = value(found("h200-1024-ndr"), "power.facility_peak_w") / 1e6
    for change in (f"site.limit_mw={peak * 0.99}", f"limits.site_mw={peak * 0.99}"):
        shown = view(found("h200-1024-ndr", change))
        assert not shown.meets
        assert "power at the meter" in shown.verdict
        assert next(cell for cell in shown.headlines if cell.bar == "MW").met is False


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("h200-1024-ndr", "money.rental=gcp-tpu-v5e", "rents tpu-v5e, and the plan owns h200-sxm-141gb"),
        ("h200-1024-ndr", "workloads.0.slo={ttft_p99_s: 1}", "does nothing in a workload of kind training"),
        ("h200-serving-fleet", "workloads.0.plan=auto", "does nothing in a workload of kind serving"),
        (
            "h200-serving-fleet",
            "limits.days=5",
            "limits a workload of kind training, and the scenario has none",
        ),
        (
            "h200-1024-ndr",
            "limits.ttft_p99_s=5",
            "limits a workload of kind serving, and the scenario has none",
        ),
        ("h200-1024-ndr", "money.depreciation.facility_years=20", "does nothing where housing is colocation"),
        ("h200-1024-ndr", "money.tax={facility_years: 15}", "does nothing where housing is colocation"),
        (
            "h200-1024-ndr",
            "money.construction={order: 2026-06, in_service: 2026-11}",
            "does nothing where housing is colocation",
        ),
        ("h100-16384-roce", "site.colocation_usd_per_kw_month=100", "does nothing where housing is own"),
        (
            "h100-16384-roce",
            "money.colocation={committed_fraction: 0.5}",
            "does nothing where housing is own",
        ),
        ("h200-1024-ndr", "workloads.0.share_fraction=0", "must be 0.001 or more"),
    ],
)
def test_what_would_be_ignored_is_refused(name: str, change: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        evaluate(load_scenario(name, changes=[change]), CATALOG)


def test_a_replaced_adapter_costs_and_draws_its_difference() -> None:
    evaluation = found("h200-1024-spectrum-x")
    new, old = (
        value(evaluation, f"price.{nic}.price_usd") for nic in ("bluefield-3-supernic", "connectx-7-400g")
    )
    row = "bluefield-3-supernic.hgx-h200"
    assert value(evaluation, f"price.{row}.more_usd") == pytest.approx(new - old)
    count = value(evaluation, f"bom.{row}.designed")
    assert count == 1024
    watts = value(evaluation, "watts.bluefield-3-supernic.typical_w") - value(
        evaluation, "watts.connectx-7-400g.typical_w"
    )
    assert value(evaluation, f"power.{row}.typical_w") == pytest.approx(watts * count)


def test_the_run_costs_its_scheduled_hours() -> None:
    evaluation = found("gb200-nvl72-16")
    tokens = value(evaluation, "performance.training.tokens") * 1e6
    rate = value(evaluation, "performance.training.tokens_per_s_per_gpu")
    hours = tokens / (rate * value(evaluation, "performance.training.goodput_fraction")) / 3600
    assert value(evaluation, "performance.training.gpu_hours") == pytest.approx(hours)
    cost = hours * value(evaluation, "unit.usd_per_gpu_hour_sold")
    assert value(evaluation, "unit.usd_per_training_run") == pytest.approx(cost)


def test_a_node_without_a_spare_takes_its_replica_along() -> None:
    spared, bare = found("h100-16384-roce"), found("h100-16384-roce", "cluster.spare_fraction=0")
    key = "performance.training.availability_fraction"
    assert value(spared, key) > value(bare, key)
    lost = 1 - value(bare, "performance.availability_fraction")
    replica = (
        value(bare, "performance.training.plan.tensor")
        * value(bare, "performance.training.plan.pipeline")
        / 8
    )
    # a replica works while every one of its nodes does
    assert value(bare, key) == pytest.approx((1 - lost) ** replica)


@pytest.mark.parametrize("name", ["h200-1024-ndr", "gb200-nvl72-16", "h200-serving-fleet"])
def test_load_never_exceeds_peak_nor_pue_falls_under_one_in_any_draw(name: str) -> None:
    keys = ("power.it_w", "power.it_peak_w", "power.pue", "power.it_idle_w")
    ranges = with_ranges(found(name), keys).ranges
    load, peak, pue = (ranges[key].draws for key in keys[:3])
    assert np.all(pue >= 1)
    if name != "h200-serving-fleet":
        assert np.all(load <= peak * (1 + 1e-12))


def test_a_batch_of_draws_equals_its_members_evaluated_apart() -> None:
    base = found("h200-1024-ndr")
    lines = ranged(base)
    random = np.random.default_rng(7)
    draws = {
        line.key: value(base, line.key) * np.array([1.0, *random.uniform(0.9, 1.0, 3)]) for line in lines
    }
    batch = evaluate(base.loaded, CATALOG, draws=draws).ledger
    for row in (1, 3):
        # the plan is chosen by the first row, so a member gets its own row behind the base's
        member = evaluate(base.loaded, CATALOG, draws={k: v[[0, row]] for k, v in draws.items()}).ledger
        for line in batch:
            # 1e-12: sums of many arrays may be taken in another order
            np.testing.assert_allclose(
                batch.value(line)[row], member.value(line.key)[1], rtol=1e-12, atol=1e-12, err_msg=line.key
            )


def test_prices_of_one_family_move_together() -> None:
    ranges = with_ranges(
        found("h200-1024-ndr"), tuple(line.key for line in ranged(found("h200-1024-ndr")))
    ).ranges
    first, second = (ranges[f"price.{part}.price_usd"].draws for part in ("osfp-400g-dr4", "osfp-800g-2xdr4"))
    # ranks: the two have ranges of other shapes, and a few draws lie on their floor
    assert np.corrcoef(np.argsort(np.argsort(first)), np.argsort(np.argsort(second)))[0, 1] > 0.999
    other = ranges["price.hgx-h200.price_usd"].draws
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.25


@pytest.mark.parametrize("factor", [0.5, 2.0, 3.0])
def test_a_price_scales_its_own_line_and_nothing_it_does_not_feed(factor: float) -> None:
    base = found("h200-1024-ndr")
    key = "price.qm9700.price_usd"
    draws = {key: np.array([1.0, factor]) * value(base, key)}
    ledger = evaluate(base.loaded, CATALOG, draws=draws).ledger
    for line in ("capex.leaf-qm9700_usd", "capex.spine-qm9700_usd"):
        assert ledger.value(line)[1] == pytest.approx(factor * ledger.value(line)[0])
    for line in ("capex.servers_usd", "power.facility_w", "performance.training.step_s"):
        assert ledger.value(line)[1] == ledger.value(line)[0]


def test_an_override_replaces_a_value_and_says_so() -> None:
    change = "overrides.performance.training.model_error_ratio={value: 1.1, unit: '1', reason: our own run}"
    base, ours = found("h200-1024-ndr"), found("h200-1024-ndr", change)
    step = "performance.training.step_s"
    assert value(ours, step) == pytest.approx(1.1 * value(base, step))
    source = ours.ledger["performance.training.model_error_ratio"].source
    assert source is not None
    assert source.basis.letter == "u"
    assert source.note == "our own run"
