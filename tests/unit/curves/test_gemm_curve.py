"""The curve of matrix products: laws, limits and batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.arrays import Floats
from planner.curves.gemm import (
    GemmConstants,
    carried_share_of_peak_fraction,
    gemm_kernel_time_s,
    gemm_share_of_peak_fraction,
)

VALUES = {
    "share_of_peak_fraction": 0.8, "fill_elements": 6e4, "depth_constant": 140.0, "memory_share_fraction": 0.9,
    "fixed_s": 2e-6, "depth_s": 1e-9, "depth_half": 5000.0, "norm": 4.0, "ragged_exponent": 1.0,
    "quantise_row_s": 5e-9, "quantise_element_s": 2e-12,
}  # fmt: skip
CHIP = {
    "element_bytes": np.array([1.0]),
    "peak_flop_per_s": np.array([1e15]),
    "memory_bytes_per_s": np.array([4e12]),
}


def time_s(m: Any, n: Any, k: Any, **changed: float) -> Floats:
    constants = GemmConstants.from_values({**VALUES, **changed})
    return gemm_kernel_time_s(m=np.atleast_1d(np.asarray(m, float)), n=np.asarray(n, float), k=np.asarray(k, float),
                              constants=constants, **CHIP)  # fmt: skip


def test_more_columns_or_depth_never_take_less_time() -> None:
    rng = np.random.default_rng(1)
    m, n, k = (2.0 ** rng.uniform(0, 15, 400) for _ in range(3))
    assert (time_s(m, n * 1.5, k) >= time_s(m, n, k)).all()
    assert (time_s(m, n, k * 1.5) >= time_s(m, n, k)).all()


def test_more_rows_never_take_less_time_where_tiles_are_full() -> None:
    m = 128.0 * np.arange(1, 200)
    assert (np.diff(time_s(m, 4096.0, 4096.0)) > 0).all()


def test_rows_that_fill_no_tile_cost_what_the_padded_product_costs() -> None:
    # With the exponent 1 and the bounds far apart, 257 rows take as long as 384 in the body.
    plain = {
        "fixed_s": 0.0,
        "depth_s": 0.0,
        "quantise_row_s": 0.0,
        "quantise_element_s": 0.0,
        "fill_elements": 0.0,
    }
    few, full = time_s(257, 16384, 16384, **plain)[0], time_s(384, 16384, 16384, **plain)[0]
    assert few == pytest.approx(full, rel=0.01)  # the traffic of the inputs differs by less


def test_the_norm_neither_overflows_nor_falls_below_the_larger_bound() -> None:
    tall = time_s(1, 65536, 65536, norm=16.0)[0]
    assert np.isfinite(tall)
    assert tall >= 65536.0 * 65536.0 / (4e12 * 0.9)


def test_a_large_product_reaches_the_sustained_share() -> None:
    constants = GemmConstants.from_values(VALUES)
    side = np.array([2.0**19])
    share = gemm_share_of_peak_fraction(m=side, n=side, k=side, constants=constants, **CHIP)
    assert share[0] == pytest.approx(0.8, rel=0.01)  # 140/2^19 and the quantising remain


def test_a_carried_share_is_held_within_the_stated_ratio() -> None:
    args = {"share_of_peak_fraction": np.array([0.7]), "reference_measured_fraction": np.array([0.8])}
    wild = carried_share_of_peak_fraction(
        measured_fraction=np.array([0.1]), most_ratio=np.array([1.25]), **args
    )
    assert wild[0] == pytest.approx(0.7 / 1.25)


def test_a_batch_equals_its_members() -> None:
    m, n, k = (np.array(values, float) for values in ([1, 257, 4096], [512, 4096, 8192], [256, 8192, 28672]))
    apart = [time_s(*one)[0] for one in zip(m, n, k, strict=True)]
    np.testing.assert_allclose(time_s(m, n, k), apart, rtol=1e-12)
