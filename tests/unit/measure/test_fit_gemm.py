"""Fits of matrix products: made points, measured ones, and what is refused."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner.curves.gemm import GemmConstants, gemm_kernel_time_s
from planner.errors import CalibrationError
from planner.measure.fit.gemm import (
    GemmMachine,
    fit_gemm,
    fit_gemms,
    gemm_errors,
    table_rows,
)
from planner.measure.fit.rows import GemmRow, Rows, bench_rows
from planner.measure.parse.points import GemmPoint

MACHINE = GemmMachine({"bf16": 989e12, "fp8": 1979e12}, 4.8e12)
DATA = Path(__file__).parent / "data" / "h200-x2.json.gz"
VALUES = {
    "share_of_peak_fraction": 0.75, "fill_elements": 8e4, "depth_constant": 200.0, "memory_share_fraction": 0.85,
    "fixed_s": 5e-6, "depth_s": 8e-10, "depth_half": 6000.0, "norm": 4.0, "ragged_exponent": 0.8,
    "quantise_row_s": 4e-9, "quantise_element_s": 1.5e-12,
}  # fmt: skip
WIDTHS = (256, 1024, 4096, 8192, 16384)
ROWS_OF_INPUT = (1, 16, 64, 128, 160, 257, 512, 1024, 4096, 16384)


def made(
    dtype: str = "fp8", implementation: str = "engine 1.0", values: Any = VALUES, noise: float = 0.0
) -> list[GemmRow]:
    shapes = np.array([(m, n, k) for m in ROWS_OF_INPUT for n in WIDTHS for k in WIDTHS], float)
    time = gemm_kernel_time_s(m=shapes[:, 0], n=shapes[:, 1], k=shapes[:, 2], element_bytes=np.asarray(1.0),
                              peak_flop_per_s=np.asarray(1979e12), memory_bytes_per_s=np.asarray(4.8e12),
                              constants=GemmConstants.from_values(values))  # fmt: skip
    time = time * np.exp(noise * np.random.default_rng(3).standard_normal(len(time)))
    return [GemmRow(implementation, dtype, "graph", int(m), int(n), int(k), float(t) * 1e6)
            for (m, n, k), t in zip(shapes, time, strict=True)]  # fmt: skip


@pytest.fixture(scope="module")
def h200() -> Rows:
    sections = json.loads(gzip.decompress(DATA.read_bytes()))["sections"]
    return bench_rows({"gemm": sections["gemm"]}, usable=True)


def test_constants_that_made_the_points_are_found_again() -> None:
    fit = fit_gemm(made(), MACHINE)
    assert fit.errors.worst_fraction < 0.005
    found = fit.values.model_dump()
    for name in (
        "share_of_peak_fraction",
        "memory_share_fraction",
        "fixed_s",
        "quantise_row_s",
        "ragged_exponent",
    ):
        assert found[name] == pytest.approx(VALUES[name], rel=0.05)  # neighbours may share the rest


def test_a_tenth_of_strange_points_moves_the_fit_little() -> None:
    rows = made(noise=0.02)
    spoilt = [
        replace(row, time_us=row.time_us * 3.0) if place % 10 == 0 else row for place, row in enumerate(rows)
    ]
    fit = fit_gemm(spoilt, MACHINE)
    sound = gemm_errors(fit, rows)
    assert sound.median_fraction < 0.06  # 2 % of noise, and what the tenth pulls
    assert fit.errors.p90_fraction > sound.p90_fraction


def test_the_order_of_the_points_changes_nothing_that_matters() -> None:
    rows = made(noise=0.03)
    first, second = fit_gemm(rows, MACHINE), fit_gemm(rows[::-1], MACHINE)
    assert first.errors.median_fraction == pytest.approx(second.errors.median_fraction, abs=2e-3)
    assert fit_gemm(rows, MACHINE) == first


def test_measured_h200_products_are_met_as_closely_as_asked(h200: Rows) -> None:
    fits, refused = fit_gemms(h200.of(GemmRow), MACHINE)
    assert [fit.dtype for fit in fits] == ["bf16", "fp8"]
    assert not refused
    for fit in fits:
        for errors in (fit.errors, fit.left_out):
            assert errors.median_fraction <= 0.06  # the aim set for these fits
            assert errors.p90_fraction <= 0.20
        assert fit.left_out.points < fit.errors.points / 3
        assert fit.values.quantise_element_s == 0  # the benchmark multiplies operands that are narrow already


def test_products_timed_by_the_host_are_left_out(h200: Rows) -> None:
    assert any("timed by the host" in note for note in h200.notes)
    assert not any(row.mode == "eager" and row.launch_us > 0.9 * row.time_us for row in h200.of(GemmRow))


def test_tables_keep_their_source_as_the_implementation() -> None:
    point = GemmPoint(
        m=1, n=2, k=3, dtype="bf16", time_s=4e-6, source_line=2, path=Path("t.csv"), impl="engine 1.0"
    )
    (row,) = table_rows([point])
    assert row == GemmRow("engine 1.0", "bf16", "eager", 1, 2, 3, pytest.approx(4.0))


def refusal(rows: list[GemmRow], machine: GemmMachine = MACHINE) -> str:
    with pytest.raises(CalibrationError) as caught:
        fit_gemm(rows, machine)
    return str(caught.value)


def test_points_that_can_carry_no_fit_are_refused_with_the_reason() -> None:
    assert "9 shapes" in refusal(made()[:9])
    one_size = [row for row in made() if row.m == 1024 and row.n == 4096 and row.k == 4096]
    assert "1 shapes" in refusal(one_size * 40)
    assert "about one size" in refusal([replace(row, m=4096, n=4096, k=4096 + 128 * place)
                                        for place, row in enumerate(made()[:60])])  # fmt: skip
    assert "no peak" in refusal(made(dtype="nvfp4"))
    slow = made(values={**VALUES, "fixed_s": 80e-6})
    assert "launch of the software" in refusal(slow)


def test_one_group_refused_leaves_the_other_fitted() -> None:
    fits, refused = fit_gemms([*made(), *made(implementation="engine 2.0")[:5]], MACHINE)
    assert [fit.implementation for fit in fits] == ["engine 1.0"]
    assert "engine 2.0" in str(refused[0])
    with pytest.raises(CalibrationError, match="no matrix products"):
        fit_gemms([], MACHINE)
