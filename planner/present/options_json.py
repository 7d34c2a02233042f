"""Own, lease or rent as one JSON object."""

from __future__ import annotations

import math
from typing import Any

import planner
from planner.present.view.options import METRICS, lead
from planner.study.options import Comparison, Option

NAMES = (
    "npv_usd", "usd_per_gpu_hour", "varying_npv_usd", "saved_npv_usd", "difference_rate_fraction",
    "rent_usd_per_gpu_hour", "rent_usd", "price_usd",
)  # fmt: skip


def as_object(comparison: Comparison) -> dict[str, Any]:
    """Everything of the comparison, ledger values under their keys; what has no number is null."""
    ledger = comparison.ledger
    return {
        "schema_version": 1,
        "version": planner.__version__,
        "scenario": comparison.evaluation.loaded.scenario.name,
        "scenario_hash": comparison.evaluation.loaded.digest(),
        "finding": lead(comparison),
        "hours": {
            "which": "scheduled (timing.gpu_hours_sold)",
            "gpu_hours": float(ledger.value("timing.gpu_hours_sold")[0].sum()),
            "utilisation_fraction": ledger.scalar("money.utilisation_fraction"),
            "months": ledger.months,
        },
        "reference": comparison.reference.id,
        "options": [_option(one) for one in comparison.options],
        "pairs": [
            {
                "option": pair.option.id, "other": pair.other.id,
                "break_even_utilisation_fraction": pair.utilisation_fraction, "break_even_month": pair.month,
            }
            for pair in comparison.pairs
        ],
        "operator": {
            line.key: {"value": _scalar(ledger.scalar(line)), "unit": line.unit, "label": line.label}
            for line in ledger
            if (line.key.startswith("operator.") and "_year" in line.key) or line.key in {key for key, *_ in METRICS}
        },
        "left_out": [{"what": name, "why": why} for name, why in comparison.left_out],
    }  # fmt: skip


def _option(one: Option) -> dict[str, Any]:
    found: dict[str, Any] = {"id": one.id, "label": one.label, "way": one.way.value, "notes": list(one.notes)}
    if one.offer is not None:
        found |= {
            "provider": one.offer.provider, "term_months": one.offer.term_months, "price_date": one.offer.as_of,
        }  # fmt: skip
    keys = [f"options.{one.id}.{name}" for name in NAMES]
    found["lines"] = {
        key: {"value": _scalar(one.ledger.scalar(key)), "unit": one.ledger[key].unit, "label": one.ledger[key].label,
              "note": one.ledger[key].note}
        for key in keys
        if key in one.ledger
    }  # fmt: skip
    found["cash_usd"] = [float(value) for value in one.cash]
    return found


def _scalar(value: float) -> float | None:
    return value if math.isfinite(value) else None
