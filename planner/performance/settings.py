"""The setting of a machine: which corrections of the training model hold for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from planner.arrays import Floats
from planner.catalog.schema import Accelerator
from planner.catalog.store import Entry
from planner.choices import Precision
from planner.performance.assumed import Assumed
from planner.performance.corrections import TrainingConstants
from planner.performance.domain import accelerator_line
from planner.performance.hardware import FORMAT, Hardware
from planner.performance.software import Scaling, Setting, Software, has_fast_softmax, other_share
from planner.performance.software import training_constants as software_constants

REFERENCE_BLACKWELL = "b200-sxm-180gb"
"""Part on which the rates of Blackwell's narrow formats were found."""


@dataclass(frozen=True, slots=True)
class Stack:
    """The software of a job, as far as it is known.

    Attributes:
        release: Year and month; None counts as 2025.
        windowed: Attention has windows and sinks.
        async_tensor: Tensor-parallel communication runs in pieces beside the matrix products.
    """

    software: Software = Software.MEGATRON_CORE
    scaling: Scaling = Scaling.TENSOR
    release: tuple[int, int] | None = None
    windowed: bool = False
    async_tensor: bool = False


PRESENT_DAY = Stack()
"""Megatron Core of 2025."""


def training_constants(
    assumed: Assumed,
    accelerator: Entry[Accelerator],
    machine: Hardware,
    precision: Precision,
    stack: Stack = PRESENT_DAY,
) -> TrainingConstants:
    """Corrections for a stack, a present-day Megatron by default, on this generation and precision."""
    setting = Setting(
        software=stack.software,
        generation=machine.generation,
        form=FORMAT[precision],
        scaling=stack.scaling,
        release=stack.release,
        windowed=stack.windowed,
        async_tensor=stack.async_tensor,
        fast_softmax=has_fast_softmax(accelerator.item),
    )
    found = _with_best_products(assumed, accelerator, software_constants(assumed, setting), setting)
    power = _power_ratio(assumed, accelerator, machine, precision)
    rate = machine.gemm_ratio * power ** assumed("power_exponent")
    return replace(
        found,
        gemm_share_of_peak_fraction=found.gemm_share_of_peak_fraction * rate,
        head_gemm_share_of_peak_fraction=found.head_gemm_share_of_peak_fraction * machine.gemm_ratio,
        attention_share_of_peak_fraction=found.attention_share_of_peak_fraction * machine.cap_ratio,
    )


def _with_best_products(
    assumed: Assumed, accelerator: Entry[Accelerator], found: TrainingConstants, setting: Setting
) -> TrainingConstants:
    """Corrections with the products of an accelerator that no training rows know, from its best measured ones."""
    if setting.generation != "other" or accelerator.item.gemm_bf16_share_of_peak_fraction is None:
        return found
    wide, narrow = (_best(assumed, accelerator, name) for name in ("bf16", "fp8"))
    own, head, guess, wide_guess = (
        other_share(assumed, form, best_wide_fraction=shares[0], best_narrow_fraction=shares[1])
        for shares in ((wide, narrow), (np.zeros(1), np.zeros(1)))
        for form in (setting.form, "16bit")
    )
    return replace(
        found,
        gemm_share_of_peak_fraction=found.gemm_share_of_peak_fraction * own / guess,
        head_gemm_share_of_peak_fraction=found.head_gemm_share_of_peak_fraction * head / wide_guess,
    )


def _best(assumed: Assumed, accelerator: Entry[Accelerator], name: str) -> Floats:
    field = f"gemm_{name}_share_of_peak_fraction"
    if getattr(accelerator.item, field) is None:
        return np.zeros(1)
    label = f"Best {name} product's share of peak"
    return assumed.use(accelerator_line(assumed.ledger, accelerator, field, label, "fraction"))


def _power_ratio(
    assumed: Assumed, own: Entry[Accelerator], machine: Hardware, precision: Precision
) -> Floats:
    """Power limit against B200's for Blackwell's narrow formats, whose rates were found there; else 1."""
    if machine.generation != "blackwell" or precision is Precision.BF16 or own.item.tdp_w is None:
        return np.ones(1)
    reference = assumed.catalog.entry(Accelerator, REFERENCE_BLACKWELL)
    mine, base = (
        assumed.use(accelerator_line(assumed.ledger, one, "tdp_w", "Power limit", "W"))
        for one in (own, reference)
    )
    return mine / base
