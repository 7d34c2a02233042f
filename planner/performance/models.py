"""What a transformer is made of: parameters, FLOP per token, bytes of its cache."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from planner.arrays import Floats


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Published dimensions of a model; numbers broadcast to shape (n,), flags hold for the whole batch.

    Attributes:
        layers: Transformer layers, dense and sparse together.
        hidden: Width of the residual stream.
        heads, kv_heads: Query heads, and heads of keys and values (equal without grouping, 1 for multi-query).
        head_dim: Width of a query and key head (with latent attention: rotary part included).
        value_head_dim: Width of a value head.
        ffn: Inner width of the dense feed-forward; 0 where every layer is sparse.
        vocab: Rows of the embedding, padding included if the published number does.
        positions: Learned positions; 0 with rotary ones.
        dense_layers: Layers with the dense feed-forward; all of them in a dense model.
        experts, experts_per_token, expert_ffn: Routed experts of a sparse layer, how many a token visits, their width.
        shared_expert_ffn: Summed inner width of the experts that every token visits.
        query_rank, kv_rank, rope_dim: Latent attention; query_rank 0 projects queries directly.
        window_tokens, windowed_layers: Sliding window and the layers that have it.
        glu: Feed-forwards have a gate (three matrices instead of two).
        tied_embeddings: The output head is the embedding.
        biases: Biases on every linear layer and norm; attention_biases: on q, k and v alone.
        qk_norm: Norms on queries and keys.
        latent: Latent (compressed) keys and values.
        query_key_norms: 1 where queries and keys are normalised one by one, else 0; norm_over_heads: 1 where such a
            norm runs over all heads, whose sums tensor ranks have to exchange.
    """

    layers: Floats
    hidden: Floats
    heads: Floats
    kv_heads: Floats
    head_dim: Floats
    value_head_dim: Floats
    ffn: Floats
    vocab: Floats
    positions: Floats
    dense_layers: Floats
    experts: Floats
    experts_per_token: Floats
    expert_ffn: Floats
    shared_expert_ffn: Floats
    query_rank: Floats
    kv_rank: Floats
    rope_dim: Floats
    window_tokens: Floats
    windowed_layers: Floats
    glu: bool
    tied_embeddings: bool
    biases: bool
    attention_biases: bool
    qk_norm: bool
    latent: bool
    query_key_norms: Floats = field(default_factory=lambda: np.zeros(1))
    norm_over_heads: Floats = field(default_factory=lambda: np.zeros(1))


def model_shape(
    *,
    layers: float,
    hidden: float,
    heads: float,
    vocab: float,
    kv_heads: float = 0.0,
    head_dim: float = 0.0,
    value_head_dim: float = 0.0,
    ffn: float = 0.0,
    positions: float = 0.0,
    dense_layers: float | None = None,
    experts: float = 0.0,
    experts_per_token: float = 0.0,
    expert_ffn: float = 0.0,
    shared_expert_ffn: float = 0.0,
    query_rank: float = 0.0,
    kv_rank: float = 0.0,
    rope_dim: float = 0.0,
    window_tokens: float = 0.0,
    windowed_layers: float = 0.0,
    glu: bool = True,
    tied_embeddings: bool = False,
    biases: bool = False,
    attention_biases: bool = False,
    qk_norm: bool = False,
) -> ModelShape:
    """One published model as arrays of shape (1,), with what a card leaves out filled in.

    A missing `kv_heads` equals `heads`, a missing `head_dim` is hidden / heads, a missing `dense_layers` is
    all layers without experts and none with them; a `kv_rank` means latent attention.

    >>> model_shape(layers=32, hidden=4096, heads=32, vocab=128256, ffn=14336).head_dim
    array([128.])
    """
    width = head_dim or hidden / heads
    dense = (0.0 if experts else layers) if dense_layers is None else dense_layers
    numbers = {
        "layers": layers, "hidden": hidden, "heads": heads, "kv_heads": kv_heads or heads,
        "head_dim": width, "value_head_dim": value_head_dim or width, "ffn": ffn, "vocab": vocab,
        "positions": positions, "dense_layers": dense, "experts": experts,
        "experts_per_token": experts_per_token, "expert_ffn": expert_ffn,
        "shared_expert_ffn": shared_expert_ffn, "query_rank": query_rank, "kv_rank": kv_rank,
        "rope_dim": rope_dim, "window_tokens": window_tokens, "windowed_layers": windowed_layers,
    }  # fmt: skip
    return ModelShape(
        **{name: np.array([float(value)]) for name, value in numbers.items()},
        glu=glu,
        tied_embeddings=tied_embeddings,
        biases=biases,
        attention_biases=attention_biases,
        qk_norm=qk_norm,
        latent=kv_rank > 0.0,
    )


def ffn_matrices(shape: ModelShape) -> float:
    """Matrices of one feed-forward: 3 with a gate, 2 without."""
    return 3.0 if shape.glu else 2.0


def sparse_layers(shape: ModelShape) -> Floats:
    """Layers whose feed-forward is a mixture of experts, shape (n,)."""
    return np.asarray(shape.layers - shape.dense_layers)


def attention_weights(shape: ModelShape) -> Floats:
    """Weights of the matrices of one attention layer, shape (n,); norms and biases left out.

    >>> attention_weights(model_shape(layers=1, hidden=4096, heads=32, kv_heads=8, vocab=1))
    array([41943040.])
    """
    out = shape.heads * shape.value_head_dim * shape.hidden
    if shape.latent:
        ranked = shape.query_rank * (shape.hidden + shape.heads * shape.head_dim)
        query = np.where(shape.query_rank > 0.0, ranked, shape.hidden * shape.heads * shape.head_dim)
        key_value = shape.hidden * (shape.kv_rank + shape.rope_dim) + shape.kv_rank * shape.heads * (
            shape.head_dim - shape.rope_dim + shape.value_head_dim
        )
        return query + key_value + out
    return (
        shape.hidden
        * (shape.heads * shape.head_dim + shape.kv_heads * (shape.head_dim + shape.value_head_dim))
        + out
    )


def _small_parameters_per_layer(shape: ModelShape) -> Floats:
    """Norms and biases of one layer, the dense feed-forward's bias included, shape (n,)."""
    norms = (4.0 if shape.biases else 2.0) * shape.hidden
    if shape.latent:
        norms = norms + shape.query_rank + shape.kv_rank
    if shape.qk_norm:
        norms = norms + 2.0 * shape.head_dim
    qkv = shape.heads * shape.head_dim + shape.kv_heads * (shape.head_dim + shape.value_head_dim)
    bias = qkv * float(shape.biases or shape.attention_biases)
    bias = bias + (2.0 * shape.hidden + shape.ffn * (ffn_matrices(shape) - 1.0)) * float(shape.biases)
    return np.asarray(norms + bias)


def dense_layer_parameters(shape: ModelShape) -> Floats:
    """Parameters of one layer with a dense feed-forward, shape (n,)."""
    return (
        attention_weights(shape)
        + ffn_matrices(shape) * shape.hidden * shape.ffn
        + _small_parameters_per_layer(shape)
    )


def expert_parameters_per_layer(shape: ModelShape) -> Floats:
    """Parameters of all routed experts of one sparse layer, shape (n,)."""
    return np.asarray(shape.experts * ffn_matrices(shape) * shape.hidden * shape.expert_ffn)


def sparse_layer_shared_parameters(shape: ModelShape) -> Floats:
    """Parameters of one sparse layer without its routed experts, shape (n,)."""
    router = shape.experts * shape.hidden
    shared = ffn_matrices(shape) * shape.hidden * shape.shared_expert_ffn
    return attention_weights(shape) + router + shared + _small_parameters_per_layer(shape)


def embedding_parameters(shape: ModelShape) -> Floats:
    """Parameters of the embedding and learned positions, shape (n,)."""
    return np.asarray((shape.vocab + shape.positions) * shape.hidden)


def head_parameters(shape: ModelShape) -> Floats:
    """Parameters of an output head of its own, shape (n,); zero where it is tied."""
    return np.asarray(shape.vocab * shape.hidden * float(not shape.tied_embeddings))


def parameters(shape: ModelShape) -> Floats:
    """All parameters of the model.

    Args:
        shape: The model.

    Returns:
        Shape (n,).

    Source:
        Counted from the published dimensions; 8.03e9 is the published size of Llama-3.1-8B.

    >>> parameters(model_shape(layers=32, hidden=4096, heads=32, kv_heads=8, vocab=128256, ffn=14336))
    array([8.03026125e+09])
    """
    dense = shape.dense_layers * dense_layer_parameters(shape)
    sparse = sparse_layers(shape) * (
        sparse_layer_shared_parameters(shape) + expert_parameters_per_layer(shape)
    )
    final_norm = shape.hidden * (2.0 if shape.biases else 1.0)
    return dense + sparse + embedding_parameters(shape) + head_parameters(shape) + final_norm


def active_parameters(shape: ModelShape) -> Floats:
    """Parameters that one token visits, embedding and head included, shape (n,).

    >>> mixtral = model_shape(layers=32, hidden=4096, heads=32, kv_heads=8, vocab=32000, experts=8,
    ...     experts_per_token=2, expert_ffn=14336)
    >>> active_parameters(mixtral).round(-8)
    array([1.29e+10])
    """
    idle = np.where(shape.experts > 0.0, 1.0 - shape.experts_per_token / np.maximum(shape.experts, 1.0), 0.0)
    return parameters(shape) - sparse_layers(shape) * expert_parameters_per_layer(shape) * idle


def linear_flop_per_token(shape: ModelShape) -> Floats:
    """FLOP of the linear layers for one token, forward, head included, shape (n,).

    Two for each weight a token meets; the embedding is a look-up and norms and biases are left out.

    >>> linear_flop_per_token(model_shape(layers=2, hidden=8, heads=2, vocab=16, ffn=32))
    array([4352.])
    """
    matrices = ffn_matrices(shape)
    sparse_ffn = shape.experts_per_token * shape.expert_ffn + shape.shared_expert_ffn
    weights = (
        shape.layers * attention_weights(shape)
        + matrices * shape.hidden * (shape.dense_layers * shape.ffn + sparse_layers(shape) * sparse_ffn)
        + sparse_layers(shape) * shape.experts * shape.hidden
        + shape.vocab * shape.hidden
    )
    return 2.0 * weights


def mean_span_tokens(*, sequence_tokens: Floats, window_tokens: Floats) -> Floats:
    """Tokens a causal query sees in the mean, half the sequence where no window binds.

    >>> mean_span_tokens(sequence_tokens=np.array([8.0, 8.0]), window_tokens=np.array([8.0, 2.0]))
    array([4.  , 1.75])
    """
    reach = np.minimum(window_tokens, sequence_tokens)
    return np.asarray(reach - reach * reach / (2.0 * sequence_tokens))


def attention_flop_per_token(shape: ModelShape, *, sequence_tokens: Floats, causal: bool = True) -> Floats:
    """FLOP of scores and weighted values for one token, all layers, forward.

    Args:
        shape: The model.
        sequence_tokens: Length of a sequence.
        causal: Count only what a causal mask leaves (half); False counts the whole square, as some
            publications do.

    Returns:
        Shape (n,).

    Source:
        Counted: 2 FLOP for each score and head width, and as much for the values.

    >>> attention_flop_per_token(model_shape(layers=1, hidden=8, heads=2, vocab=1), sequence_tokens=np.array([4.0]))
    array([64.])
    """
    whole = sequence_tokens
    windowed = np.minimum(shape.window_tokens, sequence_tokens)
    if causal:
        whole = mean_span_tokens(sequence_tokens=sequence_tokens, window_tokens=sequence_tokens)
        windowed = mean_span_tokens(sequence_tokens=sequence_tokens, window_tokens=shape.window_tokens)
    spans = (shape.layers - shape.windowed_layers) * whole + shape.windowed_layers * windowed
    return np.asarray(2.0 * shape.heads * (shape.head_dim + shape.value_head_dim) * spans)


def training_flop_per_token(shape: ModelShape, *, sequence_tokens: Floats, causal: bool = True) -> Floats:
    """Model FLOP of training on one token: forward once, backward twice that, no recompute.

    Args:
        shape: The model.
        sequence_tokens: Length of a sequence.
        causal: Convention of the attention count, see `attention_flop_per_token`.

    Returns:
        Shape (n,).

    Source:
        The usual definition behind MFU.

    >>> training_flop_per_token(model_shape(layers=1, hidden=8, heads=2, vocab=1), sequence_tokens=np.array([4.0]))
    array([1776.])
    """
    attention = attention_flop_per_token(shape, sequence_tokens=sequence_tokens, causal=causal)
    return 3.0 * (linear_flop_per_token(shape) + attention)


def kv_bytes_per_token(shape: ModelShape, *, value_bytes: Floats) -> Floats:
    """Bytes that one cached token takes in all layers, windows not yet full.

    Args:
        shape: The model.
        value_bytes: Bytes of one cached value.

    Returns:
        Shape (n,).

    Source:
        Counted; planner-inference-notes names 160 KiB in fp8 for Llama-70B and 35 kB for the latent 61 x 576.

    >>> kv_bytes_per_token(model_shape(layers=80, hidden=8192, heads=64, kv_heads=8, vocab=1),
    ...     value_bytes=np.array([1.0]))
    array([163840.])
    """
    return shape.layers * kv_values_per_layer(shape) * value_bytes


def kv_values_per_layer(shape: ModelShape) -> Floats:
    """Values that one token caches in one layer, shape (n,)."""
    if shape.latent:
        return np.asarray(shape.kv_rank + shape.rope_dim)
    return np.asarray(shape.kv_heads * (shape.head_dim + shape.value_head_dim))


def kv_cache_bytes(
    shape: ModelShape, *, context_tokens: Floats, value_bytes: Floats, tensor_ranks: Floats
) -> Floats:
    """Bytes of one sequence's cache on each rank.

    Grouped heads divide over tensor ranks but not below one head a rank; a latent cache doesn't divide.

    Args:
        shape: The model.
        context_tokens: Tokens in the cache.
        value_bytes: Bytes of one cached value.
        tensor_ranks: Ranks that share the attention of a sequence.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        planner-inference-notes, section 2 item 3.

    >>> kv_cache_bytes(model_shape(layers=1, hidden=8, heads=4, kv_heads=2, vocab=1),
    ...     context_tokens=np.array([10.0]), value_bytes=np.array([2.0]), tensor_ranks=np.array([4.0]))
    array([80.])
    """
    split = np.ones_like(tensor_ranks) if shape.latent else np.minimum(tensor_ranks, shape.kv_heads)
    held = (shape.layers - shape.windowed_layers) * context_tokens
    held = held + shape.windowed_layers * np.minimum(context_tokens, shape.window_tokens)
    return held * kv_values_per_layer(shape) * value_bytes / split
