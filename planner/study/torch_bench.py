"""Serving steps that `planner bench serve` measured beside what the class plain-torch says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from planner.catalog.llm import Model
from planner.catalog.store import Catalog
from planner.measure.parse.serve_steps import ServeStep, serve_steps
from planner.measure.run.serve_cases import DECODE
from planner.performance.models import ModelShape
from planner.performance.serving_torch import (
    LAYER_KERNELS,
    TorchKernels,
    TorchStep,
    decode_step,
    prefill_step,
    torch_kernels,
)  # fmt: skip
from planner.performance.shapes import shape_of

CALIBRATED: Final = ("llama-3.1-8b", 1, 512)
"""Model, ranks and context of the decode steps from which the start of a kernel is found; all others are predictions."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A step measured and predicted, for the whole model."""

    step: ServeStep
    predicted: TorchStep

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return float(self.predicted.total_s[0]) / self.step.step_s - 1.0


def compared(document: dict[str, Any], catalog: Catalog, accelerator: str) -> list[Compared]:
    """Every step of a bench result beside its prediction.

    Raises:
        CatalogError: No profile of the accelerator holds its kernels.
    """
    kernels = torch_kernels(catalog, accelerator)
    return [Compared(one, _predicted(kernels, catalog, one)) for one in serve_steps(document)]


def _predicted(kernels: TorchKernels, catalog: Catalog, step: ServeStep) -> TorchStep:
    shape: ModelShape = shape_of(catalog.get(Model, step.model))
    sequences, tokens = np.array([float(step.sequences)]), np.array([float(step.tokens)])
    if step.phase == DECODE:
        return decode_step(kernels, shape, ranks=step.ranks, sequences=sequences, context_tokens=tokens)
    return prefill_step(kernels, shape, ranks=step.ranks, prompts=sequences, prompt_tokens=tokens)


def kernel_start_s(document: dict[str, Any], catalog: Catalog, accelerator: str) -> float:
    """What a kernel of a mixed step takes beyond itself: the median over the steps of `CALIBRATED`.

    Raises:
        CatalogError: No profile of the accelerator holds its kernels.
    """
    kernels = replace(torch_kernels(catalog, accelerator), kernel_start_s=0.0)
    steps = [
        one for one in serve_steps(document)
        if (one.model, one.ranks, one.tokens) == CALIBRATED and one.phase == DECODE
    ]  # fmt: skip
    missing = []
    for one in steps:
        said = _predicted(kernels, catalog, one)
        layers = float((said.total_s - said.head_s)[0]) / one.layers
        missing.append((one.layer_s - layers) / LAYER_KERNELS)
    return float(np.median(missing))


@dataclass(frozen=True, slots=True)
class Errors:
    """Absolute errors of some steps: how many, median, 90th percentile, and the median signed one."""

    count: int
    median: float
    p90: float
    bias: float


def errors_of(some: Sequence[Compared]) -> Errors:
    """Errors of one or more steps."""
    signed = np.array([one.error for one in some])
    size = np.abs(signed)
    return Errors(
        signed.size, float(np.median(size)), float(np.quantile(size, 0.9)), float(np.median(signed))
    )
