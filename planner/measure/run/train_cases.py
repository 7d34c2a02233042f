"""Which training steps are measured: sizes, layouts, recompute, compiled or not."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

HOST_BOUND = 0.6
"""Share of a step from which launching its first one says that the device waits for its host.

Later steps launch slower than the first, which finds an empty queue: steps that waited had 0.68 and 0.80 on two
H200s, all others 0.3 or less.
"""
ONE_GPU, REPLICATED, SHARDED, TENSOR = "one_gpu", "ddp", "fsdp", "tensor"


@dataclass(frozen=True)
class Size:
    """Widths of a Llama-shaped model with so few layers that one device holds it; GLU, untied head."""

    name: str
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    ffn: int
    layers: int
    vocab: int

    @property
    def layer_parameters(self) -> int:
        """Matrix parameters of one layer.

        >>> WIDE.layer_parameters
        218103808
        """
        attention = (2 * self.heads + 2 * self.kv_heads) * self.head_size
        return self.hidden * (attention + 3 * self.ffn)

    @property
    def parameters(self) -> int:
        """Of the whole model, norms included."""
        norms = (2 * self.layers + 1) * self.hidden
        return self.layers * self.layer_parameters + 2 * self.vocab * self.hidden + norms


NARROW = Size("h2048", 2048, 16, 8, 128, 8192, 8, 32_000)
WIDE = Size("h4096", 4096, 32, 8, 128, 14_336, 4, 32_000)
TINY = Size("h64", 64, 4, 2, 16, 128, 2, 256)


@dataclass(frozen=True)
class StepCase:
    """One step to measure.

    `sequences` is what one rank works on at once; `recompute` computes whole layers again in the backward
    pass; `compiled` hands each layer to torch.compile.
    """

    mode: str
    size: Size
    sequence_tokens: int
    sequences: int
    recompute: bool = False
    compiled: bool = False

    @property
    def tokens(self) -> int:
        """Tokens that one rank works on in a step."""
        return self.sequences * self.sequence_tokens

    def named(self, world: int) -> dict[str, Any]:
        """The configuration as it is recorded.

        >>> StepCase("ddp", TINY, 32, 2).named(4)["batch_sequences"]
        8
        """
        gpus = 1 if self.mode == ONE_GPU else world
        tensor = gpus if self.mode == TENSOR else 1
        data = gpus // tensor
        return {
            "mode": self.mode, "gpus": gpus, "size": self.size.name,
            **{name: value for name, value in asdict(self.size).items() if name != "name"},
            "glu": True, "tied_embedding": False, "parameters": self.size.parameters,
            "sequence_tokens": self.sequence_tokens, "microbatch_sequences": self.sequences, "microbatches": 1,
            "batch_sequences": self.sequences * data, "tensor_ranks": tensor, "data_ranks": data,
            "sequence_parallel": False, "zero_stage": 3 if self.mode == SHARDED else 0,
            "recompute": "full" if self.recompute else "none", "precision": "bf16",
            "master_weights": "fp32", "optimiser": "AdamW", "compiled": self.compiled,
        }  # fmt: skip


def cases(*, world: int, quick: bool, on_gpu: bool) -> list[StepCase]:
    """Steps in the order in which they are measured, those that most users need first.

    >>> [case.mode for case in cases(world=1, quick=True, on_gpu=True)]
    ['one_gpu', 'one_gpu']
    >>> sorted({case.mode for case in cases(world=2, quick=False, on_gpu=False)})
    ['ddp', 'fsdp', 'one_gpu', 'tensor']
    """
    if not on_gpu:
        found = [StepCase(mode, TINY, 32, 2) for mode in (ONE_GPU, REPLICATED, SHARDED, TENSOR)]
        found.append(StepCase(ONE_GPU, TINY, 32, 2, recompute=True))
    elif quick:
        found = [StepCase(mode, size, 4096, 2)
                 for mode in (ONE_GPU, REPLICATED, SHARDED, TENSOR) for size in (NARROW, WIDE)]  # fmt: skip
    else:
        found = _full()
    return [case for case in found if case.mode == ONE_GPU or world > 1]


def _full() -> list[StepCase]:
    """Every mode at both widths and lengths, then recompute, a larger microbatch, and compiled layers."""
    lengths = ((4096, 2), (2048, 4))
    found = [
        StepCase(mode, size, tokens, sequences)
        for mode in (ONE_GPU, SHARDED, REPLICATED, TENSOR)
        for size in (WIDE, NARROW)
        for tokens, sequences in lengths
    ]
    found += [
        StepCase(ONE_GPU, WIDE, 4096, 2, recompute=True),
        StepCase(SHARDED, WIDE, 4096, 2, recompute=True),
        StepCase(ONE_GPU, WIDE, 4096, 4),
        StepCase(ONE_GPU, NARROW, 2048, 1),
        StepCase(SHARDED, NARROW, 2048, 1),
    ]
    found += [
        StepCase(mode, size, 4096, 2, compiled=True) for size in (WIDE, NARROW) for mode in (ONE_GPU, SHARDED)
    ]
    return [
        *found,
        StepCase(REPLICATED, WIDE, 4096, 2, compiled=True),
        StepCase(ONE_GPU, WIDE, 4096, 2, recompute=True, compiled=True),
    ]


def flop_per_token(size: Size, sequence_tokens: int) -> float:
    """Model FLOP of a token, forward and backward: 6 per matrix parameter, causal attention by half.

    >>> flop_per_token(WIDE, 4096) / 1e9
    6.423576576
    """
    matrices = size.layers * size.layer_parameters + size.vocab * size.hidden
    attention = 6.0 * size.layers * sequence_tokens * size.heads * size.head_size
    return 6.0 * matrices + attention


def needed_bytes(case: StepCase, world: int) -> float:
    """Memory that a step takes at most, roughly: state of 20 bytes a parameter, saved activations, logits."""
    size = case.size
    shards = world if case.mode in (SHARDED, TENSOR) else 1
    layer = case.tokens * 2.0 * (16 * size.hidden + 6 * size.ffn)
    saved = layer * (2 if case.recompute else size.layers)
    gathered = 8.0 * size.vocab * size.hidden
    return 20.0 * size.parameters / shards + saved + 14.0 * case.tokens * size.vocab + gathered
