"""Every plan that divides a model, a batch and a cluster, in blocks that the training model takes whole."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace

import numpy as np

from planner.performance.models import ModelShape
from planner.performance.parallelism import Plan
from planner.performance.plans import divisors, interleavings, pipeline_degrees, plans_of, whole_table

BLOCK_PLANS = 32_768
"""Plans of a block; its arrays stay in the processor's cache."""
Layout = tuple[int, int, int, int]
"""Tensor, context, expert and expert-tensor ranks."""


@dataclass(frozen=True, slots=True)
class Job:
    """What plans are for.

    Attributes:
        shape: One model, arrays of shape (1,).
        gpus, domain_ranks: Accelerators of the job, and of a scale-up domain.
        mesh: Whether a part of a domain gets only a part of the links.
        batch_sequences, sequence_tokens: Sequences of a step, and their length.
        sequence_parallel: Whether the software's tensor ranks share out norms and residuals.
    """

    shape: ModelShape
    gpus: int
    domain_ranks: int
    mesh: bool
    batch_sequences: int
    sequence_tokens: int
    sequence_parallel: bool = True

    def count(self, name: str) -> int:
        """A dimension of the model as a whole number; zero where it isn't one."""
        value = float(getattr(self.shape, name)[0])
        return int(value) if value.is_integer() else 0


@dataclass(frozen=True, slots=True)
class Axes:
    """Degrees that are tried; None is every one that divides.

    Attributes:
        tensor, context, expert, expert_tensor, microbatch, zero: Their values.
        all_interleavings: Every number of chunks; else none, and about two layers in each.
        recompute_steps: Parts in which a stage's layers are computed again, in whole layers; None is one by one, and
            0 is no recompute.
        selective: Also computing the attention of the other layers again.
        hybrid: Also sharding all states inside a scale-up domain alone, where the data group is wider.
        zero_bubble: Also the schedule that splits the backward pass; it takes a stack that has it, and `Features`
            with its ratio.
    """

    tensor: tuple[int, ...] | None = None
    context: tuple[int, ...] | None = None
    expert: tuple[int, ...] | None = None
    expert_tensor: tuple[int, ...] | None = None
    microbatch: tuple[int, ...] | None = None
    zero: tuple[int, ...] = (0, 1, 2, 3)
    all_interleavings: bool = True
    recompute_steps: int | None = None
    selective: bool = True
    hybrid: bool = True
    zero_bubble: bool = False


EVERY = Axes()
LONG_SEQUENCE_TOKENS = 32768
"""Sequences above this are split over more context ranks in a quick search too."""


def quick_axes(sequence_tokens: int) -> Axes:
    """Axes of the search inside an evaluation, which has to be a matter of milliseconds.

    Every tensor, pipeline and expert degree and every interleaving is tried; left out are microbatches above 8,
    expert-tensor ranks, context ranks above 2 for sequences that fit without, replicated states, gradients shared
    out, selective recompute, hybrid sharding. Layers are recomputed where `least_recompute` needs it.
    """
    return Axes(
        context=(1, 2) if sequence_tokens <= LONG_SEQUENCE_TOKENS else (1, 2, 4, 8, 16),
        expert_tensor=(1,),
        microbatch=(1, 2, 4, 8),
        zero=(1, 3),
        recompute_steps=0,
        selective=False,
        hybrid=False,
    )


LEAN = Axes(
    microbatch=(1,), zero=(1, 2, 3), all_interleavings=False, recompute_steps=1, selective=False, hybrid=False
)  # fmt: skip
"""The corner of least memory: single sequences, full recompute, states shared out, every degree."""


@dataclass(frozen=True, slots=True)
class Inner:
    """Axes below a layout.

    Attributes:
        shards: Sharding stages.
        microbatches: Sequences of a microbatch.
        chunks: Chunks of layers on a stage.
        recompute: Shares of layers, and of the other layers' attention, that are computed again.
        hybrid: States are sharded inside a scale-up domain.
        backward_split: The schedule is zero-bubble.
    """

    shards: tuple[int, ...]
    microbatches: tuple[int, ...]
    chunks: tuple[int, ...]
    recompute: tuple[tuple[float, float], ...]
    hybrid: bool = False
    backward_split: bool = False


@dataclass(slots=True)
class Space:
    """Layouts of a job, and what was refused on the way.

    Attributes:
        groups: Layouts by pipeline stages and data ranks.
        inner: The axes below those layouts.
        refused: Degrees and layouts that can't be, by reason.
    """

    job: Job
    axes: Axes
    groups: dict[tuple[int, int], list[Layout]] = field(default_factory=dict)
    inner: dict[tuple[int, int], list[Inner]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)

    def blocks(self, *, most: int = BLOCK_PLANS) -> Iterator[Plan]:
        """Plans in a fixed order, each block's fields of shapes that broadcast to five axes.

        The axes are layout, sharding, microbatch, interleaving and recompute. What depends on few of them is
        computed on few elements, which is why a search of millions takes seconds.
        """
        for (pipeline, data), layouts in self.groups.items():
            for inner in self.inner[pipeline, data]:
                rows = max(1, most // max(1, _size(inner)))
                kept = self._layouts(layouts, data, inner)
                for start in range(0, len(kept), rows):
                    yield self._block(pipeline, data, kept[start : start + rows], inner)

    def flat(self) -> Plan:
        """All plans as one batch, fields of shape (n,); for small spaces."""
        tables = [whole_table(one) for one in self.blocks(most=1_000_000)]
        return plans_of(np.concatenate([np.zeros((0, len(fields(Plan)))), *tables]))

    def plans(self) -> int:
        """Number of plans in all blocks."""
        return sum(
            len(self._layouts(layouts, data, inner)) * _size(inner)
            for (pipeline, data), layouts in self.groups.items()
            for inner in self.inner[pipeline, data]
        )

    def axes_below(self, pipeline: int, data: int) -> list[Inner]:
        """Axes below a layout: interleaving asks for whole rounds of microbatches."""
        job, axes = self.job, self.axes
        layers, units = job.count("layers"), job.batch_sequences // data
        sizes = _kept(divisors(units), axes.microbatch)
        chunks = every_interleaving(layers=layers, stages=pipeline)
        if not axes.all_interleavings:
            chunks = interleavings(layers=layers, stages=pipeline)
        rounds = [size for size in sizes if units // size % pipeline == 0]
        rest = [size for size in sizes if units // size % pipeline]
        shards = tuple(stage for stage in axes.zero if stage < 2 or pipeline == 1)
        again = self._recompute(stage_layers(layers=layers, stages=pipeline))
        both = (Inner(shards, tuple(rounds), tuple(chunks), again), Inner(shards, tuple(rest), (1,), again))
        found = [inner for inner in both if inner.microbatches]
        if axes.zero_bubble and pipeline > 1:
            found += [replace(inner, chunks=(1,), backward_split=True) for inner in found]
        if axes.hybrid and WHOLE in shards:
            found += [replace(inner, shards=(WHOLE,), hybrid=True) for inner in found]
        return found

    def _layouts(self, layouts: list[Layout], data: int, inner: Inner) -> list[Layout]:
        """Layouts that inner axes are for: under hybrid sharding those whose data group leaves the domain."""
        if not inner.hybrid:
            return layouts
        return [one for one in layouts if 1 < self._shard_ranks(one, data) < data * one[1]]

    def _shard_ranks(self, layout: Layout, data: int) -> int:
        """Ranks of a shard group: as many as divide the data group and stand in one domain."""
        return math.gcd(data * layout[1], max(1, self.job.domain_ranks // layout[0]))

    def _recompute(self, layers: int) -> tuple[tuple[float, float], ...]:
        """Shares of layers and of the other layers' attention that are computed again."""
        steps = layers if self.axes.recompute_steps is None else self.axes.recompute_steps
        shares = sorted({round(layers * number / max(steps, 1)) / layers for number in range(steps + 1)})
        again = [(share, 0.0) for share in shares]
        if self.axes.selective:
            again += [(share, 1.0) for share in shares if share < 1.0]
        return tuple(again)

    def _block(self, pipeline: int, data: int, layouts: list[Layout], inner: Inner) -> Plan:
        columns = np.array(layouts, dtype=np.float64).T
        tensor, context, expert, expert_tensor = (column.reshape(-1, 1, 1, 1, 1) for column in columns)
        again = np.array(inner.recompute).T
        shard = [self._shard_ranks(one, data) for one in layouts] if inner.hybrid else [0]
        return Plan(
            tensor_ranks=tensor,
            pipeline_ranks=np.array([float(pipeline)]),
            context_ranks=context,
            data_ranks=np.array([float(data)]),
            expert_ranks=expert,
            expert_tensor_ranks=expert_tensor,
            virtual_stages=_axis(inner.chunks, 3),
            microbatch_sequences=_axis(inner.microbatches, 2),
            global_batch_sequences=np.array([float(self.job.batch_sequences)]),
            sequence_tokens=np.array([float(self.job.sequence_tokens)]),
            zero_stage=_axis(inner.shards, 1),
            recomputed_layers_fraction=_axis(again[0], 4),
            recomputed_attention_fraction=_axis(again[1], 4),
            sequence_parallel=np.array([float(self.job.sequence_parallel)]),
            shard_ranks=_axis(shard, 0),
            backward_split=np.array([float(inner.backward_split)]),
        )

    def values(self) -> dict[str, list[float]]:
        """What each axis takes somewhere in the space, rising."""
        found: dict[str, set[float]] = {name: set() for name in AXES}
        for (pipeline, data), layouts in self.groups.items():
            found["pipeline"].add(pipeline)
            found["data"].add(data)
            for name, column in zip(AXES, zip(*layouts, strict=True), strict=False):
                found[name].update(column)
            for inner in self.inner[pipeline, data]:
                found["sharding"].update(inner.shards)
                found["microbatch"].update(inner.microbatches)
                found["virtual_stages"].update(inner.chunks)
                found["recomputed_layers_fraction"].update(share for share, _ in inner.recompute)
                found["recomputed_attention_fraction"].update(share for _, share in inner.recompute)
                found["zero_bubble"].add(float(inner.backward_split))
                kept = self._layouts(layouts, data, inner)
                found["hybrid_shard_ranks"].update(
                    self._shard_ranks(one, data) if inner.hybrid else 0 for one in kept
                )
        return {name: sorted(values) for name, values in found.items()}


AXES = (
    "tensor", "context", "expert", "expert_tensor", "pipeline", "data", "virtual_stages", "microbatch", "sharding",
    "recomputed_layers_fraction", "recomputed_attention_fraction",
    "hybrid_shard_ranks", "zero_bubble",
)  # fmt: skip
"""Axes of a search, those of a layout first. Hybrid shard ranks of 0 are sharding
over the whole data group."""
WHOLE = 3
"""Sharding stage of all states."""


def _size(inner: Inner) -> int:
    return len(inner.shards) * len(inner.microbatches) * len(inner.chunks) * len(inner.recompute)


def _axis(values: object, place: int) -> np.ndarray:
    shape = [1] * 5
    shape[place] = -1
    return np.array(values, dtype=np.float64).reshape(shape)


def _kept(values: list[int], wanted: tuple[int, ...] | None) -> list[int]:
    return values if wanted is None else [value for value in values if value in wanted]


def stage_layers(*, layers: int, stages: int) -> int:
    """Layers or slots of a stage.

    >>> stage_layers(layers=80, stages=4), stage_layers(layers=126, stages=16)
    (20, 8)
    """
    return layers // stages if layers % stages == 0 else (layers + 2) // stages


def every_interleaving(*, layers: int, stages: int) -> list[int]:
    """Numbers of chunks that divide a stage's layers; one without a pipeline.

    >>> every_interleaving(layers=96, stages=8), every_interleaving(layers=96, stages=1)
    ([1, 2, 3, 4, 6, 12], [1])
    """
    return [1] if stages == 1 else divisors(stage_layers(layers=layers, stages=stages))


def search_space(job: Job, axes: Axes = EVERY) -> Space:
    """All layouts of a job.

    Data ranks take the GPUs that the other degrees leave, as many as divide the batch. Layouts that leave more
    than half of the best use idle are refused. Sharding beyond optimiser states comes without a pipeline, and
    tensor ranks share out the sequence (sequence parallelism), as the software has it.

    Args:
        job: Model, cluster and batch.
        axes: What is tried; everything by default.

    Returns:
        The space; empty where nothing divides.
    """
    space = Space(job, axes)
    tensors, contexts = _tensor_degrees(space), _context_degrees(space)
    stages = pipeline_degrees(layers=job.count("layers"), limit=job.gpus)
    space.refused["pipeline: layers don't divide over the stages"] += min(
        job.count("layers"), job.gpus
    ) - len(stages)
    found: dict[tuple[int, int], list[Layout]] = {}
    ordered = divisors(job.batch_sequences)
    for pipeline in stages:
        for tensor in tensors:
            for context in contexts:
                block = pipeline * tensor * context
                if block > job.gpus:
                    space.refused["layouts: more ranks than GPUs"] += 1
                elif tensor > 1 and job.sequence_tokens % (tensor * context):
                    space.refused["layouts: the sequence doesn't divide over tensor and context ranks"] += 1
                else:
                    data = max(degree for degree in ordered if degree <= job.gpus // block)
                    found.setdefault((pipeline, data), []).extend(
                        (tensor, context, expert, split)
                        for expert, split in _expert_degrees(space, tensor, tensor * context * data)
                    )
    most = max((p * d * t * c for (p, d), rows in found.items() for t, c, _, _ in rows), default=0)
    for (pipeline, data), rows in found.items():
        kept = [row for row in rows if 2 * pipeline * data * row[0] * row[1] >= most]
        if len(kept) < len(rows):
            space.refused["layouts: more than half of the GPUs idle"] += len(rows) - len(kept)
        if kept:
            space.groups[pipeline, data] = kept
            space.inner[pipeline, data] = space.axes_below(pipeline, data)
    return space


def _tensor_degrees(space: Space) -> list[int]:
    job, refused, kept = space.job, space.refused, []
    heads, groups = job.count("heads"), job.count("kv_heads")
    widths = (job.count("ffn"), job.count("shared_expert_ffn"))
    for degree in range(1, min(heads, job.gpus) + 1):
        if space.axes.tensor is not None and degree not in space.axes.tensor:
            continue
        if heads % degree:
            refused["tensor: heads don't divide"] += 1
        elif groups and groups % degree and degree % groups:
            refused["tensor: heads of keys and values don't divide"] += 1
        elif any(width % degree for width in widths):
            refused["tensor: the feed-forward's width doesn't divide"] += 1
        elif job.domain_ranks % degree and degree % job.domain_ranks:
            refused["tensor: groups would straddle scale-up domains"] += 1
        elif job.mesh and 1 < degree < job.domain_ranks:
            refused["tensor: a part of a mesh has only a part of its links"] += 1
        else:
            kept.append(degree)
    return kept


def _context_degrees(space: Space) -> list[int]:
    """Each rank takes two blocks of the sequence, so that causal attention is even."""
    job, kept = space.job, []
    for degree in divisors(job.sequence_tokens):
        if degree > job.gpus or (space.axes.context is not None and degree not in space.axes.context):
            continue
        if degree > 1 and job.sequence_tokens % (2 * degree):
            space.refused["context: two blocks for each rank don't divide the sequence"] += 1
        else:
            kept.append(degree)
    return kept


def _expert_degrees(space: Space, tensor: int, ranks: int) -> Iterator[tuple[int, int]]:
    """Expert and expert-tensor ranks among the ranks of a stage."""
    job, axes = space.job, space.axes
    experts, width = job.count("experts"), job.count("expert_ffn")
    if not experts:
        yield 1, 1
        return
    for split in _kept(divisors(tensor), axes.expert_tensor):
        if width % split:
            space.refused["layouts: the experts' width doesn't divide"] += 1
            continue
        for degree in _kept(divisors(experts), axes.expert):
            if ranks % (degree * split):
                space.refused["layouts: expert ranks don't divide the ranks of a stage"] += 1
            else:
                yield degree, split
