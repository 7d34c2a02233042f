"""Training steps that the benchmark measured on one and two H200s, against the model with and without an anchor."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from planner.catalog.store import Catalog, open_catalog
from planner.documents import parse_document
from planner.measure.parse.train_steps import anchor_run, measured_steps
from planner.performance.anchors import AnchorStep, anchor_steps
from planner.scenario.anchors import read_anchors
from planner.study.anchored import catalog_ratio, predicted_s

DATA = Path(__file__).parents[1] / "unit" / "measure" / "data"
WITHOUT, WITH = 0.08, 0.03
"""Median errors asked of the model without and with an anchor of other sizes than those judged."""
HOST_BOUND = 1
"""Sequences of 2,048 tokens below which FSDP's host was the slower one on this machine; not the device's time."""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return open_catalog()


def steps(catalog: Catalog, *, compiled: bool | None) -> list[AnchorStep]:
    document = json.loads(gzip.decompress((DATA / "h200-x2-train.json.gz").read_bytes()))
    found: list[AnchorStep] = []
    for kind in (False, True):
        points = [
            one for one in measured_steps(document)
            if one["compiled"] is kind and one["microbatch_sequences"] > HOST_BOUND and compiled in (None, kind)
        ]  # fmt: skip
        runs = [
            anchor_run(one, accelerator="h200-sxm-141gb", date="2026-11-30", attention="cudnn")
            for one in points
        ]
        if runs:
            read, wrong = read_anchors(parse_document(json.dumps({"runs": runs}), name="bench"))
            assert not wrong
            found += anchor_steps(read, catalog)
    return found


def median_error(some: Sequence[AnchorStep], catalog: Catalog, ratio: float = 1.0) -> float:
    errors = [predicted_s(one, catalog) * ratio / one.anchor.run.measured_s - 1.0 for one in some]
    return float(np.median(np.abs(errors)))


def test_steps_on_one_and_two_gpus_are_predicted_without_an_anchor(catalog: Catalog) -> None:
    every = steps(catalog, compiled=None)
    assert len(every) == 24
    assert median_error(every, catalog) <= WITHOUT


@pytest.mark.parametrize("width", ["h2048", "h4096"])
def test_an_anchor_of_each_mode_at_one_size_predicts_the_other_sizes_and_modes(
    catalog: Catalog, width: str
) -> None:
    every = steps(catalog, compiled=False)
    mine = [one for one in every if one.anchor.run.id.endswith(f"{width}-4096x2")]
    others = [one for one in every if one not in mine]
    assert len(mine) == 4
    ratio = catalog_ratio(mine, catalog)
    assert median_error(others, catalog, ratio.value) <= WITH
    held = [
        ratio.low <= one.anchor.run.measured_s / predicted_s(one, catalog) <= ratio.high for one in others
    ]
    # P10 to P90 is meant to hold four of five
    assert np.mean(held) >= 0.7


def test_an_anchor_without_a_compiler_helps_compiled_steps_too(catalog: Catalog) -> None:
    eager = [one for one in steps(catalog, compiled=False) if one.anchor.run.id.endswith("4096x2")]
    compiled = steps(catalog, compiled=True)
    ratio = catalog_ratio(eager, catalog).value
    assert median_error(compiled, catalog, ratio) < median_error(compiled, catalog)
