"""What the steps of a serving replica cost, worked out once: seconds for each token, sequence and byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.performance.inference import (
    HEAD_BYTES,
    GemmRates,
    Layout,
    ServingConstants,
    ServingFormat,
    attention_groups,
)
from planner.performance.models import (
    ModelShape,
    attention_weights,
    ffn_matrices,
    kv_values_per_layer,
    sparse_layers,
)
from planner.performance.serving_reduce import ReduceTables
from planner.performance.serving_speculation import Speculation, time_ratio, tokens_per_step

ACTIVATION_BYTES: Final = 2.0
ATTENTION_GEMMS: Final = 2.0
LATENT_ATTENTION_GEMMS: Final = 5.0
"""Down, up of the queries, two products that absorb the projections of keys and values, out."""
FEED_FORWARD_GEMMS: Final = 2.0
EXPERT_VALUE_PASSES: Final = 8.0
"""Bytes moved for each permuted value of an expert's input and inner width."""
NORM_SUM_BYTES: Final = 8.0
"""A norm over all heads adds up two 32-bit sums for each token between tensor ranks."""


@dataclass(frozen=True, slots=True)
class Product:
    """Matrix products of one kind, all layers: seconds to read the weights, for each row, and whatever the rows."""

    weights_s: Floats
    row_s: Floats
    fixed_s: Floats

    def time_s(self, rows: Floats) -> Floats:
        """Memory and arithmetic overlap: the root of their squares, between their maximum and their sum.

        >>> Product(np.array([3.0]), np.array([1.0]), np.array([0.5])).time_s(np.array([4.0]))
        array([5.5])
        """
        arithmetic = self.row_s * rows
        return np.asarray(np.sqrt(self.weights_s * self.weights_s + arithmetic * arithmetic) + self.fixed_s)


@dataclass(frozen=True, slots=True)
class Experts:
    """Routed experts of all sparse layers.

    Attributes:
        product: Reading one expert everywhere, one row, and the fixed time.
        experts, per_token: Of a layer.
        visit: Chance that one token visits an expert, as the exponent of not doing so.
        skew: Squared variation of the experts' popularity.
        own: Experts of a rank; spread: how far the busiest rank lies above the mean, in deviations.
        tile_rows: Rows of padding for each touched expert.
    """

    product: Product
    experts: Floats
    per_token: Floats
    visit: Floats
    skew: Floats
    own: Floats
    ranks: Floats
    spread: Floats
    tile_rows: Floats


@dataclass(frozen=True, slots=True)
class StepCosts:
    """What the steps of a replica cost; arrays of shape (n,) or what broadcasts to it.

    Attributes:
        groups, stages: Attention groups of the replica, and stages of its pipeline.
        attention, feed_forward, shared, head: Products over a group's tokens, the replica's (dense layers and shared
            experts), and the sampled ones.
        experts: None in a dense model.
        cached_s, cached_window_s: Time for each token in a sequence's cache, of full layers and of windowed ones,
            which hold `window_tokens`; fill_sequences: sequences at which reading reaches half its rate.
        seen_s, seen_window_s: Time for each prompt token and token that it attends to.
        reduces: All-reduces; attention_set and replica_set are rows of its tables, reduce_ratio the layers with the
            correction, reduce_bytes the bytes of a token, norm_bytes those of a norm that spans the ranks.
        token_s, replica_token_s: Traffic for each token of a group, and of the replica.
        step_s, sequence_s, replica_sequence_s: Fixed times, also for each sequence of a group and of the replica.
        tokens_per_step: Tokens that a decode step yields for each sequence, 1 without speculation; checked_tokens:
            tokens that it runs through the model for that; draft_ratio: step with its draft over the step.
    """

    groups: Floats
    stages: Floats
    attention: Product
    feed_forward: Product
    shared: Product
    head: Product
    experts: Experts | None
    cached_s: Floats
    cached_window_s: Floats
    window_tokens: Floats
    fill_sequences: Floats
    seen_s: Floats
    seen_window_s: Floats
    reduces: ReduceTables
    attention_set: NDArray[np.intp]
    replica_set: NDArray[np.intp]
    reduce_ratio: Floats
    reduce_bytes: Floats
    norm_bytes: Floats
    token_s: Floats
    replica_token_s: Floats
    step_s: Floats
    sequence_s: Floats
    replica_sequence_s: Floats
    tokens_per_step: Floats
    checked_tokens: Floats
    draft_ratio: Floats


def costs_over_tables(
    *,
    shape: ModelShape,
    constants: ServingConstants,
    form: ServingFormat,
    layout: Layout,
    reduces: ReduceTables,
    sets: tuple[NDArray[np.intp], NDArray[np.intp]],
    link_ratio: Floats,
    speculation: Speculation,
) -> StepCosts:
    """Costs of a replica whose all-reduces are tabulated; see `serving_step.step_costs`.

    Args:
        reduces, sets: Tables, and the rows of attention groups and replicas in them.
        link_ratio: Time of all-reduces over the tables'.
        shape, constants, form, layout, speculation: As there.
    """
    ranks, own, sparse = layout.replica_ranks, layout.attention_ranks, sparse_layers(shape)
    one = ffn_matrices(shape) * shape.hidden
    latent = LATENT_ATTENTION_GEMMS if shape.latent else ATTENTION_GEMMS
    shared = np.where(shape.shared_expert_ffn > 0.0, sparse, 0.0)
    cached, window = _cached_s(shape, constants, form, layout)
    seen = 2.0 * shape.heads * (shape.head_dim + shape.value_head_dim) / own / constants.prefill_flop_per_s
    fixed = shape.layers * (constants.layer_fixed_s + shape.query_key_norms * constants.query_key_norm_s)
    permuted = (
        constants.expert_traffic_factor * EXPERT_VALUE_PASSES
        * (shape.hidden / layout.experts + shape.expert_ffn / ranks)
    )  # fmt: skip
    return StepCosts(
        groups=attention_groups(layout),
        stages=layout.stages,
        attention=_product(
            attention_weights(shape) / own, shape.layers, form.attention, constants.attention_gemm, latent
        ),
        feed_forward=_product(
            one * shape.ffn / ranks, shape.dense_layers, form.weight_bytes, constants.feed_forward_gemm,
            FEED_FORWARD_GEMMS,
        ),
        shared=_product(
            one * shape.shared_expert_ffn / ranks, shared, form.weight_bytes, constants.feed_forward_gemm,
            FEED_FORWARD_GEMMS,
        ),
        # A pipeline's last stage also has the head and the sampling, and the others wait for it in every turn of a round.
        head=_product(
            shape.vocab * shape.hidden / ranks, layout.stages, np.array([HEAD_BYTES]), constants.head_gemm, 1.0
        ),
        experts=_experts(shape, constants, form, layout) if np.any(shape.experts > 0.0) else None,
        cached_s=(shape.layers - shape.windowed_layers) * cached,
        cached_window_s=shape.windowed_layers * cached,
        window_tokens=window,
        fill_sequences=constants.kv_fill_sequences,
        seen_s=(shape.layers - shape.windowed_layers) * seen,
        seen_window_s=shape.windowed_layers * seen,
        reduces=reduces,
        attention_set=sets[0],
        replica_set=sets[1],
        reduce_ratio=shape.layers * constants.all_reduce_ratio * link_ratio,
        reduce_bytes=shape.hidden * ACTIVATION_BYTES,
        norm_bytes=shape.norm_over_heads * NORM_SUM_BYTES,
        token_s=shape.layers * shape.hidden * constants.element_bytes_per_value / constants.traffic_bytes_per_s,
        replica_token_s=sparse * shape.experts_per_token * permuted / constants.traffic_bytes_per_s,
        step_s=fixed + sparse * constants.sparse_layer_fixed_s + layout.stages * constants.step_fixed_s,
        sequence_s=layout.stages * constants.sequence_fixed_s,
        replica_sequence_s=layout.stages * constants.replica_sequence_fixed_s,
        tokens_per_step=tokens_per_step(
            draft_tokens=speculation.draft_tokens, acceptance_fraction=speculation.acceptance_fraction
        ),
        checked_tokens=speculation.draft_tokens + 1.0,
        draft_ratio=time_ratio(speculation),
    )  # fmt: skip


def _product(
    weights: Floats, layers: Floats, weight_bytes: Floats, rates: GemmRates, gemms: float
) -> Product:
    """Products with so many weights on a rank and layer."""
    return Product(
        layers * weights * weight_bytes / rates.memory_bytes_per_s,
        layers * 2.0 * weights / rates.flop_per_s,
        layers * gemms * rates.fixed_s,
    )


def _experts(shape: ModelShape, constants: ServingConstants, form: ServingFormat, layout: Layout) -> Experts:
    count, ranks, dealt = np.maximum(shape.experts, 1.0), layout.replica_ranks, layout.experts
    one = ffn_matrices(shape) * shape.hidden * shape.expert_ffn / ranks
    share = np.minimum(shape.experts_per_token / count, 1.0 - 1e-9)
    return Experts(
        product=_product(one, sparse_layers(shape), form.experts, constants.expert_gemm, FEED_FORWARD_GEMMS),
        experts=count,
        per_token=shape.experts_per_token,
        visit=-np.log1p(-share),
        skew=constants.expert_skew,
        own=count / dealt,
        ranks=dealt,
        spread=constants.expert_imbalance_ratio * np.sqrt(2.0 * np.log(dealt)),
        tile_rows=constants.expert_tile_tokens,
    )


def _cached_s(
    shape: ModelShape, constants: ServingConstants, form: ServingFormat, layout: Layout
) -> tuple[Floats, Floats]:
    """Time of one cached token in one layer of a rank, and the tokens that a window holds.

    Bytes and FLOP both grow with the cache, so their root of squares is a constant. Queries of a latent cache meet
    all of it in every head, which makes them as long as the reading where a rank holds many heads.
    """
    own = layout.attention_ranks
    if shape.latent:
        split = np.ones_like(own)
        flop = 2.0 * shape.heads / own * (2.0 * shape.kv_rank + shape.rope_dim)
    else:
        split = np.minimum(own, shape.kv_heads)
        flop = 2.0 * shape.heads / own * (shape.head_dim + shape.value_head_dim)
    read = kv_values_per_layer(shape) * form.kv_bytes / split / constants.kv_bytes_per_s
    return np.hypot(read, flop / constants.kv_flop_per_s), shape.window_tokens
