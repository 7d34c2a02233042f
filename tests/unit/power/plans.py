"""Shipped plans with changes, evaluated."""

from __future__ import annotations

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_scenario

CATALOG = open_catalog()


def tried(name: str, *changes: str) -> Evaluation:
    """A plan, whether it can be built or not."""
    return evaluate(load_scenario(name, changes=changes), CATALOG)


def found(name: str, *changes: str) -> Evaluation:
    """A plan that can be built."""
    evaluation = tried(name, *changes)
    assert evaluation.refusal is None, evaluation.refusal
    return evaluation


def value(evaluation: Evaluation, key: str) -> float:
    """A scalar line."""
    return evaluation.ledger.scalar(key)
