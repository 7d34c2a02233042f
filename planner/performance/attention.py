"""Time of attention: its projections, and its core as one fused kernel or in steps."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.performance.corrections import TrainingConstants, joined_or_not, product_s
from planner.performance.models import ModelShape, attention_flop_per_token
from planner.performance.parallelism import Plan, microbatch_tokens
from planner.performance.roofline import ChipRates, attention_time_s, memory_bound_time_s

ALIGNED_HEAD: Final = 8.0
"""Widths of a head that fill the tiles of 16-bit tensor cores are multiples of this."""


def attention_linear_s(
    shape: ModelShape, plan: Plan, chip: ChipRates, constants: TrainingConstants
) -> Floats:
    """Forward time of the projections around attention, shape (n,)."""
    m, share, ranks = microbatch_tokens(plan), constants.gemm_share_of_peak_fraction, plan.tensor_ranks
    queries, values = shape.heads * shape.head_dim, shape.heads * shape.value_head_dim
    out = product_s(m=m, n=shape.hidden, k=values / ranks, chip=chip, constants=constants, share=share)
    if not shape.latent:
        # More tensor ranks than heads of keys and values hold copies of these.
        held = np.maximum(shape.kv_heads, ranks)
        keys, kept = held * shape.head_dim, held * shape.value_head_dim

        def inwards(width: Floats) -> Floats:
            return product_s(
                m=m, n=width / ranks, k=shape.hidden, chip=chip, constants=constants, share=share
            )

        return out + joined_or_not(constants, inwards, queries, keys, kept)
    down = shape.query_rank + shape.kv_rank + shape.rope_dim
    query_width = np.where(shape.query_rank > 0.0, shape.query_rank, shape.hidden)
    key_value = shape.heads * (shape.head_dim - shape.rope_dim + shape.value_head_dim)
    return (
        out
        + product_s(m=m, n=down, k=shape.hidden, chip=chip, constants=constants, share=share)
        + product_s(m=m, n=queries / ranks, k=query_width, chip=chip, constants=constants, share=share)
        + product_s(m=m, n=key_value / ranks, k=shape.kv_rank, chip=chip, constants=constants, share=share)
    )


def attention_core_s(
    shape: ModelShape, plan: Plan, chip: ChipRates, constants: TrainingConstants
) -> tuple[Floats, Floats]:
    """Forward and backward time of the mean layer's attention core on one rank, each of shape (n,).

    Kernels that aren't fused compute the whole square of scores and write it to memory between their steps.
    """
    flop = attention_flop_per_token(shape, sequence_tokens=plan.sequence_tokens) / shape.layers
    tokens = microbatch_tokens(plan)
    products = attention_time_s(
        attention_flop=flop * constants.attention_flop_ratio * tokens / plan.tensor_ranks,
        sequence_tokens=plan.sequence_tokens,
        head_dim=(shape.head_dim + shape.value_head_dim) / 2.0,
        peak_16bit_flop_per_s=chip.peak_16bit_flop_per_s,
        share_of_peak_fraction=constants.attention_share_of_peak_fraction,
        sequence_constant_tokens=constants.attention_sequence_constant_tokens,
        full_rate_head_dim=constants.attention_full_rate_head_dim,
        head_dim_exponent=constants.attention_head_dim_exponent,
    )
    # A width that isn't whole was worked out from other figures, and says nothing about tiles.
    aligned = (np.mod(shape.head_dim, ALIGNED_HEAD) == 0.0) | (np.mod(shape.head_dim, 1.0) != 0.0)
    products = products * np.where(aligned, 1.0, constants.misaligned_head_ratio)
    back = products * constants.attention_backward_flop_ratio / constants.attention_backward_rate_fraction
    if not np.any(constants.score_traffic_bytes_per_entry):
        return products, back
    entries = tokens * plan.sequence_tokens * shape.heads / plan.tensor_ranks
    scores = memory_bound_time_s(
        traffic_bytes=entries * constants.score_traffic_bytes_per_entry,
        memory_bytes_per_s=chip.memory_bytes_per_s,
        memory_share_fraction=constants.memory_share_fraction,
    )
    return products + scores, back + scores * constants.memory_backward_ratio
