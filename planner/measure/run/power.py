"""Power by state: idle, matrix products, memory, collectives, each held for a few seconds on all ranks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from planner.measure.run.context import Context, error_text
from planner.measure.run.gemm import product
from planner.measure.run.overlap import collective
from planner.measure.run.stats import compact, significant
from planner.measure.run.telemetry import Telemetry, summary
from planner.measure.run.timing import Call, agreed_estimate_us

HELD_S, QUICK_HELD_S = 6.0, 2.0
# Left out at the start of a state, while clocks and, on older devices, the power figure's average settle.
SETTLE_FRACTION = 0.25
MIB = 1024 * 1024


def run(context: Context, telemetry: Telemetry | None) -> None:
    """Hold each state and record what the driver says."""
    records: list[dict[str, Any]] = context.document["sections"].setdefault("power", [])
    if telemetry is None:
        context.note(
            "power: the driver's library (libnvidia-ml.so.1) can't be opened, so power isn't measured"
        )
        return
    held = QUICK_HELD_S if context.quick else HELD_S
    makers: dict[str, Callable[[], Call | None]] = {
        "idle": lambda: None,
        "gemm": lambda: product(context, "bf16", 8192, 8192, 8192)[0],
        "memory": lambda: _copy(context),
        "collectives": lambda: collective(context, "all_reduce", 256 * MIB),
    }
    for state, make in makers.items():
        if state == "collectives" and context.world < 2:
            continue
        if context.agree_max([float(context.out_of_time())])[0]:
            context.ran_out(f"power: time ran out before {state}")
            break
        try:
            found = _hold(context, telemetry, state, make(), held)
        except RuntimeError as error:
            found = {"error": error_text(error)}
        rows = context.gather(found)
        if context.rank == 0:
            records.extend({"state": state, "rank": rank, **row} for rank, row in enumerate(rows))
        context.free()
        context.save()
    context.state("between")


def _copy(context: Context) -> Call:
    here = context.torch.randn(256 * MIB, device=context.device, dtype=context.torch.float32)
    there = context.torch.empty_like(here)
    return lambda: there.copy_(here)


def _hold(
    context: Context, telemetry: Telemetry, state: str, call: Call | None, held_s: float
) -> dict[str, Any]:
    if call is not None:
        each_us = agreed_estimate_us(context, [call])
        # Every rank makes the same number of calls, since a collective needs them all.
        rounds, each = max(1, round(held_s * 10)), max(1, round(1e5 / each_us))
    context.barrier()
    context.state(f"power.{state}")
    start, before = time.monotonic(), len(telemetry.samples)
    settled = start + held_s * SETTLE_FRACTION
    energy: list[tuple[float, float | None]] = []
    if call is None:
        time.sleep(held_s * SETTLE_FRACTION)
        energy.append((time.monotonic(), telemetry.device.energy_j()))
        time.sleep(held_s * (1 - SETTLE_FRACTION))
    else:
        for _ in range(rounds):
            for _ in range(each):
                call()
            context.sync()
            if not energy and time.monotonic() >= settled:
                energy.append((time.monotonic(), telemetry.device.energy_j()))
    energy.append((time.monotonic(), telemetry.device.energy_j()))
    done = time.monotonic()
    samples = [item for item in telemetry.samples[before:] if settled <= item.time_s <= done]
    context.state("between")
    limit = telemetry.device.limit_w()
    found = {"held_s": significant(done - start), **summary(samples), "limit_w": limit,
             "mean_by_energy_w": _mean_by_energy(energy), "momentary": telemetry.device.power_is_instant()}  # fmt: skip
    return {**found, "samples_w": compact([item.power_w for item in samples if item.power_w is not None])}


def _mean_by_energy(readings: list[tuple[float, float | None]]) -> float | None:
    """Mean power from the device's energy counter, which misses nothing between samples."""
    (start, before), (end, after) = readings[0], readings[-1]
    if before is None or after is None or end - start < 0.2:
        return None
    return significant((after - before) / (end - start))
