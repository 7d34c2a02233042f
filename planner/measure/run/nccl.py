"""Collectives by size, timed as nccl-tests times them, each checked for its result.

Source of the method: nccl-tests. Warm-up, then iterations back to back over buffers that rotate, and their
mean; sizes and bus bandwidth as in `rules`. Beside its host clock (`wall`) stand device events, and small
messages run a second time inside a CUDA graph, which takes the host's launches out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from planner.measure.run.context import Context, error_text, flat_calls
from planner.measure.run.groups import Group, groups_for
from planner.measure.run.pattern import Patterns, poison, torch_dtype
from planner.measure.run.rules import (
    ELEMENT_BYTES,
    GIB,
    IN_PLACE,
    KIB,
    SMALL_BYTES,
    SUMMING,
    Counts,
    bounded_bytes,
    bus_factor,
    counts,
    sizes_bytes,
)
from planner.measure.run.stats import column_means, compact, percentile, plan_iterations, significant, spread
from planner.measure.run.timing import Call, Timing, agreed_estimate_us, capture, time_calls, time_graph

ROTATED_BYTES = 512 * 1024 * KIB
MOST_VIEWS = 16
GRAPH_CALLS = 96
# One for the check, four for the estimate, three repetitions: what a point costs where each call is slow.
CALLS_OF_A_SLOW_POINT = 8


@dataclass
class Bench:
    """One group on one rank: its communicator, buffers and test values."""

    context: Context
    group: Group
    handle: Any
    rank: int
    send: Any
    receive: Any
    patterns: Patterns
    budget_ms: float
    repetitions: int

    @property
    def ranks(self) -> int:
        """Ranks in the group."""
        return len(self.group.ranks)


@dataclass
class Point:
    """One collective at one size: views into the buffers, each with the call on it."""

    op: str
    dtype: str
    count: Counts
    views: list[tuple[Any, Any]]
    calls: list[Call]


def run(context: Context) -> None:
    """Measure every group and append to the document's nccl section."""
    records: list[dict[str, Any]] = context.document["sections"].setdefault("nccl", [])
    groups = groups_for(context.hosts)
    if not groups:
        context.note("nccl: one process, so no collective to measure")
        return
    # Which ranks of the run each group holds, so that a place in `rank_median_us` can be named.
    context.document["groups"] = {group.label: list(group.ranks) for group in groups}
    handles = [_handle(context, group) for group in groups]
    largest = _largest_bytes(context)
    send, receive = (
        context.torch.zeros(largest, dtype=context.torch.uint8, device=context.device) for _ in range(2)
    )
    patterns = Patterns(context.torch, context.device, 1 << 24 if context.on_gpu else 1 << 16)
    seen: set[str] = set()
    for group, handle in zip(groups, handles, strict=True):
        whole = group.tier not in seen
        seen.add(group.tier)
        if context.rank in group.ranks and (whole or not context.quick):
            budget, repetitions = (30.0, 8) if context.quick else (100.0 if whole else 50.0, 20)
            if not context.on_gpu:
                budget, repetitions = 5.0, 4
            bench = Bench(context, group, handle, group.ranks.index(context.rank), send, receive, patterns,
                          budget, repetitions)  # fmt: skip
            _measure_group(bench, records, _dtypes(context, whole), largest)
        context.barrier()
    del send, receive, patterns
    context.free()


def _handle(context: Context, group: Group) -> Any:
    if len(group.ranks) == context.world:
        return context.dist.group.WORLD
    return context.dist.new_group(list(group.ranks), timeout=timedelta(minutes=30))


def _dtypes(context: Context, whole: bool) -> list[str]:
    asked = list(context.options.dtypes)
    # Smaller groups of a tier and quick runs need one type: the size in bytes decides, not the type.
    return asked[:1] if context.quick or not whole else asked


def _largest_bytes(context: Context) -> int:
    most = min(context.options.max_bytes, GIB) if context.quick else context.options.max_bytes
    mine = bounded_bytes(most, context.free_bytes())
    # The least over the ranks is minus the largest of the negatives.
    agreed = -int(context.agree_max([-float(mine)])[0])
    if agreed < most:
        context.note(f"nccl: largest message {agreed} bytes, bounded by free memory")
    return agreed // 1024 * 1024 or 1024


def _measure_group(bench: Bench, records: list[dict[str, Any]], dtypes: list[str], largest: int) -> None:
    context = bench.context
    for mode in ("eager", "graph") if context.on_gpu else ("eager",):
        limit = min(largest, SMALL_BYTES) if mode == "graph" else largest
        sizes = sizes_bytes(context.options.min_bytes, limit, 8 if context.quick else 2)
        if mode == "eager" and sizes and sizes[-1] != largest:
            sizes.append(largest)
        for dtype in dtypes:
            for op in context.options.ops:
                if dtype == "fp8" and op not in ("all_gather", "all_to_all"):
                    continue
                if not _measure_op(bench, records, op, dtype, mode, sizes):
                    context.ran_out(
                        f"nccl: stopped before {bench.group.label} {op} {dtype} {mode}; what follows is missing"
                    )
                    return
                context.save()


def _measure_op(
    bench: Bench, records: list[dict[str, Any]], op: str, dtype: str, mode: str, sizes: list[int]
) -> bool:
    """Measure one op over its sizes; false when the ranks agreed that time is up."""
    context = bench.context
    measured: list[dict[str, Any]] = []
    for size in sizes:
        late = [float(context.out_of_time()), float(_would_be_late(context, measured, size))]
        stop, too_long = context.agree_max(late, bench.handle)
        if stop:
            return False
        if too_long:
            where = f"{bench.group.label} {op} {dtype} {mode}"
            context.ran_out(f"nccl: {where}: sizes from {size} bytes on would not end in time")
            break
        count = counts(op, size, ELEMENT_BYTES[dtype], bench.ranks)
        if count.size_bytes == 0:
            continue
        try:
            record = _measure_point(bench, _point(bench, op, dtype, count), mode)
        except Exception as error:
            # The same software runs on every rank, so a refusal is everyone's.
            context.note(
                f"nccl: {bench.group.label} {op} {dtype} {mode} at {size} bytes: {error_text(error)}"
            )
            break
        measured.append(record)
        if context.rank == 0:
            records.append(record)
        if record["wrong_elements"]:
            context.note(
                f"nccl: WRONG RESULTS in {bench.group.label} {op} {dtype} {mode}; don't use its figures"
            )
    if measured and context.rank == 0:
        context.say(_summary(measured))
    return True


def _would_be_late(context: Context, measured: list[dict[str, Any]], size: int) -> bool:
    """Whether the next size, on a link so slow, would go on past the end of the section."""
    if not measured:
        return False
    last = measured[-1]
    each_us = float(last["median_us"]) * size / float(last["size_bytes"])
    return context.seconds_left() < CALLS_OF_A_SLOW_POINT * each_us / 1e6


def _point(bench: Bench, op: str, dtype: str, count: Counts) -> Point:
    kind = torch_dtype(bench.context.torch, dtype)
    width = ELEMENT_BYTES[dtype]
    stride = -(-count.size_bytes // 256) * 256
    room = min(bench.send.numel(), max(ROTATED_BYTES, stride)) // stride
    views = []
    for place in range(max(1, min(MOST_VIEWS, room))):
        start = place * stride
        given = bench.send[start : start + count.send * width].view(kind)
        taken = given if op in IN_PLACE else bench.receive[start : start + count.receive * width].view(kind)
        views.append((given, taken))
    return Point(op, dtype, count, views, [_call(bench, op, given, taken) for given, taken in views])


def _call(bench: Bench, op: str, given: Any, taken: Any) -> Call:
    dist, group = bench.context.dist, bench.handle
    if op == "sendrecv":
        members = bench.group.ranks
        after, before = members[(bench.rank + 1) % bench.ranks], members[(bench.rank - 1) % bench.ranks]
        pair = [dist.P2POp(dist.isend, given, after, group), dist.P2POp(dist.irecv, taken, before, group)]

        def exchange() -> None:
            for work in dist.batch_isend_irecv(pair):
                work.wait()

        return exchange
    all_gather, reduce_scatter = flat_calls(dist)
    calls: dict[str, Callable[[], object]] = {
        "all_reduce": lambda: dist.all_reduce(given, group=group),
        "all_gather": lambda: all_gather(taken, given, group=group),
        "reduce_scatter": lambda: reduce_scatter(taken, given, group=group),
        "all_to_all": lambda: dist.all_to_all_single(taken, given, group=group),
        "broadcast": lambda: dist.broadcast(given, src=bench.group.ranks[0], group=group),
    }
    return calls[op]


def _measure_point(bench: Bench, point: Point, mode: str) -> dict[str, Any]:
    context = bench.context
    wrong = _run_and_check(bench, point, point.calls[0])
    estimate = agreed_estimate_us(context, point.calls, bench.handle)
    plan = plan_iterations(estimate, bench.budget_ms, repetitions=bench.repetitions)
    if mode == "graph":
        once = capture(context, point.calls[:1], 1)
        wrong += _run_and_check(bench, point, once.replay)
        graph = capture(context, point.calls, GRAPH_CALLS)
        timing = time_graph(context, graph, GRAPH_CALLS, bench.repetitions)
        del graph, once
    else:
        timing = time_calls(context, point.calls, plan)
    rows = context.gather(
        [timing.event_us, timing.wall_us, timing.launch_us, wrong], bench.ranks, bench.handle
    )
    return _record(bench, point, mode, timing, rows)


def _run_and_check(bench: Bench, point: Point, call: Call) -> int:
    context, (given, taken) = bench.context, point.views[0]
    if point.op not in IN_PLACE:
        poison(context.torch, taken)
    bench.patterns.fill(given, point.op, point.dtype, bench.rank, bench.ranks, point.count)
    context.sync()
    call()
    context.sync()
    return bench.patterns.wrong(taken, point.op, point.dtype, bench.rank, bench.ranks, point.count)


def _record(bench: Bench, point: Point, mode: str, timing: Timing, rows: list[Any]) -> dict[str, Any]:
    events = column_means([row[0] for row in rows])
    walls = column_means([row[1] for row in rows])
    launches = column_means([row[2] for row in rows])
    median = percentile(events, 50)
    rate = point.count.size_bytes / median / 1e3
    factor = bus_factor(point.op, bench.ranks)
    return {
        "op": point.op,
        "dtype": point.dtype,
        "group": bench.group.label,
        "tier": bench.group.tier,
        "ranks": bench.ranks,
        "hosts": bench.group.hosts,
        "mode": mode,
        "in_place": point.op in IN_PLACE,
        "reduction": "sum" if point.op in SUMMING else None,
        "size_bytes": point.count.size_bytes,
        "iterations": timing.iterations,
        "repetitions": len(events),
        **spread(events),
        "algbw_gbyte_per_s": significant(rate, 5),
        "busbw_gbyte_per_s": significant(rate * factor, 5),
        **spread(walls, "wall_"),
        "wall_busbw_gbyte_per_s": significant(
            point.count.size_bytes / percentile(walls, 50) / 1e3 * factor, 5
        ),
        "launch_median_us": significant(percentile(launches, 50), 6),
        "wrong_elements": sum(int(row[3]) for row in rows),
        "rank_median_us": compact([percentile(row[0], 50) for row in rows], 5),
        "samples_us": compact(events),
        "wall_samples_us": compact(walls),
    }


def _summary(records: list[dict[str, Any]]) -> str:
    first = records[0]
    best = max(records, key=lambda record: float(record["busbw_gbyte_per_s"]))
    wrong = sum(record["wrong_elements"] for record in records)
    rate = best["busbw_gbyte_per_s"]
    return (
        f"{first['group']:14} {first['op']:14} {first['dtype']} {first['mode']:5} {len(records):2} sizes: "
        f"{first['median_us']:.1f} us at {first['size_bytes']} B, best bus {rate:.1f} GB/s ({rate * 8:.0f} Gbit/s) "
        f"at {best['size_bytes'] / 2**20:g} MiB, wrong {wrong}"
    )
