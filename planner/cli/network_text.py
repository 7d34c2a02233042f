"""What the fabric command prints: counts, ports, hops, blast radius, sizes and growth."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from planner.design.fabric_parts import FabricDesign
from planner.design.growth import GrowthStage, growth_stages, largest_gpus, room_to_grow
from planner.design.reach import blast_radius, hops

Row = tuple[str, ...]


def design_json(design: FabricDesign) -> dict[str, Any]:
    """Counts under the names of the published reference tables, then everything else that is known."""
    return {
        **design.to_json(),
        "topology": str(design.topology),
        "switches_count": design.switches,
        "links_count": design.links,
        "cables_count": design.cables,
        "oversubscription_ratio": design.oversubscription,
        "spine_oversubscription_ratio": design.spine_oversubscription,
        "bisection_gbit_per_s": design.bisection_gbit_per_s,
        "ports": [
            {"tier": str(tier.tier), "switches": tier.switches, "ports": tier.ports, "used": tier.used,
             "free": tier.free}
            for tier in design.tier_ports
        ],
        "hops": asdict(hops(design)),
        "blast_radius": [asdict(row) for row in blast_radius(design)],
        "room": asdict(room_to_grow(design)),
        "largest_gpus": {
            f"{tiers}_tiers": largest_gpus(design.request, tiers=tiers) for tiers in (2, 3)
        },
        "growth": [asdict(stage) for stage in _stages(design)],
        "why": list(design.why),
    }  # fmt: skip


def beside_text(counts: dict[str, int]) -> Iterator[str]:
    """Counts of the networks beside the fabric; nothing where none were asked for."""
    if counts:
        yield ""
        yield "Beside the fabric, without storage and rack strips"
        yield from _table(
            [(key.removesuffix("_count").replace("_", " "), f"{count:,}") for key, count in counts.items()]
        )


def design_text(design: FabricDesign) -> Iterator[str]:
    """The same for people."""
    counts = [
        (key.removesuffix("_count").replace("_", " "), f"{count:,}")
        for key, count in design.to_json().items()
    ]
    yield from _table(counts)
    if not design.links:
        yield from _sentences(design.why)
        return
    yield ""
    yield from _table(_shape_rows(design))
    if design.tier_ports:
        yield ""
        rows = [
            (str(tier.tier), f"{tier.switches:,}", f"{tier.used:,}", f"{tier.free:,}")
            for tier in design.tier_ports
        ]
        yield from _table([("tier", "switches", "ports used", "ports free"), *rows])
    yield ""
    failures = [
        (row.element, f"{row.count:,}", f"{row.gpus:,}", f"{100 * row.lost_fraction:.3g} % {row.between}")
        for row in blast_radius(design)
    ]
    yield from _table([("what fails", "there are", "GPUs touched", "bandwidth lost"), *failures])
    yield ""
    if design.request.grow_to_gpus is not None:
        stages = [
            (f"{one.gpus:,} GPUs", f"+{one.leaves:,}", f"+{one.spines:,}", f"+{one.cores:,}", f"+{one.cables:,}")
            for one in _stages(design)
        ]  # fmt: skip
        yield from _table([("grown to", "leaves", "spines", "cores", "cables"), *stages])
        yield ""
    yield from _sentences(design.why)


def _shape_rows(design: FabricDesign) -> list[Row]:
    found, room, request = hops(design), room_to_grow(design), design.request
    rows: list[Row] = [
        ("topology", str(design.topology)),
        ("bisection", f"{design.bisection_gbit_per_s / 1e3:,.5g} Tbit/s"),
        ("oversubscription of leaves", f"{design.oversubscription:.3g}"),
        ("oversubscription of spines", f"{design.spine_oversubscription:.3g}"),
        (f"hops ({found.through}) nearest, in the pod, farthest",
         f"{found.nearest} {found.same_pod} {found.farthest}"),
        ("GPUs the leaves still take", f"{room.leaf_gpus:,}"),
        ("GPUs to add with no cable moved", f"{room.tier_gpus:,}"),
    ]  # fmt: skip
    if room.topology_gpus is not None:
        rows.append(("GPUs to add in as many tiers", f"{room.topology_gpus:,}"))
    for tiers in (2, 3):
        most = largest_gpus(request, tiers=tiers)
        if most is not None:
            rows.append((f"most GPUs in {tiers} tiers", f"{most:,}"))
    return rows


def _stages(design: FabricDesign) -> tuple[GrowthStage, ...]:
    """Now and in the end; doublings in between where a network is laid out to grow."""
    request = design.request
    final = request.grow_to_gpus
    if final is None or final == request.gpus:
        return ()
    sizes = [request.gpus]
    while sizes[-1] * 2 < final:
        sizes.append(sizes[-1] * 2)
    return growth_stages(request, [*sizes, final])


def _table(rows: Sequence[Row]) -> Iterator[str]:
    """Columns as wide as their widest cell, the first to the left and numbers to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells])


def _sentences(said: Iterable[str]) -> Iterator[str]:
    """Each in lines of 80 columns."""
    for one in said:
        yield from textwrap.wrap(one, 80, subsequent_indent="  ", break_on_hyphens=False)
