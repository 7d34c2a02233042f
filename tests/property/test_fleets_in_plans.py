"""A fleet that search writes is the fleet that the plan then serves with: same layout, batch, rate and verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.catalog.store import open_catalog
from planner.choices import Precision, WeightFormat
from planner.cli.size import with_edits
from planner.evaluate import evaluate
from planner.scenario.limits import LOAD_OUTCOME
from planner.scenario.load import load_scenario
from planner.study.limits import missed_limits
from planner.study.serving_search import FleetGoal, search_serving
from planner.study.sizing_machines import served_of

SCENARIO = """\
schema_version: 1
name: Chat
workloads:
  - id: chat
    kind: serving
    model: llama-3.1-70b
    input_tokens: 1500
    output_tokens: 350
    slo: {ttft_p99_s: 1.5, tpot_p99_s: 0.04}
    load: {requests_per_s: 45.0}
cluster: {groups: [{id: fleet, server: hgx-h200, gpus: 64}]}
site: {location: ireland}
network: {leaf: {switch: sn5600}, spine: {switch: sn5600}}
"""


@pytest.mark.parametrize("spare", [0, 1])
@pytest.mark.parametrize("rate", [0.4, 7.0, 45.0, 310.0])
@pytest.mark.parametrize(
    ("server", "precision", "weights"),
    [
        ("hgx-h200", Precision.FP8, WeightFormat.FP8),
        ("hgx-h200", Precision.BF16, WeightFormat.INT4),
        ("hgx-h100", Precision.FP8, None),
        ("hgx-b200", Precision.FP4, None),
    ],
)
def test_the_plan_serves_with_the_fleet_that_was_written(
    server: str, precision: Precision, weights: WeightFormat | None, rate: float, spare: int, tmp_path: Path
) -> None:
    catalog = open_catalog([])
    path = tmp_path / "chat.yaml"
    path.write_text(SCENARIO)
    load = "workloads.chat.load"
    loaded = load_scenario(
        str(path), changes=[f"{load}.requests_per_s={rate}", f"{load}.spare_replicas={spare}"]
    )
    best = search_serving(
        loaded, catalog, 0, servers=[server], precisions=[precision], weights=[weights] if weights else [],
        goal=FleetGoal.GPUS,
    ).best  # fmt: skip
    written = tmp_path / "best.yaml"
    written.write_text(with_edits(loaded, best.edits))
    plan = evaluate(load_scenario(str(written)), catalog)
    served, capacity = served_of(plan, plan.loaded.scenario.workloads[0]), best.fleet.capacity
    assert served.layout.gpus == pytest.approx(capacity.layout.gpus)
    assert served.layout.attention_ranks == pytest.approx(capacity.layout.attention_ranks)
    assert served.point.batch_sequences == pytest.approx(capacity.point.batch_sequences, rel=1e-9)
    assert served.point.output_tokens_per_s_per_gpu == pytest.approx(
        capacity.point.output_tokens_per_s_per_gpu, rel=1e-9
    )
    assert plan.ledger.scalar(LOAD_OUTCOME) <= 1.0
    assert plan.ledger.scalar("performance.serving.load.gpus") == best.fleet.gpus
    assert missed_limits(plan) == ()
