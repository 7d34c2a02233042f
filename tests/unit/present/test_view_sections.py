"""Sections of the view: their order, and that their numbers add up to the headlines."""

from __future__ import annotations

import re
from math import isclose, prod
from pathlib import Path

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.design.bom import AssetClass
from planner.evaluate import Evaluation, evaluate
from planner.present.view.build import view
from planner.present.view.evidence import capex_shares
from planner.present.view.model import Figure, Headline, Section, Table, View
from planner.present.view.outcomes import weakest_letter
from planner.present.view.reading import Reading, day, is_stale, line_letters, months_old
from planner.present.view.time import WAITING, ladder_factors, utilisation_in_words
from planner.present.view.why import why, why_entries
from planner.scenario.load import load_scenario
from planner.sourced import Source
from planner.study.bands import with_ranges
from tests.unit.present.conftest import NO_NETWORK, TOO_SMALL, evaluated

ORDER = ["outcomes", "time", "power", "money", "network", "parts", "risk", "assumptions", "fidelity"]
MAIN = "h200-1024-ndr"


def reading(evaluation: Evaluation) -> Reading:
    assert evaluation.built is not None
    return Reading(evaluation, evaluation.built)


def section(seen: View, name: str) -> Section:
    return next(one for one in seen.sections if one.id == name)


def figure(seen: View, name: str) -> Figure:
    return next(one for part in seen.sections for one in part.figures if one.id == name)


def tables(seen: View) -> list[Table]:
    found = [table for table in (seen.choices, seen.unknowns) if table is not None]
    for part in seen.sections:
        found += [*(one.table for one in part.figures), *part.tables]
    return found


def column(table: Table, name: str) -> list[float]:
    at = [one.name for one in table.columns].index(name)
    return [row[at].value or 0.0 for row in table.rows]


def test_sections_stand_in_the_order_all_surfaces_share(shipped: Evaluation) -> None:
    assert [part.id for part in view(shipped).sections] == ORDER


def test_a_refused_plan_keeps_every_section_and_says_why_it_is_empty(refused: Evaluation) -> None:
    seen = view(refused)
    assert [part.id for part in seen.sections] == ORDER
    assert not any(part.figures for part in seen.sections)
    assert all(part.missing for part in seen.sections if part.id != "assumptions")
    assert seen.refusal
    assert all(one.remedies for one in seen.refusal)
    assert seen.choices is None
    assert all(cell.value is None for cell in seen.headlines)
    assert section(seen, "assumptions").tables[0].rows


def test_every_row_is_as_wide_as_its_head(shipped: Evaluation) -> None:
    for table in tables(view(shipped)):
        assert table.rows, table.id
        assert all(len(row) == len(table.columns) for row in table.rows), table.id


def test_ids_of_figures_and_tables_are_used_once(shipped: Evaluation) -> None:
    seen = view(shipped)
    ids = [table.id for table in tables(seen)]
    assert len(ids) == len(set(ids))
    figures = [one.id for part in seen.sections for one in part.figures]
    assert len(figures) == len(set(figures))


def test_every_key_a_cell_names_is_a_line_of_the_ledger(shipped: Evaluation) -> None:
    for table in tables(view(shipped)):
        assert all(cell.key in shipped.ledger for row in table.rows for cell in row if cell.key), table.id


def test_the_parts_of_gpu_time_add_up_to_one_and_to_what_waiting_costs(shipped: Evaluation) -> None:
    parts = figure(view(shipped), "C1").data["parts"]
    assert isclose(sum(part["value"] for part in parts), 1.0, rel_tol=1e-9)
    waiting = sum(part["value"] for part in parts if part["part"] in WAITING)
    ledger = shipped.ledger
    assert isclose(waiting, ledger.scalar("outcome.waiting_fraction"), rel_tol=1e-9)
    table = figure(view(shipped), "C1").table
    cost = [
        value for value, part in zip(column(table, "Cost"), parts, strict=False) if part["part"] in WAITING
    ]
    assert isclose(sum(cost) * 1e6, ledger.scalar("outcome.waiting_usd_per_year"), rel_tol=1e-9)


def test_the_ladder_multiplies_down_to_utilisation(shipped: Evaluation) -> None:
    factors = [factor for _, factor, _, _ in ladder_factors(reading(shipped))]
    useful = shipped.ledger.scalar("outcome.gpu_utilisation_fraction")
    assert isclose(prod(factors), useful, rel_tol=1e-9)
    assert all(0 < factor <= 1 + 1e-9 for factor in factors)


def test_the_ladder_says_when_a_plan_leaves_gpus_idle() -> None:
    evaluation = evaluated("gb200-nvl72-16!workloads.0.batch_sequences=4096")
    plan = [
        evaluation.ledger.scalar(f"performance.training.plan.{axis}")
        for axis in ("tensor", "pipeline", "data")
    ]
    used = prod(plan) / 1152
    steps = {name: factor for name, factor, _, _ in ladder_factors(reading(evaluation))}
    assert used < 1
    assert steps["GPUs in the plan"] == pytest.approx(used)
    assert prod(steps.values()) == pytest.approx(evaluation.ledger.scalar("outcome.gpu_utilisation_fraction"))


def test_the_product_in_words_names_utilisation_as_the_tile_does() -> None:
    said = utilisation_in_words(reading(evaluated(MAIN)))
    shares = [float(part) / 100 for part in re.findall(r"([0-9.]+) %", said)]
    assert said.startswith("Computing ") and "of peak while computing = UTIL " in said
    assert shares[0] * shares[1] == pytest.approx(shares[2], abs=6e-4)
    assert shares[2] == pytest.approx(
        evaluated(MAIN).ledger.scalar("outcome.gpu_utilisation_fraction"), abs=6e-4
    )


def test_the_bars_of_a_step_add_up_to_its_time() -> None:
    data = figure(view(evaluated("h100-16384-roce")), "C3").data
    assert isclose(sum(bar["end"] - bar["start"] for bar in data["bars"]), data["step"], rel_tol=1e-9)
    assert {"Compute", "Tensor parallel", "Pipeline"} <= set(data["lanes"])


@pytest.mark.parametrize(("name", "key"), [("C10", "capex.total_usd"), ("C11", "tco.npv_usd")])
def test_a_waterfall_ends_at_its_headline(shipped: Evaluation, name: str, key: str) -> None:
    steps = figure(view(shipped), name).data["steps"]
    assert isclose(steps[-1]["end"], shipped.ledger.scalar(key), rel_tol=1e-9)
    assert isclose(sum(step["value"] for step in steps[:-1]), steps[-1]["value"], rel_tol=1e-9)


def test_both_columns_of_ownership_add_up(shipped: Evaluation) -> None:
    table = figure(view(shipped), "C11").table
    for name, key in (("Nominal", "tco.total_usd"), ("Present value", "tco.npv_usd")):
        *parts, total = column(table, name)
        assert isclose(sum(parts), total, rel_tol=1e-9)
        assert isclose(total * 1e6, shipped.ledger.scalar(key), rel_tol=1e-9)


def test_a_watt_that_enters_leaves_again(shipped: Evaluation) -> None:
    flows = figure(view(shipped), "C7").data["flows"]
    meter = sum(flow["value"] for flow in flows if flow["from"] == "Meter")
    it_w = sum(flow["value"] for flow in flows if flow["from"] == "IT")
    assert isclose(meter, shipped.ledger.scalar("power.facility_w"), rel_tol=1e-9)
    assert isclose(it_w, shipped.ledger.scalar("power.it_w"), rel_tol=1e-9)


def test_quarters_add_up_to_the_running_total(shipped: Evaluation) -> None:
    table = figure(view(shipped), "C12").table
    net, after = column(table, "Net"), column(table, "Cumulative")
    assert isclose(sum(net), after[-1], rel_tol=1e-9)
    came, went = column(table, "In"), column(table, "Out")
    assert all(isclose(a - b, c, abs_tol=1e-9) for a, b, c in zip(came, went, net, strict=True))
    assert isclose(-after[-1] * 1e6, shipped.ledger.scalar("tco.total_usd"), rel_tol=1e-9)


def test_own_and_rent_cross_where_the_ledger_breaks_even() -> None:
    evaluation = evaluated(MAIN)
    data = figure(view(evaluation), "C13").data
    own = data["points"][-1]["own"] / data["even"]
    assert own == pytest.approx(evaluation.ledger.scalar("rent.usd_per_gpu_hour"))


def test_without_a_rental_the_report_says_so_and_draws_no_crossing() -> None:
    seen = view(evaluated("h100-16384-roce"))
    money = section(seen, "money")
    assert "C13" not in [one.id for one in money.figures]
    assert any("names no rental offer" in note for note in money.notes)


def test_the_bill_adds_up_to_the_hardware(shipped: Evaluation) -> None:
    *parts, total = column(section(view(shipped), "parts").tables[0], "Cost")
    ledger = shipped.ledger
    classes = [f"capex.{kind}_usd" for kind in AssetClass]
    bought = sum(ledger.scalar(key) for key in classes if key in ledger)
    assert isclose(sum(parts), total, rel_tol=1e-9)
    assert isclose(total * 1e3, bought, rel_tol=1e-9)


def test_evidence_covers_the_whole_purchase(shipped: Evaluation) -> None:
    assert isclose(sum(part for _, part in capex_shares(reading(shipped))), 1.0, rel_tol=1e-9)


def test_memory_parts_add_up_to_what_is_needed() -> None:
    table = next(one for one in section(view(evaluated(MAIN)), "time").tables if one.id.startswith("memory-"))
    *parts, _, needed = column(table, "Size")
    assert isclose(sum(parts), needed, rel_tol=1e-9)


def test_serving_shows_latency_against_its_objective() -> None:
    seen = view(evaluated("h200-serving-fleet"))
    table = next(one for one in section(seen, "time").tables if one.id.startswith("latency-"))
    mean, p99, limit = (column(table, name) for name in ("Mean", "p99", "Limit of p99"))
    assert all(a < b <= c for a, b, c in zip(mean, p99, limit, strict=True))
    assert limit == [2000.0, 50.0]


BOTH = """name: Training and serving
extends: h200-1024-ndr
workloads:
  - {id: pretrain, share_fraction: 0.5}
  - {id: chat, kind: serving, model: llama-3.1-70b, precision: fp8, share_fraction: 0.5}
"""


def test_every_workload_has_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "both.yaml"
    path.write_text(BOTH, encoding="utf-8")
    both = view(evaluate(load_scenario(path), open_catalog()))
    ids = {table.id for table in section(both, "time").tables}
    assert {"plan-pretrain", "memory-pretrain", "serving-chat", "latency-chat"} <= ids
    assert both.choices is not None
    assert [row[0].text for row in both.choices.rows][:2] == ["Plan", "Replica"]


def test_a_failed_leaf_touches_the_gpus_below_it() -> None:
    table = next(one for one in section(view(evaluated(MAIN)), "network").tables if one.id == "blast-radius")
    rows = {row[0].text: row for row in table.rows}
    assert rows["Leaf switch"][3].value == 256
    assert rows["Leaf switch"][4].value == pytest.approx(12.5)
    assert rows["Spine switch"][4].value == pytest.approx(100 / 16)
    assert rows["Rack of hgx-h200"][3].value == 16


def test_used_and_free_ports_are_all_ports() -> None:
    evaluation = evaluated("gb200-nvl72-16!network.reserved_ports=4")
    table = figure(view(evaluation), "C14").table
    used, free = column(table, "Ports used"), column(table, "Ports free")
    assert used[0] + free[0] == 40 * 64
    assert used[1] + free[1] == 32 * 64


def test_a_partly_filled_group_is_drawn_apart() -> None:
    tiers = figure(view(evaluated("b300-2048-cpo")), "C14").data["tiers"]
    nodes = next(tier for tier in tiers if tier["tier"] == "node")
    assert [(group["groups"], group["each"]) for group in nodes["groups"]] == [(3, 72), (1, 40)]


def test_a_lab_without_a_fabric_says_so() -> None:
    network = section(view(evaluated("h100-8-lab")), "network")
    assert "no switch is needed" in network.lead
    assert [table.id for table in network.tables] == ["blast-radius"]


def test_every_given_number_stands_among_the_assumptions_with_its_place(shipped: Evaluation) -> None:
    rows = [row for table in section(view(shipped), "assumptions").tables[1:] for row in table.rows]
    given = [line.key for line in shipped.ledger if line.kind == "given" and line.axis == "scalar"]
    assert sorted(row[1].key for row in rows) == sorted(given)
    assert all(row[5].text and row[7].text for row in rows)


def test_risk_ranks_prices_by_what_they_weigh_and_says_that_there_are_no_draws() -> None:
    risk = section(view(evaluated(MAIN)), "risk")
    assert "No draws" in risk.missing
    weights = column(risk.tables[0], "Moves")
    assert weights == sorted(weights, reverse=True)
    assert risk.tables[0].rows[0][0].text == "Price of HGX H200 server, OEM"


def test_draws_turn_into_odds() -> None:
    evaluation = with_ranges(evaluated(MAIN), draws=60)
    risk = section(view(evaluation), "risk")
    assert risk.missing == ""
    assert [one.kind for one in risk.figures] == ["odds", "odds"]
    row = next(row for row in risk.tables[0].rows if row[0].key == "performance.training.days_to_train")
    days = evaluation.ranges["performance.training.days_to_train"]
    assert row[5].value == pytest.approx(100 * days.odds_at_most(60.0))
    points = [point["value"] for point in risk.figures[0].data["points"]]
    assert points == sorted(points)


def test_letters_of_all_lines_agree_with_the_walk_for_one(shipped: Evaluation) -> None:
    found = line_letters(shipped.ledger)
    for key in ("capex.total_usd", "outcome.gpu_utilisation_fraction", "power.pue", "cash.closing_usd"):
        assert found[key] == weakest_letter(shipped.ledger, key)


def read_from(tmp_path: Path, text: str) -> Evaluation:
    path = tmp_path / "plan.yaml"
    path.write_text(text, encoding="utf-8")
    return evaluate(load_scenario(path), open_catalog())


def headline(seen: View, bar: str) -> Headline:
    return next(cell for cell in seen.headlines if cell.bar == bar)


def test_the_power_limit_stands_in_the_results_as_judged_at_peak() -> None:
    evaluation = with_ranges(evaluated(f"{MAIN}!site.limit_mw=1.9"), draws=60)
    seen = view(evaluation)
    risk = section(seen, "risk")
    row = next(row for row in risk.tables[0].rows if row[0].key == "power.facility_w")
    odds = evaluation.ranges["power.facility_peak_w"].odds_at_most(1.9e6)
    assert 0 < odds < 1
    assert row[4].text == "1.90 MW at peak"
    assert row[5].value == pytest.approx(100 * odds)
    assert headline(seen, "MW").odds == odds
    curve = next(one for one in risk.figures if one.title.startswith("Power"))
    assert "1.90 MW at peak" in curve.title
    assert "at peak" in curve.data["unit"]


def test_a_quantile_is_the_same_number_wherever_it_stands() -> None:
    evaluation = with_ranges(evaluated(MAIN), draws=61)
    risk = section(view(evaluation), "risk")
    for one in risk.figures:
        key = next(
            row[0].key for row in risk.tables[0].rows if one.title.startswith(f"{row[0].text} stays within")
        )
        judged = evaluation.ranges["power.facility_peak_w" if key == "power.facility_w" else key]
        scale = one.data["limit"] / (headline_of(view(evaluation), key).limit or 1.0)
        points = {round(point["odds"]): point["value"] / scale for point in one.data["points"]}
        assert [points[10], points[50], points[90]] == pytest.approx([judged.p10, judged.p50, judged.p90])
        assert points[25] == pytest.approx(np.quantile(judged.draws, 0.25))


def headline_of(seen: View, key: str) -> Headline:
    return next(cell for cell in seen.headlines if cell.key == key)


def test_what_the_user_counts_says_nothing_about_prices_and_watts() -> None:
    evaluation = evaluated(MAIN)
    letters, ledger = line_letters(evaluation.ledger), evaluation.ledger
    assert letters["cluster.gpus"] == "u"
    typical = [
        line.key for line in ledger if line.key.startswith("power.") and line.key.endswith(".typical_w")
    ]
    assert typical
    for key in (*typical, "capex.servers_usd", "capex.switches_usd", "capex.optics_usd"):
        assert letters[key] != "u", key
        assert weakest_letter(ledger, key) == letters[key]
    assert letters["power.spine-qm9700.typical_w"] == letters["watts.qm9700.typical_w"] == "P"


def test_a_value_the_user_puts_over_a_line_is_the_users(tmp_path: Path) -> None:
    key = "price.hgx-h200.price_usd"
    text = f"name: Own price\nextends: {MAIN}\noverrides: {{{key}: {{value: 300000, unit: USD, reason: a quote}}}}\n"
    evaluation = read_from(tmp_path, text)
    assert line_letters(evaluation.ledger)[key] == "u"
    assert weakest_letter(evaluation.ledger, key) == "u"


def choice(seen: View, name: str) -> list[str]:
    assert seen.choices is not None
    return next([cell.text for cell in row] for row in seen.choices.rows if row[0].text == name)


def test_own_or_rent_names_the_offer_its_term_price_and_date() -> None:
    _, taken, against, why_said = choice(view(evaluated(MAIN)), "Own or rent")
    assert taken == "own"
    assert against == "rent: Crusoe, h200, on demand, at 4.29 USD/GPU-h, 2026-08-19"
    assert "with all 60 months rented at this one price" in why_said
    assert "a reserved term would cost less than on demand" in why_said


def test_a_committed_offer_is_compared_by_its_months_and_has_no_break_even() -> None:
    seen = view(evaluated(f"{MAIN}!money.rental=semianalysis-h200-3y"))
    _, _, against, why_said = choice(seen, "Own or rent")
    assert "36 months committed, at " in against
    assert "reserved" not in why_said
    assert "flips" not in why_said
    assert "36 months committed" in figure(seen, "C13").title


def test_times_of_a_phased_plan_hold_once_it_is_complete() -> None:
    seen = view(evaluated("h200-phased"))
    assert headline(seen, "DAYS").note == "once complete (month 13 after the first order)"
    assert "days to train once complete" in seen.finding
    tight = view(evaluated("h200-phased!limits.days=40"))
    assert "training time once complete in month 13 (40.0 days)" in tight.verdict
    assert headline(view(evaluated(MAIN)), "DAYS").note == ""


SERVED = """name: Serving
extends: h200-serving-fleet
limits: {tpot_p99_s: null, ttft_p99_s: null}
"""


def test_an_objective_of_the_workload_is_a_limit_where_limits_name_none(tmp_path: Path) -> None:
    evaluation = read_from(tmp_path, SERVED)
    assert evaluation.loaded.scenario.limits.tpot_p99_s is None
    cell = headline(view(evaluation), "p99 ms")
    assert (cell.limit, cell.met, cell.limit_text) == (0.05, True, "50.0 ms as the workload asks")
    assert cell.note.endswith("limit 2.00 s as the workload asks: met")
    drawn = with_ranges(evaluation, draws=60)
    cell = headline(view(drawn), "p99 ms")
    assert cell.odds == drawn.ranges["outcome.tpot_p99_s"].odds_at_most(0.05)
    assert re.search(r"limit 2.00 s as the workload asks: met in .*100 draws", cell.note)
    rows = section(view(drawn), "risk").tables[0].rows
    row = next(row for row in rows if row[0].key == "outcome.tpot_p99_s")
    assert row[4].text == "50.0 ms as the workload asks"


def test_a_limit_goes_before_the_objective_of_the_workload(tmp_path: Path) -> None:
    text = SERVED.replace("tpot_p99_s: null, ttft_p99_s: null", "tpot_p99_s: 0.04, ttft_p99_s: 0.1")
    seen = view(read_from(tmp_path, text))
    cell = headline(seen, "p99 ms")
    assert (cell.limit, cell.met, cell.limit_text) == (0.04, False, "40.0 ms")
    assert cell.note.endswith("limit 100 ms: missed")
    assert seen.verdict.startswith("Misses 2 of ")


def test_an_objective_nobody_typed_is_no_limit(tmp_path: Path) -> None:
    path = tmp_path / "both.yaml"
    path.write_text(BOTH, encoding="utf-8")
    assert headline(view(evaluate(load_scenario(path), open_catalog())), "p99 ms").limit is None


def test_assumptions_have_names_and_units_that_people_read() -> None:
    tables_of = section(view(evaluated(MAIN)), "assumptions").tables
    rows = {row[1].key: row for table in tables_of[1:] for row in table.rows}
    assert "Unit" not in [one.name for one in tables_of[1].columns]
    rate = rows["assumption.nic_efficiency_fraction"]
    assert [cell.text for cell in rate[:4]] == ["NIC efficiency", "85 %", "75 %", "97 %"]
    assert rows["assumption.training_reserved_bytes"][1].text == "3 GB"
    assert rows["price.hgx-h200.price_usd"][1].text == "312,667 USD"


def test_nothing_is_tried_against_the_network_and_the_cooling() -> None:
    for name in ("Network", "Cooling"):
        assert choice(view(evaluated(MAIN)), name)[2] == "no alternative tried"


def test_residual_values_are_estimates() -> None:
    source = evaluated(MAIN).ledger["assumption.residual_fraction_year5"].source
    assert source is not None
    assert (source.basis.letter, source.verified) == ("E", False)


def test_choices_are_three_to_six_and_name_the_runner_up() -> None:
    table = view(evaluated(MAIN)).choices
    assert table is not None
    assert [row[0].text for row in table.rows] == ["Plan", "Network", "Cables", "Cooling", "Own or rent"]
    assert table.rows[0][2].text == "TP 1 x PP 1 x CP 2 x DP 512"


def test_the_lab_makes_fewer_choices(shipped: Evaluation) -> None:
    seen = view(shipped)
    assert seen.choices is not None
    assert seen.unknowns is not None
    assert 3 <= len(seen.choices.rows) <= 6
    served_alone = shipped.built is not None and not shipped.built.performance.trained
    assert len(seen.unknowns.rows) == (4 if served_alone else 3)


def test_a_price_is_stale_after_180_days() -> None:
    def dated(text: str) -> Source:
        return Source("x.yaml:1", as_of=text)

    assert is_stale(dated("2026-06-02"), "2026-11-30")
    assert not is_stale(dated("2026-06-03"), "2026-11-30")
    assert not is_stale(dated("2026-06"), "2026-11-30")
    assert not is_stale(dated(""), "2026-11-30")
    assert months_old("2024-08", "2026-11-30") == 26
    assert str(day("2024-12")) == "2024-12-31"


def test_why_goes_down_to_the_sources() -> None:
    evaluation = evaluated(MAIN)
    entries = {entry.key: entry for entry in why_entries(evaluation, ["capex.optics_usd"])}
    price = entries["price.osfp-400g-sr4.price_usd"]
    assert price.how == "given"
    assert price.source
    assert price.where.startswith("catalog/transceivers/osfp-400g-sr4.yaml:")
    assert entries["capex.osfp-400g-sr4_usd"].formula == (
        "400G OSFP SR4 single-port, bought x price of 400G OSFP SR4 single-port"
    )
    assert all(one.key in entries for entry in entries.values() for one in entry.inputs)


def test_why_lists_long_inputs_once() -> None:
    evaluation = evaluated(MAIN)
    entries = why_entries(
        evaluation, ["performance.training.mfu_fraction", "performance.training.hfu_fraction"]
    )
    first, second = entries[0], entries[1]
    assert len(first.inputs) > 30
    assert second.inputs == ()
    assert second.same_as == first.key
    assert why(evaluation, second.key).inputs == first.inputs


def test_refusals_differ_and_both_keep_the_scenario_as_read() -> None:
    for name in (TOO_SMALL, NO_NETWORK):
        table = section(view(evaluated(name)), "assumptions").tables[0]
        assert "name" in [row[0].text for row in table.rows]
