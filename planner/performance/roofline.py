"""Time of work on one accelerator: matrix products, attention and memory traffic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats


@dataclass(frozen=True, slots=True)
class ChipRates:
    """What one accelerator can do at best; every field broadcasts to shape (n,).

    Attributes:
        peak_flop_per_s: Dense peak in the precision of the linear layers.
        peak_16bit_flop_per_s: Dense 16-bit peak; attention and the output head run there.
        memory_bytes_per_s: Datasheet rate of the device memory.
        memory_bytes: Usable device memory.
    """

    peak_flop_per_s: Floats
    peak_16bit_flop_per_s: Floats
    memory_bytes_per_s: Floats
    memory_bytes: Floats


def shape_factor(*, m: Floats, n: Floats, k: Floats, shape_constant: Floats) -> Floats:
    """How much slower a matrix product of finite size is than an endless one, 1 or more.

    The three dimensions enter alike, so the product and its two gradients cost the same.

    Args:
        m, n, k: Dimensions of the product.
        shape_constant: Size at which one dimension alone doubles the time.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        planner-training-notes, section 2 item 1.

    >>> shape_factor(m=np.array([1000.0]), n=np.array([1000.0]), k=np.array([1000.0]),
    ...     shape_constant=np.array([100.0])).round(6)
    array([1.331])
    """
    return np.asarray((1.0 + shape_constant / m) * (1.0 + shape_constant / n) * (1.0 + shape_constant / k))


def gemm_time_s(
    *,
    m: Floats,
    n: Floats,
    k: Floats,
    peak_flop_per_s: Floats,
    share_of_peak_fraction: Floats,
    shape_constant: Floats,
    memory_bytes_per_s: Floats,
    element_bytes: Floats,
) -> Floats:
    """Time of one matrix product (m, k) x (k, n), bound by arithmetic or by memory.

    Args:
        m, n, k: Dimensions.
        peak_flop_per_s: Dense peak of the precision.
        share_of_peak_fraction: Sustained share of that peak for a large product.
        shape_constant: See `shape_factor`.
        memory_bytes_per_s: Sustained rate of the device memory.
        element_bytes: Bytes of one element of the operands and the result.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        planner-training-notes, section 2 item 1.

    >>> gemm_time_s(m=np.array([1000.0]), n=np.array([1000.0]), k=np.array([1000.0]),
    ...     peak_flop_per_s=np.array([1e12]), share_of_peak_fraction=np.array([0.5]),
    ...     shape_constant=np.array([0.0]), memory_bytes_per_s=np.array([1e12]),
    ...     element_bytes=np.array([2.0]))
    array([0.004])
    """
    arithmetic = 2.0 * m * n * k / (peak_flop_per_s * share_of_peak_fraction)
    arithmetic = arithmetic * shape_factor(m=m, n=n, k=k, shape_constant=shape_constant)
    traffic = (m * k + k * n + m * n) * element_bytes / memory_bytes_per_s
    return np.maximum(arithmetic, traffic)


def memory_bound_time_s(
    *, traffic_bytes: Floats, memory_bytes_per_s: Floats, memory_share_fraction: Floats
) -> Floats:
    """Time of work that only moves bytes.

    Args:
        traffic_bytes: Bytes read and written.
        memory_bytes_per_s: Datasheet rate of the device memory.
        memory_share_fraction: Share of it that real kernels sustain.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        planner-training-notes, section 2 item 3.

    >>> memory_bound_time_s(traffic_bytes=np.array([1.7e9]), memory_bytes_per_s=np.array([2e12]),
    ...     memory_share_fraction=np.array([0.85]))
    array([0.001])
    """
    return np.asarray(traffic_bytes / (memory_bytes_per_s * memory_share_fraction))


def attention_time_s(
    *,
    attention_flop: Floats,
    sequence_tokens: Floats,
    head_dim: Floats,
    peak_16bit_flop_per_s: Floats,
    share_of_peak_fraction: Floats,
    sequence_constant_tokens: Floats,
    full_rate_head_dim: Floats,
    head_dim_exponent: Floats,
) -> Floats:
    """Time of a fused attention core, forward.

    The rate falls with short sequences and with heads narrower than the width that fills the kernel's
    tiles. It refers to the 16-bit peak whatever the linear layers use.

    Args:
        attention_flop: FLOP of scores and weighted values, masked ones left out.
        sequence_tokens: Length of one sequence.
        head_dim: Width of a head.
        peak_16bit_flop_per_s: Dense 16-bit peak.
        share_of_peak_fraction: Sustained share of it at long sequences.
        sequence_constant_tokens: Length at which the time doubles.
        full_rate_head_dim: Width from which heads run at the full rate.
        head_dim_exponent: Power with which narrower heads lose.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        planner-training-notes, section 2 item 2.

    >>> attention_time_s(attention_flop=np.array([1e12]), sequence_tokens=np.array([512.0]),
    ...     head_dim=np.array([32.0]), peak_16bit_flop_per_s=np.array([1e15]),
    ...     share_of_peak_fraction=np.array([0.5]), sequence_constant_tokens=np.array([512.0]),
    ...     full_rate_head_dim=np.array([128.0]), head_dim_exponent=np.array([0.5]))
    array([0.008])
    """
    narrow = np.maximum(1.0, full_rate_head_dim / head_dim) ** head_dim_exponent
    short = 1.0 + sequence_constant_tokens / sequence_tokens
    return np.asarray(attention_flop / (peak_16bit_flop_per_s * share_of_peak_fraction) * narrow * short)


def smooth_maximum(first: Floats, second: Floats) -> Floats:
    """The 4-norm of two times: near the larger one, above it where both are alike.

    Written with products and square roots, which are far cheaper than powers.

    >>> smooth_maximum(np.array([3.0]), np.array([0.0])), smooth_maximum(np.array([1.0]), np.array([1.0])).round(4)
    (array([3.]), array([1.1892]))
    """
    a, b = first * first, second * second
    return np.asarray(np.sqrt(np.sqrt(a * a + b * b)))
