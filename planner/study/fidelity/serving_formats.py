"""Formats of a measured serving run, and the arithmetic that its accelerator has for them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from planner.catalog.llm import Attention, Model
from planner.catalog.schema import Accelerator
from planner.choices import Engine, KvCache, Precision, WeightFormat
from planner.performance.assumed import family
from planner.performance.serving_formats import WIDE, Formats, arithmetic, as_engines_come, formats_of
from planner.study.fidelity.schema import InferenceRow
from planner.study.fidelity.serving_layouts import SUBMISSION
from planner.study.fidelity.unfit import UnfitError

TENSOR_FORMATS: Final = {
    "": None, "bf16": WeightFormat.BF16, "fp16": WeightFormat.BF16, "float16": WeightFormat.BF16,
    "fp8": WeightFormat.FP8, "fp8_block": WeightFormat.FP8_BLOCK, "nvfp4": WeightFormat.NVFP4,
}  # fmt: skip
"""Labels of matrix products of dense models."""
NARROW_WEIGHTS: Final = (
    (r"int4|w4a|awq|gptq", WeightFormat.INT4),
    (r"int8|w8a8|w8a16|\bsq\b", WeightFormat.INT8),
)
"""Labels of weights in whole numbers."""
PRECISIONS: Final = (
    (r"fp4|mxf4|4 ?bit", Precision.FP4),
    (r"fp8|8 ?bit", Precision.FP8),
    (r"16", Precision.BF16),
)
WIDE_CACHES: Final = "caches taken in 16 bits, as the engine keeps them on Hopper unless told otherwise"


@dataclass(frozen=True, slots=True)
class MeasuredFormats:
    """Formats of a row.

    Attributes:
        formats: Of weights and caches.
        peak: Arithmetic whose peak the narrowest products run against.
        widened: The accelerator lacks that arithmetic, so products run in 16 bits.
        four_bit_products: It multiplies 4 bits, and its generation has no table of that.
    """

    formats: Formats
    peak: Precision
    widened: bool
    four_bit_products: bool


def measured_formats(
    row: InferenceRow, model: Model, chip: Accelerator, engine: Engine, said: list[str]
) -> MeasuredFormats:
    """Formats that a row's labels stand for on its accelerator.

    Args:
        row: With `precision`, and `expert_precision` where experts have another one.
        model: Mixtures of experts come in other formats than dense models.
        chip: Its generation and peaks say which arithmetic there is.
        engine: On Hopper it decides about the caches.
        said: Takes what was settled.

    Raises:
        UnfitError: A label that names no format.
    """
    generation = family(chip.generation)
    formats = _formats(row, model, generation, chip, said)
    usual = as_engines_come(
        formats, engine=engine, generation=generation, latent=model.attention is Attention.LATENT
    )
    if usual != formats:
        said.append(WIDE_CACHES)
        formats = usual
    needed = {
        arithmetic(form, generation) for form in (formats.attention, formats.feed_forward, formats.experts)
    }
    peak = Precision.FP4 if "nvfp4" in needed else Precision.BF16 if needed == {WIDE} else Precision.FP8
    figure = getattr(chip, f"{peak.value}_tflop_per_s")
    if figure is None or figure.value <= 0.0:
        said.append(f"weights widened to 16 bits, since {chip.name} has no {peak.value} arithmetic")
        return MeasuredFormats(replace(formats, kv=KvCache.BF16), Precision.BF16, True, False)
    return MeasuredFormats(formats, peak, False, peak is Precision.FP4 and generation != "blackwell")


def _formats(row: InferenceRow, model: Model, generation: str, chip: Accelerator, said: list[str]) -> Formats:
    low, experts = row.precision.strip().lower().replace("-", "_"), row.expert_precision.strip().lower()
    sparse = bool(model.experts)
    if row.src == SUBMISSION:
        four = chip.fp4_tflop_per_s is not None
        said.append(
            "4 bits taken where the accelerator multiplies them and 8 elsewhere, since the row doesn't state which"
        )
        return formats_of(Precision.FP4 if four else Precision.FP8, sparse=False, generation=generation)
    if low in ("not stated", "unknown", "auto", "none"):
        said.append("16 bits taken, since the row states no precision")
        return formats_of(Precision.BF16, sparse=sparse, generation=generation)
    named = TENSOR_FORMATS.get(low) if not sparse else None
    if named is not None and experts in TENSOR_FORMATS:
        return formats_of(Precision.BF16, sparse=False, generation=generation, weights=named)
    for words, form in NARROW_WEIGHTS:
        if re.search(words, low):
            return formats_of(Precision.BF16, sparse=sparse, generation=generation, weights=form)
    for words, precision in PRECISIONS:
        if re.search(words, low):
            return formats_of(precision, sparse=sparse, generation=generation)
    raise UnfitError(f"precision '{row.precision}' is none of 4, 8 and 16 bits")
