"""What a sizing found, as plain data for programs and rows of files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from planner.study.serving_search import Answer
from planner.study.sizing import Choice, RegionFleet
from planner.study.sizing_network import NetworkEffect
from planner.study.sizing_pools_price import PricedPools
from planner.study.sizing_price import Priced

COSTS: Final = (
    (
        "usd_per_mtoken_output",
        "output, prompts included",
        "every hour of the whole fleet over the load's output tokens",
    ),
    ("usd_per_mtoken_input", "input", "share of GPU time in prompts, over the input tokens"),
    ("usd_per_mtoken_output_decode", "output alone", "the rest of GPU time, over the output tokens"),
    (
        "usd_per_mtoken_output_full",
        "at the objective",
        "if all it could serve in its scheduled hours is sold, as planner run has it",
    ),
    ("usd_per_mtoken_output_saturated", "at saturation", "the same without limits of latency"),
    ("usd_per_mtoken_output_rented", "rented", "the fleet on demand all day"),
    ("usd_per_mtoken_output_autoscaled", "rented, autoscaled", "on demand while replicas run or start"),
    ("usd_per_mtoken_output_api", "at an API", "its prices for the same tokens in and out"),
)
"""Ledger lines ``sizing.*`` of a fleet's tokens, their names and definitions."""
NUMBERS: Final = (
    *(name for name, _, _ in COSTS), "usd_per_hour", "rent_usd_per_gpu_hour", "api_even_requests_per_s",
    "power_w", "tokens_per_j", "busy_fraction",
)  # fmt: skip


def as_object(found: Answer) -> dict[str, object]:
    """The answer for programs."""
    load, objective = found.sizing.load, found.sizing.objective
    workload = found.loaded.scenario.workloads[found.index]
    return {
        "scenario": found.loaded.scenario.name, "workload": workload.id, "model": workload.model,
        "input_tokens": workload.input_tokens, "output_tokens": workload.output_tokens, "by": found.goal.value,
        "prefix_hit_fraction": workload.prefix_hit_fraction,
        "ttft_p99_s": objective.first_token_p99_s, "tpot_p99_s": objective.per_token_p99_s,
        "load": {
            "stated": found.stated, "peak_requests_per_s": load.peak_requests_per_s,
            "joint_peak_requests_per_s": load.joint_peak_requests_per_s,
            "mean_requests_per_s": load.mean_requests_per_s, "spare_replicas": load.spare_replicas,
            "startup_s": load.startup_s,
        },
        "points_tried": found.sizing.tried,
        "fleets": [_fleet_object(one) for one in found.fleets],
        "met_odds": list(found.odds),
        "sure": None if found.sure is None else {
            "fleet": _fleet_object(found.sure.fleet), "met_odds": found.sure.odds, "load_margin_ratio": found.sure.margin,
            "enough": found.sure.enough,
        },
        "pareto": [_point_object(one) for one in found.best.fleet.front],
        "network": {
            "domain": [_effect_object(one) for one in found.domain],
            "across_domains": [_effect_object(one) for one in found.spanning],
            "cache_hand_over": None if found.moved is None else {
                "cache_bytes": found.moved.cache_bytes, "nic_gbit_per_s": found.moved.nic_gbit_per_s,
                "seconds": found.moved.seconds,
            },
        },
        "pools": None if found.pools is None else _pools_object(found.pools),
        "refused": [
            {"server": server, "precision": precision.value, "why": why}
            for server, precision, why in found.sizing.refused
        ],
        "definitions": {name: said for name, _, said in COSTS},
    }  # fmt: skip


def _fleet_object(one: Priced) -> dict[str, object]:
    fleet = one.fleet
    return {
        "server": fleet.candidate.server_id, "precision": fleet.candidate.precision.value,
        "weights": None if fleet.candidate.weights is None else fleet.candidate.weights.value, "gpus": fleet.gpus,
        "tpot_correction_ratio": fleet.candidate.per_token_ratio, "ttft_correction_ratio": fleet.candidate.first_token_ratio,
        "corrected_by_anchors": fleet.candidate.corrected_by_runs, "odd_anchor_points": list(fleet.candidate.odd_points),
        "servers": fleet.servers, "spare_servers": one.spare_servers, "replicas": fleet.replicas, "standing_replicas": fleet.standing,
        "replica_gpus": fleet.replica_gpus, "attention_gpus": int(fleet.capacity.layout.attention_ranks[0]),
        "batch_limit_sequences": batch_limit(fleet.capacity), "mean_gpus": fleet.mean_gpus,
        "at_the_objective": _point_object(fleet.capacity),
        "at_the_peak": _latency_object(Choice(fleet.capacity.layout, fleet.busiest)),
        "at_saturation": _point_object(fleet.saturated),
        "regions": [_region_object(region) for region in fleet.regions],
        **{name: one.value(name) for name in NUMBERS},
        "api": [{"id": api.id, "usd_per_mtoken_output": api.usd_per_mtoken, "as_of": api.as_of} for api in one.api],
        "rental": None if one.rental is None else {"id": one.rental.id, "as_of": one.rental.as_of},
        "points_tried": fleet.tried, "points_within_the_objective": fleet.meeting,
        "why_not_priced": one.why_not, "fields": {dotted(path): value for path, value in one.edits},
    }  # fmt: skip


def _pools_object(one: PricedPools) -> dict[str, object]:
    fleet, split = one.fleet, one.fleet.plan.split
    return {
        "server": fleet.candidate.server_id, "precision": fleet.candidate.precision.value, "gpus": fleet.gpus,
        "servers": fleet.servers, "together_gpus": one.together_gpus, "saved_fraction": one.saved_fraction, **fleet.wish,
        "prefill_replica_requests_per_s": fleet.prefill_per_s, "decode_replica_requests_per_s": fleet.decode_per_s,
        "requests_per_s": split.rate_per_s, "transfer_s": fleet.plan.transfer_s,
        "regions": [
            {
                "id": region.id, "peak_requests_per_s": region.peak_requests_per_s,
                "prefill_replicas": region.prefill_replicas, "decode_replicas": region.decode_replicas,
                "servers": region.servers,
            }
            for region in fleet.regions
        ],
        "usd_per_hour": one.value("usd_per_hour"), "usd_per_mtoken_output": one.value("usd_per_mtoken_output"),
        "why_not_priced": one.why_not, "fields": {dotted(path): value for path, value in one.edits},
    }  # fmt: skip


def _region_object(one: RegionFleet) -> dict[str, object]:
    return {
        "id": one.id, "peak_requests_per_s": one.peak_requests_per_s, "replicas": one.replicas,
        "standing_replicas": one.standing, "servers": one.servers, "mean_replicas": one.mean_replicas,
    }  # fmt: skip


def _latency_object(one: Choice) -> dict[str, object]:
    latency, point = one.point.latency, one.point
    return {
        "requests_per_s": float(point.rate_per_s[0]), "batch_sequences": float(point.batch_sequences[0]),
        "load_fraction": float(point.load_fraction[0]), "ttft_mean_s": _number(latency.first_token_mean_s[0]),
        "ttft_p99_s": _number(latency.first_token_p99_s[0]), "tpot_mean_s": _number(latency.per_token_mean_s[0]),
        "tpot_p99_s": _number(latency.per_token_p99_s[0]),
    }  # fmt: skip


def _point_object(one: Choice) -> dict[str, object]:
    return {
        "replica_gpus": int(one.layout.gpus[0]), "attention_gpus": int(one.layout.attention_ranks[0]),
        "output_tokens_per_s_per_gpu": float(one.point.output_tokens_per_s_per_gpu[0]),
        "output_tokens_per_s_per_user": 1.0 / float(one.point.latency.per_token_mean_s[0]),
        **_latency_object(one),
    }  # fmt: skip


def _effect_object(one: NetworkEffect) -> dict[str, object]:
    return {
        "replica_gpus": one.replica_gpus, "nic_gbit_per_s_per_gpu": one.nic_gbit_per_s,
        "least_tpot_p99_s": _number(one.least_per_token_p99_s),
        "output_tokens_per_s_per_gpu": one.output_tokens_per_s_per_gpu,
        "usd_per_mtoken_output": _number(one.usd_per_mtoken_output),
    }  # fmt: skip


def _number(value: Any) -> float | None:
    """JSON has no infinity."""
    return float(value) if np.isfinite(value) else None


def as_rows(found: Answer) -> list[dict[str, object]]:
    """Fleets as flat rows."""
    rows = []
    for rank, one in enumerate(found.fleets, start=1):
        flat = {
            name: value for name, value in _fleet_object(one).items() if not isinstance(value, (dict, list))
        }
        point = _point_object(one.fleet.capacity)
        rows.append({"rank": rank, **flat, **{f"objective_{name}": value for name, value in point.items()}})
    return rows


def batch_limit(one: Choice) -> int:
    """Sequences that a replica may decode at once and keep the objective."""
    return max(int(one.point.batch_sequences[0]), 1)


def dotted(path: Sequence[str | int]) -> str:
    """A path as ``--set`` takes it."""
    return ".".join(str(step) for step in path)
