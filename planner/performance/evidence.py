"""Measured points beside the curves that a plan uses: what a reader needs to trust or doubt them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path as FilePath

import numpy as np

from planner.arrays import Floats
from planner.catalog.profiles import Path, Profile
from planner.catalog.store import Catalog
from planner.measure.fit.groups import NAMES
from planner.measure.parse.points import CollectivePoint, LogError
from planner.measure.parse.read import read_points
from planner.performance.collectives import Collective, bus_bytes_per_s
from planner.performance.domain import ScaleUpDomain
from planner.performance.group_curves import GroupCurve
from planner.performance.ladder import WIDE

SHOWN = (Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.ALL_TO_ALL)
SIZES_BYTES = np.geomspace(1024.0, 2.0**34, 25)


@dataclass(frozen=True, slots=True)
class CurveEvidence:
    """One operation among all ranks of a domain.

    Attributes:
        sizes_bytes, busbw_bytes_per_s: The curve that the plan uses.
        low_bytes_per_s, high_bytes_per_s: Its band, P10 and P90.
        measured: Points of the profile it rests on, in the same group: bytes and bus rate.
        measured_on: Accelerator of those points; empty without points.
        as_of: Date of the profile; empty without one.
    """

    group: GroupCurve
    sizes_bytes: Floats
    busbw_bytes_per_s: Floats
    low_bytes_per_s: Floats
    high_bytes_per_s: Floats
    measured: tuple[tuple[float, float], ...]
    measured_on: str
    as_of: str


def domain_evidence(domain: ScaleUpDomain, catalog: Catalog) -> tuple[CurveEvidence, ...]:
    """Curves of the whole domain with their points.

    Raw files that are missing leave a curve without points; the profile stands on its own.
    """
    ranks = domain.curves.sizes[-1]
    raw: dict[str, tuple[CollectivePoint, ...]] = {}
    found = []
    for operation in SHOWN:
        group = domain.curves.group(operation, ranks)
        profile = catalog.get(Profile, group.profile) if group.profile else None
        points: tuple[CollectivePoint, ...] = ()
        if profile is not None:
            if profile.id not in raw:
                raw[profile.id] = _points(catalog, profile)
            points = raw[profile.id]
        found.append(_evidence(domain, group, profile, points))
    return tuple(found)


def _evidence(
    domain: ScaleUpDomain, group: GroupCurve, profile: Profile | None, points: tuple[CollectivePoint, ...]
) -> CurveEvidence:
    count = np.array([float(group.ranks)])
    time = domain.curves.time_s(group.operation, message_bytes=SIZES_BYTES, ranks=count)
    rate = bus_bytes_per_s(group.operation, message_bytes=SIZES_BYTES, time_s=time, ranks=count)
    width = 1.0 + group.half_width_fraction
    mine = sorted(
        (float(one.bytes), _rate(group, one))
        for one in points
        if NAMES.get(one.op, one.op) == group.operation.value and one.ranks == group.ranks
        and one.nodes == 1 and one.dtype in WIDE and one.link != Path.HOST_STAGED.value
    )  # fmt: skip
    return CurveEvidence(
        group, SIZES_BYTES, rate, rate / width, rate * width, tuple(mine),
        profile.accelerator if profile is not None and mine else "", profile.as_of if profile is not None else "",
    )  # fmt: skip


def _rate(group: GroupCurve, point: CollectivePoint) -> float:
    return float(
        bus_bytes_per_s(
            group.operation, message_bytes=np.array([float(point.bytes)]), time_s=np.array([point.time_s]),
            ranks=np.array([float(point.ranks)]),
        )[0]
    )  # fmt: skip


def _points(catalog: Catalog, profile: Profile) -> tuple[CollectivePoint, ...]:
    folder = catalog.path_of(Profile, profile.id).parent
    releases = {fit.implementation for fit in profile.collectives}
    read = chain.from_iterable(_read(folder / one.file) for one in profile.raw)
    return tuple(point for point in read if point.library in releases)


def _read(path: FilePath) -> tuple[CollectivePoint, ...]:
    try:
        return read_points(path).collectives
    except LogError:
        return ()
