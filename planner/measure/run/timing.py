"""Times calls on the device's clock and on the host's, eagerly and captured in a CUDA graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from planner.measure.run.context import Context
from planner.measure.run.stats import Plan, compact, percentile, plan_iterations, significant, spread

Call = Callable[[], object]


@dataclass
class Timing:
    """Microseconds per iteration, one figure for each repetition.

    `event_us` lies between two device events around the iterations; `wall_us` is the host's clock from
    before the first launch until the device is done (what nccl-tests prints); `launch_us` is the host's
    clock until the last launch returned.
    """

    iterations: int
    event_us: list[float]
    wall_us: list[float]
    launch_us: list[float]


def time_calls(context: Context, calls: Sequence[Call], plan: Plan) -> Timing:
    """Run the calls in turn, `plan.iterations` back to back in each repetition."""
    found = Timing(plan.iterations, [], [], [])
    place = 0
    for _ in range(plan.repetitions):
        batch = [calls[(place + step) % len(calls)] for step in range(plan.iterations)]
        place += plan.iterations
        event, wall, launch = _one_repetition(context, batch)
        found.event_us.append(event / plan.iterations)
        found.wall_us.append(wall / plan.iterations)
        found.launch_us.append(launch / plan.iterations)
    return found


def _one_repetition(context: Context, batch: Sequence[Call]) -> tuple[float, float, float]:
    context.sync()
    if not context.on_gpu:
        start = time.perf_counter()
        for call in batch:
            call()
        wall = (time.perf_counter() - start) * 1e6
        return wall, wall, wall
    first, last = events(context, 2)
    start = time.perf_counter()
    first.record()
    for call in batch:
        call()
    launched = time.perf_counter()
    last.record()
    context.sync()
    done = time.perf_counter()
    return first.elapsed_time(last) * 1e3, (done - start) * 1e6, (launched - start) * 1e6


def events(context: Context, count: int) -> list[Any]:
    """Device events that keep time."""
    return [context.torch.cuda.Event(enable_timing=True) for _ in range(count)]


def estimate_us(context: Context, calls: Sequence[Call]) -> float:
    """Time of one call of this rank alone, after warm-up, roughly."""
    return _estimate(context, calls, lambda time_us: time_us)


def agreed_estimate_us(context: Context, calls: Sequence[Call], group: Any = None) -> float:
    """The same for calls that a group makes together: the slowest rank's figure, on every rank.

    How often a collective is tried must never hang on one rank's own clock, or the others wait for good.
    """
    return _estimate(context, calls, lambda time_us: context.agree_max([time_us], group)[0])


def _estimate(context: Context, calls: Sequence[Call], agree: Callable[[float], float]) -> float:
    for step in range(2):
        calls[step % len(calls)]()
    found = agree(time_calls(context, calls, Plan(2, 1)).event_us[0])
    if found < 500:
        found = agree(time_calls(context, calls, Plan(10, 1)).event_us[0])
    return max(found, 0.1)


def capture(context: Context, calls: Sequence[Call], count: int) -> Any:
    """A CUDA graph of so many calls in turn.

    Raises:
        RuntimeError: Something in the calls can't be captured.
    """
    cuda = context.torch.cuda
    side = cuda.Stream()
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        for call in calls[:3]:
            call()
    cuda.current_stream().wait_stream(side)
    context.sync()
    graph = cuda.CUDAGraph()
    # Other threads (NCCL's watchdog, telemetry) may call CUDA meanwhile; only this thread's calls count.
    with cuda.graph(graph, capture_error_mode="thread_local"):
        for step in range(count):
            calls[step % len(calls)]()
    return graph


def time_graph(context: Context, graph: Any, count: int, repetitions: int) -> Timing:
    """Time replays of a graph of `count` calls, per call."""
    graph.replay()
    replays = time_calls(context, [graph.replay], Plan(1, repetitions))
    return Timing(
        count,
        [sample / count for sample in replays.event_us],
        [sample / count for sample in replays.wall_us],
        [sample / count for sample in replays.launch_us],
    )


def measure(context: Context, calls: Sequence[Call], *, graph: bool = False) -> dict[str, Any]:
    """Time calls of this rank alone and give the fields of a result.

    With `graph` the calls are captured, so that short kernels aren't timed by their launches.
    """
    budget_ms = 25.0 if context.quick else 60.0
    repetitions = 7 if context.quick else 15
    if not context.on_gpu:
        budget_ms, repetitions = 5.0, 3
    estimate = estimate_us(context, calls)
    mode = "eager"
    if graph and context.on_gpu and estimate < 2000:
        try:
            count = max(len(calls), min(100, int(budget_ms * 1e3 / repetitions / estimate) or 1))
            captured = capture(context, calls, count)
            timing = time_graph(context, captured, count, repetitions)
            mode = "graph"
            del captured
        except RuntimeError as error:
            context.note(
                f"not captured in a CUDA graph, timed eagerly instead: {str(error).splitlines()[0][:160]}"
            )
    if mode == "eager":
        timing = time_calls(
            context, calls, plan_iterations(estimate, budget_ms, repetitions=repetitions, most=100)
        )
    return {"mode": mode, **fields(timing)}


def fields(timing: Timing) -> dict[str, Any]:
    """A timing as it is stored."""
    return {
        "iterations": timing.iterations,
        "repetitions": len(timing.event_us),
        **spread(timing.event_us),
        "wall_median_us": significant(percentile(timing.wall_us, 50), 6),
        "launch_median_us": significant(percentile(timing.launch_us, 50), 6),
        "samples_us": compact(timing.event_us),
    }
