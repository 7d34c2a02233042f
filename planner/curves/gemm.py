"""Time of one measured matrix product, as a curve with few constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from planner.arrays import Floats

TILE_ROWS = 128.0
"""Rows of the tile that matrix units work on; kernels differ, and 128 is the common one."""
OUT_BYTES = 2.0
"""Bytes of an element of the result, which the measured kernels write in 16 bits."""


@dataclass(frozen=True, slots=True)
class GemmConstants:
    """What a fit of matrix products found; every field broadcasts to shape (n,).

    Attributes:
        share_of_peak_fraction: Share of the arithmetic peak that an endless product sustains.
        fill_elements: Elements of the result (m x n) at which half of that share is reached: fewer leave
            multiprocessors without a tile.
        depth_constant: Depth k at which a tile's start and end take as long as its sums.
        memory_share_fraction: Share of the datasheet's memory rate that operands and result move at.
        fixed_s: Start and end of the kernel, whatever its size.
        depth_s: Time for each element of depth that nothing hides, at small k.
        depth_half: Depth at which splitting along k has halved that.
        norm: Order of the norm that joins arithmetic and memory time; higher is nearer their maximum.
        ragged_exponent: Power of the padding to whole tiles with which products of more than one tile of
            rows pay for rows that fill none.
        quantise_row_s: Time to bring one row of the input to a narrow type.
        quantise_element_s: The same for each of its elements.
    """

    share_of_peak_fraction: Floats
    fill_elements: Floats
    depth_constant: Floats
    memory_share_fraction: Floats
    fixed_s: Floats
    depth_s: Floats
    depth_half: Floats
    norm: Floats
    ragged_exponent: Floats
    quantise_row_s: Floats
    quantise_element_s: Floats

    @classmethod
    def from_values(cls, values: Mapping[str, float]) -> GemmConstants:
        """The constants of a profile, by their names."""
        return cls(**{one.name: np.asarray(values[one.name], np.float64) for one in fields(cls)})


def gemm_kernel_time_s(
    *,
    m: Floats,
    n: Floats,
    k: Floats,
    element_bytes: Floats,
    peak_flop_per_s: Floats,
    memory_bytes_per_s: Floats,
    constants: GemmConstants,
) -> Floats:
    """Time of one product (m, k) x (k, n) on the device, without the gap before its launch.

    Arithmetic and memory time are joined by a norm; the start, the unhidden depth and the quantising of
    the input stand beside them.

    Args:
        m: Rows of the input: tokens.
        n, k: Columns and depth.
        element_bytes: Bytes of an operand's element, scales included; the result has 2.
        peak_flop_per_s: Dense peak of the type.
        memory_bytes_per_s: Datasheet rate of the device memory.
        constants: What the fit found.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        Own form, chosen on this project's H200 measurements and the GEMM tables of ai-dynamo/aiconfigurator
        (Apache-2.0); the profile states its errors.

    >>> plain = GemmConstants.from_values({"share_of_peak_fraction": 0.5, "fill_elements": 1e6,
    ...     "depth_constant": 0, "memory_share_fraction": 1.0, "fixed_s": 1e-3, "depth_s": 0, "depth_half": 1,
    ...     "norm": 8, "ragged_exponent": 0, "quantise_row_s": 0, "quantise_element_s": 0})
    >>> gemm_kernel_time_s(m=np.array([1000.0]), n=np.array([1000.0]), k=np.array([1000.0]),
    ...     element_bytes=np.array([2.0]), peak_flop_per_s=np.array([1e12]),
    ...     memory_bytes_per_s=np.array([1e12]), constants=plain).round(6)
    array([0.009])
    """
    start = _start_s(m, k, constants)
    return np.asarray(start + _body_s(m, n, k, element_bytes, peak_flop_per_s, memory_bytes_per_s, constants))


def _start_s(m: Floats, k: Floats, constants: GemmConstants) -> Floats:
    """What stands beside arithmetic and memory: the start, the depth that nothing hides, the quantising."""
    c = constants
    unhidden = c.depth_s * k / (1.0 + k / c.depth_half)
    return np.asarray(c.fixed_s + unhidden + m * (c.quantise_row_s + k * c.quantise_element_s))


def _body_s(
    m: Floats,
    n: Floats,
    k: Floats,
    element_bytes: Floats,
    peak_flop_per_s: Floats,
    memory_bytes_per_s: Floats,
    constants: GemmConstants,
) -> Floats:
    c = constants
    arithmetic = 2.0 * m * n * k / (peak_flop_per_s * c.share_of_peak_fraction)
    arithmetic = arithmetic * (1.0 + c.fill_elements / (m * n)) * (1.0 + c.depth_constant / k)
    moved = (m * k + k * n) * element_bytes + m * n * OUT_BYTES
    memory = moved / (memory_bytes_per_s * c.memory_share_fraction)
    return np.asarray(_norm(arithmetic, memory, c.norm) * _padding(m) ** c.ragged_exponent)


def _norm(first: Floats, second: Floats, order: Floats) -> Floats:
    """The p-norm of two positive times, taken out of the larger one so that no power overflows."""
    larger = np.maximum(first, second)
    return np.asarray(larger * (1.0 + (np.minimum(first, second) / larger) ** order) ** (1.0 / order))


def _padding(rows: Floats) -> Floats:
    """Rows of whole tiles over rows; 1 within the first tile, where kernels of fewer rows exist."""
    whole = np.ceil(rows / TILE_ROWS) * TILE_ROWS
    return np.where(rows > TILE_ROWS, whole / rows, 1.0)


def gemm_share_of_peak_fraction(
    *,
    m: Floats,
    n: Floats,
    k: Floats,
    element_bytes: Floats,
    peak_flop_per_s: Floats,
    memory_bytes_per_s: Floats,
    constants: GemmConstants,
) -> Floats:
    """Share of the arithmetic peak that one product reaches by the measured curve.

    Args:
        m, n, k, element_bytes, peak_flop_per_s, memory_bytes_per_s, constants: See `gemm_kernel_time_s`.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> plain = GemmConstants.from_values({"share_of_peak_fraction": 0.5, "fill_elements": 1e6,
    ...     "depth_constant": 0, "memory_share_fraction": 1.0, "fixed_s": 0, "depth_s": 0, "depth_half": 1,
    ...     "norm": 8, "ragged_exponent": 0, "quantise_row_s": 0, "quantise_element_s": 0})
    >>> gemm_share_of_peak_fraction(m=np.array([1000.0]), n=np.array([1000.0]), k=np.array([1000.0]),
    ...     element_bytes=np.array([2.0]), peak_flop_per_s=np.array([1e12]),
    ...     memory_bytes_per_s=np.array([1e12]), constants=plain).round(6)
    array([0.25])
    """
    time = gemm_kernel_time_s(m=m, n=n, k=k, element_bytes=element_bytes, peak_flop_per_s=peak_flop_per_s,
                              memory_bytes_per_s=memory_bytes_per_s, constants=constants)  # fmt: skip
    return np.asarray(2.0 * m * n * k / (time * peak_flop_per_s))


def carried_share_of_peak_fraction(
    *,
    share_of_peak_fraction: Floats,
    measured_fraction: Floats,
    reference_measured_fraction: Floats,
    most_ratio: Floats,
) -> Floats:
    """A share found on whole training steps, carried to a sibling accelerator by measured products.

    The share of a step holds what a benchmark of single products doesn't know (clocks under lasting load,
    other streams, launch gaps), so the measured share doesn't replace it; the ratio of two measured
    shares, at the same shapes and with the same timing, keeps all of that.

    Args:
        share_of_peak_fraction: Share fitted on training steps of the reference accelerator.
        measured_fraction: What `gemm_share_of_peak_fraction` says for this accelerator at the shapes of
            the workload.
        reference_measured_fraction: The same for the reference accelerator.
        most_ratio: The ratio is held between its inverse and this: two measurements differ by software too.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> carried_share_of_peak_fraction(share_of_peak_fraction=np.array([0.72]), measured_fraction=np.array([0.63]),
    ...     reference_measured_fraction=np.array([0.70]), most_ratio=np.array([1.25])).round(4)
    array([0.648])
    """
    ratio = np.clip(measured_fraction / reference_measured_fraction, 1.0 / most_ratio, most_ratio)
    return np.asarray(share_of_peak_fraction * ratio)
