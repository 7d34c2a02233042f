"""Serving steps of a Llama-shaped model in plain PyTorch: weights, caches, prefill, decode and the output head.

Weights, caches and arithmetic are bf16. Queries, keys and values come from one product, gate and up from another.
The cache is contiguous, one block a sequence. Prefill attends through scaled_dot_product_attention held to cuDNN.
A decode step holds it to the flash kernel with the query heads of a group as rows of one head, so that keys and
values are read once and the kernel may split the cache; `planner bench attention` measures both the same way.
Split over a group, a layer adds up by two all-reduces; the embedding stands whole on each rank, the output head
split by words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planner.measure.run.attention import attention_call
from planner.measure.run.context import Context, flat_calls
from planner.measure.run.train_cases import Size
from planner.measure.run.train_model import ROPE_BASE

EPSILON = 1e-5
WEIGHT_SPREAD = 1.25
"""Deviation of a product of a normed row with random weights: enough that attention isn't even over the tokens."""


@dataclass
class Layer:
    """One rank's share of a layer's weights."""

    before_attention: Any
    qkv: Any
    out: Any
    before_ffn: Any
    gate_up: Any
    down: Any


@dataclass
class Cache:
    """Keys and values of one layer on one rank, each (sequences, heads, tokens, head)."""

    keys: Any
    values: Any


class Replica:
    """One rank's part of a model that serves.

    Attributes:
        found: What torch made of the attention (`attention_call`).
    """

    def __init__(self, context: Context, size: Size, ranks: int, most_tokens: int) -> None:
        self.context, self.size, self.ranks = context, size, ranks
        self.torch = context.torch
        self.heads, self.kv_heads = size.heads // ranks, size.kv_heads // ranks
        self.found: dict[str, Any] = {}
        group = self.heads // self.kv_heads
        prompt, new = ("cudnn", "flash") if context.on_gpu else ("math", "math")
        self.attend_prompt = attention_call(context, prompt, self.found, group=group)
        self.attend_new = attention_call(context, new, self.found, group=1)
        self.cosine, self.sine = self._tables(most_tokens)
        # What every rank holds must be alike on all of them.
        self.torch.manual_seed(1234)
        ones = self.torch.ones(size.hidden, device=context.device, dtype=self.torch.bfloat16)
        self.norm, self.embedding = ones, self._weight(size.vocab, size.hidden)
        self.torch.manual_seed(1234 + (context.rank if ranks > 1 else 0))
        self.head = self._weight(size.vocab // ranks, size.hidden)
        self.layers = [self._layer(ones) for _ in range(size.layers)]

    def _weight(self, rows: int, columns: int) -> Any:
        values = self.torch.empty(rows, columns, device=self.context.device, dtype=self.torch.bfloat16)
        return values.normal_(std=WEIGHT_SPREAD / columns**0.5)

    def _layer(self, ones: Any) -> Layer:
        size, width, ffn = self.size, self.heads * self.size.head_size, self.size.ffn // self.ranks
        rows = (self.heads + 2 * self.kv_heads) * size.head_size
        return Layer(ones, self._weight(rows, size.hidden), self._weight(size.hidden, width),
                     ones, self._weight(2 * ffn, size.hidden), self._weight(size.hidden, ffn))  # fmt: skip

    def _tables(self, length: int) -> tuple[Any, Any]:
        """Cosine of a whole head and sine of its half, (tokens, 1, values)."""
        torch, size, device = self.torch, self.size.head_size, self.context.device
        steps = torch.arange(0, size, 2, device=device) / size
        angle = torch.outer(torch.arange(length, device=device), ROPE_BASE**-steps)
        cosine, sine = angle.cos().repeat(1, 2), angle.sin()
        return cosine.to(torch.bfloat16).unsqueeze(1), sine.to(torch.bfloat16).unsqueeze(1)

    def caches(self, sequences: int, tokens: int) -> list[Cache]:
        """Random caches, so that what a decode step reads is no row of zeros."""
        shape = (sequences, self.kv_heads, tokens, self.size.head_size)

        def drawn() -> Any:
            return self.torch.empty(shape, device=self.context.device, dtype=self.torch.bfloat16).normal_()

        return [Cache(drawn(), drawn()) for _ in self.layers]

    def embed(self, tokens: Any) -> Any:
        """Rows of the embedding, (sequences, tokens, hidden)."""
        return self.torch.nn.functional.embedding(tokens, self.embedding)

    def through(self, x: Any, caches: list[Cache], start: int) -> Any:
        """All layers over new tokens that stand from `start` on; caches before it are read, the rest written."""
        for layer, cache in zip(self.layers, caches, strict=True):
            x = self._one(layer, x, cache, start)
        return x

    def _one(self, layer: Layer, x: Any, cache: Cache, start: int) -> Any:
        linear = self.torch.nn.functional.linear
        qkv = linear(self.normed(x, layer.before_attention), layer.qkv)
        mixed = self._attended(qkv.view(*x.shape[:2], -1, self.size.head_size), cache, start)
        x = x + self._added(linear(mixed, layer.out))
        wide = linear(self.normed(x, layer.before_ffn), layer.gate_up)
        return x + self._added(linear(self.gated(wide), layer.down))

    def normed(self, x: Any, scale: Any) -> Any:
        """Root mean square norm of each token."""
        return self.torch.nn.functional.rms_norm(x, (self.size.hidden,), scale, EPSILON)

    def gated(self, wide: Any) -> Any:
        """The gate's SiLU times the other half, two kernels."""
        gate, up = wide.chunk(2, dim=-1)
        return self.torch.nn.functional.silu(gate) * up

    def _attended(self, qkv: Any, cache: Cache, start: int) -> Any:
        """Attention of new tokens, (sequences, tokens, heads x head), after their keys and values are stored."""
        sequences, count = qkv.shape[:2]
        end, turned = start + count, self.heads + self.kv_heads
        query, key = self.turned(qkv[:, :, :turned], start, end).split((self.heads, self.kv_heads), dim=2)
        key, value = key.transpose(1, 2), qkv[:, :, turned:].transpose(1, 2)
        store(cache, key, value, start)
        if count > 1:
            assert start == 0, "a prefill takes the whole prompt"
            mixed = self.attend_prompt(query.transpose(1, 2), key, value, True)
            return mixed.transpose(1, 2).flatten(2)
        rows = query.reshape(sequences, self.kv_heads, -1, self.size.head_size)
        mixed = self.attend_new(rows, cache.keys[:, :, :end], cache.values[:, :, :end], False)
        return mixed.reshape(sequences, 1, -1)

    def turned(self, x: Any, start: int, end: int) -> Any:
        """Rotary position of (sequences, tokens, heads, head), three kernels."""
        half, sine = self.size.head_size // 2, self.sine[start:end]
        turned = x * self.cosine[start:end]
        turned[..., :half].addcmul_(x[..., half:], sine, value=-1.0)
        turned[..., half:].addcmul_(x[..., :half], sine)
        return turned

    def _added(self, x: Any) -> Any:
        if self.ranks > 1:
            self.context.dist.all_reduce(x)
        return x

    def logits(self, x: Any) -> Any:
        """Of the last token of each sequence, this rank's words alone."""
        return self.torch.nn.functional.linear(self.normed(x[:, -1], self.norm), self.head)

    def sampled(self, x: Any) -> Any:
        """The likeliest next token of each sequence, alike on every rank."""
        value, place = self.logits(x).max(dim=-1)
        if self.ranks == 1:
            return place
        mine = self.torch.stack((value.float(), (place + self.context.rank * self.head.shape[0]).float()))
        every = mine.new_empty(self.ranks, *mine.shape)
        flat_calls(self.context.dist)[0](every.view(-1), mine.view(-1))
        best = every[:, 0].argmax(dim=0, keepdim=True)
        return every[:, 1].gather(0, best)[0].long()


def store(cache: Cache, key: Any, value: Any, start: int) -> None:
    """Put keys and values of new tokens into a cache, two kernels."""
    end = start + key.shape[2]
    cache.keys[:, :, start:end].copy_(key)
    cache.values[:, :, start:end].copy_(value)


def relative_error(replica: Replica, *, prompt: int, steps: int, sequences: int = 2) -> float:
    """How far prefill and then decoding lies from one pass over all tokens: norm of the difference over the norm.

    Compared is what the layers hand to the output head for the last token; NaN never passes a comparison.
    """
    torch, whole = replica.torch, prompt + steps
    torch.manual_seed(77)
    tokens = torch.randint(replica.size.vocab, (sequences, whole), device=replica.context.device)
    with torch.no_grad():
        expected = replica.through(replica.embed(tokens), replica.caches(sequences, whole), 0)[:, -1]
        caches = replica.caches(sequences, whole)
        replica.through(replica.embed(tokens[:, :prompt]), caches, 0)
        for place in range(prompt, whole):
            got = replica.through(replica.embed(tokens[:, place : place + 1]), caches, place)[:, -1]
        return float((got.float() - expected.float()).norm() / expected.float().norm())
