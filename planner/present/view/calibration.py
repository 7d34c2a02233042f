"""What the bandwidths of a plan rest on: rungs, profiles, dates, and measured points beside the curves."""

from __future__ import annotations

from math import isfinite

from planner.evaluate import Evaluation
from planner.measure.run.findings import size_text
from planner.performance.collectives import Collective
from planner.performance.evidence import CurveEvidence, domain_evidence
from planner.performance.group_curves import Rung
from planner.performance.links import Links
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Figure, Table
from planner.units import BITS_PER_BYTE, GIGA

LARGE_BYTES = 2.0**30
BETWEEN = (Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER, Collective.ALL_TO_ALL)
"""Operations of which the report says how they run between servers."""
RUNGS = {
    Rung.MEASURED: "measured on this accelerator",
    Rung.SCALED: "scaled from a like one",
    Rung.PHYSICS: "from the link's rate, not measured",
}


def calibration(evaluation: Evaluation) -> tuple[tuple[Figure, ...], tuple[Table, ...], tuple[str, ...]]:
    """Figures, tables and notes of the calibration; nothing where no plan was built."""
    built = evaluation.built
    if built is None:
        return (), (), ()
    domain = built.performance.domain
    catalog, further = evaluation.parts.catalog, built.performance.further
    found = domain_evidence(domain, catalog)
    refused = tuple(f"Profile not used: {one}." for one in built.performance.refused)
    own = evaluation.parts.groups[0].accelerator.item.name if further else ""
    ladders = [_ladder(found, own)]
    ladders += [
        _ladder(domain_evidence(other, catalog), name, f"-{number}")
        for number, (name, other) in enumerate(further, 2)
    ]
    return (_figure(found),), (*ladders, *_between(built.performance.links)), refused


def _between(links: Links) -> tuple[Table, ...]:
    """What the network between servers or racks rests on; nothing where there is none."""
    rate = float(links.outside.bytes_per_s[0]) / GIGA
    if not isfinite(rate):
        return ()
    rows = []
    for operation in BETWEEN:
        group, profile = links.measured.groups.get(operation), links.measured.profiles.get(operation)
        how = "rate of the NICs, less what collectives and the fabric lose"
        if group is not None:
            how = f"times measured on {group[0]} ranks in {group[1]} servers, over those predicted for them"
        rung = Rung.SCALED if group is not None else Rung.PHYSICS
        rows.append((Cell(operation.value.replace("_", "-")), Cell(RUNGS[rung] if group is None else
                     "scaled from a measured group"), Cell(profile or fmt.NOTHING), Cell(how)))  # fmt: skip
    return (
        Table(
            "calibration-network",
            f"Between servers: {rate:,.1f} GB/s ({rate * BITS_PER_BYTE:,.0f} Gbit/s) an accelerator, one way, sustained",
            (
                Column("Collective", numeric=False),
                Column("Rung", numeric=False),
                Column("Profile", numeric=False),
                Column("How", numeric=False),
            ),
            tuple(rows),
        ),
    )


def _name(one: CurveEvidence) -> str:
    return one.group.operation.value.replace("_", "-")


def _at(one: CurveEvidence, size: float) -> float:
    """Bus rate of the curve at a size, GB/s."""
    nearest = int(abs(one.sizes_bytes - size).argmin())
    return float(one.busbw_bytes_per_s[nearest]) / GIGA


def _beyond(one: CurveEvidence) -> str:
    """That the size shown lies outside what was measured."""
    largest = one.group.max_bytes
    return f"; beyond {size_text(largest)} extrapolated" if 0 < largest < LARGE_BYTES else ""


def _ladder(found: tuple[CurveEvidence, ...], of: str = "", number: str = "") -> Table:
    """One kind of accelerator's; named where there are several."""
    rows = tuple(
        (
            Cell(f"{_name(one)}, {one.group.ranks} GPUs"),
            Cell(RUNGS[one.group.rung]),
            Cell(one.group.profile or fmt.NOTHING),
            Cell(one.as_of or fmt.NOTHING),
            Cell(f"±{fmt.percent(one.group.half_width_fraction, 0)}", one.group.half_width_fraction * 100),
            Cell(fmt.significant(_at(one, LARGE_BYTES)), _at(one, LARGE_BYTES)),
            Cell(
                fmt.significant(_at(one, LARGE_BYTES) * BITS_PER_BYTE), _at(one, LARGE_BYTES) * BITS_PER_BYTE
            ),
            Cell(one.group.how + _beyond(one)),
        )
        for one in found
    )
    return Table(
        f"calibration{number}",
        f"What the scale-up bandwidths {f'of {of} ' if of else ''}rest on",
        (
            Column("Collective", numeric=False),
            Column("Rung", numeric=False),
            Column("Profile", numeric=False),
            Column("Measured", numeric=False),
            Column("Band", "%"),
            Column("Bus rate at 1 GiB", "GB/s"),
            Column("The same", "Gbit/s"),
            Column("How", numeric=False),
        ),
        rows,
    )


def _figure(found: tuple[CurveEvidence, ...]) -> Figure:
    first = found[0]
    rate = _at(first, LARGE_BYTES)
    model, points = [], []
    for one in found:
        rows = zip(
            one.sizes_bytes, one.busbw_bytes_per_s, one.low_bytes_per_s, one.high_bytes_per_s, strict=True
        )
        model += [
            {"name": _name(one), "bytes": float(size), "rate": float(mid) / GIGA, "low": float(low) / GIGA,
             "high": float(high) / GIGA}
            for size, mid, low, high in rows
        ]  # fmt: skip
        points += [{"name": _name(one), "bytes": size, "rate": rate / GIGA} for size, rate in one.measured]
    return Figure(
        "C19",
        "bandwidth",
        f"{_name(first).capitalize()} among {first.group.ranks} GPUs: {rate:,.0f} GB/s "
        f"({rate * BITS_PER_BYTE:,.0f} Gbit/s) of bus rate at 1 GiB",
        "Lines: the curves the plan uses, with their P10-P90 bands. Dots: measured points that they rest on.",
        {"model": model, "points": points},
        _numbers(found),
        evidence="; ".join(f"{_name(one)}: {RUNGS[one.group.rung]}, {_points_of(one)}" for one in found),
    )


def _points_of(one: CurveEvidence) -> str:
    return f"points of {one.measured_on}, {one.as_of}" if one.measured else "no measured points"


def _numbers(found: tuple[CurveEvidence, ...]) -> Table:
    """The curves at every third size, and the measured rates nearby."""
    rows = []
    for place in range(0, len(found[0].sizes_bytes), 3):
        size = float(found[0].sizes_bytes[place])
        cells = [Cell(size_text(size), size)]
        for one in found:
            rate = float(one.busbw_bytes_per_s[place]) / GIGA
            cells += [Cell(fmt.significant(rate), rate), _nearby(one, size)]
        rows.append(tuple(cells))
    columns = [Column("Message")]
    for one in found:
        columns += [Column(_name(one), "GB/s"), Column(f"measured, {one.measured_on or 'nowhere'}", "GB/s")]
    return Table(
        "bandwidth",
        f"Bus rate among {found[0].group.ranks} GPUs over message size, and the nearest measured one",
        tuple(columns),
        tuple(rows),
    )


def _nearby(one: CurveEvidence, size: float) -> Cell:
    measured = dict(one.measured)
    near = min(measured, key=lambda other: abs(other / size - 1.0), default=None)
    if near is None or abs(near / size - 1.0) > 0.5:
        return Cell(fmt.NOTHING)
    return Cell(fmt.significant(measured[near] / GIGA), measured[near] / GIGA)
