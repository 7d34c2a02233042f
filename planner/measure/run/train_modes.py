"""The model under each kind of parallelism, by torch's own tools."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from planner.measure.run.context import Context
from planner.measure.run.train_cases import ONE_GPU, REPLICATED, SHARDED, TENSOR, StepCase
from planner.measure.run.train_model import llama, split_over, whole

LEARNING_RATE = 1e-4


@dataclass
class Trainee:
    """A model with its optimiser.

    Attributes:
        quiet: A context in which a step leaves its exchanges out, which times the rest; None where there is
            none, or where the tool can't leave them out.
    """

    model: Any
    optimiser: Any
    quiet: Callable[[], Any] | None


def trainee(context: Context, case: StepCase) -> Trainee:
    """Build what a case trains.

    Raises:
        RuntimeError: This torch has no such tool.
    """
    torch, quiet = context.torch, None
    # Replicas must start alike; the ranks of a tensor group hold different parts, which may be alike too.
    torch.manual_seed(1234)
    split = split_over(context) if case.mode == TENSOR else whole()
    model = llama(context, case.size, split, length=case.sequence_tokens, recompute=case.recompute)
    if case.compiled:
        torch.compiler.reset()
        for layer in model.layers:
            layer.compile()
    if case.mode == REPLICATED:
        place = [context.device.index] if context.on_gpu else None
        model = torch.nn.parallel.DistributedDataParallel(
            model, device_ids=place, gradient_as_bucket_view=True
        )
        quiet = model.no_sync
    elif case.mode == SHARDED:
        model = sharded(context, model)
    elif case.mode == TENSOR:
        quiet = lambda: _silent(split)  # noqa: E731 - one line beside its sibling above
    assert quiet is not None or case.mode in (ONE_GPU, SHARDED)
    fused = {"fused": True} if context.on_gpu else {}
    optimiser = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=0.1, **fused)
    return Trainee(model, optimiser, quiet)


def sharded(context: Context, model: Any) -> Any:
    """All states shared out, layer by layer: weights gathered in 16 bits, gradients reduced in 32.

    Raises:
        RuntimeError: torch is older than 2.4.
    """
    for name in ("torch.distributed.fsdp", "torch.distributed._composable.fsdp"):
        tools = importlib.import_module(name)
        if hasattr(tools, "fully_shard"):
            break
    else:
        raise RuntimeError("this torch has no fully_shard; it came with 2.4")
    torch = context.torch
    policy = tools.MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    kind = "cuda" if context.on_gpu else "cpu"
    mesh = importlib.import_module("torch.distributed.device_mesh").init_device_mesh(kind, (context.world,))
    for layer in model.layers:
        tools.fully_shard(layer, mesh=mesh, mp_policy=policy)
    tools.fully_shard(model, mesh=mesh, mp_policy=policy)
    return model


@contextlib.contextmanager
def _silent(split: Any) -> Any:
    split.silent = True
    try:
        yield
    finally:
        split.silent = False
