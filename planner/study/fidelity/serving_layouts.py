"""Replicas of measured serving runs: ranks that share a model, an attention group, and experts."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.performance.inference import Layout, ServingFormat, weight_bytes_per_rank
from planner.performance.machines import HOST_GPUS
from planner.performance.models import ModelShape
from planner.study.fidelity.schema import InferenceRow
from planner.study.fidelity.unfit import UnfitError

SUBMISSION: Final = "mlperf-inference"
HOLDS_WEIGHTS: Final = 0.7
"""Share of the memory that weights fill at most on the smallest replica of a run that states none."""


def measured_layout(
    row: InferenceRow,
    shape: ModelShape,
    form: ServingFormat,
    *,
    memory_bytes: float,
    domain_gpus: int | None,
    one_replica: bool,
    said: list[str],
) -> Layout:
    """Ranks of a replica, of an attention group and of expert parallelism; arrays of shape (1,).

    Args:
        row: With `tp`, or without, where replicas are taken.
        shape, form: Model and its bytes, for the smallest replica that holds it.
        memory_bytes: Of an accelerator.
        domain_gpus: Accelerators of a server's domain; None of a bare host.
        one_replica: A row that states no degree has one replica over a domain; else the smallest that hold the model.
        said: Takes what was settled.

    Raises:
        UnfitError: Nothing holds the weights, or degrees that don't go together.
    """
    if row.tp is None:
        return _unstated(row, shape, form, memory_bytes, domain_gpus or HOST_GPUS, one_replica, said)
    tensor = float(row.tp)
    replica, attention = tensor * (row.attention_dp or 1), tensor
    dealt = float(row.ep) if isinstance(row.ep, int) else 1.0
    if isinstance(row.ep, str) and "attention-dp" in row.ep.lower():
        replica, attention, dealt = tensor, 1.0, tensor
    return _layout(replica, attention, min(dealt, replica), float(row.pp or 1))


def _layout(replica: float, attention: float, dealt: float, stages: float = 1.0) -> Layout:
    return Layout(*(np.array([size]) for size in (replica, attention, dealt, stages)))


def _unstated(
    row: InferenceRow, shape: ModelShape, form: ServingFormat, memory_bytes: float, domain: int,
    one_replica: bool, said: list[str],
) -> Layout:  # fmt: skip
    if one_replica:
        ranks = float(min(row.n_gpus, domain))
        said.append(f"one replica of {ranks:.0f} GPUs taken, since the row states no degree")
        return _layout(ranks, ranks, 1.0)
    ranks = 1.0
    while ranks <= max(domain, 1):
        layout = _layout(ranks, ranks, 1.0)
        if float(weight_bytes_per_rank(shape, form=form, layout=layout)[0]) < HOLDS_WEIGHTS * memory_bytes:
            said.append(
                f"replicas of {ranks:.0f} GPUs taken, the fewest that hold the weights with room for caches"
            )
            return layout
        ranks *= 2.0
    raise UnfitError(f"the weights don't fit the {domain} GPUs of a domain")
