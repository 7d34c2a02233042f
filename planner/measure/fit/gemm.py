"""Fits measured matrix products to `planner.curves.gemm`, one fit for each type and implementation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.catalog.profile_kernels import FitErrors, GemmFit, GemmValues
from planner.curves.gemm import TILE_ROWS, GemmConstants, gemm_kernel_time_s
from planner.errors import CalibrationError, Problem
from planner.measure.fit.descent import Guess, fit_positive
from planner.measure.fit.rows import GemmRow
from planner.measure.fit.score import fit_errors, left_out, refuse, significant, span
from planner.measure.parse.points import GemmPoint
from planner.units import GIGA, TERA

ELEMENT_BYTES: Mapping[str, float] = {"bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "fp8_block": 1.0, "nvfp4": 0.5625}
"""nvfp4 has one scale byte for 16 elements of half a byte; the scales of fp8 blocks are under 1 %."""
WIDE = frozenset({"bf16", "fp16"})
NARROW_INPUT = frozenset({"torch"})
"""Implementations that were measured with operands already narrow; serving engines narrow the input first."""
LEAST_POINTS = 20
"""Eleven constants at most, and a fifth of the shapes is left out."""
LEAST_SPREAD = 16.0
"""FLOP of the largest over the smallest product: below it a start can't be told from a rate."""
FLOOR_US = 30.0
"""No kernel needs so long to start: a floor above it is the launch of the software that was timed."""
NEGLIGIBLE = 0.005
"""A term that changes no point by more is left away."""
GUESSES: Mapping[str, Guess] = {
    "share_of_peak_fraction": Guess(0.75, 0.02, 1.0),
    "fill_elements": Guess(1e5, 1.0, 1e9),
    "depth_constant": Guess(100.0, 0.1, 1e5),
    "memory_share_fraction": Guess(0.85, 0.05, 1.0),
    "fixed_s": Guess(3e-6, 1e-7, 1e-3),
    "depth_s": Guess(5e-10, 1e-14, 1e-7),
    "depth_half": Guess(8e3, 100.0, 1e6),
    "norm": Guess(4.0, 1.0, 16.0),
    "ragged_exponent": Guess(0.2, 1e-3, 3.0),
    "quantise_row_s": Guess(1e-9, 1e-13, 1e-6),
    "quantise_element_s": Guess(1e-12, 1e-16, 1e-9),
}
OPTIONAL = (
    "quantise_row_s",
    "quantise_element_s",
    "ragged_exponent",
    "depth_s",
    "depth_constant",
    "fill_elements",
)


@dataclass(frozen=True, slots=True)
class GemmMachine:
    """What the shares refer to, from the catalog.

    Attributes:
        peak_flop_per_s: Dense peak by type, as `ELEMENT_BYTES` names them.
        memory_bytes_per_s: Datasheet rate of the device memory.
    """

    peak_flop_per_s: Mapping[str, float]
    memory_bytes_per_s: float


def table_rows(points: Iterable[GemmPoint]) -> list[GemmRow]:
    """Rows of a table of products, of which the implementation is the table's source."""
    return [GemmRow(one.impl, one.dtype, one.mode, one.m, one.n, one.k, one.time_s * 1e6) for one in points]


def fit_gemms(
    rows: Sequence[GemmRow], machine: GemmMachine
) -> tuple[tuple[GemmFit, ...], tuple[Problem, ...]]:
    """All fits that the rows allow, and why the others are refused.

    Raises:
        CalibrationError: None can be fitted.
    """
    fits: list[GemmFit] = []
    refused: list[Problem] = []
    for implementation, dtype in sorted({(row.implementation, row.dtype) for row in rows}):
        mine = [row for row in rows if (row.implementation, row.dtype) == (implementation, dtype)]
        try:
            fits.append(fit_gemm(mine, machine))
        except CalibrationError as error:
            refused.extend(error.problems)
    if not fits:
        raise CalibrationError(refused or [Problem("no matrix products to fit", key="gemm")])
    return tuple(fits), tuple(refused)


def fit_gemm(rows: Sequence[GemmRow], machine: GemmMachine) -> GemmFit:
    """One fit of products of one type by one implementation.

    Raises:
        CalibrationError: The points can't carry the fit.
    """
    _check(rows, machine)
    first = rows[0]
    test = np.array([left_out(row.m, row.n, row.k) for row in rows])
    tested = [row for row, out in zip(rows, test, strict=True) if out]
    trained = _constants([row for row, out in zip(rows, test, strict=True) if not out], machine)
    values = _constants(rows, machine)
    return GemmFit(
        dtype=first.dtype,
        implementation=first.implementation,
        mode=", ".join(sorted({row.mode for row in rows})),
        element_bytes=ELEMENT_BYTES[first.dtype],
        peak_tflop_per_s=machine.peak_flop_per_s[first.dtype] / TERA,
        memory_gbyte_per_s=machine.memory_bytes_per_s / GIGA,
        values=values,
        m=span([row.m for row in rows]),
        n=span([row.n for row in rows]),
        k=span([row.k for row in rows]),
        errors=_errors(values, rows, machine),
        left_out=_errors(trained, tested, machine),
    )


def gemm_errors(fit: GemmFit, rows: Sequence[GemmRow]) -> FitErrors:
    """Errors of a fit on other rows of its type and implementation."""
    machine = GemmMachine({fit.dtype: fit.peak_tflop_per_s * TERA}, fit.memory_gbyte_per_s * GIGA)
    return _errors(fit.values, rows, machine)


def _check(rows: Sequence[GemmRow], machine: GemmMachine) -> None:
    if not rows:
        raise refuse("gemm", "no points")
    what = f"gemm {rows[0].dtype} by {rows[0].implementation or 'an unnamed implementation'}"
    if rows[0].dtype not in ELEMENT_BYTES or rows[0].dtype not in machine.peak_flop_per_s:
        raise refuse(what, "the accelerator has no peak for this type, so no share of it can be fitted",
                     f"known types: {', '.join(sorted(set(ELEMENT_BYTES) & set(machine.peak_flop_per_s)))}")  # fmt: skip
    shapes = {(row.m, row.n, row.k) for row in rows}
    test = sum(left_out(*shape) for shape in shapes)
    if len(shapes) < LEAST_POINTS or not test:
        raise refuse(what, f"{len(shapes)} shapes, and a fit needs {LEAST_POINTS}", "measure without --quick")
    flop = [float(row.m) * row.n * row.k for row in rows]
    if max(flop) < LEAST_SPREAD * min(flop) or len({row.m for row in rows}) < 2:
        raise refuse(what, "the shapes are all of about one size, so a start can't be told from a rate",
                     "measure from one row to thousands")  # fmt: skip
    floor = min(row.time_us for row in rows)
    if floor > FLOOR_US and _smallest_us(rows, machine) < FLOOR_US / 10.0:
        raise refuse(what, f"the smallest products take {floor:.0f} us whatever their shape: "
                     "that is the launch of the software, not the kernel", "measure under a CUDA graph")  # fmt: skip


def _smallest_us(rows: Sequence[GemmRow], machine: GemmMachine) -> float:
    """Time that memory alone would ask of the smallest product."""
    least = min((row.m + row.n) * row.k for row in rows)
    return least * ELEMENT_BYTES[rows[0].dtype] / machine.memory_bytes_per_s * 1e6


def _constants(rows: Sequence[GemmRow], machine: GemmMachine) -> GemmValues:
    """Fits, leaves away what no point feels, and fits the rest again."""
    measured = np.array([row.time_us for row in rows]) * 1e-6
    zero = _absent(rows)
    while True:
        guesses = {name: guess for name, guess in GUESSES.items() if name not in zero}
        found = fit_positive(lambda constants: _times(constants, rows, machine), guesses, measured)
        unfelt = _unfelt(found, rows, machine)
        if unfelt is None:
            break
        zero = zero | {unfelt}
    return GemmValues(
        **{name: significant(found.get(name, 1.0 if name == "depth_half" else 0.0)) for name in GUESSES}
    )


def _absent(rows: Sequence[GemmRow]) -> frozenset[str]:
    """Terms that these points can't hold."""
    absent = set()
    if rows[0].dtype in WIDE or rows[0].implementation in NARROW_INPUT:
        absent |= {"quantise_row_s", "quantise_element_s"}
    if not any(row.m > TILE_ROWS and row.m % TILE_ROWS for row in rows):
        absent.add("ragged_exponent")
    return frozenset(absent)


def _unfelt(found: Mapping[str, float], rows: Sequence[GemmRow], machine: GemmMachine) -> str | None:
    """The first optional term that changes no point by more than what is negligible."""
    full = _times(found, rows, machine)
    for name in OPTIONAL:
        if name in found:
            without = _times({key: value for key, value in found.items() if key != name}, rows, machine)
            if float(np.max(np.abs(without / full - 1.0))) < NEGLIGIBLE:
                return name
    return None


def _times(
    constants: Mapping[str, Floats] | Mapping[str, float], rows: Sequence[GemmRow], machine: GemmMachine
) -> Floats:
    m, n, k = (np.array([getattr(row, name) for row in rows], np.float64) for name in "mnk")
    values = {name: float(constants.get(name, 0.0)) for name in GUESSES}
    values["depth_half"] = values["depth_half"] or 1.0
    return gemm_kernel_time_s(
        m=m, n=n, k=k,
        element_bytes=np.asarray(ELEMENT_BYTES[rows[0].dtype]),
        peak_flop_per_s=np.asarray(machine.peak_flop_per_s[rows[0].dtype]),
        memory_bytes_per_s=np.asarray(machine.memory_bytes_per_s),
        constants=GemmConstants.from_values(values),
    )  # fmt: skip


def _errors(values: GemmValues, rows: Sequence[GemmRow], machine: GemmMachine) -> FitErrors:
    measured = np.array([row.time_us for row in rows]) * 1e-6
    named = [f"m {row.m}, n {row.n}, k {row.k}" for row in rows]
    return fit_errors(_times(values.model_dump(), rows, machine), measured, named)
