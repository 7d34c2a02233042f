"""Which kind of software a published run's framework, precision and layout stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planner.performance.machines import Node, power_ratios
from planner.performance.software import UNFUSED, Scaling, Setting, Software, best_shares, has_fast_softmax
from planner.performance.stacks import Stack, release_month
from planner.study.fidelity.machines import power_limit_w
from planner.study.fidelity.schema import TrainingRow


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a precision's name says beyond its width."""

    fine_scaling: bool
    rowwise: bool

    @property
    def scaling(self) -> Scaling:
        """MX or blocks, row by row, or one scale a tensor."""
        if self.rowwise:
            return Scaling.ROW
        return Scaling.FINE if self.fine_scaling else Scaling.TENSOR


def recipe_of(precision: str) -> Recipe:
    """Scaling of a precision's name.

    >>> recipe_of("MXFP8").fine_scaling, recipe_of("FP8 rowwise compile").rowwise, recipe_of("FP8").scaling.value
    (True, True, 'tensor')
    """
    low = precision.lower()
    fine = bool(re.search(r"\bmxfp|fp8-mx|finer|sub-channel|block", low))
    return Recipe(fine, "rowwise" in low)


def setting_of(row: TrainingRow, machine: Node, stack: Stack, *, form: str, windowed: bool) -> Setting:
    """What decides the corrections of a row.

    Args:
        row: As published.
        machine: That it ran on.
        stack: Class of its software.
        form: Format of the matrix products: ``16bit``, ``fp8`` or ``nvfp4``.
        windowed: Attention has windows and sinks.
    """
    software = stack.software
    if software is Software.FSDP_COMPILED and "eager" in row.precision.lower():
        software = Software.FSDP_EAGER
    own = machine.accelerator.item
    ratio, wide = power_ratios(machine, form=form, limit_w=power_limit_w(own, row.gpu))
    said = f"{row.precision} {row.source.where}".lower()
    return Setting(
        software=software, generation=machine.hardware.generation, form=form, scaling=recipe_of(row.precision).scaling,
        release=release_month(row.release), windowed=windowed,
        async_tensor=bool(re.search(r"\basync ?tp\b", said)), power_ratio=ratio, head_power_ratio=wide,
        fast_softmax=has_fast_softmax(own), best_shares=best_shares(own),
    )  # fmt: skip


def shares_stream(row: TrainingRow, stack: Stack) -> bool:
    """Whether tensor ranks share out norms and residuals: stacks of 2021-22 only where a row says so."""
    return stack.software not in UNFUSED or "sequence" in row.recompute.lower()
