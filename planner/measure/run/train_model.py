"""A Llama-shaped model in plain PyTorch, whole or split over the ranks of a tensor group.

Weights are kept in 32 bits and cast where they are used, as autocast does, so that residuals stay in 16 bits in
every mode. Attention is torch's scaled_dot_product_attention with grouped heads.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from planner.measure.run.context import Context
from planner.measure.run.train_cases import Size

ROPE_BASE = 500_000.0
INITIAL_DEVIATION = 0.02


@dataclass
class Split:
    """How weights are shared out over a tensor group; `silent` leaves its exchanges out, to time the rest.

    Attributes:
        enter: Hands a tensor on and adds its gradients up over the group.
        leave: Adds a tensor up over the group and hands its gradient on.
    """

    ranks: int
    rank: int
    enter: Callable[[Any], Any]
    leave: Callable[[Any], Any]
    silent: bool = False


def whole() -> Split:
    """No split."""
    return Split(1, 0, lambda x: x, lambda x: x)


def split_over(context: Context) -> Split:
    """Over all ranks, with an all-reduce behind each pair of matrix products, forward and backward."""
    torch, dist = context.torch, context.dist

    def added(x: Any) -> Any:
        total = x.contiguous().clone()
        if not split.silent:
            dist.all_reduce(total)
        return total

    class Enter(torch.autograd.Function):  # type: ignore[misc, name-defined]  # torch is loaded at run time and untyped
        @staticmethod
        def forward(_: Any, x: Any) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(_: Any, gradient: Any) -> Any:
            return added(gradient)

    class Leave(torch.autograd.Function):  # type: ignore[misc, name-defined]  # as above
        @staticmethod
        def forward(_: Any, x: Any) -> Any:
            return added(x)

        @staticmethod
        def backward(_: Any, gradient: Any) -> Any:
            return gradient

    split = Split(context.world, context.rank, Enter.apply, Leave.apply)
    return split


def llama(context: Context, size: Size, split: Split, *, length: int, recompute: bool) -> Any:
    """The model on this rank's device; called with tokens and targets, it gives the mean loss."""
    torch = context.torch
    nn, dtype = torch.nn, torch.bfloat16
    checkpoint = torch.utils.checkpoint.checkpoint if recompute else None

    class Model(torch.nn.Module):  # type: ignore[misc, name-defined]  # torch is loaded at run time and untyped
        def __init__(self) -> None:
            super().__init__()
            layer = layer_class(context, size, split, length)
            entries = size.vocab // split.ranks
            self.embedding = matrix(context, entries, size.hidden)
            self.layers = nn.ModuleList([layer() for _ in range(size.layers)])
            self.norm = nn.Parameter(torch.ones(size.hidden, device=context.device))
            self.head = matrix(context, entries, size.hidden)

        def forward(self, tokens: Any, targets: Any) -> Any:
            x = embedded(torch, tokens, self.embedding, split).to(dtype)
            for layer in self.layers:
                x = checkpoint(layer, x, use_reentrant=False) if checkpoint else layer(x)
            x = split.enter(nn.functional.rms_norm(x, (size.hidden,), self.norm.to(dtype), 1e-5))
            logits = nn.functional.linear(x, self.head.to(dtype)).flatten(0, 1).float()
            return mean_loss(torch, context.dist, logits, targets.flatten(), split)

    return Model()


def matrix(context: Context, rows: int, columns: int) -> Any:
    """A random 32-bit weight of so many outputs by inputs."""
    torch = context.torch
    values = torch.empty(rows, columns, device=context.device, dtype=torch.float32)
    return torch.nn.Parameter(values.normal_(std=INITIAL_DEVIATION))


def layer_class(context: Context, size: Size, split: Split, length: int) -> Any:
    """The class of one decoder layer with this rank's share of the weights."""
    torch = context.torch
    nn, linear, norm = torch.nn, torch.nn.functional.linear, torch.nn.functional.rms_norm
    heads, kv_heads = size.heads // split.ranks, size.kv_heads // split.ranks
    ffn, hidden = size.ffn // split.ranks, size.hidden
    attend = attention(context, heads // kv_heads)
    turn = rotation(context, size.head_size, length)

    class Layer(torch.nn.Module):  # type: ignore[misc, name-defined]  # torch is loaded at run time and untyped
        def __init__(self) -> None:
            super().__init__()
            self.before_attention = nn.Parameter(torch.ones(hidden, device=context.device))
            self.before_ffn = nn.Parameter(torch.ones(hidden, device=context.device))
            self.query = matrix(context, heads * size.head_size, hidden)
            self.key = matrix(context, kv_heads * size.head_size, hidden)
            self.value = matrix(context, kv_heads * size.head_size, hidden)
            self.out = matrix(context, hidden, heads * size.head_size)
            self.gate = matrix(context, ffn, hidden)
            self.up = matrix(context, ffn, hidden)
            self.down = matrix(context, hidden, ffn)

        def forward(self, x: Any) -> Any:
            y = split.enter(norm(x, (hidden,), self.before_attention.to(x.dtype), 1e-5))
            shape = (*x.shape[:2], -1, size.head_size)
            query, key, value = (
                linear(y, weight.to(x.dtype)).view(shape).transpose(1, 2)
                for weight in (self.query, self.key, self.value)
            )
            mixed = attend(turn(query), turn(key), value).transpose(1, 2).flatten(2)
            x = x + split.leave(linear(mixed, self.out.to(x.dtype)))
            y = split.enter(norm(x, (hidden,), self.before_ffn.to(x.dtype), 1e-5))
            wide = nn.functional.silu(linear(y, self.gate.to(x.dtype))) * linear(y, self.up.to(x.dtype))
            return x + split.leave(linear(wide, self.down.to(x.dtype)))

    return Layer


def attention(context: Context, group: int) -> Callable[[Any, Any, Any], Any]:
    """Causal attention; key and value heads are repeated by hand where torch can't group them (before 2.5)."""
    torch = context.torch
    call = torch.nn.functional.scaled_dot_product_attention
    if group == 1:
        return lambda q, k, v: call(q, k, v, is_causal=True)
    if "enable_gqa" in (inspect.getdoc(call) or ""):
        return lambda q, k, v: call(q, k, v, is_causal=True, enable_gqa=True)
    return lambda q, k, v: call(
        q, k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1), is_causal=True
    )


# As torch numbers them (torch.nn.attention.SDPBackend).
KERNELS = {0: "math", 1: "flash", 2: "efficient", 3: "cudnn"}


def attention_kernel(context: Context, size: Size) -> str:
    """Which kernel torch takes for the attention of a model, where it says so."""
    torch = context.torch

    def heads(count: int) -> Any:
        return torch.empty(1, count, 512, size.head_size, device=context.device, dtype=torch.bfloat16,
                           requires_grad=True)  # fmt: skip

    query, key, value = heads(size.heads), heads(size.kv_heads), heads(size.kv_heads)
    try:
        chosen = torch._fused_sdp_choice(query, key, value, None, 0.0, True, enable_gqa=True)
    except (AttributeError, TypeError, RuntimeError):
        return "not told"
    return KERNELS.get(int(chosen), f"number {int(chosen)}")


def rotation(context: Context, head_size: int, length: int) -> Callable[[Any], Any]:
    """Rotary position of (batch, heads, length, head) tensors."""
    torch = context.torch
    steps = torch.arange(0, head_size, 2, device=context.device) / head_size
    angle = torch.outer(torch.arange(length, device=context.device), ROPE_BASE**-steps).repeat(1, 2)
    cosine, sine = angle.cos().to(torch.bfloat16), angle.sin().to(torch.bfloat16)

    def turn(x: Any) -> Any:
        first, second = x.chunk(2, dim=-1)
        return x * cosine + torch.cat((-second, first), dim=-1) * sine

    return turn


def embedded(torch: Any, tokens: Any, weight: Any, split: Split) -> Any:
    """Rows of the embedding; a rank of a tensor group holds some, and the group adds up what each has."""
    if split.ranks == 1:
        return torch.nn.functional.embedding(tokens, weight)
    mine = tokens - split.rank * weight.shape[0]
    here = (mine >= 0) & (mine < weight.shape[0])
    found = torch.nn.functional.embedding(mine.where(here, 0), weight)
    return split.leave(found * here.unsqueeze(-1))


def mean_loss(torch: Any, dist: Any, logits: Any, targets: Any, split: Split) -> Any:
    """Mean cross entropy; over a split vocabulary the group exchanges maxima, sums and target logits alone."""
    if split.ranks == 1:
        return torch.nn.functional.cross_entropy(logits, targets)
    most = logits.detach().amax(dim=1)
    if not split.silent:
        dist.all_reduce(most, op=dist.ReduceOp.MAX)
    total = split.leave((logits - most.unsqueeze(1)).exp().sum(dim=1))
    mine = targets - split.rank * logits.shape[1]
    here = (mine >= 0) & (mine < logits.shape[1])
    picked = logits.gather(1, mine.where(here, 0).unsqueeze(1)).squeeze(1)
    target = split.leave(picked * here)
    return (total.log() + most - target).mean()
