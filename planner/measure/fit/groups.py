"""Sorts measured collectives into curves: one for each operation, group, type, path and way of calling."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from planner.arrays import Floats
from planner.catalog.profiles import CollectiveFit, Mode, Path, RegimeFit
from planner.measure.fit.collectives import FEWEST_POINTS, fit_curve, fit_errors, left_out_errors
from planner.measure.parse.points import CollectivePoint

NAMES = {"sendrecv": "send_receive"}
"""The benchmark's name to the profiles' where they differ."""


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """What one curve is about."""

    op: str
    nodes: int
    ranks: int
    path: Path
    mode: Mode
    dtype: str
    implementation: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Points that make no curve, and why."""

    kind: Kind
    reason: str

    def __str__(self) -> str:
        kind = self.kind
        return f"{kind.op}, {kind.ranks} ranks, {kind.dtype}, {kind.mode.value}: {self.reason}"


def fit_collectives(
    points: Iterable[CollectivePoint],
) -> tuple[tuple[CollectiveFit, ...], tuple[Refusal, ...]]:
    """Curves of all points, and the groups that make none.

    Of several releases of one library the newest is fitted. Where calls captured in graphs were measured, the
    device's curve takes them, and eager calls above their largest size.

    >>> fit_collectives([])
    ((), ())
    """
    fits, refused = [], []
    for kind, samples in sorted(_curves(points).items()):
        sizes = {size: float(median(times)) for size, times in samples.items()}
        if len(sizes) < FEWEST_POINTS:
            refused.append(Refusal(kind, f"{len(sizes)} sizes, and a curve needs {FEWEST_POINTS}"))
            continue
        size = np.array(sorted(sizes), dtype=float)
        time = np.array([sizes[int(one)] for one in size])
        every = [(size, time) for size, times in sorted(samples.items()) for time in times]
        fits.append(_fit(kind, size, time, np.array(every, dtype=float)))
    return tuple(fits), tuple(refused)


def _fit(kind: Kind, sizes: Floats, times: Floats, every: Floats) -> CollectiveFit:
    """Curve through the medians, with its errors on every single run."""
    regimes = fit_curve(sizes, times)
    return CollectiveFit(
        op=kind.op, ranks=kind.ranks, nodes=kind.nodes, path=kind.path, mode=kind.mode, dtype=kind.dtype,
        implementation=kind.implementation, min_bytes=int(sizes[0]), max_bytes=int(sizes[-1]),
        regimes=tuple(
            RegimeFit(
                from_bytes=one.from_bytes, start_us=_digits(one.start_s * 1e6),
                ramp_ns_per_sqrt_byte=_digits(one.ramp_s_per_sqrt_byte * 1e9),
                ps_per_byte=_digits(one.s_per_byte * 1e12),
            )
            for one in regimes
        ),
        errors=fit_errors(regimes, every[:, 0], every[:, 1]),
        left_out=left_out_errors(sizes, times),
    )  # fmt: skip


def _digits(value: float) -> float:
    return float(f"{value:.6g}")


def _curves(points: Iterable[CollectivePoint]) -> dict[Kind, dict[int, list[float]]]:
    """Times by size of every curve."""
    newest = _newest(list(points))
    samples: dict[Kind, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    by_place: dict[tuple[Kind, str], list[CollectivePoint]] = defaultdict(list)
    for point in newest:
        by_place[_kind(point, Mode.EAGER), point.mode].append(point)
    for (kind, mode), found in by_place.items():
        chosen = Mode.DEVICE if mode == "graph" or not _has_host_time(found[0]) else Mode.EAGER
        for point in _out_of_place_first(found):
            samples[_of(kind, chosen)][point.bytes].append(point.time_s)
    _complete_device_curves(samples)
    return {kind: dict(sizes) for kind, sizes in samples.items()}


def _complete_device_curves(samples: dict[Kind, dict[int, list[float]]]) -> None:
    """Eager calls above the sizes that graphs captured, where the GPUs are what takes the time."""
    for kind in [one for one in samples if one.mode is Mode.DEVICE]:
        eager = samples.get(_of(kind, Mode.EAGER))
        if eager:
            limit = max(samples[kind])
            for size, times in eager.items():
                # below a few times the host's own time a call is not the device's
                if size > limit and median(times) > 2.0 * median(eager[min(eager)]):
                    samples[kind][size] = times


def _of(kind: Kind, mode: Mode) -> Kind:
    return Kind(kind.op, kind.nodes, kind.ranks, kind.path, mode, kind.dtype, kind.implementation)


def _has_host_time(point: CollectivePoint) -> bool:
    """Whether eager calls of this source include the host's work: the benchmark's do, and kernels named eager."""
    if point.impl:
        return point.impl.endswith("eager")
    return point.link != "" and not point.library.startswith("nccl-tests")


def _kind(point: CollectivePoint, mode: Mode) -> Kind:
    path = Path(point.link) if point.link else Path.NETWORK if point.nodes > 1 else Path.SCALE_UP
    return Kind(
        NAMES.get(point.op, point.op), point.nodes, point.ranks, path, mode, point.dtype, point.library
    )


def _out_of_place_first(points: Sequence[CollectivePoint]) -> list[CollectivePoint]:
    """Out-of-place points where there are any: the published tables hold those."""
    apart = [point for point in points if not point.in_place]
    return apart or list(points)


def _newest(points: Sequence[CollectivePoint]) -> list[CollectivePoint]:
    """Points of the newest release of each library and kernel."""
    best: dict[tuple[str, ...], tuple[int, ...]] = {}
    for point in points:
        key = _series(point)
        best[key] = max(best.get(key, ()), _version(point.library))
    return [point for point in points if _version(point.library) == best[_series(point)]]


def _series(point: CollectivePoint) -> tuple[str, ...]:
    name = re.sub(r"[\d.]+\w*$", "", point.library)
    return (
        point.op,
        point.dtype,
        str(point.ranks),
        str(point.nodes),
        point.mode,
        point.impl,
        point.link,
        name,
    )


def _version(library: str) -> tuple[int, ...]:
    """Numbers of a release; words such as rc count nothing.

    >>> _version("nccl 2.27.3"), _version("trtllm 1.3.0rc20")
    ((2, 27, 3), (1, 3, 0, 20))
    """
    words = library.split()
    return tuple(int(number) for number in re.findall(r"\d+", words[-1])) if words else ()
