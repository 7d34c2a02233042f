from __future__ import annotations

import json
import math
import time
from typing import Any

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Axis
from planner.present.json_contract import Output, json_schema
from planner.present.json_output import json_text
from planner.scenario.load import load_scenario, shipped_scenarios
from planner.study.bands import with_ranges

REFUSED = ("h100-8-lab", "workloads.0.model=llama-3.1-405b")


def made(name: str, *changes: str) -> Evaluation:
    return evaluate(load_scenario(name, changes=changes), open_catalog())


def read(evaluation: Evaluation) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json_text(evaluation))
    return found


@pytest.mark.parametrize("name", shipped_scenarios())
def test_every_shipped_scenario_keeps_the_schema(name: str) -> None:
    evaluation = made(name)
    output = Output.model_validate_json(json_text(evaluation))
    assert output.feasible
    assert [line.key for line in output.lines] == list(evaluation.ledger.lines)
    assert len(output.headlines) == 9
    assert {line.source.source for line in output.lines if line.source} - {""} == set(output.sources)


def test_values_are_those_of_the_ledger_to_the_last_digit() -> None:
    evaluation = made("h200-phased")
    ledger = evaluation.ledger
    for line in read(evaluation)["lines"]:
        value = ledger.value(line["key"])[0]
        if ledger[line["key"]].axis is Axis.SCALAR:
            assert line["value"] == float(value), line["key"]
        else:
            assert np.array_equal(np.array(line["value"]), value), line["key"]


def test_formulas_carry_their_inputs_and_words_and_given_lines_their_source() -> None:
    lines = {line["key"]: line for line in read(made("h200-1024-ndr"))["lines"]}
    total = lines["tco.npv_usd"]
    assert total["kind"] == "derived"
    assert "cash.cost_usd" in total["inputs"]
    assert "present value" in total["words"]
    price = lines["site.electricity_usd_per_kwh"]
    assert price["source"]["where"].startswith("catalog/sites/us-virginia.yaml:")
    assert (price["low"], price["high"]) == (0.0714, 0.116)
    computed = lines["design.racks"]
    assert computed["function"].startswith("planner.design.")


def test_limits_are_in_the_headlines() -> None:
    cells = {cell["key"]: cell for cell in read(made("h200-1024-ndr"))["headlines"]}
    assert cells["capex.total_usd"]["limit"] == 60e6
    assert cells["capex.total_usd"]["met"] is True
    assert cells["outcome.tpot_p99_s"]["value"] is None


def test_a_limit_judged_at_peak_says_by_which_value() -> None:
    evaluation = made("h200-1024-ndr", "site.limit_mw=1.7")
    cells = {cell["key"]: cell for cell in read(evaluation)["headlines"]}
    power = cells["power.facility_w"]
    assert power["value"] < power["limit"] < power["judged_value"]
    assert power["met"] is False
    assert power["judged_key"] == "power.facility_peak_w"
    assert power["judged_value"] == evaluation.ledger.scalar("power.facility_peak_w")
    assert cells["capex.total_usd"]["judged_key"] is None
    assert cells["capex.total_usd"]["judged_value"] is None


def test_ranges_and_odds_are_there_where_draws_were_made() -> None:
    evaluation = with_ranges(made("h200-1024-ndr"))
    output = Output.model_validate_json(json_text(evaluation))
    capex = next(cell for cell in output.headlines if cell.key == "capex.total_usd")
    found = evaluation.ranges["capex.total_usd"]
    assert (capex.low, capex.p50, capex.high) == (found.p10, found.p50, found.p90)
    assert capex.odds is not None
    assert 0 <= capex.odds <= 1
    line = next(line for line in output.lines if line.key == "tco.npv_usd")
    assert line.low == evaluation.ranges["tco.npv_usd"].p10
    assert line.low < line.high


def test_a_plan_that_cannot_be_built_says_why_and_keeps_the_schema() -> None:
    name, change = REFUSED
    output = Output.model_validate_json(json_text(made(name, change)))
    assert not output.feasible
    assert not output.meets_limits
    assert "405b" in output.problems[0].message
    assert len(output.problems[0].remedies) > 1
    assert all(cell.value is None for cell in output.headlines)


def test_what_is_no_number_is_null() -> None:
    evaluation = made("h100-8-lab")
    ledger = evaluation.ledger
    ledger.values["design.racks"] = np.array([math.nan])
    ledger.values["cash.net_usd"] = np.full((1, ledger.months), -math.inf)
    lines = {line["key"]: line for line in read(evaluation)["lines"]}
    assert lines["design.racks"]["value"] is None
    assert set(lines["cash.net_usd"]["value"]) == {None}


def test_the_same_evaluation_gives_the_same_text_that_ends_a_line() -> None:
    first, second = json_text(made("h200-1024-ndr")), json_text(made("h200-1024-ndr"))
    assert first == second
    assert first.endswith("}\n")


def test_one_ledger_line_is_one_line_of_text() -> None:
    evaluation = made("h100-8-lab")
    rows = json_text(evaluation).splitlines()
    assert sum(row.startswith('  {"key": "capex.total_usd", "label": ') for row in rows) == 1
    assert len(rows) > len(evaluation.ledger.lines)


def test_hostile_text_comes_back_as_it_was() -> None:
    name = '=cmd|"x" </script><b> ünïcode \u2028 {{7*7}}'
    scenario = load_scenario("h100-8-lab")
    named = scenario.scenario.model_copy(update={"name": name})
    evaluation = made("h100-8-lab")
    object.__setattr__(evaluation.loaded, "scenario", named)
    assert read(evaluation)["name"] == name


def test_the_schema_forbids_what_it_does_not_name() -> None:
    schema = json_schema()
    assert schema["additionalProperties"] is False
    assert {"schema_version", "hashes", "headlines", "lines", "sources"} <= set(schema["required"])
    spoilt = read(made("h100-8-lab")) | {"surprise": 1}
    with pytest.raises(ValueError, match="surprise"):
        Output.model_validate_json(json.dumps(spoilt))


def test_a_thousand_gpus_take_under_a_twentieth_of_a_second() -> None:
    evaluation = made("h200-1024-ndr")
    json_text(evaluation)
    spent = []
    for _ in range(5):
        start = time.process_time()
        json_text(evaluation)
        spent.append(time.process_time() - start)
    assert min(spent) < 0.05


@pytest.mark.parametrize("name", ["h200-1024-ndr", "h100-16384-roce", "gb200-nvl72-16", "h100-8-lab"])
def test_the_design_is_folded_and_agrees_with_the_ledger(name: str) -> None:
    evaluation = made(name)
    ledger, design = evaluation.ledger, read(evaluation)["design"]
    network = design["network"]
    assert sum(network["links"].values()) == ledger.scalar("design.fabric.links")
    for tier, switches in network["switches"].items():
        assert switches == ledger.scalar(f"design.fabric.{tier}_switches")
    assert sum(kind["racks"] for kind in design["racks"]) == ledger.scalar("design.racks")
    for between in ("node-leaf", "leaf-spine", "spine-core"):
        links = sum(one["links"] for one in design["cabling"] if one["between"] == between)
        assert links == network["links"].get(between, 0)
    for line in design["power_chain"]:
        assert line["value"] == ledger.scalar(line["key"])
    assert len(json.dumps(design)) < 30_000


def test_the_parts_of_the_power_chain_add_up_to_the_meter() -> None:
    found = read(made("h200-1024-ndr"))
    watts = {line["key"]: line["value"] for line in found["design"]["power_chain"] if line["unit"] == "W"}
    lost = sum(
        value for key, value in watts.items() if key.endswith("_loss_w") and key.startswith("power.chain.")
    )
    lines = {line["key"]: line["value"] for line in found["lines"]}
    assert lines["power.it_w"] + lost + watts["power.cooling_w"] == pytest.approx(
        lines["power.facility_w"], rel=1e-12
    )


def test_a_refused_plan_has_no_design() -> None:
    assert read(made(*REFUSED))["design"] is None
