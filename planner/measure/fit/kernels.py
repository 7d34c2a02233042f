"""Fits of everything in measurement files that is no collective: products, attention, memory, power, overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from planner.catalog.schema import Accelerator
from planner.errors import CalibrationError, Place, Problem
from planner.measure.fit.attention import AttentionMachine, fit_attentions
from planner.measure.fit.gemm import GemmMachine, fit_gemms, table_rows
from planner.measure.fit.memory import fit_memories
from planner.measure.fit.overlap import fit_overlaps
from planner.measure.fit.power import fit_power_states
from planner.measure.fit.rows import AttentionRow, GemmRow, MemoryRow, OverlapRow, PowerRow, Row, bench_rows
from planner.measure.parse.points import Measurements
from planner.units import GIGA, TERA

Fits = dict[str, Any]


def fit_kernels(read: Sequence[Measurements], accelerator: Accelerator) -> tuple[Fits, tuple[str, ...]]:
    """Fits by the profile's section, and what could not be fitted, in words.

    Args:
        read: Measurement files of one accelerator.
        accelerator: Its catalog item, for the peaks that shares refer to.
    """
    rows: list[Row] = []
    refused: list[str] = []
    for one in read:
        if one.kind == "bench" and one.others:
            try:
                found = bench_rows(one.others, usable=one.usable_for_calibration)
            except CalibrationError as error:
                placed = [Problem(problem.message, problem.place or Place(str(one.path)), remedy=problem.remedy)
                          for problem in error.problems]  # fmt: skip
                raise CalibrationError(placed) from error
            rows += found.rows
            refused += found.notes
        elif one.kind != "bench":
            rows += table_rows(one.gemms)
    machine = _Machine(accelerator, _cache_bytes(read))
    fits: Fits = {}
    for section, kind, fit in machine.jobs():
        mine = [row for row in rows if isinstance(row, kind)]
        if not mine:
            continue
        try:
            fits[section], problems = fit(mine)
            refused += [str(problem) for problem in problems]
        except CalibrationError as error:
            refused += [str(problem) for problem in error.problems]
    return fits, tuple(refused)


def _cache_bytes(read: Sequence[Measurements]) -> float:
    devices = [device for one in read for device in one.environment.get("devices") or ()]
    return float(max((device.get("l2_bytes") or 0 for device in devices), default=0))


class _Machine:
    """The accelerator as the fits take it."""

    def __init__(self, item: Accelerator, cache_bytes: float) -> None:
        self.memory_bytes_per_s = item.memory_bandwidth_gbyte_per_s.value * GIGA
        self.cache_bytes = cache_bytes
        wide = item.bf16_tflop_per_s.value * TERA
        narrow = item.fp8_tflop_per_s.value * TERA if item.fp8_tflop_per_s is not None else wide
        fourth = item.fp4_tflop_per_s.value * TERA if item.fp4_tflop_per_s is not None else narrow
        self.peaks = {"bf16": wide, "fp16": wide, "fp8": narrow, "fp8_block": narrow, "nvfp4": fourth}

    def jobs(
        self,
    ) -> tuple[tuple[str, type[Any], Callable[[Any], tuple[tuple[Any, ...], tuple[Problem, ...]]]], ...]:
        """Section of the profile, kind of its rows, and what fits them."""
        gemm = GemmMachine(self.peaks, self.memory_bytes_per_s)
        attention = AttentionMachine(self.peaks["bf16"], self.memory_bytes_per_s)
        return (
            ("gemm", GemmRow, lambda rows: fit_gemms(rows, gemm)),
            ("attention", AttentionRow, lambda rows: fit_attentions(rows, attention)),
            ("memory", MemoryRow, lambda rows: fit_memories(
                rows, memory_bytes_per_s=self.memory_bytes_per_s, cache_bytes=self.cache_bytes)),
            ("power", PowerRow, fit_power_states),
            ("overlap", OverlapRow, fit_overlaps),
        )  # fmt: skip
