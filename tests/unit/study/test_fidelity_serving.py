"""Rows of serving tables: degrees of snapshots, rules that leave rows out, and predictions of many at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.study.fidelity.inference import QUEUE, predict_inference
from planner.study.fidelity.rows import read_rows
from planner.study.fidelity.schema import InferenceRow
from planner.study.fidelity.serving_batch import ServingBatch, serving_figures
from planner.study.fidelity.serving_cases import Load, ServingCase, ServingCases
from planner.study.fidelity.serving_degrees import degrees_of
from planner.study.fidelity.serving_rules import (
    CAPPED,
    DUPLICATE,
    NO_CONCURRENCY,
    NO_WORKERS,
    SATURATED,
    SPECULATION,
    exclusions,
)

CATALOG = open_catalog()


def row(**changes: Any) -> InferenceRow:
    data = {
        "id": "i", "group": "C", "family": "f", "src": "vllm", "model": "meta-llama/Llama-3.1-70B", "gpu": "h100_sxm",
        "n_gpus": 4, "tp": 4, "ep": 1, "precision": "fp8", "isl": 1024, "osl": 1024, "concurrency": 32.0,
        "engine": "vLLM 0.19", "scenario": "agg", "lengths": "spread",
        "metrics": {"ttft_mean_ms": 200.0, "tpot_mean_ms": 15.0},
    }  # fmt: skip
    return InferenceRow.model_validate(data | changes)


@pytest.mark.parametrize(
    ("origin", "degrees", "gpus", "attention", "dealt"),
    [
        ("2026-03-25", ("8", "1", "1", "8"), 8, 8, 8),
        ("2026-03-25", ("1", "8", "1", "8"), 8, 1, 8),
        ("2026-04-06", ("16", "", "4", "4"), 4, 4, 4),
        ("2026-04-06", ("1", "64", "8", "8"), 8, 1, 8),
        ("db-dump/2026-04-27", ("4", "4", "1", "16"), 4, 4, 4),
        ("Qwen_Qwen3-235B-A22B-FP8", ("4", "", "2", "2"), 4, 4, 2),
    ],
)
def test_degrees_of_every_snapshot_name_the_same_gpus(
    origin: str, degrees: tuple[str, ...], gpus: int, attention: int, dealt: int
) -> None:
    names = ("tp_size", "attention_dp_size", "moe_tp_size", "moe_ep_size")
    found = degrees_of({"origin": origin, **dict(zip(names, degrees, strict=True))})
    assert (found["n_gpus"], found["tp"], found["ep"]) == (gpus, attention, dealt)


def test_each_rule_leaves_its_rows_out_and_the_first_of_equal_rows_counts() -> None:
    slow = {"ttft_mean_ms": 30_000.0, "tpot_mean_ms": 5.0}
    rows = [
        row(), row(id="again"), row(scenario="disagg"), row(concurrency=None),
        row(concurrency=512.0, metrics=slow), row(model="deepseek-ai/DeepSeek-R1", engine="TensorRT-LLM 1.2.0rc6.post3"),
        row(isl=2048),
    ]  # fmt: skip
    assert exclusions(rows) == {1: DUPLICATE, 2: NO_WORKERS, 3: NO_CONCURRENCY, 4: CAPPED, 5: SPECULATION}


def test_a_row_that_is_left_out_says_by_which_rule() -> None:
    found = predict_inference([row(), row(id="again")], CATALOG)
    assert [one.why_not for one in found] == ["", "", DUPLICATE, DUPLICATE]


def test_at_the_edge_of_the_memory_there_is_no_time_to_the_first_token_and_far_beyond_it_a_queues() -> None:
    # 70 GB of weights on two GPUs of 85 GB leave room for some 40 sequences of this length with wide caches
    common: dict[str, Any] = {"tp": 2, "n_gpus": 2, "isl": 4096, "osl": 4096}
    found = [
        predict_inference([row(concurrency=count, **common)], CATALOG) for count in (20.0, 45.0, 90.0, 180.0)
    ]
    assert all(tpot.predicted is not None for tpot, _ in found)
    few, edge, many, more = (ttft for _, ttft in found)
    assert edge.why_not == SATURATED
    assert QUEUE not in few.assumed and QUEUE in many.assumed
    # whoever comes beyond what fits waits for as many turns as there are others
    assert more.predicted > 2.5 * many.predicted > 25.0 * few.predicted  # type: ignore[operator]


def test_a_batch_equals_its_members() -> None:
    maker = ServingCases(CATALOG)
    rows = [
        row(), row(concurrency=128.0), row(precision="bf16", tp=8, n_gpus=8),
        row(model="Qwen/Qwen3-235B-A22B", tp=8, n_gpus=8, ep=8, precision="fp8_block"),
        row(model="openai/gpt-oss-120b", precision="nvfp4", expert_precision="nvfp4", tp=2, n_gpus=2),
        row(engine="SGLang 0.5.1", lengths="fixed"),
    ]  # fmt: skip
    cases = [case for case in map(maker.of, rows) if isinstance(case, ServingCase)]
    assert len(cases) == len(rows)
    figure = serving_figures(CATALOG)
    together = ServingBatch(cases).predict(figure)
    for place, case in enumerate(cases):
        alone = ServingBatch([case]).predict(figure)
        np.testing.assert_allclose(alone.per_token_s[0], together.per_token_s[place], rtol=1e-12)
        np.testing.assert_allclose(alone.first_token_s[0], together.first_token_s[place], rtol=1e-12)


def test_a_decode_worker_over_two_nodes_waits_for_the_network() -> None:
    maker, figure = ServingCases(CATALOG), serving_figures(CATALOG)
    common: dict[str, Any] = {
        "model": "deepseek-ai/DeepSeek-R1", "scenario": "disagg", "decode_workers": 2, "concurrency": 8.0, "gpu": "h200",
    }  # fmt: skip
    two, one = (maker.of(row(tp=ranks, ep=ranks, n_gpus=2 * ranks, **common)) for ranks in (16, 8))
    assert isinstance(two, ServingCase) and isinstance(one, ServingCase)
    assert (two.load, two.domains, two.in_flight[0]) == (Load.DECODE, 2, 4.0)
    # twice the ranks, and yet the step is longer: all-reduces of a few kB cost tens of microseconds there
    times = [float(ServingBatch([case]).predict(figure).per_token_s[0]) for case in (two, one)]
    assert times[0] > times[1]


def test_a_table_with_remarks_names_its_publication(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        "# title: Somebody's runs\n# url: https://example.org/runs\n"
        "id,backend,model_path,system,mode,isl,osl,concurrency,tp_size,silicon_ttft_ms,silicon_tpot_ms\n"
        "a,vllm,meta-llama/Llama-3.1-70B,h100_sxm,agg,1024,1024,16,four,200,15\n"
        "b,vllm,meta-llama/Llama-3.1-70B,h100_sxm,agg,1024,1024,16,4,200,15\n"
    )
    with pytest.raises(Exception, match=r"runs\.csv:4"):
        read_rows([path])
    path.write_text(path.read_text().replace("four", "2"))
    assert {one.source.title for one in read_rows([path]).inference} == {"Somebody's runs"}
