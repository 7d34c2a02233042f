"""LLM architectures as catalog items: shapes, no rates."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Self

from pydantic import Field, model_validator

from planner.catalog.figure import Figure
from planner.catalog.item import Item


class Attention(StrEnum):
    """How keys and values are kept: per head or group, or as a latent vector."""

    GROUPED = "grouped"
    LATENT = "latent"


class QueryKeyNorm(StrEnum):
    """Whether queries and keys are normalised before attention: not, in each head, or over the width of all heads."""

    NONE = "none"
    HEAD = "head"
    WIDTH = "width"


class Model(Item):
    """An LLM architecture: shapes, no rates."""

    family: ClassVar[str] = "models"

    layers: int = Field(ge=1)
    hidden: int = Field(ge=1)
    heads: int = Field(ge=1)
    kv_heads: int = Field(ge=1)
    head_size: int = Field(ge=1)
    ffn: int = Field(ge=1)
    """Inner width of the dense feed-forward block."""
    gated_ffn: bool = True
    vocabulary: int = Field(ge=1)
    tied_embeddings: bool = False
    biases: bool = False
    learned_positions: int = Field(default=0, ge=0)
    context: int = Field(ge=1)
    attention: Attention = Attention.GROUPED
    q_latent: int = Field(default=0, ge=0)
    kv_latent: int = Field(default=0, ge=0)
    rope_head_size: int = Field(default=0, ge=0)
    query_key_norm: QueryKeyNorm = QueryKeyNorm.NONE
    """Norms cost a kernel each in serving, and one over all heads a sum between tensor ranks."""
    v_head_size: int = Field(default=0, ge=0)
    window: int = Field(default=0, ge=0)
    """Sliding window in tokens; 0 is none."""
    windowed_layers: int = Field(default=0, ge=0)
    experts: int = Field(default=0, ge=0)
    experts_per_token: int = Field(default=0, ge=0)
    expert_ffn: int = Field(default=0, ge=0)
    shared_experts: int = Field(default=0, ge=0)
    dense_layers: int = Field(default=0, ge=0)
    """First layers without experts, in a mixture of experts."""
    parameters_stated: Figure
    """Total parameters the publisher states, for the check of the shapes."""
    active_parameters_stated: Figure | None = None
    training_tokens: Figure | None = None

    @model_validator(mode="after")
    def _shapes_agree(self) -> Self:
        if self.attention is Attention.GROUPED and self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} heads don't divide over {self.kv_heads} of keys and values")
        if self.experts and not (self.expert_ffn and 0 < self.experts_per_token <= self.experts):
            raise ValueError("experts need expert_ffn, and experts_per_token between 1 and their number")
        return self
