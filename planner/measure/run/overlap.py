"""Matrix products beside a collective: how much time is hidden, and how much each slows the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planner.measure.run.context import Context, error_text, flat_calls
from planner.measure.run.gemm import product
from planner.measure.run.stats import compact, percentile, significant
from planner.measure.run.timing import Call, agreed_estimate_us, estimate_us, events

MIB = 1024 * 1024
TARGET_US = 12_000.0
REPETITIONS = 7


@dataclass
class Load:
    """A call repeated so often on a stream of its own."""

    call: Call
    count: int
    stream: Any


def run(context: Context) -> None:
    """Measure each collective and size beside each product."""
    records: list[dict[str, Any]] = context.document["sections"].setdefault("overlap", [])
    if context.world < 2:
        context.note("overlap: one process, so no collective to overlap")
        return
    if not context.on_gpu:
        context.note("overlap: needs GPUs")
        return
    for op in ("all_reduce",) if context.quick else ("all_reduce", "all_gather", "reduce_scatter"):
        for size in (256,) if context.quick else (16, 64, 256, 1024):
            for m, k, n in (
                ((4096, 8192, 8192),) if context.quick else ((4096, 8192, 8192), (8192, 8192, 8192))
            ):
                if context.agree_max([float(context.out_of_time())])[0]:
                    context.ran_out("overlap: time ran out; what follows is missing")
                    return
                named = {
                    "op": op,
                    "size_bytes": size * MIB,
                    "ranks": context.world,
                    "dtype": "bf16",
                    "m": m,
                    "k": k,
                    "n": n,
                }
                try:
                    found = _case(context, op, size * MIB, m, k, n)
                except RuntimeError as error:
                    found = {"error": error_text(error)}
                context.free()
                if context.rank == 0:
                    records.append({**named, **found})
        context.save()


def collective(context: Context, op: str, size: int) -> Call:
    """A collective over all ranks on random bf16 data; size as nccl-tests counts it."""
    torch, dist = context.torch, context.dist
    gather, scatter = flat_calls(dist)
    whole = torch.randn(
        size // 2 // context.world * context.world, device=context.device, dtype=torch.bfloat16
    )
    part = torch.randn(whole.numel() // context.world, device=context.device, dtype=torch.bfloat16)
    if op == "all_reduce":
        # The mean keeps its size when it is repeated in place; a sum would run to infinity.
        return lambda: dist.all_reduce(whole, op=dist.ReduceOp.AVG)
    if op == "all_gather":
        return lambda: gather(whole, part)
    return lambda: scatter(part, whole)


def _case(context: Context, op: str, size: int, m: int, k: int, n: int) -> dict[str, Any]:
    cuda = context.torch.cuda
    multiply, _ = product(context, "bf16", m, k, n)
    exchange = collective(context, op, size)
    gemm_us = context.agree_max([estimate_us(context, [multiply])])[0]
    comm_us = agreed_estimate_us(context, [exchange])
    gemms = Load(multiply, max(1, round(TARGET_US / gemm_us)), cuda.Stream())
    comms = Load(exchange, max(1, round(TARGET_US / comm_us)), cuda.Stream())
    alone_gemm, alone_comm, beside_gemm, beside_comm, together = [], [], [], [], []
    for _ in range(3 if context.quick else REPETITIONS):
        alone_gemm.append(_timed(context, [gemms])[0])
        alone_comm.append(_timed(context, [comms])[0])
        comm, gemm, whole = _timed(context, [comms, gemms])
        beside_comm.append(comm)
        beside_gemm.append(gemm)
        together.append(whole)
    mine = [percentile(sample, 50) for sample in (alone_gemm, alone_comm, beside_gemm, beside_comm, together)]
    rows = context.gather([significant(item, 6) for item in mine])
    gemm, comm, gemm_beside, comm_beside, both = (
        sum(column) / len(column) for column in zip(*rows, strict=True)
    )
    return {
        "gemms": gemms.count,
        "collectives": comms.count,
        "gemm_alone_us": significant(gemm, 5),
        "collective_alone_us": significant(comm, 5),
        "gemm_beside_us": significant(gemm_beside, 5),
        "collective_beside_us": significant(comm_beside, 5),
        "together_us": significant(both, 5),
        "hidden_fraction": significant(hidden_fraction(gemm, comm, both)),
        "gemm_slowdown": significant(gemm_beside / gemm),
        "collective_slowdown": significant(comm_beside / comm),
        "rank_together_us": [row[4] for row in rows],
        "samples_us": {
            "together": compact(together),
            "gemm_alone": compact(alone_gemm),
            "collective_alone": compact(alone_comm),
        },
    }


def hidden_fraction(first: float, second: float, together: float) -> float:
    """Share of the shorter load that vanished behind the longer: 1 is perfect, 0 is one after the other.

    >>> hidden_fraction(10.0, 4.0, 11.0)
    0.75
    """
    return (first + second - together) / min(first, second)


def _timed(context: Context, loads: list[Load]) -> list[float]:
    """Microseconds of each load and, last, from the common start to the last end."""
    cuda = context.torch.cuda
    context.barrier()
    start, *ends = events(context, 1 + len(loads))
    start.record()
    for load in loads:
        load.stream.wait_event(start)
    # Launched in turn, as far as each goes, so that neither stream starts long after the other.
    rounds = max(load.count for load in loads)
    issued = [0] * len(loads)
    for step in range(rounds):
        for place, load in enumerate(loads):
            due = -(-(step + 1) * load.count // rounds)
            with cuda.stream(load.stream):
                while issued[place] < due:
                    load.call()
                    issued[place] += 1
    for load, end in zip(loads, ends, strict=True):
        end.record(load.stream)
    context.sync()
    times = [start.elapsed_time(end) * 1e3 for end in ends]
    return [*times, max(times)]
