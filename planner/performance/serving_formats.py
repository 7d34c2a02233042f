"""Number formats of a served model: bytes of its parts, and the arithmetic that they run in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.choices import Engine, KvCache, Precision, WeightFormat
from planner.performance.inference import ServingFormat

WEIGHT_BYTES: Final = {
    WeightFormat.BF16: 2.0, WeightFormat.FP8: 1.0, WeightFormat.FP8_BLOCK: 1.0 + 4.0 / (128.0 * 128.0),
    WeightFormat.INT8: 1.0, WeightFormat.INT4: 0.5 + 2.5 / 128.0, WeightFormat.NVFP4: 0.5 + 1.0 / 16.0,
    WeightFormat.MXFP4: 0.5 + 1.0 / 32.0,
}  # fmt: skip
"""Bytes of a weight, scales included: a 32-bit one for each block of 128 x 128, a 16-bit one with a zero point for each
128, an 8-bit one for each 16 or 32."""
KV_BYTES: Final = {KvCache.BF16: 2.0, KvCache.FP8: 1.0}
WIDE: Final = "16bit"
_ARITHMETIC: Final = {
    WeightFormat.BF16: WIDE, WeightFormat.FP8: "fp8", WeightFormat.FP8_BLOCK: "fp8_block", WeightFormat.INT8: "fp8",
    WeightFormat.INT4: WIDE, WeightFormat.NVFP4: "nvfp4", WeightFormat.MXFP4: "nvfp4",
}  # fmt: skip
_LEAST: Final = {"ampere": (WIDE,), "hopper": (WIDE, "fp8", "fp8_block")}
"""Arithmetic of generations that lack some; weights in another format are widened first."""


@dataclass(frozen=True, slots=True)
class Formats:
    """Formats of a replica's parts.

    Attributes:
        attention, feed_forward, experts: Of the weights of attention's projections, of feed-forwards that every token
            visits, and of routed experts.
        kv: Of cached keys and values.
    """

    attention: WeightFormat
    feed_forward: WeightFormat
    experts: WeightFormat
    kv: KvCache

    @property
    def bytes(self) -> ServingFormat:
        """Their bytes, each of shape (1,)."""
        one = {name: np.array([WEIGHT_BYTES[getattr(self, name)]]) for name in ("attention", "experts")}
        return ServingFormat(
            weight_bytes=np.array([WEIGHT_BYTES[self.feed_forward]]), kv_bytes=np.array([KV_BYTES[self.kv]]),
            attention_bytes=one["attention"], expert_bytes=one["experts"],
        )  # fmt: skip


def arithmetic(form: WeightFormat, generation: str) -> str:
    """Arithmetic of products with such weights: ``16bit``, ``fp8``, ``fp8_block`` or ``nvfp4``.

    >>> arithmetic(WeightFormat.MXFP4, "hopper"), arithmetic(WeightFormat.MXFP4, "blackwell")
    ('16bit', 'nvfp4')
    """
    wished = _ARITHMETIC[form]
    return wished if wished in _LEAST.get(generation, (wished,)) else WIDE


def formats_of(
    precision: Precision,
    *,
    sparse: bool,
    generation: str,
    weights: WeightFormat | None = None,
    kv: KvCache | None = None,
) -> Formats:
    """Formats of published checkpoints of a precision.

    Dense models come with one scale a tensor in 8 bits and NVFP4 in 4; mixtures of experts with scales for blocks in
    8 bits, and in 4 bits with attention left in 16. Caches are in 8 bits where some product is narrow.

    Args:
        precision: Of the large matrix products.
        sparse: Whether the model has routed experts.
        generation: Of the accelerator.
        weights: Format of the weights where it isn't the usual one.
        kv: Format of the caches where it isn't the usual one.

    Source:
        planner-inference-notes, section 5 item 10 (labels of the measured runs; partly assumed there).
    """
    usual = {
        Precision.BF16: WeightFormat.BF16,
        Precision.FP8: WeightFormat.FP8_BLOCK if sparse else WeightFormat.FP8,
        Precision.FP4: WeightFormat.NVFP4 if generation == "blackwell" else WeightFormat.MXFP4,
    }  # fmt: skip
    form = weights or usual[precision]
    four = form in (WeightFormat.NVFP4, WeightFormat.MXFP4)
    attention = WeightFormat.BF16 if sparse and four else form
    # 4-bit experts on arithmetic that lacks 4 bits: all else runs in 16.
    others = WeightFormat.BF16 if sparse and four and arithmetic(form, generation) == WIDE else form
    narrow = arithmetic(form, generation) != WIDE
    cache = kv or (KvCache.FP8 if narrow else KvCache.BF16)
    return Formats(attention, others, form, cache)


def as_engines_come(formats: Formats, *, engine: Engine, generation: str, latent: bool) -> Formats:
    """Formats with the caches that an engine keeps unless told otherwise.

    vLLM and SGLang keep caches in the model's own 16 bits; so does TensorRT-LLM where a checkpoint says nothing, as with
    latent caches, for which it takes FlashMLA on Hopper. On Blackwell published recipes ask for 8 bits.

    Args:
        formats: Of the weights, and of caches as asked for.
        engine: That serves.
        generation: Of the accelerator.
        latent: Whether caches are latent vectors.

    Source:
        Commands of InferenceX for H200 and B200; TensorRT-LLM, pull request 9141. Runs of vLLM on H100 agree:
        Llama-3.1-70B is off by 3 % in the mean with wide caches and by 10 % with narrow ones, MiniMax-M2.5 by 9 and 14 %.

    >>> narrow = formats_of(Precision.FP8, sparse=False, generation="hopper")
    >>> as_engines_come(narrow, engine=Engine.VLLM, generation="hopper", latent=False).kv.value
    'bf16'
    """
    told = generation != "hopper" or (engine is Engine.TENSORRT_LLM and not latent)
    return formats if told else replace(formats, kv=KvCache.BF16)
