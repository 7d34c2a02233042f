"""A catalog model as the models of performance take it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.catalog.llm import Attention, Model, QueryKeyNorm
from planner.performance.models import ModelShape, model_shape


def shape_of(model: Model) -> ModelShape:
    """Shapes of a catalog model, each of shape (1,)."""
    latent = model.attention is Attention.LATENT
    sparse = model.experts > 0
    shape = model_shape(
        layers=model.layers,
        hidden=model.hidden,
        heads=model.heads,
        vocab=model.vocabulary,
        kv_heads=model.kv_heads,
        head_dim=model.head_size + (model.rope_head_size if latent else 0),
        value_head_dim=model.v_head_size or model.head_size,
        ffn=0 if sparse and model.dense_layers == 0 else model.ffn,
        positions=model.learned_positions,
        dense_layers=model.dense_layers if sparse else None,
        experts=model.experts,
        experts_per_token=model.experts_per_token,
        expert_ffn=model.expert_ffn,
        shared_expert_ffn=model.shared_experts * model.expert_ffn,
        query_rank=model.q_latent if latent else 0,
        kv_rank=model.kv_latent if latent else 0,
        rope_dim=model.rope_head_size if latent else 0,
        window_tokens=model.window,
        windowed_layers=model.windowed_layers,
        glu=model.gated_ffn,
        tied_embeddings=model.tied_embeddings,
        biases=model.biases,
    )
    normed, over = model.query_key_norm is not QueryKeyNorm.NONE, model.query_key_norm is QueryKeyNorm.WIDTH
    return replace(shape, query_key_norms=np.array([float(normed)]), norm_over_heads=np.array([float(over)]))
