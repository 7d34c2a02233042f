"""Parts of a replica's latencies."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.performance.inference import Layout
from planner.performance.serving import operating_point
from planner.performance.serving_anatomy import decode_parts
from planner.scenario.limits import SATURATED_LOAD, judged_latency_s, saturated
from planner.scenario.load import load_scenario
from planner.study.limits import missed_limits
from tests.serving_fleet import candidate

KEY = "performance.serving"


def test_the_parts_of_a_step_add_up_to_the_operating_points_step() -> None:
    one, two = candidate(), Layout(np.array([2.0]), np.array([2.0]))
    batch = np.array([12.0])
    parts, weights = decode_parts(one.server, one.requests, two, batch)
    point = operating_point(one.server, requests=one.requests, layout=two, batch_sequences=batch)
    assert parts.total_s == pytest.approx(point.decode_s, rel=1e-9)
    assert 0.0 < weights[0] < parts.total_s[0]


def test_tails_are_the_product_of_their_lines_and_the_load_judges_them() -> None:
    catalog = open_catalog([])
    load = "workloads.chat.load"
    plain = evaluate(load_scenario("h200-serving-fleet", changes=[f"{load}.requests_per_s=20"]), catalog)
    ledger = plain.ledger
    tpot = ledger.scalar(f"{KEY}.step.decode_s")
    for name in ("tpot.prompts_ratio", "tpot.spread_ratio", "model_error_ratio"):
        tpot *= ledger.scalar(f"{KEY}.{name}")
    tpot *= ledger.scalar("assumption.tail_per_token_ratio")
    assert tpot == pytest.approx(ledger.scalar(f"{KEY}.tpot_p99_s"), rel=1e-9)
    ttft = ledger.scalar(f"{KEY}.ttft.mean_s") * ledger.scalar(f"{KEY}.first_token_error_ratio")
    assert ttft == pytest.approx(ledger.scalar(f"{KEY}.ttft_mean_s"), rel=1e-6)
    assert not saturated(ledger)
    assert judged_latency_s(ledger, "outcome.tpot_p99_s") == ledger.scalar(f"{KEY}.load.tpot_p99_s")
    full = evaluate(load_scenario("h200-serving-fleet", changes=[f"{load}.requests_per_s=1e5"]), catalog)
    assert full.ledger.scalar(SATURATED_LOAD) > 1.0
    assert judged_latency_s(full.ledger, "outcome.ttft_p99_s") == np.inf
    said = [one.key for one in missed_limits(full)]
    assert len(said) == 3 and any(key.endswith("tpot_p99_s") for key in said)
