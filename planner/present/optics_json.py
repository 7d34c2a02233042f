"""The optics decision as one JSON object."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import planner
from planner.present.view.optics import ROWS, lead, variant_notes
from planner.study.optics import Comparison, Variant

EXTRA = (
    "optics.pumps_w", "optics.repair_gpu_hours_per_year", "optics.restart_gpu_hours_per_year", "optics.lost_npv_usd",
    "optics.energy_npv_usd", "optics.npv_kwh", "tco.npv_usd", "power.it_w", "power.it_peak_w", "power.facility_w",
)  # fmt: skip


def as_object(comparison: Comparison) -> dict[str, Any]:
    """Everything of the comparison, ledger values under their keys."""
    return {
        "schema_version": 1,
        "version": planner.__version__,
        "scenario": comparison.loaded.scenario.name,
        "scenario_hash": comparison.loaded.digest(),
        "day": comparison.day,
        "finding": lead(comparison),
        "reference": comparison.reference.approach.value,
        "best": comparison.best.approach.value if comparison.best is not None else None,
        "variants": [_variant(one) for one in comparison.variants],
        "notes": list(variant_notes(comparison)),
        "break_even_energy": [asdict(one) for one in comparison.energy],
        "break_even_length": [
            {
                "lane_rate_gbit_per_s": row.lane_rate_gbit_per_s, "rate_gbit_per_s": row.rate_gbit_per_s,
                "copper": row.cable.id, "module": row.module.id, "reach_m": row.reach_m, "copper_usd": row.copper_usd,
                "optics_usd": row.optics_usd, "copper_wins_from_m": row.from_m, "copper_wins_to_m": row.to_m,
                "even_module_usd": row.even_module_usd,
            }
            for row in comparison.lengths
        ],
        "saved_watts": {
            approach.value: {**asdict(saved), "gpus": saved.gpus, "limited_by": saved.limited_by}
            for approach, saved in comparison.saved.items()
        },
        "wait": asdict(comparison.wait) if comparison.wait is not None else None,
        "claims": [asdict(claim) for claim in comparison.claims],
    }  # fmt: skip


def _variant(one: Variant) -> dict[str, Any]:
    found: dict[str, Any] = {
        "approach": one.approach.value,
        "why_not": one.why_not,
        "changes": dict(one.plan.changes),
        "notes": list(one.plan.notes),
        "orderable": one.orderable,
        "roadmap": list(one.plan.roadmap),
    }
    if one.evaluation is not None:
        keys = (*(key for _, _, key, _ in ROWS), *EXTRA)
        found["lines"] = {
            key: {"value": one.value(key), "unit": one.ledger[key].unit, "label": one.ledger[key].label}
            for key in keys
            if key in one.ledger
        }
    return found
