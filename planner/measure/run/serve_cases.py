"""Which serving steps are measured: prefill, decode and the output head of Llama shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from planner.measure.run.train_cases import TINY, Size

PREFILL, DECODE, HEAD, KERNEL = "prefill", "decode", "head", "small"
MEASURED_LAYERS = 4
"""Layers held at once; their weights are many times the L2 cache, so each is read from memory."""
VOCABULARY = 128_256
EIGHT = Size("llama-3.1-8b", 4096, 32, 8, 128, 14_336, MEASURED_LAYERS, VOCABULARY)
SEVENTY = Size("llama-3.1-70b", 8192, 64, 8, 128, 28_672, MEASURED_LAYERS, VOCABULARY)
SMALL = replace(TINY, name="h64", vocab=256)
MODEL_LAYERS = {"llama-3.1-8b": 32, "llama-3.1-70b": 80, "h64": 2}
"""Layers of the whole models, which the catalog's items hold too; a test compares them."""
SEQUENCES = (1, 2, 4, 8, 16, 32, 64, 128)
CONTEXTS = (512, 1024, 2048, 4096, 8192)
PROMPTS = ((1024, 1), (2048, 1), (4096, 1), (8192, 1), (1024, 4), (2048, 4))
"""Tokens of a prompt, and prompts at once."""
KERNEL_ROWS = (1, 16, 128, 1024, 8192)
KINDS = ("norm", "add", "rotary", "store", "gate", "embed", "pick")
"""The small kernels of a step: norms, residuals, rotary position, writing to the cache, the gated product, looking
tokens up, and picking the likeliest word."""
MOST_PICKED = 128
"""Sequences that the output head sees at most."""
VALUE_BYTES = 2


@dataclass(frozen=True)
class ServeCase:
    """One step to measure.

    `tokens` of a sequence: its prompt in a prefill, its cache with the new token in a decode step. A head has the
    tokens that the embedding looks up for each row that the output head sees. A kernel has its `kind`, on so many
    rows of one token.
    """

    phase: str
    size: Size
    ranks: int
    sequences: int
    tokens: int
    kind: str = ""

    def named(self) -> dict[str, Any]:
        """The configuration as it is recorded.

        >>> ServeCase("decode", EIGHT, 2, 16, 1024).named()["model_layers"]
        32
        """
        size = self.size
        return {
            "phase": self.phase, "model": size.name, "tensor_ranks": self.ranks, "gpus": self.ranks,
            "sequences": self.sequences, "tokens": self.tokens, "layers": size.layers,
            "model_layers": MODEL_LAYERS[size.name], "hidden": size.hidden, "heads": size.heads,
            "kv_heads": size.kv_heads, "head_size": size.head_size, "ffn": size.ffn, "vocab": size.vocab,
            "precision": "bf16", **({"kind": self.kind} if self.kind else {}),
        }  # fmt: skip


def groups(*, world: int, quick: bool, on_gpu: bool) -> Iterator[tuple[Size, int, list[ServeCase]]]:
    """Sizes and tensor ranks, each with its steps, in the order in which they are measured.

    >>> [(size.name, ranks) for size, ranks, _ in groups(world=2, quick=True, on_gpu=True)]
    [('llama-3.1-8b', 1), ('llama-3.1-70b', 1), ('llama-3.1-8b', 2), ('llama-3.1-70b', 2)]
    """
    for ranks in (1, world) if world > 1 else (1,):
        for size in (EIGHT, SEVENTY) if on_gpu else (SMALL,):
            yield size, ranks, _cases(size, ranks, quick, on_gpu)


def _cases(size: Size, ranks: int, quick: bool, on_gpu: bool) -> list[ServeCase]:
    sequences: tuple[int, ...] = SEQUENCES
    contexts: tuple[int, ...] = CONTEXTS
    prompts: tuple[tuple[int, int], ...] = PROMPTS
    if quick:
        sequences, contexts, prompts = SEQUENCES[::3], CONTEXTS[1::3], PROMPTS[1:5:2]
    if not on_gpu:
        sequences, contexts, prompts = (1, 4), (32,), ((32, 2),)
    found = [ServeCase(PREFILL, size, ranks, count, tokens) for tokens, count in prompts]
    found += [ServeCase(HEAD, size, ranks, count, tokens) for tokens, count in prompts]
    found += [ServeCase(HEAD, size, ranks, count, 1) for count in sequences]
    found += [ServeCase(DECODE, size, ranks, count, context) for context in contexts for count in sequences]
    return found + (_kernels(size, KERNEL_ROWS if on_gpu else (4,)) if ranks == 1 else [])


def _kernels(size: Size, rows: tuple[int, ...]) -> list[ServeCase]:
    return [
        ServeCase(KERNEL, size, 1, count, 1, kind)
        for kind in KINDS
        for count in rows
        if kind != "pick" or count <= MOST_PICKED
    ]


def cache_values(case: ServeCase) -> int:
    """Values that one layer's keys and values take on one rank.

    >>> cache_values(ServeCase("decode", EIGHT, 2, 16, 1024)) == 2 * 16 * 1024 * 4 * 128
    True
    """
    kv_heads = case.size.kv_heads // case.ranks
    return 2 * case.sequences * case.tokens * kv_heads * case.size.head_size


def needed_bytes(size: Size, ranks: int, cases: list[ServeCase]) -> float:
    """Memory that a size's steps take at most, roughly: weights, caches, and a prefill's activations."""
    weights = size.layers * size.layer_parameters / ranks + (1 + 1 / ranks) * size.vocab * size.hidden
    caches = max(
        (cache_values(one) * size.layers for one in cases if one.phase in (PREFILL, DECODE)), default=0
    )
    rows = max(one.sequences * one.tokens for one in cases if one.phase != DECODE)
    active = rows * (8 * size.hidden + 5 * size.ffn / ranks)
    return float(VALUE_BYTES * (weights + caches + active)) + 2e9
