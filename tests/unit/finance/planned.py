"""Ledgers of the scenario that uses every term of money, with changes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from planner.arrays import Floats
from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Ledger
from planner.scenario.load import load_scenario

SCENARIO = Path(__file__).parents[2] / "every-money-term.yaml"


@cache
def evaluated(*changes: str) -> Evaluation:
    """The scenario as it stands, or with changes as given to ``--set``."""
    found = evaluate(load_scenario(SCENARIO, changes=changes), open_catalog())
    assert found.built is not None, found.refusal
    return found


def ledger(*changes: str) -> Ledger:
    """Its ledger."""
    return evaluated(*changes).ledger


def series(book: Ledger, key: str) -> Floats:
    """Values by month, shape (1, months)."""
    return book.value(key)[:1]


def scalar(book: Ledger, key: str) -> Floats:
    """A value, shape (1,)."""
    return book.value(key)[:1]
