"""Makes a calibration profile of measurement files: what kind of machine, which fits, what was refused."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planner.catalog.devices import accelerator_named
from planner.catalog.profiles import Profile, RawFile
from planner.catalog.schema import Accelerator, Server
from planner.catalog.store import Catalog
from planner.errors import CalibrationError, Place, Problem, nearest
from planner.measure.fit.doubts import doubts
from planner.measure.fit.groups import fit_collectives
from planner.measure.fit.kernels import fit_kernels
from planner.measure.parse.points import CollectivePoint, Measurements
from planner.units import GIGA

TOLD = ("driver_version", "cuda_version", "torch_version", "nccl_version", "cpu", "python_version")
"""What of a run's environment stands in the profile's head."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A profile, what could not be fitted, and what is doubtful about the rest, in words."""

    profile: Profile
    refused: tuple[str, ...]
    doubts: tuple[str, ...] = ()


def fit_profile(
    read: Sequence[Measurements],
    *,
    catalog: Catalog,
    profile_id: str,
    accelerator: str | None = None,
    name: str = "",
    as_of: str = "",
    source: str | None = None,
) -> Fitted:
    """Fit everything in the files as one profile.

    Args:
        read: The files' measurements, of one kind of accelerator.
        catalog: Where the accelerator and its link are looked up.
        profile_id: Id of the profile.
        accelerator: Catalog id; found by the device's name where it is not given.
        name: Title; made of the accelerator's name and the date where it is not given.
        as_of: Date of tables and logs, which carry none; a run of the benchmark knows its own.
        source: Publication of tables, an id of ``sources.yaml``.

    Raises:
        CalibrationError: Nothing can be fitted, the files are of several accelerators, or one is no GPU
            measurement; says which file and why.
        CatalogError: No such accelerator.
    """
    _check_usable(read)
    wanted = accelerator or _accelerator(read, catalog)
    if wanted not in catalog.ids(Accelerator):
        wanted = accelerator_named(catalog, wanted) or wanted
    chosen = catalog.entry(Accelerator, wanted)
    _check_same(read, chosen.item.id, catalog)
    domain = rack_domain(catalog, chosen.item.id)
    points = [in_domain(point, domain) for one in read for point in one.collectives]
    collectives, refusals = fit_collectives(points)
    kernels, not_fitted = fit_kernels(read, chosen.item)
    date = max([one.as_of for one in read if one.as_of], default=as_of)
    if not date:
        raise CalibrationError(
            Problem("nothing says when this was measured", remedy="give --as-of YYYY-MM-DD")
        )
    profile = Profile(
        id=profile_id,
        name=name or f"{chosen.item.name}, measured {date}",
        accelerator=chosen.item.id,
        scaleup=chosen.item.scaleup,
        as_of=date,
        source=source,
        environment=_environment(read),
        raw=tuple(RawFile(file=one.path.name, sha256=digest(one.path)) for one in read),
        collectives=collectives,
        **kernels,
    )
    refused = (*(str(one) for one in refusals), *not_fitted)
    if not (collectives or kernels):
        raise CalibrationError([Problem(text) for text in refused] or "the files hold nothing to fit")
    link = chosen.item.scaleup_gbyte_per_s
    rate = link.value * GIGA if link is not None else 0.0
    return Fitted(profile, refused, doubts(points, collectives, link_bytes_per_s=rate))


def rack_domain(catalog: Catalog, accelerator_id: str) -> int:
    """Accelerators that reach each other over the scale-up link across the hosts of a rack; 1 where no rack has them.

    Two servers of eight are never one domain, however few ranks run on them.

    >>> from planner.catalog.store import open_catalog
    >>> [rack_domain(open_catalog(), one) for one in ("h100-sxm5-80gb", "gb200")]
    [1, 72]
    """
    servers = (catalog.get(Server, one) for one in catalog.ids(Server))
    mine = (one for one in servers if one.accelerator == accelerator_id and one.is_rack)
    return max((one.scaleup_domain_gpus for one in mine), default=1)


def in_domain(point: CollectivePoint, domain_ranks: int) -> CollectivePoint:
    """A point of several hosts whose ranks all stand in one scale-up domain, such as trays of one rack, as one of it.

    Whether they stand in one rack no log says; of a rack-scale system that is what a group of its size is run in.
    """
    if point.nodes > 1 and point.ranks <= domain_ranks:
        return replace(point, nodes=1, link="scale_up")
    return point


def digest(path: Path) -> str:
    """Hash of a raw file, hexadecimal SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check_usable(read: Sequence[Measurements]) -> None:
    problems = [
        Problem(
            "not a GPU measurement (its backend is gloo)",
            Place(str(one.path)),
            remedy="run planner bench where GPUs are",
        )
        for one in read
        if not one.usable_for_calibration
    ]
    if problems:
        raise CalibrationError(problems)


def _accelerator(read: Sequence[Measurements], catalog: Catalog) -> str:
    """The one accelerator that the files name.

    Raises:
        CalibrationError: They name none that the catalog has, or several.
    """
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for one in read:
        for device in (name.strip() for name in one.device.split(",") if name.strip()):
            item = accelerator_named(catalog, device)
            if item is None:
                near = nearest(device, catalog.ids(Accelerator))
                problems.append(
                    Problem(
                        f"no accelerator called '{device}' in the catalog",
                        Place(str(one.path)),
                        remedy=near or "give --accelerator ID",
                    )
                )
            else:
                found.setdefault(item, f"{one.path} ({device})")
    if problems:
        raise CalibrationError(problems)
    if len(found) > 1:
        several = "; ".join(f"{item} in {where}" for item, where in found.items())
        raise CalibrationError(
            Problem(f"the files are of several accelerators: {several}", remedy="calibrate each apart")
        )
    if not found:
        raise CalibrationError(
            Problem("the files don't say which accelerator was measured", remedy="give --accelerator ID")
        )
    return next(iter(found))


def _check_same(read: Sequence[Measurements], accelerator: str, catalog: Catalog) -> None:
    """Refuse files of another chip than the one named; variants of it share the first part of their ids."""
    problems = []
    for one in read:
        for device in (name.strip() for name in one.device.split(",") if name.strip()):
            item = accelerator_named(catalog, device)
            if item is not None and item.split("-")[0] != accelerator.split("-", maxsplit=1)[0]:
                problems.append(
                    Problem(
                        f"is of '{device}' ({item}), and the profile is of {accelerator}",
                        Place(str(one.path)),
                        remedy="calibrate each accelerator apart",
                    )
                )
    if problems:
        raise CalibrationError(problems)


def _environment(read: Sequence[Measurements]) -> dict[str, str]:
    """Versions and settings of the runs; several values of one name are joined."""
    found: dict[str, list[str]] = {}
    for one in read:
        told = {name: one.environment.get(name) for name in TOLD}
        told |= {f"variable {name}": value for name, value in (one.environment.get("variables") or {}).items()
                 if name.startswith("NCCL_")}  # fmt: skip
        library = {point.library for point in one.collectives if point.library}
        if not one.environment and library:
            told["library"] = ", ".join(sorted(library))
        for name, value in told.items():
            if value not in (None, ""):
                found.setdefault(name, []).append(str(value))
    return {name: ", ".join(dict.fromkeys(values)) for name, values in found.items()}
