"""Steps of a server without a scheduler, of kernels as they come with PyTorch: engine class plain-torch.

A step is the sum of its kernels: matrix products, attention and exchanges by the curves of the accelerator's profile,
small kernels and their start by the figures of `catalog/assumptions/plain-torch.yaml`. Which kernels a step has is what
`planner/measure/run/serve_model.py` calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.catalog.profile_kernels import AttentionFit
from planner.catalog.profiles import CollectiveFit, Mode, Profile
from planner.catalog.profiles import Path as Wire
from planner.catalog.schema import Accelerator
from planner.catalog.store import Catalog
from planner.curves.attention import (
    AttentionConstants,
    DecodeConstants,
    attention_kernel_time_s,
    causal_attention_flop,
    decode_attention_time_s,
)  # fmt: skip
from planner.curves.collective import Curves, Regime, curve_time_s, stack_curves
from planner.curves.gemm import GemmConstants, gemm_kernel_time_s
from planner.errors import CatalogError, Problem
from planner.performance.models import ModelShape
from planner.performance.shelf import shelf_for
from planner.units import GIGA, TERA

FILE: Final = "plain-torch"
REFERENCE: Final = "h200-sxm-141gb"
"""Accelerator whose small kernels the figures describe; rates elsewhere go by the memory's bandwidth."""
VALUE_BYTES: Final = 2.0
DTYPE: Final = "bf16"
DECODE_KERNEL, PREFILL_KERNEL = "flash", "cudnn"
NORMS, ADDITIONS = 2.0, 2.0
LAYER_KERNELS: Final = 17.0
"""Norms 2, additions 2, rotary position 3, cache 2, gate 2, products 4, attention 2."""
REDUCES: Final = 2.0
"""All-reduces of a layer on a tensor group."""
HEAD_KERNELS, SPLIT_HEAD_KERNELS = 4.0, 6.0
"""Embedding, norm, product, choice; on a group the choices are stacked, gathered and compared."""


@dataclass(frozen=True, slots=True)
class Small:
    """Constants of one small kernel, see `planner.measure.fit.serve_kernels.SmallKernel`."""

    fixed_s: float
    row_value_s: float
    value_s: float

    def time_s(self, rows: Floats, width: Floats) -> Floats:
        """Time on so many rows of a width.

        >>> Small(3e-6, 0.0, 4e-9).time_s(np.array([1.0]), np.array([1000.0])).round(9)
        array([5.e-06])
        """
        return np.hypot(self.fixed_s + self.row_value_s * width, self.value_s * rows * width)


@dataclass(frozen=True, slots=True)
class TorchKernels:
    """Curves of an accelerator's kernels under PyTorch.

    Attributes:
        profile: Id of the profile they come from.
        reduce, gather: All-reduce and all-gather of each tensor group that was measured, by its ranks.
        kernel_start_s: What a kernel takes more in a step of mixed kernels than repeated by itself.
    """

    profile: str
    peak_flop_per_s: float
    memory_bytes_per_s: float
    gemm: GemmConstants
    decode: DecodeConstants
    prefill: AttentionConstants
    reduce: dict[int, Curves]
    gather: dict[int, Curves]
    norm: Small
    add: Small
    rotary: Small
    store: Small
    gate: Small
    embed: Small
    pick: Small
    kernel_start_s: float

    def gemm_s(self, m: Floats, n: Floats, k: Floats) -> Floats:
        """One product of m rows with a weight of k by n."""
        return gemm_kernel_time_s(
            m=m, n=n, k=k, element_bytes=np.array([VALUE_BYTES]), peak_flop_per_s=np.array([self.peak_flop_per_s]),
            memory_bytes_per_s=np.array([self.memory_bytes_per_s]), constants=self.gemm,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class TorchStep:
    """Where a step's seconds go, shape (n,)."""

    products_s: Floats
    attention_s: Floats
    small_s: Floats
    exchange_s: Floats
    head_s: Floats

    @property
    def total_s(self) -> Floats:
        """The step."""
        return self.products_s + self.attention_s + self.small_s + self.exchange_s + self.head_s


def torch_kernels(catalog: Catalog, accelerator: str) -> TorchKernels:
    """Curves of the newest profile of an accelerator that holds kernels.

    Raises:
        CatalogError: None does.
    """
    item = catalog.get(Accelerator, accelerator)
    for entry in shelf_for(catalog, item).own:
        found = _of(catalog, item, entry.item)
        if found is not None:
            return found
    raise CatalogError(
        Problem(
            f"no profile of '{accelerator}' holds matrix products, attention and all-reduces of {DTYPE}",
            remedy="measure one: planner bench -o FILE, then planner calibrate FILE",
        )
    )


def _of(catalog: Catalog, item: Accelerator, profile: Profile) -> TorchKernels | None:
    gemm = next((one for one in profile.gemm if one.dtype == DTYPE), None)
    decode, prefill = (
        _attention(profile, "decode", DECODE_KERNEL),
        _attention(profile, "forward", PREFILL_KERNEL),
    )
    if gemm is None or decode is None or prefill is None or decode.decode is None or prefill.values is None:
        return None
    reference = catalog.get(Accelerator, REFERENCE).memory_bandwidth_gbyte_per_s
    assert reference is not None
    pace = reference.value / gemm.memory_gbyte_per_s

    def figure(key: str) -> float:
        return catalog.figure(FILE, f"plain_torch_{key}")[0].value

    def small(kind: str, *, fixed: bool = True, row: bool = False, full: bool = True) -> Small:
        return Small(
            figure(f"{kind}_fixed_s") if fixed else 0.0, figure(f"{kind}_row_value_s") if row else 0.0,
            figure(f"{kind}_value_s") * pace if full else 0.0,
        )  # fmt: skip

    return TorchKernels(
        profile=profile.id, peak_flop_per_s=gemm.peak_tflop_per_s * TERA,
        memory_bytes_per_s=gemm.memory_gbyte_per_s * GIGA, gemm=GemmConstants.from_values(gemm.values.model_dump()),
        decode=DecodeConstants.from_values(decode.decode.model_dump()),
        prefill=AttentionConstants.from_values(prefill.values.model_dump()),
        reduce=_collectives(profile, "all_reduce"), gather=_collectives(profile, "all_gather"),
        norm=small("norm", row=True), add=small("add"), rotary=small("rotary"), store=small("store"),
        gate=small("gate"), embed=small("embed"), pick=small("pick", fixed=False, row=True, full=False),
        kernel_start_s=figure("kernel_start_s"),
    )  # fmt: skip


def _attention(profile: Profile, family: str, kernel: str) -> AttentionFit | None:
    fitting = (one for one in profile.attention if one.family == family and one.dtype == DTYPE)
    return next((one for one in fitting if one.implementation == kernel), None)


def _collectives(profile: Profile, op: str) -> dict[int, Curves]:
    def fits(one: CollectiveFit) -> bool:
        known = (one.op, one.dtype, one.mode, one.path, one.nodes)
        return known == (op, DTYPE, Mode.DEVICE, Wire.SCALE_UP, 1)

    return {
        one.ranks: stack_curves([[
            Regime(part.from_bytes, part.start_us / 1e6, part.ramp_ns_per_sqrt_byte / 1e9, part.ps_per_byte / 1e12)
            for part in one.regimes
        ]])
        for one in profile.collectives if fits(one)
    }  # fmt: skip


def decode_step(
    kernels: TorchKernels, shape: ModelShape, *, ranks: int, sequences: Floats, context_tokens: Floats
) -> TorchStep:
    """One token for each of some sequences, captured in a CUDA graph.

    Args:
        kernels: Of the accelerator.
        shape: A dense model with grouped heads.
        ranks: Tensor-parallel ranks, one or as many as the profile has all-reduces of.
        sequences: That decode.
        context_tokens: Cached tokens of each, the new one included.

    Returns:
        Parts of the shape that the arguments broadcast to.

    Raises:
        CatalogError: The profile has no all-reduce of so many ranks, or the model is of another kind.
    """
    kv_heads = shape.kv_heads / ranks
    attention = decode_attention_time_s(
        cache_bytes=2.0 * VALUE_BYTES * sequences * kv_heads * context_tokens * shape.head_dim,
        cached_tokens=context_tokens, blocks=sequences * kv_heads,
        memory_bytes_per_s=np.array([kernels.memory_bytes_per_s]), constants=kernels.decode,
    )  # fmt: skip
    return _step(kernels, shape, ranks, sequences, attention, sequences)


def prefill_step(
    kernels: TorchKernels, shape: ModelShape, *, ranks: int, prompts: Floats, prompt_tokens: Floats
) -> TorchStep:
    """Whole prompts at once, up to their first token; arguments as for `decode_step`."""
    heads = shape.heads / ranks
    flop = causal_attention_flop(
        sequences=prompts, heads=heads, sequence_tokens=prompt_tokens, head_dim=shape.head_dim, passes=np.ones(1)
    )  # fmt: skip
    attention = attention_kernel_time_s(
        attention_flop=flop, sequence_tokens=prompt_tokens, query_rows=prompts * heads * prompt_tokens,
        peak_16bit_flop_per_s=np.array([kernels.peak_flop_per_s]), constants=kernels.prefill,
    )  # fmt: skip
    return _step(kernels, shape, ranks, prompts * prompt_tokens, attention, prompts)


def _step(
    kernels: TorchKernels, shape: ModelShape, ranks: int, rows: Floats, attention: Floats, sampled: Floats
) -> TorchStep:
    _refuse(kernels, shape, ranks)
    hidden, head = shape.hidden, shape.head_dim
    heads, kv_heads, ffn = (value / ranks for value in (shape.heads, shape.kv_heads, shape.ffn))
    products = (
        kernels.gemm_s(rows, (heads + 2.0 * kv_heads) * head, hidden)
        + kernels.gemm_s(rows, hidden, heads * head)
        + kernels.gemm_s(rows, 2.0 * ffn, hidden)
        + kernels.gemm_s(rows, hidden, ffn)
    )
    small = (
        NORMS * kernels.norm.time_s(rows, hidden)
        + ADDITIONS * kernels.add.time_s(rows, hidden)
        + kernels.rotary.time_s(rows, (heads + kv_heads) * head)
        + kernels.store.time_s(rows, 2.0 * kv_heads * head)
        + kernels.gate.time_s(rows, ffn)
        + (LAYER_KERNELS + (REDUCES if ranks > 1 else 0.0)) * kernels.kernel_start_s
    )
    exchange = (
        np.zeros(1) if ranks == 1 else REDUCES * _along(kernels.reduce[ranks], rows * hidden * VALUE_BYTES)
    )
    layers = shape.layers
    return TorchStep(
        layers * products, layers * attention, layers * small, layers * exchange,
        head_s(kernels, shape, ranks=ranks, rows=rows, sampled=sampled),
    )  # fmt: skip


def head_s(kernels: TorchKernels, shape: ModelShape, *, ranks: int, rows: Floats, sampled: Floats) -> Floats:
    """Looking tokens up before the layers, and norm, output head and choice of the next word after them.

    Args:
        kernels, shape, ranks: As for `decode_step`.
        rows: Tokens looked up.
        sampled: Sequences that get a word.
    """
    words = shape.vocab / ranks
    found = (
        kernels.embed.time_s(rows, shape.hidden)
        + kernels.norm.time_s(sampled, shape.hidden)
        + kernels.gemm_s(sampled, words, shape.hidden)
        + kernels.pick.time_s(sampled, words)
        + HEAD_KERNELS * kernels.kernel_start_s
    )
    if ranks > 1:
        # Two values of 4 bytes a sequence, the word and its logit, from every rank.
        found = found + _along(kernels.gather[ranks], 8.0 * ranks * sampled)
        found = found + SPLIT_HEAD_KERNELS * (kernels.kernel_start_s + kernels.add.fixed_s)
    return np.asarray(found)


def _along(curves: Curves, message_bytes: Floats) -> Floats:
    return curve_time_s(curves, curve=np.zeros(1, np.intp), message_bytes=message_bytes)


def _refuse(kernels: TorchKernels, shape: ModelShape, ranks: int) -> None:
    if np.any(shape.experts > 0.0) or shape.latent or not shape.glu:
        raise CatalogError(
            Problem(
                "plain PyTorch is known for dense models with grouped heads and gated feed-forwards alone"
            )
        )
    if ranks > 1 and not (ranks in kernels.reduce and ranks in kernels.gather):
        known = ", ".join(str(one) for one in sorted({1, *kernels.reduce}))
        raise CatalogError(
            Problem(
                f"profile {kernels.profile} holds no all-reduce of {ranks} ranks",
                remedy=f"take tensor ranks of {known}, or measure: planner bench nccl",
            )
        )
