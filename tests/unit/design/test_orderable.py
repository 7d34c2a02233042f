"""Parts are for sale on the day of their order."""

from __future__ import annotations

from pathlib import Path

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.resources import shipped
from planner.scenario.load import load_scenario
from planner.scenario.remedies import applied


def test_a_part_the_plan_chose_itself_is_refused_before_its_sale(tmp_path: Path) -> None:
    source = (shipped("catalog") / "transceivers" / "osfp-800g-2xsr4.yaml").read_text()
    folder = tmp_path / "own" / "transceivers"
    folder.mkdir(parents=True)
    (folder / "osfp-800g-2xsr4.yaml").write_text(source + "available: 2027-06-15\n")
    shelf = open_catalog([tmp_path / "own"])
    found = evaluate(load_scenario("h200-1024-ndr"), shelf)
    assert found.refusal is not None
    (problem,) = found.refusal.problems
    assert problem.message == (
        "'osfp-800g-2xsr4' can be ordered from 2027-06-15, and the order is placed on 2026-11-30"
    )
    assert evaluate(applied(found.loaded, problem.remedies[0]), shelf).feasible


def test_a_withdrawn_part_says_why(tmp_path: Path) -> None:
    source = (shipped("catalog") / "panels" / "patch-panel-1u.yaml").read_text()
    folder = tmp_path / "own" / "panels"
    folder.mkdir(parents=True)
    (folder / "patch-panel-1u.yaml").write_text(f"{source}orderable: false\nwhy_not_orderable: withdrawn\n")
    found = evaluate(load_scenario("h200-1024-ndr"), open_catalog([tmp_path / "own"]))
    assert found.refusal is not None
    assert found.refusal.problems[0].message == "'patch-panel-1u' can't be ordered: withdrawn"
