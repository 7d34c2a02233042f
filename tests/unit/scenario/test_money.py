"""Terms of money that contradict each other are told at the field's own line, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.errors import Problem, ScenarioError
from planner.scenario.load import load_scenario

PLAN = """\
schema_version: 1
name: Odd terms
extends: h200-1024-ndr
money:
  deposit_fraction: 0.7
  payment:
    shipped_months_before_service: 1
    shipped_fraction: 0.5
  lease:
    payment_fraction_per_month: 0.03
    term_months: 150
  tariff:
    on_peak_share_fraction: 0.3
    ratchet_fraction: 0.8
  tax:
    server_years: 6.0
    losses: used
    loss_cap_fraction: 0.5
  costs:
    odd-line: {amount: 5.0}
    water:
      per: revenue
      amount: 1.5
"""


def refused(folder: Path, text: str) -> list[Problem]:
    path = folder / "plan.yaml"
    path.write_text(text)
    with pytest.raises(ScenarioError) as found:
        load_scenario(path)
    return list(found.value.problems)


def line_of(text: str, beginning: str) -> int:
    return 1 + next(at for at, line in enumerate(text.splitlines()) if line.strip().startswith(beginning))


def stands(problems: list[Problem]) -> dict[str, int]:
    return {problem.key: problem.place.line for problem in problems if problem.place is not None}


def test_contradictions_inside_a_term_stand_at_their_fields_all_at_once(tmp_path: Path) -> None:
    assert stands(refused(tmp_path, PLAN)) == {
        f"money.{key}": line_of(PLAN, key.rpartition(".")[2])
        for key in (
            "tariff.on_peak_share_fraction", "tariff.ratchet_fraction", "tax.server_years", "tax.loss_cap_fraction",
        )
    }  # fmt: skip


def test_contradictions_between_terms_stand_at_their_fields_all_at_once(tmp_path: Path) -> None:
    start, end = PLAN.index("  tariff:"), PLAN.index("  costs:")
    text = PLAN[:start] + PLAN[end:]
    found = refused(tmp_path, text)
    assert stands(found) == {
        "money.deposit_fraction": line_of(text, "deposit_fraction"),
        "money.lease.term_months": line_of(text, "term_months"),
        "money.costs.odd-line": line_of(text, "odd-line"),
        "money.costs.water.amount": line_of(text, "amount: 1.5"),
        "money.costs.water.per": line_of(text, "per: revenue"),
    }
    assert len(found) == 5
