"""Scenarios side by side as one JSON object."""

from __future__ import annotations

from typing import Any

import planner
from planner.present.view.compare import flip_text, lead
from planner.present.view.outcomes import headlines, verdict
from planner.study.compare import Comparison, Entrant, OutcomeRow, Turn


def as_object(comparison: Comparison) -> dict[str, Any]:
    """Everything of a comparison; lists go by the order of the scenarios, and what has no number is null."""
    return {
        "schema_version": 1,
        "version": planner.__version__,
        "finding": lead(comparison),
        "draws": comparison.draws,
        "scenarios": [_entrant(one) for one in comparison.entrants],
        "outcomes": {row.key: _outcome(comparison, row) for row in comparison.outcomes},
        "inputs": {row.field: list(row.values) for row in comparison.inputs},
        "inputs_the_same": comparison.equal_inputs,
        "design": {row.key: list(row.values) for row in comparison.design},
        "money": {row.key: list(row.values) for row in comparison.money},
        "would_turn": [_turn(comparison, one) for one in comparison.turns],
    }


def _entrant(one: Entrant) -> dict[str, Any]:
    said, meets = verdict(one.evaluation, headlines(one.evaluation))
    return {
        "letter": one.letter, "name": one.name, "file": one.evaluation.loaded.document.path,
        "scenario_hash": one.evaluation.loaded.digest(), "catalog_hash": one.evaluation.parts.catalog.digest(),
        "feasible": one.built, "verdict": said, "meets": meets,
    }  # fmt: skip


def _outcome(comparison: Comparison, row: OutcomeRow) -> dict[str, Any]:
    spreads = [one.evaluation.ranges.get(row.key) for one in comparison.entrants]
    return {
        "label": row.label, "unit": row.unit, "better": "higher" if row.higher else "lower", "values": list(row.values),
        "p10": [None if one is None else one.p10 for one in spreads],
        "p90": [None if one is None else one.p90 for one in spreads],
        "best": _letter(comparison, row.best), "rival": _letter(comparison, row.rival),
        "best_in_share_of_draws": row.odds, "sure": row.sure,
    }  # fmt: skip


def _letter(comparison: Comparison, place: int | None) -> str | None:
    return None if place is None else comparison.entrants[place].letter


def _turn(comparison: Comparison, one: Turn) -> dict[str, Any]:
    return {
        "outcome": one.key, "from": _letter(comparison, one.better), "to": _letter(comparison, one.other),
        "inputs": list(one.flip.factor.keys), "score": one.flip.score, "value": one.flip.value,
        "planned": one.flip.planned, "words": flip_text(comparison.entrants[one.better].evaluation, one.flip),
    }  # fmt: skip
