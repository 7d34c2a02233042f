"""Serving steps of Llama shapes on one GPU and split over all: prefill, decode, and the output head.

A few layers are timed and stand for the model's many; embedding and output head are timed apart. All of it is
captured in CUDA graphs and replayed back to back, so that the host's pace stays out of the figures: what remains
is what a server without a scheduler, of kernels as they come with torch, would take.
"""

from __future__ import annotations

import gc
import math
from typing import Any

from planner.measure.run.context import Context, error_text
from planner.measure.run.serve_cases import (
    DECODE,
    HEAD,
    KERNEL,
    PREFILL,
    ServeCase,
    groups,
    needed_bytes,
)  # fmt: skip
from planner.measure.run.serve_kernels import kernel_call
from planner.measure.run.serve_model import Replica, relative_error
from planner.measure.run.stats import compact, percentile, plan_iterations, significant, spread
from planner.measure.run.telemetry import Telemetry
from planner.measure.run.timing import Call, Timing, agreed_estimate_us, capture, time_calls
from planner.measure.run.train_cases import Size

TOLERANCE = 0.03
"""Norm of the difference that rounding to bf16 may leave between prefill with decoding and one pass."""
CHECKED_PROMPT, CHECKED_STEPS = 96, 4
BUDGET_MS, QUICK_BUDGET_MS, CPU_BUDGET_MS = 120.0, 60.0, 5.0
REPETITIONS, MOST = 9, 60
GRAPH_COPIES = {PREFILL: 1, DECODE: 4, HEAD: 4, KERNEL: 16}
"""Copies of the measured layers in one graph: its start is spread over as many layers as small models have."""


def run(context: Context, telemetry: Telemetry | None) -> None:
    """Measure every step of the list that fits this machine and the time."""
    records: list[dict[str, Any]] = context.document["sections"].setdefault("serve", [])
    every = list(groups(world=context.world, quick=context.quick, on_gpu=context.on_gpu))
    missing = sum(len(cases) for *_, cases in every)
    for size, ranks, cases in every:
        replica, why_not, error = _checked(context, size, ranks, cases)
        for case in cases:
            if context.agree_max([float(context.out_of_time())])[0]:
                context.ran_out(f"serve: time ran out, {missing} steps are missing")
                return
            missing -= 1
            found = {"error": why_not} if replica is None else _measured(context, replica, case)
            rows = context.gather(found)
            if context.rank == 0:
                records.append({**case.named(), **_joined(case, rows), "relative_error": significant(error)})
        del replica
        gc.collect()
        context.free()
        context.save()
    context.state("between")


def _checked(
    context: Context, size: Size, ranks: int, cases: list[ServeCase]
) -> tuple[Replica | None, str, float]:
    """A replica whose decoding agrees with one pass; else why there is none, alike on every rank."""
    why_not = ""
    free = -context.agree_max([-float(context.free_bytes())])[0]
    needed = needed_bytes(size, ranks, cases)
    if size.kv_heads % ranks or (ranks > 1 and len(set(context.hosts)) > 1):
        why_not = f"a split takes the ranks of one host, by which {size.kv_heads} divides"
    elif context.on_gpu and needed > free:
        why_not = f"may need {needed / 2**30:.0f} GiB of memory, and {free / 2**30:.0f} are free"
    if why_not:
        return None, why_not, math.nan
    context.state(f"serve.{size.name}.{ranks}")
    replica = Replica(
        context, size, ranks, max(CHECKED_PROMPT + CHECKED_STEPS, *(one.tokens for one in cases))
    )
    # A rank whose figure is no number must not hide behind the others' maximum.
    error = relative_error(replica, prompt=CHECKED_PROMPT, steps=CHECKED_STEPS)
    worst = context.agree_max([error if math.isfinite(error) else 1e9])[0]
    if worst > TOLERANCE:
        return None, f"prefill and decoding lie {worst:.3g} from one pass, above {TOLERANCE}", worst
    return replica, "", worst


def _measured(context: Context, replica: Replica, case: ServeCase) -> dict[str, Any]:
    """One rank's figures, or the reason why there are none."""
    try:
        with context.torch.no_grad():
            return _timed(context, replica, case)
    except Exception as error:
        # Whatever a library makes of an odd machine must not cost the cases after it.
        context.free()
        return {"error": error_text(error)}


def _timed(context: Context, replica: Replica, case: ServeCase) -> dict[str, Any]:
    # The call holds the tensors that a graph reads, so it must outlive the graph's replays.
    step = _call(replica, case)
    step()
    call, copies, mode = step, 1, "eager"
    if context.on_gpu:
        copies, mode = GRAPH_COPIES[case.phase], "graph"
        call = capture(context, [step], copies).replay
    estimate = agreed_estimate_us(context, [call])
    budget = QUICK_BUDGET_MS if context.quick or case.phase == KERNEL else BUDGET_MS
    plan = plan_iterations(
        estimate, budget if context.on_gpu else CPU_BUDGET_MS, repetitions=REPETITIONS, most=MOST
    )
    context.barrier()
    timing = time_calls(context, [call], plan)
    return {"mode": mode, **_fields(timing, copies), **replica.found}


def _call(replica: Replica, case: ServeCase) -> Call:
    """What is timed: all measured layers over the step's tokens, embedding and output head, or one kernel."""
    if case.phase == KERNEL:
        return kernel_call(replica, case)
    torch, device = replica.torch, replica.context.device
    new = 1 if case.phase == DECODE else case.tokens
    torch.manual_seed(99)
    tokens = torch.randint(replica.size.vocab, (case.sequences, new), device=device)
    x = replica.embed(tokens)
    if case.phase == HEAD:
        return lambda: replica.sampled(replica.embed(tokens))
    caches = replica.caches(case.sequences, case.tokens)
    return lambda: replica.through(x, caches, case.tokens - new)


def _fields(timing: Timing, copies: int) -> dict[str, Any]:
    samples = [sample / copies for sample in timing.event_us]
    return {
        "iterations": timing.iterations * copies, "repetitions": len(samples), **spread(samples),
        "launch_median_us": significant(percentile(timing.launch_us, 50) / copies, 5),
        "samples_us": compact(samples, 5),
    }  # fmt: skip


def _joined(case: ServeCase, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What the ranks found, as one record: the first rank's figures, and each rank's median."""
    failed = [row["error"] for row in rows if "error" in row]
    if failed:
        return {"error": failed[0]}
    medians = [row["median_us"] for row in rows]
    layered = case.phase in (PREFILL, DECODE)
    each = {"layer_us": significant(medians[0] / case.size.layers, 5)} if layered else {}
    return {**rows[0], **each, "rank_median_us": medians, "gpus_active": len(rows)}
