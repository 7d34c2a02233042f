"""The small kernels of a serving step, each by itself: what a step takes beside products, attention and exchanges.

Rows up to `MOST_PICKED` stand for the sequences of a decode step, more of them for one prompt.
"""

from __future__ import annotations

from typing import Any

from planner.measure.run.serve_cases import MOST_PICKED, ServeCase
from planner.measure.run.serve_model import Cache, Replica, store
from planner.measure.run.timing import Call

CACHED = 8
"""Tokens of the caches that a decode step's keys and values are written to."""


def kernel_call(replica: Replica, case: ServeCase) -> Call:
    """One kind of small kernel on so many rows."""
    torch, size, rows = replica.torch, replica.size, case.sequences
    shape = (rows, 1) if rows <= MOST_PICKED else (1, rows)

    def drawn(*width: int) -> Any:
        values = torch.empty(*shape, *width, device=replica.context.device, dtype=torch.bfloat16)
        return values.normal_()

    heads = replica.heads + 2 * replica.kv_heads
    if case.kind in ("norm", "add"):
        x, y = drawn(size.hidden), drawn(size.hidden)
        return (lambda: replica.normed(x, replica.norm)) if case.kind == "norm" else (lambda: x + y)
    if case.kind == "gate":
        wide = drawn(2 * size.ffn // replica.ranks)
        return lambda: replica.gated(wide)
    if case.kind == "embed":
        tokens = torch.randint(size.vocab, shape, device=replica.context.device)
        return lambda: replica.embed(tokens)
    if case.kind == "pick":
        logits = drawn(size.vocab // replica.ranks)[:, 0]
        return lambda: logits.max(dim=-1)
    qkv = drawn(heads, size.head_size)
    if case.kind == "rotary":
        turned = qkv[:, :, : replica.heads + replica.kv_heads]
        return lambda: replica.turned(turned, 0, shape[1])
    assert case.kind == "store", case.kind
    key, value = (part.transpose(1, 2) for part in qkv[:, :, replica.heads :].chunk(2, dim=2))
    place = (shape[0], replica.kv_heads, max(CACHED, shape[1]), size.head_size)
    cache = Cache(*(torch.empty(place, device=qkv.device, dtype=qkv.dtype) for _ in range(2)))
    return lambda: store(cache, key, value, 0)
