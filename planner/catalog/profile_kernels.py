"""What a profile holds of kernels: matrix products, attention, memory, power states and overlap.

Every fit carries its own errors and the range it was fitted on; the curves that read the constants stand
in `planner/curves`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.catalog.figure import Finite, Frozen

Positive = Annotated[Finite, Field(gt=0)]
NotNegative = Annotated[Finite, Field(ge=0)]
Share = Annotated[Finite, Field(gt=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class FitErrors(Frozen):
    """How far a fit lies from measured points: sizes of predicted / measured - 1, or of a difference where
    the field that holds it says so."""

    points: Count
    median_fraction: NotNegative
    p90_fraction: NotNegative
    worst_fraction: NotNegative
    worst_at: str
    """The point of the largest error, in words."""


class Span(Frozen):
    """Least and most of what was measured."""

    least: NotNegative
    most: NotNegative


class GemmValues(Frozen):
    """Constants of `planner.curves.gemm.GemmConstants`, of the same names and meaning."""

    share_of_peak_fraction: Share
    fill_elements: NotNegative
    depth_constant: NotNegative
    memory_share_fraction: Share
    fixed_s: NotNegative
    depth_s: NotNegative
    depth_half: Positive
    norm: Annotated[Finite, Field(ge=1)]
    ragged_exponent: NotNegative
    quantise_row_s: NotNegative
    quantise_element_s: NotNegative


class GemmFit(Frozen):
    """Matrix products of one type by one implementation."""

    dtype: str
    implementation: str
    """The library and its release that made the products."""
    mode: str
    """eager or graph, or both joined by a comma."""
    element_bytes: Positive
    """Bytes of an operand's element, scales included."""
    peak_tflop_per_s: Positive
    """The dense peak that the share refers to."""
    memory_gbyte_per_s: Positive
    """The datasheet's rate that the memory share refers to."""
    values: GemmValues
    m: Span
    n: Span
    k: Span
    errors: FitErrors
    """On the points fitted."""
    left_out: FitErrors
    """On every fifth shape, predicted by a fit of the others."""
    notes: tuple[str, ...] = ()


class AttentionValues(Frozen):
    """Constants of `planner.curves.attention.AttentionConstants`, of the same names and meaning."""

    share_of_peak_fraction: Share
    sequence_constant_tokens: NotNegative
    fill_rows: NotNegative
    fixed_s: NotNegative


class DecodeValues(Frozen):
    """Constants of `planner.curves.attention.DecodeConstants`, of the same names and meaning."""

    memory_share_fraction: Share
    fixed_s: NotNegative
    serial_s: NotNegative
    serial_half_tokens: Positive
    blocks_exponent: NotNegative
    crowded_blocks: Positive
    crowded_share_ratio: Positive


class AttentionFit(Frozen):
    """Attention of one pass by one implementation; exactly one of `values` and `decode` is there."""

    family: str
    """forward, forward_backward or decode."""
    implementation: str
    dtype: str
    mode: str
    causal: bool
    head_dim: Count
    """The one width of heads that was measured."""
    peak_16bit_tflop_per_s: Positive
    memory_gbyte_per_s: Positive
    values: AttentionValues | None = None
    decode: DecodeValues | None = None
    tokens: Span
    """Length of a sequence, or of its cache."""
    heads: Span
    kv_heads: Span
    sequences: Span
    errors: FitErrors
    left_out: FitErrors
    notes: tuple[str, ...] = ()


class MemoryFit(Frozen):
    """Transfers of one kind: rate and the size that reaches half of it."""

    family: str
    """device_copy, device_read, device_write, h2d, d2h, peer or peer_both_ways."""
    pinned: bool | None = None
    gpus_active: Count
    rate_gbyte_per_s: Positive
    half_rate_bytes: NotNegative
    share_of_datasheet_fraction: Positive | None = None
    """Of the device memory's rate; absent for transfers that leave the device."""
    size_bytes: Span
    errors: FitErrors
    notes: tuple[str, ...] = ()


class PowerStateFit(Frozen):
    """Electric power of one device held in one state; the errors say how far single devices lie from the mean."""

    state: str
    gpus: Count
    mean_w: Positive
    p95_w: Positive
    least_gpu_w: Positive
    most_gpu_w: Positive
    mean_by_energy_w: Positive | None = None
    """From the device's energy counter, which misses nothing between samples."""
    limit_w: Positive
    share_of_limit_fraction: Positive
    sm_clock_mhz: Positive
    power_capped_fraction: Annotated[Finite, Field(ge=0, le=1)]
    """Share of the samples in which the power limit held the clock down."""
    samples: Count
    errors: FitErrors
    notes: tuple[str, ...] = ()


class OverlapValues(Frozen):
    """Constants of `planner.curves.overlap.OverlapConstants`, of the same names and meaning."""

    half_bytes: Positive
    hidden_small_fraction: Finite
    hidden_large_fraction: Finite
    gemm_slowdown_small: Positive
    gemm_slowdown_large: Positive
    collective_slowdown_small: Positive
    collective_slowdown_large: Positive


class OverlapFit(Frozen):
    """One collective beside matrix products on another stream."""

    op: str
    dtype: str
    ranks: Count
    values: OverlapValues
    message_bytes: Span
    hidden_errors: FitErrors
    """Differences of the hidden fraction, not ratios: the fraction passes through zero."""
    gemm_errors: FitErrors
    collective_errors: FitErrors
    notes: tuple[str, ...] = ()
