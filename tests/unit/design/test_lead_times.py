"""Whether what quotes deliver can work on the plan's dates."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from planner.catalog.store import Catalog, open_catalog
from planner.evaluate import evaluate
from planner.scenario.load import load_scenario
from planner.scenario.remedies import applied
from tests.unit.design.test_quoted import plan, said


@pytest.fixture(scope="module")
def shelf() -> Catalog:
    return open_catalog()


def test_the_longest_lead_time_installation_and_burn_in_make_the_date(shelf: Catalog, tmp_path: Path) -> None:
    rows = ("qm9700,40000,USD,A,,,,10,", "hgx-h200,250000,USD,A,,,,20,")
    ledger = plan(shelf, tmp_path, *rows).ledger
    days = (20 + ledger.scalar("assumption.install_weeks")) * 7 + ledger.scalar("assumption.burn_in_days")
    assert ledger.scalar("procurement.phase.all.ready_days") == pytest.approx(days)
    assert "procurement.phase.all.ready_days" not in evaluate(load_scenario("h200-1024-ndr"), shelf).ledger


def test_a_phase_that_comes_too_late_is_a_problem_with_the_earliest_date(
    shelf: Catalog, tmp_path: Path
) -> None:
    late = plan(shelf, tmp_path, "hgx-h200,250000,USD,A,,,,30,", scenario="h200-phased")
    first = load_scenario("h200-phased").scenario.phases[0]
    ordered = date.fromisoformat(f"{first.order[:7]}-{first.order[8:] or '01'}")
    earliest = date.fromordinal(ordered.toordinal() + 30 * 7 + 4 * 7 + 7)
    assert said(late)[0].endswith(
        f"quote A-1 of A delivers 'hgx-h200' in 30 weeks: the earliest is {earliest}"
    )
    assert late.refusal is not None
    for number in (0, 1):
        cures = [one.remedies[number] for one in late.refusal.problems]
        assert evaluate(applied(late.loaded, *cures), shelf).feasible


def test_in_time_is_no_problem(shelf: Catalog, tmp_path: Path) -> None:
    assert plan(shelf, tmp_path, "hgx-h200,250000,USD,A,,,,4,", scenario="h200-phased").feasible
