"""The fits of a calibration profile and their errors, as lines and tables of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.catalog.profiles import CollectiveFit, Profile


def report(profile: Profile) -> list[str]:
    """The fits and their errors, as lines for a terminal."""
    lines = [f"{profile.name} ({profile.accelerator}, {profile.as_of})", ""]
    lines += [f"  {name}: {value}" for name, value in profile.environment.items()]
    if profile.collectives:
        head = ("operation", "ranks", "path", "mode", "type", "sizes", "regimes", "median", "P90", "worst")
        rows = [_row(one) for one in profile.collectives]
        lines += ["", "Collectives, errors of the fit on its points:", *_table(head, rows)]
    for title, names, cells in kernel_tables(profile):
        lines += ["", title, *_table(names, cells)]
    return lines


def kernel_tables(profile: Profile) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Tables of the fits that are no collectives: title, heads and rows."""
    found: list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]] = []
    for title, fits in (("Matrix products", profile.gemm), ("Attention", profile.attention)):
        rows: list[tuple[str, ...]] = [
            (getattr(one, "family", ""), one.dtype, one.implementation, str(one.errors.points),
             *_errors(one.errors), _percent(one.left_out.median_fraction))
            for one in fits
        ]  # fmt: skip
        if rows:
            kernel_head = ("kind", "type", "implementation", "points", "median", "P90", "worst", "left out")
            found.append((f"{title}, errors of the fit:", kernel_head, rows))
    if profile.memory:
        memory: list[tuple[str, ...]] = [
            (one.family, {True: "pinned", False: "not pinned", None: ""}[one.pinned], str(one.gpus_active),
             f"{one.rate_gbyte_per_s:,.1f} GB/s", *_errors(one.errors))
            for one in profile.memory
        ]  # fmt: skip
        memory_head = ("transfer", "memory", "GPUs", "rate", "median", "P90", "worst")
        found.append(("Memory:", memory_head, memory))
    if profile.power:
        power: list[tuple[str, ...]] = [
            (one.state, f"{one.mean_w:,.0f} W", f"{one.p95_w:,.0f} W", f"{one.share_of_limit_fraction:.0%}")
            for one in profile.power
        ]
        found.append(("Power of one GPU:", ("state", "mean", "P95", "of the limit"), power))
    if profile.overlap:
        overlap: list[tuple[str, ...]] = [
            (one.op, str(one.ranks), _percent(one.hidden_errors.median_fraction),
             _percent(one.gemm_errors.median_fraction), _percent(one.collective_errors.median_fraction))
            for one in profile.overlap
        ]  # fmt: skip
        overlap_head = ("operation", "ranks", "hidden share", "GEMM slowdown", "collective slowdown")
        found.append(("Overlap with matrix products, median errors:", overlap_head, overlap))
    return found


def _row(one: CollectiveFit) -> tuple[str, ...]:
    sizes = f"{_size(one.min_bytes)}-{_size(one.max_bytes)}"
    ranks = str(one.ranks) if one.nodes == 1 else f"{one.ranks} on {one.nodes}"
    return (
        one.op, ranks, one.path.value, one.mode.value, one.dtype, sizes, str(len(one.regimes)), *_errors(one.errors)
    )  # fmt: skip


def _errors(errors: Any) -> tuple[str, str, str]:
    return (
        _percent(errors.median_fraction), _percent(errors.p90_fraction), _percent(errors.worst_fraction)
    )  # fmt: skip


def _percent(fraction: float) -> str:
    return f"{fraction:.1%}"


def _size(size: int) -> str:
    """A binary size.

    >>> _size(512), _size(8 * 2**30)
    ('512B', '8G')
    """
    for unit, scale in (("G", 2**30), ("M", 2**20), ("K", 2**10)):
        if size >= scale:
            return f"{size / scale:g}{unit}"
    return f"{size}B"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *rows]
    ]
