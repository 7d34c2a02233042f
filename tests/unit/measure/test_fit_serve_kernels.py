"""Constants of the small kernels, and that the catalog holds what the shipped run gives."""

from __future__ import annotations

import gzip
import json

import pytest

from planner.catalog.store import open_catalog
from planner.measure.fit.serve_kernels import SmallKernel, fit_small_kernels
from planner.resources import shipped


def test_the_catalog_holds_what_the_shipped_run_gives() -> None:
    path = shipped("catalog") / "profiles" / "raw" / "h200-sxm-141gb.bench.serve.json.gz"
    found = fit_small_kernels(json.loads(gzip.decompress(path.read_bytes()))["sections"]["serve"])
    shelf = open_catalog()
    for kind, constants in found.items():
        for name in SmallKernel.__slots__:
            value = getattr(constants, name)
            if value:
                figure, _ = shelf.figure("plain-torch", f"plain_torch_{kind}_{name}")
                assert figure.value == pytest.approx(value, rel=1e-3), (kind, name)


def test_a_kernel_without_a_pace_along_its_row_starts_alike_at_all_widths() -> None:
    def point(rows: int, width: int, time_us: float) -> dict[str, object]:
        return {"phase": "small", "kind": "add", "sequences": rows, "hidden": width, "median_us": time_us}

    found = fit_small_kernels([point(1, 100, 1.0), point(1, 200, 3.0), point(1000, 100, 10.0)])["add"]
    assert found.fixed_s == pytest.approx(2e-6)
    assert found.row_value_s == 0.0
    assert found.value_s == pytest.approx(1e-10)


def test_points_of_other_phases_and_failed_ones_are_passed_over() -> None:
    assert fit_small_kernels([{"phase": "decode", "median_us": 1.0}, {"phase": "small", "error": "no"}]) == {}
