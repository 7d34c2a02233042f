"""Measured kernels as plain rows, from the sections of bench results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from planner.errors import CalibrationError, Problem
from planner.measure.parse.points import MOST

HOST_BOUND_FRACTION = 0.9
"""Eager calls whose launch takes this share of their time are timed by the host, not by the device."""


@dataclass(frozen=True, slots=True)
class GemmRow:
    """One matrix product; `launch_us` is 0 where the table doesn't say."""

    SECTION: ClassVar[str] = "gemm"
    implementation: str
    dtype: str
    mode: str
    m: int
    n: int
    k: int
    time_us: float
    launch_us: float = 0.0


@dataclass(frozen=True, slots=True)
class AttentionRow:
    """One attention: forward, forward_backward or decode."""

    SECTION: ClassVar[str] = "attention"
    family: str
    implementation: str
    dtype: str
    mode: str
    causal: bool
    sequences: int
    tokens: int
    heads: int
    kv_heads: int
    head_dim: int
    time_us: float
    launch_us: float = 0.0


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One transfer; `pinned` is empty on the device."""

    SECTION: ClassVar[str] = "memory"
    family: str
    pinned: str
    gpus_active: int
    size_bytes: int
    moved_bytes: int
    time_us: float
    launch_us: float = 0.0


@dataclass(frozen=True, slots=True)
class PowerRow:
    """One device held in one state; `mean_by_energy_w` is 0 where the device doesn't count energy."""

    SECTION: ClassVar[str] = "power"
    state: str
    rank: int
    mean_w: float
    p95_w: float
    limit_w: float
    mean_by_energy_w: float
    sm_clock_mhz: float
    power_capped_fraction: float
    samples: int


@dataclass(frozen=True, slots=True)
class OverlapRow:
    """One collective beside matrix products."""

    SECTION: ClassVar[str] = "overlap"
    op: str
    dtype: str
    ranks: int
    message_bytes: int
    m: int
    n: int
    k: int
    gemm_alone_us: float
    collective_alone_us: float
    gemm_beside_us: float
    collective_beside_us: float
    together_us: float


Row = GemmRow | AttentionRow | MemoryRow | PowerRow | OverlapRow
Kind = TypeVar("Kind", GemmRow, AttentionRow, MemoryRow, PowerRow, OverlapRow)
KINDS: tuple[type[Row], ...] = (GemmRow, AttentionRow, MemoryRow, PowerRow, OverlapRow)
KIND_OF = {kind.SECTION: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a bench result's sections, and what was left out of them with the reason."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def of(self, kind: type[Kind]) -> list[Kind]:
        """Rows of one kind, such as `GemmRow`."""
        return [row for row in self.rows if isinstance(row, kind)]


def bench_rows(
    sections: Mapping[str, Iterable[Mapping[str, Any]]], *, usable: bool, backend: str = ""
) -> Rows:
    """Rows of the kernels' sections of a bench result.

    Args:
        sections: `sections` of the result; others than the kernels' are passed over.
        usable: `usable_for_calibration` of the result.
        backend: Its backend, for the message.

    Raises:
        CalibrationError: The result is no GPU measurement, products came out wrong, or a point is damaged.
    """
    if not usable:
        raise CalibrationError(Problem(
            f"the result says it is not usable for calibration (backend {backend or 'unknown'})",
            remedy="measure on GPUs with the nccl backend"))  # fmt: skip
    rows: list[Row] = []
    dropped: Counter[str] = Counter()
    problems: list[Problem] = []
    for section, records in sections.items():
        for place, record in enumerate(records if section in KIND_OF else ()):
            where = f"{section}[{place}]"
            if not isinstance(record, Mapping):
                problems.append(Problem(f"is {record!r:.40}, and no point of a bench result", key=where))
                continue
            if "error" in record:
                _failed(section, where, str(record["error"]), dropped, problems)
                continue
            try:
                row = READERS[section](record)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                problems.append(Problem(f"is no point of a bench result ({error!r})", key=where))
                continue
            if _host_bound(row):
                dropped[f"{section}: eager points timed by the host's launch, not the device"] += 1
            else:
                rows.append(row)
    if problems:
        raise CalibrationError(problems)
    return Rows(tuple(rows), tuple(f"{count} left out, {why}" for why, count in dropped.items()))


def _failed(section: str, where: str, error: str, dropped: Counter[str], problems: list[Problem]) -> None:
    if error.startswith("wrong result"):
        remedy = "a device or library that multiplies wrongly can't be calibrated: find the fault first"
        problems.append(Problem(error, key=where, remedy=remedy))
    else:
        dropped[f"{section}: {error}"] += 1


def _host_bound(row: Row) -> bool:
    """Copies from and to the host are exempt: their launch is part of them, and pageable ones return when done."""
    if isinstance(row, MemoryRow) and not row.family.startswith("device_"):
        return False
    if not isinstance(row, GemmRow | AttentionRow | MemoryRow) or getattr(row, "mode", "eager") != "eager":
        return False
    return row.launch_us > HOST_BOUND_FRACTION * row.time_us


def _above_zero(record: Mapping[str, Any], name: str) -> float:
    value = float(record[name])
    if not 0 < value <= MOST:
        raise ValueError(f"{name} is {value}, and must be above 0 and at most {MOST}")
    return value


def _count(record: Mapping[str, Any], name: str, least: int = 1) -> int:
    """A whole number; a fit takes logarithms and divides, so that none may be below its least or endless."""
    value = record[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
        raise ValueError(f"{name} is {value!r}, and a whole number from {least} to {MOST} is needed")
    return value


def _gemm(record: Mapping[str, Any]) -> GemmRow:
    return GemmRow("torch", str(record["dtype"]), str(record["mode"]), _count(record, "m"), _count(record, "n"),
                   _count(record, "k"), _above_zero(record, "median_us"), float(record["launch_median_us"]))  # fmt: skip


def _attention(record: Mapping[str, Any]) -> AttentionRow:
    return AttentionRow(
        str(record["family"]), str(record["backend"]), str(record["dtype"]), str(record["mode"]),
        bool(record.get("causal", False)), _count(record, "batch"), _count(record, "length"), _count(record, "heads"),
        _count(record, "kv_heads"), _count(record, "head_size"), _above_zero(record, "median_us"),
        float(record["launch_median_us"]))  # fmt: skip


def _memory(record: Mapping[str, Any]) -> MemoryRow:
    pinned = {True: "yes", False: "no", None: ""}[record.get("pinned")]
    return MemoryRow(str(record["family"]), pinned, _count(record, "gpus_active"), _count(record, "size_bytes"),
                     _count(record, "moved_bytes"), _above_zero(record, "median_us"),
                     float(record["launch_median_us"]))  # fmt: skip


def _power(record: Mapping[str, Any]) -> PowerRow:
    capped = float(record["clock_reason_fraction"].get("power cap", 0.0))
    return PowerRow(str(record["state"]), _count(record, "rank", least=0), _above_zero(record, "mean_power_w"),
                    _above_zero(record, "p95_power_w"), _above_zero(record, "limit_w"),
                    float(record.get("mean_by_energy_w") or 0.0), _above_zero(record, "mean_sm_clock_mhz"),
                    capped, _count(record, "samples", least=0))  # fmt: skip


def _overlap(record: Mapping[str, Any]) -> OverlapRow:
    times = [_above_zero(record, f"{name}_us") for name in
             ("gemm_alone", "collective_alone", "gemm_beside", "collective_beside", "together")]  # fmt: skip
    return OverlapRow(str(record["op"]), str(record["dtype"]), _count(record, "ranks", least=2), _count(record, "size_bytes"),
                      _count(record, "m"), _count(record, "n"), _count(record, "k"), *times)  # fmt: skip


READERS: Mapping[str, Callable[[Mapping[str, Any]], Row]] = {
    "gemm": _gemm,
    "attention": _attention,
    "memory": _memory,
    "power": _power,
    "overlap": _overlap,
}
