"""Serving steps that the benchmark measured on one and two H200s, against the class plain-torch.

Matrix products, attention and all-reduces come from the H200's profile, which other runs measured. The small kernels'
constants are measured by the shipped run one by one, and the start of a kernel is found on eight of its 184 steps; all
others are predictions, and so is every step of the run before it, on another machine, and of a third, which was made
after every constant stood. Run with -s for the table.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner.catalog.store import Catalog, open_catalog
from planner.measure.run.serve_cases import CONTEXTS, DECODE, PREFILL, SEQUENCES
from planner.resources import shipped
from planner.study.torch_bench import CALIBRATED, Compared, compared, errors_of, kernel_start_s

GPU = "h200-sxm-141gb"
ASKED = {(1, PREFILL): 0.06, (1, DECODE): 0.06, (2, PREFILL): 0.06, (2, DECODE): 0.10}
"""Median errors asked of the model, by GPUs and phase."""
REACHED_P90 = {(1, PREFILL): 0.08, (1, DECODE): 0.08, (2, PREFILL): 0.09, (2, DECODE): 0.11}
"""What nine of ten steps stay within. 70B decode on one GPU is 7 % too fast: the two runs' products differ so much."""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return open_catalog()


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return found


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return read(shipped("catalog") / "profiles" / "raw" / f"{GPU}.bench.serve.json.gz")


@pytest.fixture(scope="module", params=["shipped", "first", "third"])
def steps(request: pytest.FixtureRequest, document: dict[str, Any], catalog: Catalog) -> list[Compared]:
    saved = Path(__file__).parents[1] / "unit" / "measure" / "data" / f"h200-x2-serve-{request.param}.json.gz"
    return compared(document if request.param == "shipped" else read(saved), catalog, GPU)


def unseen(steps: list[Compared]) -> list[Compared]:
    """Steps that no constant was found on."""
    return [
        one for one in steps
        if (one.step.model, one.step.ranks, one.step.tokens) != CALIBRATED or one.step.phase != DECODE
    ]  # fmt: skip


def test_steps_are_predicted_on_one_and_two_gpus(steps: list[Compared]) -> None:
    for (ranks, phase), asked in ASKED.items():
        mine = [one for one in unseen(steps) if (one.step.ranks, one.step.phase) == (ranks, phase)]
        found = errors_of(mine)
        print(
            f"{ranks} GPU {phase:<8}{found.count:>4} steps  median {found.median:6.1%}  p90 {found.p90:6.1%}"
            f"  bias {found.bias:+6.1%}"
        )
        assert found.median <= asked, (ranks, phase)
        assert found.p90 <= REACHED_P90[ranks, phase], (ranks, phase)


def test_both_models_and_every_batch_and_context_are_judged(steps: list[Compared]) -> None:
    for model in ("llama-3.1-8b", "llama-3.1-70b"):
        for ranks in (1, 2):
            mine = [one.step for one in steps if (one.step.model, one.step.ranks) == (model, ranks)]
            assert {(one.sequences, one.tokens) for one in mine if one.phase == DECODE} == {
                (count, context) for count in SEQUENCES for context in CONTEXTS
            }
            assert min(one.tokens for one in mine if one.phase == PREFILL) == 1024


def test_no_batch_and_no_context_is_far_off(steps: list[Compared]) -> None:
    decodes = [one for one in unseen(steps) if one.step.phase == DECODE]
    for name, values in (("sequences", SEQUENCES), ("tokens", CONTEXTS)):
        for value in values:
            found = errors_of([one for one in decodes if getattr(one.step, name) == value])
            print(f"{name:<10}{value:>6}  median {found.median:6.1%}  bias {found.bias:+6.1%}")
            assert found.median <= 0.08, (name, value)


def test_the_order_of_steps_by_time_is_the_measured_one(steps: list[Compared]) -> None:
    for ranks in (1, 2):
        mine = [one for one in steps if one.step.ranks == ranks and one.step.phase == DECODE]
        measured = np.argsort(np.argsort([one.step.step_s for one in mine]))
        said = np.argsort(np.argsort([float(one.predicted.total_s[0]) for one in mine]))
        assert np.corrcoef(measured, said)[0, 1] >= 0.98


def test_the_start_of_a_kernel_is_what_the_run_gives(document: dict[str, Any], catalog: Catalog) -> None:
    figure, _ = catalog.figure("plain-torch", "plain_torch_kernel_start_s")
    assert figure.value == pytest.approx(kernel_start_s(document, catalog, GPU), rel=0.01)
