"""Serving anchors: points predicted, factors from three or more, refusals, and the lines of a scenario."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planner.catalog.store import Catalog, open_catalog
from planner.choices import Precision
from planner.errors import Place, ScenarioError
from planner.evaluate import evaluate
from planner.performance.serving_anchors import (
    Priors,
    ServingPredictor,
    anchored_endpoints,
    factors,
    priors,
)  # fmt: skip
from planner.scenario.load import load_scenario
from planner.scenario.serving_points import ServedBy, ServingAnchor, ServingPoint

PRIOR = Priors(per_token_bias=0.065, per_token_scatter=0.07, first_token_bias=0.14, first_token_scatter=0.3)
PLAN, KEY = "h200-serving-fleet", "performance.serving"
POINT = ServingPoint(
    model="llama-3.1-70b", gpu="h200-sxm-141gb", engine=ServedBy.VLLM, precision=Precision.FP8, concurrency=16.0,
    isl=1024, osl=256, ttft_ms=300.0, tpot_ms=20.0, tp=2,
)  # fmt: skip


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return open_catalog()


def anchors(
    catalog: Catalog, *, token: float, first: float, engine: ServedBy = ServedBy.VLLM
) -> list[ServingAnchor]:
    """Points that lie by a factor over what the model says."""
    predictor, found = ServingPredictor(catalog), []
    for line, concurrency in enumerate((1.0, 4.0, 16.0, 64.0), 2):
        point = POINT.model_copy(update={"concurrency": concurrency, "engine": engine})
        if engine is ServedBy.PLAIN_TORCH:
            point = point.model_copy(update={"precision": Precision.BF16})
        said = predictor.predict(point)
        ttft = float(said.first_token_s[0]) * 1e3 * first
        measured = {
            "tpot_ms": float(said.per_token_s[0]) * 1e3 * token,
            "ttft_ms": ttft if np.isfinite(ttft) else None,
        }
        found.append(ServingAnchor(point.model_copy(update=measured), Place("mine.csv", line)))
    return found


def table(path: Path, some: list[ServingAnchor]) -> Path:
    names = ("model", "gpu", "engine", "precision", "concurrency", "isl", "osl", "ttft_ms", "tpot_ms", "tp")
    rows = [",".join(str(getattr(one.point, name) or "") for name in names) for one in some]
    path.write_text("\n".join([",".join(names), *rows]) + "\n")
    return path


def test_points_that_agree_with_the_model_leave_it_alone(catalog: Catalog) -> None:
    (found,) = anchored_endpoints(anchors(catalog, token=1.0, first=1.0), catalog)
    given = found.factors(priors(catalog))
    assert given.per_token.value == pytest.approx(1.0)
    assert given.first_token is not None
    assert given.first_token.value == pytest.approx(1.0)
    assert given.per_token.low < 1.0 < given.per_token.high


def test_points_that_agree_with_each_other_are_nearly_believed(catalog: Catalog) -> None:
    (found,) = anchored_endpoints(anchors(catalog, token=1.3, first=0.5), catalog)
    given = found.factors(priors(catalog))
    assert 1.2 < given.per_token.value < 1.3
    assert given.first_token is not None
    assert 0.5 < given.first_token.value < 0.75


def test_more_points_and_less_scatter_are_believed_more() -> None:
    none = np.zeros(0)
    three, twelve = (factors(np.full(count, 0.2), none, PRIOR).per_token.value for count in (3, 12))
    wide = factors(np.array([-0.1, 0.2, 0.5]), none, PRIOR).per_token
    assert wide.value < three < twelve < np.exp(0.2)
    assert wide.high / wide.low > factors(np.full(3, 0.2), none, PRIOR).per_token.high / three


def test_too_few_times_to_the_first_token_correct_none_of_them() -> None:
    assert factors(np.zeros(3), np.zeros(2), PRIOR).first_token is None


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_points_are_refused_with_the_reason(catalog: Catalog, count: int) -> None:
    with pytest.raises(ScenarioError) as caught:
        anchored_endpoints(anchors(catalog, token=1.0, first=1.0)[:count], catalog)
    (problem,) = caught.value.problems
    assert "a single point can make a prediction worse than none" in problem.message
    assert "low, a middle and a high concurrency" in problem.remedy
    assert problem.place is not None
    assert problem.place.line == 2


def test_points_that_the_catalog_cannot_place_are_told_with_their_lines(catalog: Catalog) -> None:
    good = anchors(catalog, token=1.0, first=1.0)[0]
    wrong = [
        replace(good, point=good.point.model_copy(update=change), place=Place("mine.csv", line))
        for line, change in enumerate(({"model": "llama-9"}, {"gpu": "h900"}, {"tp": 64}), 5)
    ]
    with pytest.raises(ScenarioError) as caught:
        anchored_endpoints(wrong, catalog)
    lines = [one.place.line for one in caught.value.problems if one.place is not None]
    assert {5, 6, 7} <= set(lines)


def test_bare_steps_have_a_first_token_for_a_single_request_alone(catalog: Catalog) -> None:
    predictor = ServingPredictor(catalog)
    bare = POINT.model_copy(update={"engine": ServedBy.PLAIN_TORCH, "precision": Precision.BF16})
    alone, many = (predictor.predict(bare.model_copy(update={"concurrency": count})) for count in (1.0, 8.0))
    assert alone.first_token_s[0] > 0.0
    assert np.isnan(many.first_token_s[0])
    assert many.per_token_s[0] > alone.per_token_s[0]


def scalar(*changes: str, name: str) -> float:
    found = evaluate(load_scenario(PLAN, changes=changes), open_catalog())
    return float(found.ledger.scalar(f"{KEY}.{name}"))


def test_a_scenario_is_corrected_and_shows_both(catalog: Catalog, tmp_path: Path) -> None:
    mine = table(tmp_path / "mine.csv", anchors(catalog, token=0.9, first=1.3))
    change = f"anchors=[{mine}]"
    ratio = scalar(change, name="model_error_ratio")
    assert 0.9 < ratio < 0.95
    before = scalar(change, name="tpot_without_anchor_s")
    assert scalar(change, name="tpot_mean_s") == pytest.approx(before * ratio)
    first = scalar(change, name="first_token_error_ratio")
    assert first > 1.1
    assert scalar(change, name="ttft_mean_s") == pytest.approx(
        scalar(change, name="ttft_without_anchor_s") * first
    )
    # faster tokens than predicted leave room for more sequences within the same limit
    assert scalar(change, name="batch_sequences") > scalar(name="batch_sequences")
    assert scalar(change, name="tpot_p99_s") <= 0.05


def test_a_source_names_table_line_and_points(catalog: Catalog, tmp_path: Path) -> None:
    mine = table(tmp_path / "mine.csv", anchors(catalog, token=1.1, first=1.0))
    found = evaluate(load_scenario(PLAN, changes=(f"anchors=[{mine}]",)), catalog)
    line = found.ledger[f"{KEY}.model_error_ratio"]
    source = getattr(line, "source")  # noqa: B009 - given lines alone have one
    assert source.where == f"{mine}:2"
    assert "4 measured points of llama-3.1-70b, fp8, vllm" in source.note


def test_points_of_another_endpoint_change_nothing_but_the_note(catalog: Catalog, tmp_path: Path) -> None:
    other = [
        replace(one, point=one.point.model_copy(update={"engine": ServedBy.SGLANG}))
        for one in anchors(catalog, token=2.0, first=2.0)
    ]
    mine = table(tmp_path / "mine.csv", other)
    assert scalar(f"anchors=[{mine}]", name="tpot_mean_s") == pytest.approx(scalar(name="tpot_mean_s"))
    found = evaluate(load_scenario(PLAN, changes=(f"anchors=[{mine}]",)), catalog)
    assert "sglang on h200" in getattr(found.ledger[f"{KEY}.model_error_ratio"], "source").note  # noqa: B009 - as above


def test_bare_steps_speak_for_the_accelerator_with_a_wider_band(catalog: Catalog, tmp_path: Path) -> None:
    bare = table(tmp_path / "bare.csv", anchors(catalog, token=1.1, first=1.0, engine=ServedBy.PLAIN_TORCH))
    own = [
        replace(one, point=one.point.model_copy(update={"precision": Precision.BF16}))
        for one in anchors(catalog, token=1.1, first=1.0)
    ]
    mine = table(tmp_path / "mine.csv", own)
    change = "workloads.chat.precision=bf16"
    spans = []
    for path in (bare, mine):
        found = evaluate(load_scenario(PLAN, changes=(f"anchors=[{path}]", change)), catalog)
        line = found.ledger[f"{KEY}.model_error_ratio"]
        spans.append(line.high / line.low)  # type: ignore[attr-defined]  # given lines have a range
    assert spans[0] > spans[1]
