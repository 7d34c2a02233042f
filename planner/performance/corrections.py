"""Corrections of the training model, and matrix products under them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.roofline import ChipRates, gemm_time_s

ACTIVATION_BYTES: Final = 2.0
"""Activations travel and rest in 16 bits."""


@dataclass(frozen=True, slots=True)
class TrainingConstants:
    """Corrections of the training model, all from the catalog; fields broadcast to shape (n,).

    The names are those of the figures in `catalog/assumptions/performance.yaml`, less the chip, precision or
    software class that a figure there is for. Three follow from the format and the software instead:
    `gemm_element_bytes`; `separate_projections`, 1 where products of one input run apart; and
    `attention_flop_ratio`, 2 where attention computes what its mask hides.
    """

    gemm_share_of_peak_fraction: Floats
    gemm_shape_constant: Floats
    head_gemm_share_of_peak_fraction: Floats
    head_gemm_shape_constant: Floats
    gemm_element_bytes: Floats
    separate_projections: Floats
    attention_share_of_peak_fraction: Floats
    attention_flop_ratio: Floats
    score_traffic_bytes_per_entry: Floats
    misaligned_head_ratio: Floats
    attention_sequence_constant_tokens: Floats
    attention_full_rate_head_dim: Floats
    attention_head_dim_exponent: Floats
    attention_backward_flop_ratio: Floats
    attention_backward_rate_fraction: Floats
    memory_share_fraction: Floats
    memory_traffic_factor: Floats
    memory_backward_ratio: Floats
    cast_bytes_per_element: Floats
    gradient_traffic_bytes_per_parameter: Floats
    logit_traffic_bytes_per_entry: Floats
    layer_fixed_s: Floats
    engine_slowdown_fraction: Floats
    context_slowdown_fraction: Floats
    context_step_s: Floats
    tensor_overlap_fraction: Floats
    data_overlap_fraction: Floats
    data_overlap_slowdown_fraction: Floats
    pipeline_exposed_fraction: Floats
    pipeline_interleaved_exposed_ratio: Floats
    pipeline_bubble_ratio: Floats
    expert_transfer_efficiency_fraction: Floats
    expert_exposed_fraction: Floats
    expert_once_per_domain_fraction: Floats
    grouped_gemm_share_ratio: Floats
    permute_passes: Floats
    sparse_layer_host_s: Floats
    sharded_hiding_fraction: Floats
    sharded_slowdown_fraction: Floats
    sharded_network_share_fraction: Floats
    sharded_ring_step_s: Floats
    optimiser_bytes_per_parameter: Floats
    weight_cast_bytes_per_parameter: Floats
    step_fixed_s: Floats
    straggler_fraction_per_doubling: Floats


def product_s(
    *, m: Floats, n: Floats, k: Floats, chip: ChipRates, constants: TrainingConstants, share: Floats
) -> Floats:
    """Time of one matrix product in the layers' precision, shape (n,); see `gemm_time_s`."""
    return gemm_time_s(
        m=m,
        n=n,
        k=k,
        peak_flop_per_s=chip.peak_flop_per_s,
        share_of_peak_fraction=share,
        shape_constant=constants.gemm_shape_constant,
        memory_bytes_per_s=chip.memory_bytes_per_s * constants.memory_share_fraction,
        element_bytes=constants.gemm_element_bytes,
    )


def joined_or_not(
    constants: TrainingConstants, time_s: Callable[[Floats], Floats], *widths: Floats
) -> Floats:
    """Time of products of one input: as one wide product, or each on its own where the software keeps them apart."""
    whole = sum(widths[1:], start=widths[0])
    if not np.any(constants.separate_projections):
        return time_s(whole)
    apart = sum((time_s(width) for width in widths[1:]), start=time_s(widths[0]))
    return np.where(constants.separate_projections > 0.0, apart, time_s(whole))
