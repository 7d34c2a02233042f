"""Execution plans that a cluster could run, and the quickest of those that fit."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.choices import Recompute
from planner.performance.layers import Links, TrainingConstants
from planner.performance.memory import MemoryConstants, TrainingMemory, total_bytes, training_memory
from planner.performance.models import ModelShape
from planner.performance.parallelism import Plan, recomputed_fractions
from planner.performance.roofline import ChipRates
from planner.performance.training import StateBytes, TrainingStep, training_step

MICROBATCHES: tuple[int, ...] = (1, 2, 4, 8)
TENSOR_DEGREES: tuple[int, ...] = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """What a search found.

    Attributes:
        feasible: Something fits; the rest is of shape (1,) then and None otherwise.
        why_not: Which need exceeds what is there, else empty.
        tried: Plans looked at; fitting: of these, the ones that fit the memory.
        plan, step, memory: The quickest plan.
        runner_up, runner_up_step_s: The second one, where there is one.
        needed_bytes, available_bytes: Memory of the plan, or of the least needy one where nothing fits.
    """

    feasible: bool
    why_not: str
    tried: int
    fitting: int
    plan: Plan | None
    step: TrainingStep | None
    memory: TrainingMemory | None
    runner_up: Plan | None
    runner_up_step_s: Floats | None
    needed_bytes: float
    available_bytes: float


def divisors(number: int) -> list[int]:
    """Divisors in rising order.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return small + [number // d for d in reversed(small) if d * d != number]


def pipeline_degrees(*, layers: int, limit: int) -> list[int]:
    """Stage counts that split the layers, or the layers and two slots for embedding and head.

    >>> pipeline_degrees(layers=126, limit=16)
    [1, 2, 3, 4, 6, 7, 8, 9, 14, 16]
    """
    found = set(divisors(layers)) | set(divisors(layers + 2))
    return sorted(degree for degree in found if degree <= min(limit, layers))


def interleavings(*, layers: int, stages: int) -> list[int]:
    """No interleaving, and about two layers a chunk where a stage has more.

    >>> interleavings(layers=80, stages=4), interleavings(layers=80, stages=1)
    ([1, 10], [1])
    """
    per_stage = layers // stages if layers % stages == 0 else (layers + 2) // stages
    chunks = [d for d in divisors(per_stage) if per_stage // d >= 2]
    return [1] if stages == 1 or chunks[-1:] in ([], [1]) else [1, chunks[-1]]


def expert_degrees(*, experts: int, ranks: int, layout_limit: int) -> list[int]:
    """Degrees that divide both the experts and the ranks of a stage.

    >>> expert_degrees(experts=8, ranks=64, layout_limit=64)
    [1, 2, 4, 8]
    """
    if experts == 0:
        return [1]
    return [d for d in divisors(experts) if ranks % d == 0 and d <= layout_limit]


def _batch_degree(data_limit: int, sequences: int) -> int:
    """Largest number of data ranks within the limit that divides the microbatches of a step."""
    return max((d for d in divisors(sequences) if d <= data_limit), default=0)


def candidate_plans(
    *,
    shape: ModelShape,
    gpus: int,
    domain_ranks: int,
    global_batch_sequences: int,
    sequence_tokens: int,
    context_degrees: Sequence[int] = (1,),
    recomputes: Sequence[Recompute] = (Recompute.NONE, Recompute.FULL),
    zero_stages: Sequence[int] = (1, 3),
    expert_degree_limit: int = 128,
    tensor_degrees: Sequence[int] = TENSOR_DEGREES,
    microbatch_sizes: Sequence[int] = MICROBATCHES,
) -> Plan:
    """Plans worth timing, in a fixed order.

    Tensor parallelism stays in the scale-up domain. Where the GPUs aren't a multiple of the degrees, or the batch
    doesn't divide over them, some stay idle; plans that leave more than half of the best use idle are left out.
    Sharded weights (zero stage 3) come without a pipeline only.

    Args:
        shape: One model (shape (1,)).
        gpus, domain_ranks: Accelerators of the job and of a scale-up domain.
        global_batch_sequences, sequence_tokens: The batch.
        context_degrees, recomputes, zero_stages, expert_degree_limit, tensor_degrees, microbatch_sizes: What to try.

    Returns:
        A plan of shape (candidates,), which may be empty.
    """
    layers, heads = int(shape.layers[0]), int(shape.heads[0])
    experts, batch = int(shape.experts[0]), global_batch_sequences
    rows: list[tuple[float, ...]] = []
    tensors = [t for t in tensor_degrees if t <= min(domain_ranks, gpus) and heads % t == 0]
    degrees = {mb: batch // mb for mb in microbatch_sizes if batch % mb == 0}
    recompute_rows = [tuple(float(f[0]) for f in recomputed_fractions(choice)) for choice in recomputes]
    for tp, cp in itertools.product(tensors, context_degrees):
        for pp in pipeline_degrees(layers=layers, limit=gpus // (tp * cp)):
            for mb, units in degrees.items():
                dp = _batch_degree(gpus // (tp * cp * pp), units)
                if dp == 0:
                    continue
                count = units // dp
                chunks = [v for v in interleavings(layers=layers, stages=pp) if v == 1 or count % pp == 0]
                shards = [z for z in zero_stages if z < 3 or pp == 1]
                expert_ranks = expert_degrees(
                    experts=experts, ranks=tp * cp * dp, layout_limit=expert_degree_limit
                )
                for ep, vp, zero, (whole, core) in itertools.product(
                    expert_ranks, chunks, shards, recompute_rows
                ):
                    rows.append((tp, pp, cp, dp, ep, 1, vp, mb, batch, sequence_tokens, zero, whole, core))
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(fields(Plan)))
    used = table[:, :4].prod(axis=1)
    return Plan(*table[used >= 0.5 * used.max(initial=0.0)].T)


def taken(plan: Plan, rows: NDArray[np.intp]) -> Plan:
    """The plans at the given rows."""
    return Plan(*(getattr(plan, field.name)[rows] for field in fields(plan)))


def _nothing(tried: int, needed: float, available: float, why: str) -> PlanChoice:
    return PlanChoice(False, why, tried, 0, None, None, None, None, None, needed, available)


def best_plan(
    *,
    candidates: Plan,
    shape: ModelShape,
    chip: ChipRates,
    links: Links,
    constants: TrainingConstants,
    state: StateBytes,
    memory_constants: MemoryConstants,
) -> PlanChoice:
    """The quickest candidate that fits the memory; equal times keep the order of the candidates.

    One scenario: the other arguments are of shape (1,). Those that fit are timed in one call, and the chosen plan
    is evaluated again alone, by the same functions.

    Args:
        candidates: From `candidate_plans`, shape (candidates,).
        shape, chip, links, constants, state, memory_constants: As for `training_step` and `training_memory`.

    Returns:
        See `PlanChoice`; `feasible` is false where nothing fits.
    """
    tried, available = int(candidates.tensor_ranks.size), float(chip.memory_bytes[0])
    if tried == 0:
        return _nothing(0, 0.0, available, "no parallel layout divides the model, the batch and the GPUs")
    needed = total_bytes(
        training_memory(shape=shape, plan=candidates, state=state, constants=memory_constants)
    )
    fits = np.flatnonzero(needed <= available)
    if fits.size == 0:
        least = float(needed.min())
        why = f"memory: the leanest of {tried} plans needs {least / 1e9:.1f} GB a GPU of {available / 1e9:.1f} GB"
        return _nothing(tried, least, available, why)

    def timed(plan: Plan) -> TrainingStep:
        return training_step(shape=shape, plan=plan, chip=chip, links=links, constants=constants, state=state)

    order = np.argsort(timed(taken(candidates, fits)).step_s, kind="stable")[:2]
    plan = taken(candidates, fits[order[:1]])
    runner_up = taken(candidates, fits[order[1:]]) if order.size > 1 else None
    return PlanChoice(
        feasible=True,
        why_not="",
        tried=tried,
        fitting=int(fits.size),
        plan=plan,
        step=timed(plan),
        memory=training_memory(shape=shape, plan=plan, state=state, constants=memory_constants),
        runner_up=runner_up,
        runner_up_step_s=timed(runner_up).step_s if runner_up is not None else None,
        needed_bytes=float(needed[fits[order[0]]]),
        available_bytes=available,
    )
