"""Plans, axes and losses of a search in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields

from planner.performance.memory import TrainingMemory
from planner.performance.parallelism import Plan, gpus_in_use
from planner.performance.training import StepParts, TrainingStep

PARTS = {
    "computing_s": "computing",
    "recompute_s": "recompute",
    "tensor_exposed_s": "tensor-parallel communication",
    "pipeline_exposed_s": "pipeline communication",
    "data_exposed_s": "data-parallel communication",
    "expert_exposed_s": "expert exchange",
    "context_exposed_s": "context-parallel communication",
    "bubble_s": "pipeline bubble",
    "optimiser_s": "optimiser",
    "other_s": "stragglers and host",
}
DEGREES = (
    ("TP", "tensor_ranks"), ("PP", "pipeline_ranks"), ("CP", "context_ranks"), ("DP", "data_ranks"),
    ("EP", "expert_ranks"), ("ETP", "expert_tensor_ranks"), ("VP", "virtual_stages"),
    ("MB", "microbatch_sequences"),
)  # fmt: skip
ALWAYS = ("TP", "PP", "DP", "MB")
HOLDERS = tuple(one.name.removesuffix("_bytes") for one in fields(TrainingMemory))
"""What holds memory."""
SHARDING = {0: "none", 1: "zero1", 2: "zero2", 3: "fsdp"}


HYBRID = "hybrid"
FLAGS = (
    ("backward_split", "zero-bubble schedule"), ("context_gathered", "keys and values gathered"),
    ("asynchronous", "replicas go on while they exchange"), ("offloaded_optimiser", "optimiser in host memory"),
    ("offloaded_activations", "activations in host memory"), ("offloaded_weights", "weights in host memory"),
)  # fmt: skip


def number(plan: Plan, name: str) -> float:
    """A field of one plan."""
    return float(getattr(plan, name)[0])


def plan_in_words(plan: Plan) -> str:
    """Degrees of one plan; what is 1 and says nothing is left out.

    >>> import numpy as np
    >>> one = np.ones(1)
    >>> plan_in_words(Plan(8 * one, 4 * one, one, 16 * one, one, one, 2 * one, one, 64 * one, one, one, 0 * one, one))
    'TP8 PP4 DP16 VP2 MB1 zero1, selective recompute'
    """
    said = [
        f"{short}{number(plan, name):.0f}"
        for short, name in DEGREES
        if number(plan, name) > 1 or short in ALWAYS
    ]
    rest = "".join(f", {one}" for one in (recompute_in_words(plan), *features_in_words(plan)) if one)
    return f"{' '.join(said)} {sharding_in_words(plan)}{rest}"


def sharding_in_words(plan: Plan) -> str:
    """What data ranks share out."""
    if number(plan, "shard_ranks"):
        return HYBRID
    return SHARDING[int(number(plan, "zero_stage"))]


def features_in_words(plan: Plan) -> list[str]:
    """What a plan uses beyond degrees, sharding and recompute.

    >>> import numpy as np
    >>> one = np.ones(1)
    >>> features_in_words(Plan(*[one] * 13, shard_ranks=8 * one, backward_split=one, offloaded_weights=one))
    ['shard groups of 8', 'zero-bubble schedule', 'weights in host memory']
    """
    said = []
    if number(plan, "shard_ranks"):
        said.append(f"shard groups of {number(plan, 'shard_ranks'):.0f}")
    said += [words for name, words in FLAGS if number(plan, name)]
    if number(plan, "gradient_compression_ratio") > 1:
        said.append(f"gradients compressed {number(plan, 'gradient_compression_ratio'):g} times")
    if number(plan, "local_steps") > 1:
        said.append(f"replicas exchange every {number(plan, 'local_steps'):.0f} steps")
    return said


def recompute_in_words(plan: Plan) -> str:
    """What is computed again; empty for nothing."""
    layers, attention, products = (
        number(plan, f"recomputed_{name}_fraction") for name in ("layers", "attention", "linear")
    )
    if layers >= 1.0:
        return "full recompute"
    said = f"{layers * 100:.0f} % of layers recomputed" if layers else ""
    if products:
        return f"{said}, operators of the others too" if said else "operators recomputed"
    if attention:
        return f"{said}, attention of the others too" if said else "selective recompute"
    return said


def why_it_lost(goal: str, best: Plan, best_step: TrainingStep, plan: Plan, step: TrainingStep) -> str:
    """The largest part by which a plan lies behind the best.

    Under the goals of cost and energy, seconds count for the GPUs that a plan keeps.
    """
    scale = [1.0, 1.0] if goal == "time" else [float(gpus_in_use(one)[0]) for one in (best, plan)]
    more = {
        part.name: float(getattr(step.parts, part.name)[0]) * scale[1]
        - float(getattr(best_step.parts, part.name)[0]) * scale[0]
        for part in fields(StepParts)
    }
    name = max(more, key=lambda one: more[one])
    if more[name] <= 0.0:
        return "equal; ties go to smaller degrees"
    return f"+{more[name] / scale[1]:.2g} s {PARTS[name]}"


def overflow_in_words(memory: TrainingMemory, available_bytes: float) -> str:
    """What is short, and the parts that hold most of it, of one plan.

    >>> import numpy as np
    >>> gb = np.array([1e9])
    >>> overflow_in_words(TrainingMemory(20 * gb, 40 * gb, 30 * gb, 9 * gb, gb, 3 * gb), 80e9)
    '23.0 GB too much: gradients 40.0 GB, optimiser 30.0 GB, weights 20.0 GB'
    """
    sizes = {name: float(getattr(memory, f"{name}_bytes")[0]) for name in HOLDERS}
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:3]
    held = ", ".join(f"{name} {sizes[name] / 1e9:.1f} GB" for name in largest)
    return f"{(sum(sizes.values()) - available_bytes) / 1e9:.1f} GB too much: {held}"


def axes_in_words(axes: Mapping[str, Iterable[float]]) -> str:
    """Values of each axis that has more than one; data ranks follow from the others.

    >>> axes_in_words({"tensor": (1, 2, 8), "context": (1,), "recomputed_layers_fraction": (0, 0.5, 1)})
    'tensor 1, 2, 8; recomputed layers fraction 0, 0.5, 1'
    """
    return "; ".join(
        f"{name.replace('_', ' ')} {values_in_words(tuple(values))}"
        for name, values in axes.items()
        if len(tuple(values)) > 1 and name != "data"
    )


def values_in_words(values: tuple[float, ...], most: int = 12) -> str:
    """Values with commas; of many the ends and the count.

    >>> values_in_words(tuple(range(1, 40)))
    '1, 2, 3 ... 39 (39 values)'
    """
    if len(values) <= most:
        return ", ".join(f"{value:.3g}" if value < 1 else f"{value:g}" for value in values)
    first = ", ".join(f"{value:.3g}" for value in values[:3])
    return f"{first} ... {values[-1]:g} ({len(values)} values)"
