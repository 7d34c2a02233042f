"""Matrix shapes of catalog models under tensor parallelism.

The sizes repeat those of `catalog/models/*.yaml`, because a GPU node has no catalog; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelSizes:
    """Sizes of one model; `ffn` is an expert's width where the model has experts."""

    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    ffn: int
    experts: bool = False
    q_latent: int = 0
    kv_latent: int = 0
    rope_head_size: int = 0


MODELS = {
    "llama-3.1-8b": ModelSizes(4096, 32, 8, 128, 14336),
    "llama-3.1-70b": ModelSizes(8192, 64, 8, 128, 28672),
    "llama-3.1-405b": ModelSizes(16384, 128, 8, 128, 53248),
    "qwen3-32b": ModelSizes(5120, 64, 8, 128, 25600),
    "qwen3-235b-a22b": ModelSizes(4096, 64, 4, 128, 1536, experts=True),
    "deepseek-v3": ModelSizes(
        7168, 128, 128, 128, 2048, experts=True, q_latent=1536, kv_latent=512, rope_head_size=64
    ),
}


@dataclass(frozen=True)
class Shape:
    """A weight of k by n that rows of activations are multiplied with."""

    role: str
    k: int
    n: int


def shapes(model: str, tensor_parallel: int) -> list[Shape]:
    """The weights of one layer on one rank of a tensor-parallel group.

    An expert's weights are split over no ranks (experts are dealt out whole). Keys and values keep at least
    one head a rank. Latent attention projects down unsplit and up split.

    >>> [(s.role, s.k, s.n) for s in shapes("llama-3.1-8b", 2)]
    [('qkv', 4096, 3072), ('out', 2048, 4096), ('gate_up', 4096, 14336), ('down', 7168, 4096)]
    """
    sizes = MODELS[model]
    heads = sizes.heads // tensor_parallel
    ffn = sizes.ffn if sizes.experts else sizes.ffn // tensor_parallel
    if sizes.q_latent:
        down = sizes.q_latent + sizes.kv_latent + sizes.rope_head_size
        query = heads * (sizes.head_size + sizes.rope_head_size)
        found = [Shape("latent_down", sizes.hidden, down), Shape("query_up", sizes.q_latent, query),
                 Shape("key_value_up", sizes.kv_latent, heads * 2 * sizes.head_size)]  # fmt: skip
    else:
        kv_heads = max(1, sizes.kv_heads // tensor_parallel)
        found = [Shape("qkv", sizes.hidden, (heads + 2 * kv_heads) * sizes.head_size)]
    found += [Shape("out", heads * sizes.head_size, sizes.hidden)]
    if not sizes.experts or tensor_parallel == 1:
        found += [Shape("gate_up", sizes.hidden, 2 * ffn), Shape("down", ffn, sizes.hidden)]
    return found
