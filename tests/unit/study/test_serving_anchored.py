"""Serving rows with anchors: which rows they touch, and what three points do for the shipped table's endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from planner.catalog.store import Catalog, open_catalog
from planner.choices import Precision
from planner.errors import Place
from planner.performance.serving_anchors import priors
from planner.resources import shipped
from planner.scenario.serving_points import ServedBy, ServingAnchor, ServingPoint
from planner.study.fidelity.inference import TPOT, TTFT, predict_inference
from planner.study.fidelity.rows import read_rows
from planner.study.fidelity.schema import InferenceRow
from planner.study.fidelity.scoring import Result
from planner.study.serving_anchored import anchored_serving, left_out

MODEL, GPU = "Llama-3.1-70B", "h100-sxm5-80gb"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return open_catalog()


@pytest.fixture(scope="module")
def rows() -> list[InferenceRow]:
    return read_rows([shipped("catalog") / "measured" / "serving.csv"]).inference


@pytest.fixture(scope="module")
def results(rows: Sequence[InferenceRow], catalog: Catalog) -> list[Result]:
    return predict_inference(rows, catalog)


def point(row: InferenceRow, model: str, line: int) -> ServingAnchor:
    assert isinstance(row.concurrency, float)
    assert row.isl and row.osl and row.tp and row.metrics.tpot_mean_ms
    return ServingAnchor(
        ServingPoint(
            model=model, gpu=GPU, engine=ServedBy.VLLM, precision=Precision.FP8, concurrency=row.concurrency,
            isl=round(row.isl), osl=round(row.osl), tpot_ms=row.metrics.tpot_mean_ms, ttft_ms=row.metrics.ttft_mean_ms,
            tp=row.tp,
        ),
        Place("mine.csv", line),
    )  # fmt: skip


def test_anchors_touch_rows_of_their_endpoint_alone(rows: list[InferenceRow], catalog: Catalog) -> None:
    mine = [
        row for row in rows
        if "Llama-3.1-70B" in row.model and row.gpu.startswith("h100") and "vLLM" in row.engine and row.precision == "fp8"
    ]  # fmt: skip
    assert len(mine) > 20
    anchors = [point(row, "llama-3.1-70b", line) for line, row in enumerate(mine[:: len(mine) // 5], 2)]
    some = [*mine, *(row for row in rows if "SGLang" in row.engine)][:300]
    found = anchored_serving(some, catalog, anchors)
    (factors,) = found.factors.values()
    touched = {one.id.rpartition(".")[0] for one in found.before}
    assert touched <= {row.id for row in mine}
    assert found.others == len(some) - len(touched)
    for before, after in zip(found.before, found.after, strict=True):
        ratio = factors.per_token if before.target == TPOT else factors.first_token
        assert ratio is not None
        assert before.predicted is not None
        assert after.predicted == pytest.approx(before.predicted * ratio.value)
        assert after.low == pytest.approx(before.predicted * ratio.low)


@pytest.mark.parametrize(
    ("target", "median", "mean"), [(TPOT, 0.06, 0.085), (TTFT, 0.20, 0.27)], ids=[TPOT, TTFT]
)
def test_three_points_of_an_endpoint_help_its_other_rows(
    rows: list[InferenceRow], results: list[Result], catalog: Catalog, target: str, median: float, mean: float
) -> None:
    found = left_out(rows, results, priors(catalog), target=target)
    print(
        f"{target}: {found.rows} rows of {found.endpoints} endpoints, median {found.before_median:.1%} -> "
        f"{found.after_median:.1%}, mean {found.before_mean:.1%} -> {found.after_mean:.1%}, held {found.held_fraction:.0%}"
    )
    assert found.endpoints >= 20
    assert found.after_median <= median
    assert found.after_mean <= mean
    assert found.after_mean < found.before_mean
    assert 0.75 <= found.held_fraction <= 0.88


def test_five_points_help_more_than_three(
    rows: list[InferenceRow], results: list[Result], catalog: Catalog
) -> None:
    three, five = (left_out(rows, results, priors(catalog), target=TPOT, points=count) for count in (3, 5))
    assert five.after_mean < three.after_mean


def test_a_biased_endpoint_is_put_right(
    rows: list[InferenceRow], results: list[Result], catalog: Catalog
) -> None:
    slower = [
        replace(one, predicted=one.predicted * 0.7) if one.predicted is not None else one for one in results
    ]
    found = left_out(rows, slower, priors(catalog), target=TPOT)
    assert found.before_median > 0.25
    assert found.after_median < 0.5 * found.before_median


def test_points_as_the_model_says_them_leave_rows_as_they_are(
    rows: list[InferenceRow], catalog: Catalog
) -> None:
    """Points and rows are predicted alike, caches of the engine included: a factor corrects the model and no difference
    between two readings of one run."""
    said = [
        row.model_copy(update={"lengths": "", "id": f"r{at}"}) for at, row in enumerate(rows)
        if "Llama-3.1-70B" in row.model and row.gpu.startswith("h100") and row.tp == 8
    ][:6]  # fmt: skip
    found = {one.id: one.predicted for one in predict_inference(said, catalog)}
    exact = [
        row.model_copy(
            update={
                "metrics": row.metrics.model_copy(
                    update={"tpot_mean_ms": found[f"{row.id}.tpot"] * 1e3, "ttft_mean_ms": found[f"{row.id}.ttft"] * 1e3}  # type: ignore[operator]
                )
            }
        )
        for row in said
    ]  # fmt: skip
    anchors = [point(row, "llama-3.1-70b", line) for line, row in enumerate(exact, 2)]
    (factor,) = anchored_serving(exact, catalog, anchors).factors.values()
    assert factor.per_token.value == pytest.approx(1.0, abs=1e-6)
    assert factor.first_token is not None and factor.first_token.value == pytest.approx(1.0, abs=1e-6)
