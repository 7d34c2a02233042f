"""Whole training steps of a Llama-shaped model: one GPU, DDP, FSDP, tensor parallelism.

A step is forward, backward and AdamW on fresh random tokens of one microbatch. Steps run back to back, each marked
by device events; the host only looks at the end. What hides communication can't be read off a step, so steps
without the exchanges are timed too where the tool can leave them out: the difference is what is exposed.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from planner.measure.run.context import Context, error_text
from planner.measure.run.stats import compact, percentile, significant, spread
from planner.measure.run.telemetry import Telemetry, summary
from planner.measure.run.timing import events
from planner.measure.run.train_cases import (
    HOST_BOUND,
    ONE_GPU,
    TENSOR,
    StepCase,
    cases,
    flop_per_token,
    needed_bytes,
)  # fmt: skip
from planner.measure.run.train_model import attention_kernel
from planner.measure.run.train_modes import Trainee, trainee

WARM_STEPS, FEWEST, MOST = 3, 5, 40
BUDGET_S, QUICK_BUDGET_S, QUIET_BUDGET_S = 1.6, 1.0, 0.5
LEAST_POWER_S = 0.5
"""A shorter time has too few ticks of the energy counter in it."""
COMPILE_S = 25.0
"""What the first compiled step may take; one is not begun with less time left."""


def run(context: Context, telemetry: Telemetry | None) -> None:
    """Measure every step of the list that fits this machine and the time."""
    records: list[dict[str, Any]] = context.document["sections"].setdefault("train", [])
    todo = cases(world=context.world, quick=context.quick, on_gpu=context.on_gpu)
    for place, case in enumerate(todo):
        least = COMPILE_S if case.compiled else 0.0
        if context.agree_max([float(context.out_of_time() or context.seconds_left() < least)])[0]:
            context.ran_out(f"train: time ran out, {len(todo) - place} steps of {len(todo)} are missing")
            break
        named = case.named(context.world)
        why_not = _refused(context, case)
        found = {"error": why_not} if why_not else _measured(context, case, telemetry)
        # A model and its gradients refer to each other, so their memory waits for the collector.
        gc.collect()
        context.free()
        rows = context.gather(found)
        if context.rank == 0:
            records.append({**named, **_joined(case, rows)})
        context.save()
    context.state("between")


def _refused(context: Context, case: StepCase) -> str:
    """Why a case can't run here, alike on every rank; empty where it can."""
    size = case.size
    if case.mode == TENSOR and (size.kv_heads % context.world or len(set(context.hosts)) > 1):
        return f"tensor parallelism takes the ranks of one host, by which {size.kv_heads} divides"
    free = -context.agree_max([-float(context.free_bytes())])[0]
    needed = needed_bytes(case, context.world)
    if needed > free:
        return f"may need {needed / 2**30:.0f} GiB of memory, and {free / 2**30:.0f} are free"
    return ""


def _measured(context: Context, case: StepCase, telemetry: Telemetry | None) -> dict[str, Any]:
    """One rank's figures, or the reason why there are none."""
    try:
        return _timed(context, case, trainee(context, case), telemetry)
    except Exception as error:
        # Whatever a library makes of an odd machine must not cost the cases after it.
        return {"error": error_text(error)}


def _timed(context: Context, case: StepCase, subject: Trainee, telemetry: Telemetry | None) -> dict[str, Any]:
    began = time.monotonic()
    if context.on_gpu:
        context.torch.cuda.reset_peak_memory_stats()
    batch = _batch(context, case)
    # the loss after as many steps in every mode, so that modes can be compared
    loss = _steps(context, subject, batch, WARM_STEPS).loss
    warm_s = time.monotonic() - began
    # Collectives need every rank in every step, so all make as many.
    each_us = context.agree_max([percentile(_steps(context, subject, batch, 2).whole, 50)])[0]
    context.barrier()
    context.state(f"train.{case.mode}.{case.size.name}")
    count = _count(QUICK_BUDGET_S if context.quick else BUDGET_S, each_us)
    steps, power = _with_power(telemetry, lambda: _steps(context, subject, batch, count))
    context.state("train")
    median = percentile(steps.whole, 50)
    found: dict[str, Any] = {
        "steps": len(steps.whole), **spread(steps.whole), "forward_us": _median(steps.forward),
        "backward_us": _median(steps.backward), "optimiser_us": _median(steps.optimiser),
        "host_us": significant(steps.host_us, 5),
        # A device that waits for its host says little about the device.
        "host_bound": context.on_gpu and steps.host_us > HOST_BOUND * median,
        "warm_s": significant(warm_s, 3), "loss": significant(loss, 5),
        "attention_kernel": attention_kernel(context, case.size), **power, "samples_us": compact(steps.whole, 5),
    }  # fmt: skip
    if subject.quiet is not None:
        with subject.quiet():
            alone = _steps(context, subject, batch, _count(QUIET_BUDGET_S, each_us)).whole
        found["without_exchange_us"] = _median(alone)
        found["exposed_us"] = significant(median - percentile(alone, 50), 5)
    if context.on_gpu:
        found["peak_memory_bytes"] = int(context.torch.cuda.max_memory_allocated())
    return found


def _with_power(telemetry: Telemetry | None, act: Callable[[], _Steps]) -> tuple[_Steps, dict[str, Any]]:
    """Steps, and the mean power meanwhile by the device's energy counter, with clocks and why they were held."""
    if telemetry is None:
        return act(), {}
    start, seen, before = time.monotonic(), len(telemetry.samples), telemetry.device.energy_j()
    steps = act()
    held, after = time.monotonic() - start, telemetry.device.energy_j()
    if before is None or after is None or held < LEAST_POWER_S:
        return steps, {}
    told = summary(telemetry.samples[seen:])
    found: dict[str, Any] = {"mean_power_w": significant((after - before) / held)}
    found |= {key: told[key] for key in ("mean_sm_clock_mhz", "clock_reason_fraction") if key in told}
    return steps, found


def _count(budget_s: float, each_us: float) -> int:
    return max(FEWEST, min(MOST, round(budget_s * 1e6 / each_us)))


def _median(samples: Sequence[float]) -> float:
    return significant(percentile(samples, 50), 5)


def _batch(context: Context, case: StepCase) -> list[tuple[Any, Any]]:
    """A few microbatches of tokens and targets; ranks of a tensor group get the same ones."""
    torch = context.torch
    torch.manual_seed(99 if case.mode == TENSOR else 99 + context.rank)
    shape = (case.sequences, case.sequence_tokens)

    def drawn() -> Any:
        return torch.randint(case.size.vocab, shape, device=context.device)

    return [(drawn(), drawn()) for _ in range(4)]


@dataclass(frozen=True)
class _Steps:
    """Microseconds of steps and of their parts, the last loss, and the host's time to launch the first step.

    Later steps may wait for room in the device's queue, the first one doesn't.
    """

    whole: list[float]
    forward: list[float]
    backward: list[float]
    optimiser: list[float]
    loss: float
    host_us: float


def _steps(context: Context, subject: Trainee, batch: Sequence[tuple[Any, Any]], count: int) -> _Steps:
    """Run steps back to back.

    Raises:
        RuntimeError: The loss is no number.
    """
    context.sync()
    marks: list[list[Any]] = []
    loss, began, host_us = None, time.perf_counter(), 0.0
    for step in range(count):
        row = [_mark(context)]
        subject.optimiser.zero_grad(set_to_none=True)
        loss = subject.model(*batch[step % len(batch)])
        row.append(_mark(context))
        loss.backward()
        row.append(_mark(context))
        subject.optimiser.step()
        row.append(_mark(context))
        marks.append(row)
        host_us = host_us or (time.perf_counter() - began) * 1e6
    context.sync()
    value = float(loss.detach()) if loss is not None else math.nan
    if not math.isfinite(value):
        raise RuntimeError(f"the loss is {value} after {count} steps")
    forward, backward, optimiser = (
        [_between(row[part], row[part + 1]) for row in marks] for part in range(3)
    )
    # From one start to the next, so that gaps between steps count.
    whole = [_between(here[0], after[0]) for here, after in itertools.pairwise(marks)]
    whole.append(_between(marks[-1][0], marks[-1][3]))
    return _Steps(whole, forward, backward, optimiser, value, host_us)


def _mark(context: Context) -> Any:
    """The device's clock here, or the host's where there is no device."""
    if not context.on_gpu:
        return time.perf_counter()
    (mark,) = events(context, 1)
    mark.record()
    return mark


def _between(first: Any, last: Any) -> float:
    if isinstance(first, float):
        return float(last - first) * 1e6
    return float(first.elapsed_time(last)) * 1e3


def _joined(case: StepCase, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the ranks found, as one record: the first rank's figures, rates by the slowest one."""
    failed = [row["error"] for row in rows if "error" in row]
    if failed:
        return {"error": failed[0]}
    medians = [row["median_us"] for row in rows]
    alone = case.mode == ONE_GPU
    step_us = medians[0] if alone else max(medians)
    ranks = 1 if alone else len(rows)
    data = 1 if alone or case.mode == TENSOR else ranks
    tokens = case.tokens * data / step_us * 1e6
    flop = flop_per_token(case.size, case.sequence_tokens) * tokens / ranks
    found = {
        **rows[0], "tokens_per_s": significant(tokens, 6), "tflop_per_s": significant(flop / 1e12, 5),
        "flop_counted": "6 per matrix parameter, causal attention by half", "rank_median_us": medians,
        "gpus_active": len(rows),
    }  # fmt: skip
    with contextlib.suppress(KeyError):
        found["rank_mean_power_w"] = [row["mean_power_w"] for row in rows]
    return found
