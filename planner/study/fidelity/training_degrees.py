"""Parallel degrees of measured training runs: as stated, with what follows from them, or why they can't be."""

from __future__ import annotations

from dataclasses import dataclass

from planner.performance.models import ModelShape
from planner.study.fidelity.schema import Parallel, TrainingRow
from planner.study.fidelity.training_draft import Draft
from planner.study.fidelity.unfit import UnfitError


@dataclass(frozen=True, slots=True)
class Degrees:
    """Ranks of a run in each direction; their product are its GPUs.

    Attributes:
        expert, expert_tensor: Ranks among those of data, context and tensor that hold other experts, or split one.
        sequences: Of one optimiser step.
    """

    tensor: int
    pipeline: int
    context: int
    data: int
    expert: int
    expert_tensor: int
    sequences: int

    @property
    def ranks(self) -> int:
        """GPUs in the layout."""
        return self.tensor * self.pipeline * self.context * self.data


def degrees_of(draft: Draft, shape: ModelShape) -> Degrees:
    """Degrees of a row.

    Raises:
        UnfitError: The row states too few, or some that can't be.
    """
    row, stated = draft.row, draft.row.parallel
    tensor, pipeline, context = _model_ranks(draft)
    data = _data_ranks(draft, tensor * pipeline * context)
    sequences = _sequences(row, data)
    sparse = bool(shape.experts[0] > 0.0)
    expert, expert_tensor = (stated.ep or 1, stated.etp or 1) if sparse else (1, 1)
    found = Degrees(tensor, pipeline, context, data, expert, expert_tensor, sequences)
    _refuse_impossible(found, shape, row)
    return found


def is_sharded(stated: Parallel) -> bool:
    """Whether a row says that all states are sharded over the data ranks.

    >>> is_sharded(Parallel(fsdp=True)), is_sharded(Parallel(fsdp="FULL_SHARD")), is_sharded(Parallel(fsdp=1))
    (True, True, False)
    """
    if isinstance(stated.fsdp, bool):
        return stated.fsdp
    return isinstance(stated.fsdp, str) or (stated.fsdp or 0) > 1


def _model_ranks(draft: Draft) -> tuple[int, int, int]:
    """Ranks of tensor, pipeline and context parallelism; those not stated are one where nothing is left for them."""
    row, stated = draft.row, draft.row.parallel
    tensor, pipeline, context = stated.tp or 1, stated.pp or 1, stated.cp or 1
    if stated.tp is None or stated.pp is None:
        fsdp = 1 if isinstance(stated.fsdp, (bool, str)) else stated.fsdp or 1
        whole = tensor * pipeline * context * max(stated.dp or 1, fsdp) == row.n_gpus
        alone = stated.tp is None and stated.pp is None and is_sharded(stated) and stated.dp is None
        if not whole and not alone and stated.zero != 3:
            raise UnfitError("the row doesn't state its parallel degrees")
        draft.settle("no tensor or pipeline ranks taken beyond those stated")
    return tensor, pipeline, context


def _data_ranks(draft: Draft, model_ranks: int) -> int:
    row, stated = draft.row, draft.row.parallel
    data, rest = row.n_gpus // model_ranks, row.n_gpus % model_ranks
    if rest or data < 1:
        raise UnfitError(f"replicas of {model_ranks:,} GPUs don't make up the {row.n_gpus:,} GPUs of the run")
    if stated.dp is None or stated.dp == data:
        return data
    # some count context ranks among the data ranks, others the replicas of sharded groups alone
    inside = stated.dp == data * (stated.cp or 1)
    replicas = isinstance(stated.fsdp, int) and stated.dp * stated.fsdp == data
    if not inside and not replicas:
        raise UnfitError(
            f"the degrees make up {model_ranks * stated.dp:,} GPUs, and the run had {row.n_gpus:,}"
        )
    draft.settle(f"{data:,} data ranks taken, as the {row.n_gpus:,} GPUs say")
    return data


def _sequences(row: TrainingRow, data: int) -> int:
    """Sequences of a step: as stated, else what the data ranks take in."""
    if row.seq_len is None:
        raise UnfitError("the row states no sequence length")
    if row.gbs is not None:
        return row.gbs
    if row.local_batch is not None:
        return row.local_batch * data
    if row.mbs is not None and row.parallel.ga is not None:
        return max(1, round(row.mbs * row.parallel.ga * data))
    raise UnfitError("the row states no batch")


def _refuse_impossible(found: Degrees, shape: ModelShape, row: TrainingRow) -> None:
    layers, heads, experts = (int(one[0]) for one in (shape.layers, shape.heads, shape.experts))
    whys = (
        (found.pipeline > layers, f"{found.pipeline:,} pipeline stages for {layers:,} layers"),
        (found.tensor > heads, f"{found.tensor:,} tensor ranks for {heads:,} heads"),
        (found.data > found.sequences, f"{found.data:,} data ranks for {found.sequences:,} sequences a step"),
        (found.expert > max(experts, 1), f"{found.expert:,} expert ranks for {experts:,} experts"),
        (
            found.expert * found.expert_tensor > found.ranks // found.pipeline,
            f"{found.expert * found.expert_tensor:,} ranks of experts in stages of "
            f"{found.ranks // found.pipeline:,} GPUs",
        ),
    )
    wrong = [said for bad, said in whys if bad]
    if wrong:
        raise UnfitError(f"degrees that can't be: {', '.join(wrong)}")
