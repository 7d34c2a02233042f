"""Points that each rank measures by itself, all ranks at once: GEMM, attention, memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from planner.measure.run.context import Context, error_text
from planner.measure.run.stats import significant
from planner.measure.run.timing import Call, measure


@dataclass
class Case:
    """One point: what it is, and how its calls are made (which allocates, so it is done late).

    `moved_bytes` is what must cross device memory (or the link) at least, each operand once.
    `build` may hand fields over in `found`, such as which variant ran.
    """

    named: dict[str, Any]
    build: Callable[[dict[str, Any]], list[Call]]
    flop: float = 0.0
    moved_bytes: float = 0.0
    graph: bool = False
    found: dict[str, Any] = field(default_factory=dict)


def run_cases(context: Context, section: str, cases: Iterable[Case], *, alone: bool = False) -> None:
    """Measure cases on every rank at once, or on rank 0 alone, and append them to a section.

    A case that fails is recorded with its reason and the next one goes on.
    """
    records: list[dict[str, Any]] = context.document["sections"].setdefault(section, [])
    todo = list(cases)
    medians: list[float | None] = []
    start = len(records)
    context.barrier()
    for place, case in enumerate(todo):
        if alone and context.rank != 0:
            break
        if context.out_of_time():
            context.ran_out(f"{section}: time ran out, {len(todo) - place} points of {len(todo)} are missing")
            break
        record = measured(context, case)
        record["gpus_active"] = 1 if alone else context.world
        medians.append(significant(record["median_us"], 5) if "median_us" in record else None)
        if context.rank == 0:
            records.append(record)
            if place % 20 == 19:
                context.save()
    if alone:
        # the other ranks' devices stay idle, which copies between devices need
        context.host_barrier()
    context.barrier()
    if not alone and context.world > 1:
        _add_ranks(context, records[start:], context.gather(medians))
    context.save()


def measured(context: Context, case: Case) -> dict[str, Any]:
    """One case, measured or with the reason why not."""
    try:
        calls = case.build(case.found)
        timing = measure(context, calls, graph=case.graph)
    except Exception as error:
        # Whatever a library makes of an odd machine must not cost the points after it.
        calls = []
        context.free()
        return {**case.named, **case.found, "error": error_text(error)}
    del calls
    rates: dict[str, Any] = {}
    if case.flop:
        rates["tflop_per_s"] = significant(case.flop / timing["median_us"] / 1e6, 5)
    if case.moved_bytes:
        rates["moved_bytes"] = int(case.moved_bytes)
        rates["gbyte_per_s"] = significant(case.moved_bytes / timing["median_us"] / 1e3, 5)
    return {**case.named, **case.found, **rates, **timing}


def _add_ranks(context: Context, records: list[dict[str, Any]], rows: list[list[float | None]]) -> None:
    if context.rank != 0:
        return
    for place, record in enumerate(records):
        record["rank_median_us"] = [row[place] if place < len(row) else None for row in rows]
