"""Every kind of misfit has a scenario that shows it, and remedies that, applied, make it build."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.catalog.store import open_catalog
from planner.cli.app import run_app
from planner.errors import Problem, Remedy
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_scenario
from planner.scenario.remedies import applied
from planner.study.remedies import MOST_EVALUATIONS, MOST_SHOWN, problems_of, tried_remedies, with_remedies

MISFITS = {
    "rack over density": ("h200-1024-ndr", ["site.rack_limit_kw=5"], "site.rack_limit_kw"),
    "liquid needed but absent": (
        "gb200-nvl72-16", ["site.cooling=air", "site.rack_limit_kw=200"], "site.cooling",
    ),
    "cable over reach": (
        "h100-16384-roce",
        [f"network.{tier}.optic=osfp-800g-2xsr4" for tier in ("leaf", "spine", "core")],
        "network.optics",
    ),
    "ports over radix": ("h200-1024-ndr", ["network.topology=rail-only"], "network.topology"),
    "no network": ("h200-1024-ndr", ["network.topology=none"], "network.topology"),
    "feeds overloaded by a swing": (
        "h200-1024-ndr",
        [
            "site.rack_limit_kw=11",
            "overrides.assumption.power_transient_server_ratio={value: 2, unit: '1', reason: measured here}",
        ],
        "site.rack_limit_kw",
    ),
    "memory too small": ("h100-8-lab", ["workloads.0.model=llama-3.1-405b"], "workloads.finetune"),
    "a plan that doesn't fit": (
        "h200-1024-ndr", ["workloads.0.plan={tensor: 2, microbatch: 4}"], "workloads.pretrain",
    ),
    "a plan that doesn't divide": (
        "h200-1024-ndr", ["workloads.0.plan={tensor: 1, microbatch: 8}"], "workloads.pretrain.plan",
    ),
    "objective too narrow": ("h200-serving-fleet", ["workloads.0.slo.tpot_p99_s=0.004"], "workloads.chat"),
}  # fmt: skip
MISSED = {
    "site power": ("h200-1024-ndr", ["limits.site_mw=1.5"], "limits.site_mw"),
    "utility power": ("h200-1024-ndr", ["site.limit_mw=1.5"], "site.limit_mw"),
    "purchase": ("h200-1024-ndr", ["limits.capex_usd=48000000"], "limits.capex_usd"),
    "days": ("h200-1024-ndr", ["limits.days=40"], "limits.days"),
    "tail": ("h200-serving-fleet", ["limits.tpot_p99_s=0.02"], "limits.tpot_p99_s"),
    "load": (
        "h200-serving-fleet", ["workloads.0.load.requests_per_s=2000"], "workloads.0.load.requests_per_s",
    ),
    "tokens": (
        "h200-serving-fleet", ["workloads.0.precision=bf16", "limits.usd_per_mtoken_output=2"],
        "limits.usd_per_mtoken_output",
    ),
}  # fmt: skip


def of(name: str, changes: list[str]) -> Evaluation:
    """A shipped scenario with changes."""
    return evaluate(load_scenario(name, changes=changes), open_catalog())


@pytest.mark.parametrize("case", MISFITS)
def test_applying_the_cheapest_remedy_makes_a_misfit_build(case: str) -> None:
    name, changes, key = MISFITS[case]
    found = of(name, changes)
    assert found.refusal is not None and key in [one.key for one in found.refusal.problems]
    for _ in range(4):
        tried = with_remedies(found).tried
        assert tried, f"nothing cures {problems_of(found)}"
        found = evaluate(applied(found.loaded, tried[0].remedy), open_catalog())
        if found.feasible:
            return
    raise AssertionError([str(one) for one in problems_of(found)])


@pytest.mark.parametrize("case", MISSED)
def test_applying_the_cheapest_remedy_meets_a_missed_limit(case: str) -> None:
    name, changes, key = MISSED[case]
    found = of(name, changes)
    assert found.feasible and key in [one.key for one in problems_of(found)]
    tried = [one for one in with_remedies(found).tried if one.problem.key == key]
    assert tried and tried[0].first
    after = evaluate(applied(found.loaded, tried[0].remedy), open_catalog())
    assert after.feasible and key not in [one.key for one in problems_of(after)]
    change = after.ledger.scalar("tco.npv_usd") - found.ledger.scalar("tco.npv_usd")
    assert tried[0].changes["tco.npv_usd"] == pytest.approx(change, rel=1e-9, abs=1e-3)
    assert set(tried[0].breaks) == {one.key for one in problems_of(after)} - {
        one.key for one in problems_of(found)
    }


def test_everything_that_can_be_known_is_said_at_once() -> None:
    changes = [
        "site.cooling=air",
        "site.rack_limit_kw=null",
        "network.topology=rail-only",
        "site.limit_mw=1.5",
    ]
    refused = of("gb200-nvl72-16", changes).refusal
    assert refused is not None
    keys = [one.key for one in refused.problems]
    assert keys == ["site.rack_limit_kw", "site.cooling", "network.topology", "site.limit_mw"]
    assert all(one.place is not None and one.offered[0].edits for one in refused.problems)


def test_remedies_are_few_sorted_by_cost_and_leave_the_scenario_as_it_is() -> None:
    found = of("h200-1024-ndr", ["limits.site_mw=1.5"])
    before = json.dumps(found.loaded.document.data), found.parts.catalog.digest()
    tried = with_remedies(found).tried
    assert (json.dumps(found.loaded.document.data), found.parts.catalog.digest()) == before
    assert 1 < len(tried) <= MOST_SHOWN and [one.first for one in tried] == [True] + [False] * (
        len(tried) - 1
    )
    order = [(len(one.breaks), one.values["tco.npv_usd"]) for one in tried]
    assert order == sorted(order)
    assert len({repr(one.remedy.edits) for one in tried}) == len(tried)


def test_a_plan_with_nothing_in_the_way_costs_no_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    found = of("h200-1024-ndr", [])
    monkeypatch.setattr("planner.study.remedies.evaluate", None)
    assert with_remedies(found) is found


def test_no_more_than_a_dozen_evaluations_are_made_and_what_cures_nothing_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = of("h200-1024-ndr", ["limits.site_mw=1.5"])
    made: list[object] = []

    def counted(*given: object) -> Evaluation:
        made.append(given)
        return evaluate(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("planner.study.remedies.evaluate", counted)
    idle = tuple(Remedy(f"{racks} racks in a row", ("site", "row_racks"), racks) for racks in range(10, 40))
    assert (
        tried_remedies(
            found.loaded, open_catalog(), [Problem("too much", key="limits.site_mw", remedies=idle)]
        )
        == ()
    )
    assert len(made) == MOST_EVALUATIONS


def test_the_run_says_the_cheapest_remedy_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change = ["--set", "network.topology=rail-only"]
    assert run_app(["run", "h200-1024-ndr", *change, "-o", str(tmp_path), "--format", "html,json"]) == 2
    said = capsys.readouterr()
    assert "; cheapest: topology " in said.err and "NPV of cost" in said.err and "(cheapest)" in said.out
    assert max(len(line) for line in said.out.splitlines() if not line.startswith("written")) <= 90
    output = json.loads((tmp_path / "h200-1024-ndr.json").read_text())
    assert output["remedies"][0]["edits"][0]["path"] == ["network", "topology"]
    assert output["remedies"][0]["values"]["tco.npv_usd"] > 0 and output["remedies"][0]["builds"]
    assert "Remedies tried, and what they cost" in (tmp_path / "h200-1024-ndr.html").read_text()
    assert run_app(["run", "h200-1024-ndr", "--set", "limits.site_mw=1.5", "-o", str(tmp_path)]) == 1
    assert "(cheapest: " in capsys.readouterr().err
    assert "What would meet the limits" in (tmp_path / "h200-1024-ndr.html").read_text()
    assert run_app(["check", "h200-1024-ndr", *change]) == 2
    told = capsys.readouterr().out
    assert "topology rail-optimised; " in told and "cheapest" not in told
