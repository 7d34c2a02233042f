"""The risk of a plan as one JSON object."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import planner
from planner.evaluate import Evaluation
from planner.finance.uncertainty import Factor
from planner.present.json_output import SCHEMA_VERSION


def as_object(evaluation: Evaluation) -> dict[str, Any]:
    """Everything that `planner.study.risk.with_risk` found; results with ``_p10``, ``_p50`` and ``_p90`` siblings."""
    risk, ledger = evaluation.risk, evaluation.ledger
    assert risk is not None
    results: dict[str, float] = {}
    for key, found in evaluation.ranges.items():
        error = risk.errors[key]
        results |= {
            key: ledger.scalar(key), f"{key}_p10": found.p10, f"{key}_p50": found.p50, f"{key}_p90": found.p90,
            f"{key}_p10_error": error.p10, f"{key}_p50_error": error.p50, f"{key}_p90_error": error.p90,
        }  # fmt: skip
    swings = (*risk.swings, *((risk.rest,) if risk.rest is not None else ()))
    return {
        "schema_version": SCHEMA_VERSION,
        "version": planner.__version__,
        "scenario": evaluation.loaded.scenario.name,
        "scenario_hash": evaluation.loaded.digest(),
        "catalog_hash": evaluation.parts.catalog.digest(),
        "seed": risk.seed,
        "draws": risk.draws,
        "hypercubes": risk.cubes,
        "inputs": risk.inputs,
        "key": risk.key,
        "units": {key: ledger[key].unit for key in evaluation.ranges},
        "results": results,
        "convergence": [asdict(one) for one in risk.convergence],
        "odds": [{**asdict(one), "unit": ledger[one.key].unit} for one in risk.odds],
        "tornado": [
            {**_factor(one.factor), "at_p10": one.at_low, "at_p90": one.at_high} for one in swings
        ],
        "variance": {
            "rows": risk.share_rows,
            "shares": [
                {
                    **_factor(one.factor), "first": one.first, "first_error": one.first_error, "total": one.total,
                    "total_error": one.total_error,
                }
                for one in risk.shares
            ],
        },
        "next": [
            {
                **_factor(one.factor), "kind": one.kind.value, "words": one.words, "first": one.share,
                "narrower_fraction": one.narrower_fraction,
            }
            for one in risk.steps
        ],
        "assumed": [asdict(one) for one in risk.ties],
    }  # fmt: skip


def _factor(factor: Factor | None) -> dict[str, Any]:
    if factor is None:
        return {"input": None, "keys": []}
    return {
        "input": factor.name, "keys": list(factor.keys), "p10": factor.low, "p90": factor.high,
        "correlation": factor.correlation if len(factor.keys) > 1 else None, "why_together": factor.why,
    }  # fmt: skip
