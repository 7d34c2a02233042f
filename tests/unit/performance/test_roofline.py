"""Work on one accelerator against hand-computed numbers."""

from __future__ import annotations

import numpy as np

from planner.performance.roofline import gemm_time_s, shape_factor, smooth_maximum

ONE = np.array([1.0])


def test_a_thin_product_is_bound_by_memory() -> None:
    time = gemm_time_s(
        m=ONE, n=np.array([1e4]), k=np.array([1e4]), peak_flop_per_s=np.array([1e15]),
        share_of_peak_fraction=ONE, shape_constant=np.array([0.0]), memory_bytes_per_s=np.array([1e12]),
        element_bytes=np.array([2.0]),
    )  # fmt: skip
    np.testing.assert_allclose(time, (1e8 + 2e4) * 2 / 1e12)


def test_the_three_dimensions_enter_alike() -> None:
    sizes = [np.array([v]) for v in (100.0, 2000.0, 30000.0)]
    first = shape_factor(m=sizes[0], n=sizes[1], k=sizes[2], shape_constant=np.array([85.0]))
    turned = shape_factor(m=sizes[2], n=sizes[0], k=sizes[1], shape_constant=np.array([85.0]))
    np.testing.assert_allclose(first, turned)


def test_the_smooth_maximum_is_never_below_the_larger() -> None:
    first, second = np.array([1.0, 5.0, 0.0]), np.array([2.0, 1.0, 0.0])
    assert np.all(smooth_maximum(first, second) >= np.maximum(first, second))
