"""Attention: forward and backward by sequence length, and decode against a long cache."""

from __future__ import annotations

import importlib
from typing import Any

from planner.measure.run.cases import Case, run_cases
from planner.measure.run.context import Context
from planner.measure.run.gemm import rotation
from planner.measure.run.timing import Call

HEAD_SIZE = 128
# Query heads and key/value heads: Llama 8B, 70B, 70B split over 8.
HEADS = ((32, 8), (64, 8), (8, 1))
TOKENS = 16384
DECODE_BYTES = 16 * 1024**3
# Backward makes five products where forward makes two; causal masks halve both.
# Source: FlashAttention's benchmark counts 4 b s^2 h d, halved where causal, and 2.5 times that for backward.
BACKWARD_OVER_FORWARD = 2.5


def run(context: Context) -> None:
    """Measure forward, forward with backward, and decode."""
    run_cases(context, "attention", [*prefill_cases(context), *decode_cases(context)])


def prefill_cases(context: Context) -> list[Case]:
    """Causal bf16 attention over whole sequences, by backend."""
    lengths = [1024 << step for step in range(6)]
    heads: tuple[tuple[int, int], ...] = HEADS
    if context.quick:
        lengths, heads = [4096, 16384], HEADS[1:2]
    if not context.on_gpu:
        lengths, heads = [64], ((4, 2),)
    backends = ("flash", "cudnn") if context.on_gpu else ("math",)
    return [
        _prefill(context, backend, length, pair, backward)
        for pair in heads
        for length in lengths
        for backend in backends
        for backward in (False, True)
    ]


def _prefill(context: Context, backend: str, length: int, heads: tuple[int, int], backward: bool) -> Case:
    torch = context.torch
    query_heads, kv_heads = heads
    batch = max(1, TOKENS // length) if context.on_gpu else 1
    forward = 4.0 * batch * query_heads * length * length * HEAD_SIZE / 2

    def build(found: dict[str, Any]) -> list[Call]:
        def make(count: int) -> Any:
            return torch.randn(batch, count, length, HEAD_SIZE, device=context.device, dtype=torch.bfloat16,
                               requires_grad=backward)  # fmt: skip

        q, k, v = make(query_heads), make(kv_heads), make(kv_heads)
        weight = torch.randn_like(q)
        attend = attention_call(context, backend, found, group=query_heads // kv_heads)

        def both() -> object:
            return torch.autograd.grad(attend(q, k, v, True), (q, k, v), weight)

        def one() -> object:
            with torch.no_grad():
                return attend(q, k, v, True)

        return [both if backward else one]

    named = {"family": "forward_backward" if backward else "forward", "backend": backend, "dtype": "bf16",
             "causal": True, "batch": batch, "length": length, "heads": query_heads, "kv_heads": kv_heads,
             "head_size": HEAD_SIZE, "flop_counted": "causal half"}  # fmt: skip
    return Case(named, build, flop=forward * (1 + BACKWARD_OVER_FORWARD) if backward else forward)


def decode_cases(context: Context) -> list[Case]:
    """One new token against a cache of keys and values, which is bound by reading them."""
    lengths = [1024 << step for step in range(8)]
    batches: tuple[int, ...] = (1, 8, 64)
    heads: tuple[tuple[int, int], ...] = ((8, 8), (1, 8))
    if context.quick:
        lengths, batches, heads = [8192, 32768], (1, 64), ((8, 8),)
    if not context.on_gpu:
        lengths, batches, heads = [128], (2,), ((2, 2),)
    return [
        _decode(context, length, batch, kv_heads, group)
        for kv_heads, group in heads
        for batch in batches
        for length in lengths
        if 4 * batch * kv_heads * length * HEAD_SIZE <= DECODE_BYTES
    ]


def _decode(context: Context, length: int, batch: int, kv_heads: int, group: int) -> Case:
    torch = context.torch
    cache_bytes = 2 * 2 * batch * kv_heads * length * HEAD_SIZE
    copies = rotation(context, cache_bytes)

    def build(found: dict[str, Any]) -> list[Call]:
        found["rotating_buffers"] = copies
        # The new token may look at the whole cache, so a group's query heads can stand as rows of one head:
        # the same sums, and keys and values are read once.
        found["grouping"] = "query heads as rows"
        attend = attention_call(context, "flash" if context.on_gpu else "math", found, group=1)

        def make(rows: int) -> Any:
            return torch.randn(batch, kv_heads, rows, HEAD_SIZE, device=context.device, dtype=torch.bfloat16)

        sets = [(make(group), make(length), make(length)) for _ in range(copies)]

        def call(q: Any, k: Any, v: Any) -> Call:
            def one() -> object:
                with torch.no_grad():
                    return attend(q, k, v, False)

            return one

        return [call(*one) for one in sets]

    named = {"family": "decode", "backend": "flash" if context.on_gpu else "math", "dtype": "bf16", "batch": batch,
             "length": length, "heads": kv_heads * group, "kv_heads": kv_heads, "head_size": HEAD_SIZE}  # fmt: skip
    flop = 4.0 * batch * kv_heads * group * length * HEAD_SIZE
    moved = float(cache_bytes + 2 * 2 * batch * kv_heads * group * HEAD_SIZE)
    return Case(named, build, flop=flop, moved_bytes=moved, graph=True)


def attention_call(context: Context, backend: str, found: dict[str, Any], *, group: int) -> Any:
    """torch's attention held to one backend.

    Raises:
        RuntimeError: This torch has no such backend.
    """
    torch = context.torch
    module = importlib.import_module("torch.nn.attention")
    name = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "math": "MATH"}[backend]
    chosen = getattr(module.SDPBackend, name, None)
    if chosen is None:
        raise RuntimeError(f"this torch has no {name}")
    attend = torch.nn.functional.scaled_dot_product_attention
    repeated = group > 1 and not _knows_groups(context)

    def call(q: Any, k: Any, v: Any, causal: bool) -> Any:
        nonlocal repeated
        grouped = {"enable_gqa": True} if group > 1 and not repeated else {}
        if repeated:
            k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        if group > 1:
            found["grouping"] = "repeated keys and values" if repeated else "enable_gqa"
        try:
            with module.sdpa_kernel(chosen):
                return attend(q, k, v, is_causal=causal, **grouped)
        except RuntimeError as error:
            # Some backends know no groups; then the keys and values are repeated, which costs a copy.
            if not grouped or "out of memory" in str(error):
                raise
            repeated = True
            return call(q, k, v, causal)

    return call


def _knows_groups(context: Context) -> bool:
    return "enable_gqa" in (context.torch.nn.functional.scaled_dot_product_attention.__doc__ or "")
