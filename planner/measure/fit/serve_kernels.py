"""Constants of the small kernels of a serving step, from what `planner bench serve` measured of each by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Final

from planner.measure.run.serve_cases import KERNEL

ROW_BOUND: Final = ("norm", "pick")
"""Kernels that walk along a row in one block, so that a single one takes longer the wider it is."""


@dataclass(frozen=True, slots=True)
class SmallKernel:
    """Constants of one kind of small kernel; its time is the root of two squares.

    Attributes:
        fixed_s: Of the least call, whatever its width.
        row_value_s: More for each value of a row, however few rows there are.
        value_s: For each value of all rows, once the device is full.
    """

    fixed_s: float
    row_value_s: float
    value_s: float


def row_values(kind: str, point: Mapping[str, Any]) -> int:
    """Values of one row that a kind works on, on one GPU.

    >>> row_values("rotary", {"heads": 32, "kv_heads": 8, "head_size": 128})
    5120
    """
    if kind in ("norm", "add", "embed"):
        return int(point["hidden"])
    if kind == "rotary":
        return int((point["heads"] + point["kv_heads"]) * point["head_size"])
    if kind == "store":
        return int(2 * point["kv_heads"] * point["head_size"])
    return int(point["ffn"] if kind == "gate" else point["vocab"])


def fit_small_kernels(points: Iterable[Mapping[str, Any]]) -> dict[str, SmallKernel]:
    """Constants of each kind: starts from single rows, rates from the most rows measured.

    Args:
        points: Points of the section `serve`; those of other phases and those that failed are passed over.

    >>> def point(rows, width, time):
    ...     return {"phase": "small", "kind": "norm", "sequences": rows, "hidden": width, "median_us": time}
    >>> found = fit_small_kernels([point(1, 1000, 2.0), point(1, 3000, 4.0), point(100, 1000, 50.0)])["norm"]
    >>> round(found.fixed_s, 9), round(found.row_value_s, 12), round(found.value_s, 13)
    (1e-06, 1e-09, 5e-10)
    """
    kinds: dict[str, list[tuple[int, int, float]]] = {}
    for point in points:
        if point.get("phase") == KERNEL and "median_us" in point:
            kind = str(point["kind"])
            row = (int(point["sequences"]), row_values(kind, point), float(point["median_us"]) / 1e6)
            kinds.setdefault(kind, []).append(row)
    return {kind: _fitted(kind, rows) for kind, rows in kinds.items()}


def _fitted(kind: str, rows: list[tuple[int, int, float]]) -> SmallKernel:
    least, most = min(row[0] for row in rows), max(row[0] for row in rows)
    single = {width: time for count, width, time in rows if count == least}
    full = median(time / (count * width) for count, width, time in rows if count == most)
    narrow, wide = min(single), max(single)
    if kind not in ROW_BOUND:
        return SmallKernel(fmean(single.values()), 0.0, full)
    if narrow == wide:
        # One width alone can't tell a start from a pace along the row.
        return SmallKernel(0.0, single[wide] / wide, 0.0)
    slope = max((single[wide] - single[narrow]) / (wide - narrow), 0.0)
    return SmallKernel(max(single[narrow] - slope * narrow, 0.0), slope, full)
