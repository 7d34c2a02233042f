"""The cable schedule: every length that is ordered, what it is made of, and what all of it adds up to."""

from __future__ import annotations

from typing import Any

from planner.design.cabling import CablingRow, LengthClass, MediumKind
from planner.design.media import Bought
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Figure, Table
from planner.present.view.reading import Reading, number, whole, words

KINDS = {
    MediumKind.DAC: "Passive copper (DAC)", MediumKind.ACC: "Redriven copper (ACC)",
    MediumKind.AEC: "Retimed copper (AEC)", MediumKind.AOC: "Active optical (AOC)",
}  # fmt: skip
PAIRS, SLOW_GBIT_PER_S = "Twisted pair", 1.0
"""Copper of the out-of-band network, by the rate of a lane."""
FIBRES = {"multimode": "Multimode fibre", "singlemode": "Single-mode fibre"}
ORDER = (PAIRS, *KINDS.values(), *FIBRES.values(), "Fibre")
"""Media from the shortest reach to the longest, as the chart stacks them."""


def medium_words(kind: MediumKind, bought: Bought | None) -> str:
    """What a link is made of, in words of people.

    >>> medium_words(MediumKind.AEC, None)
    'Retimed copper (AEC)'
    """
    rate = None if bought is None else bought.cable.item.lane_rate_gbit_per_s
    if kind.is_copper and rate is not None and rate <= SLOW_GBIT_PER_S:
        return PAIRS
    if kind in KINDS:
        return KINDS[kind]
    fibre = None if bought is None else bought.cable.item.medium
    return "Fibre" if fibre is None else FIBRES[fibre.value]


def _row_of(reading: Reading, one: LengthClass) -> CablingRow:
    return next(
        row for row in reading.built.cluster.cabling.rows if (row.tier, row.medium) == (one.tier, one.medium)
    )


def class_words(reading: Reading, one: LengthClass) -> str:
    """Medium of a length class, in words of people."""
    cluster = reading.built.cluster
    return medium_words(_row_of(reading, one).kind, cluster.media.get((one.tier, one.medium)))


def schedule_figure(reading: Reading) -> Figure:
    """Links by ordered length, stacked by medium, over the schedule itself."""
    cabling = reading.built.cluster.cabling
    lengths = sorted({one.ordered_m for one in cabling.classes})
    found: dict[tuple[float, str], int] = {}
    for one in cabling.classes:
        key = (one.ordered_m, class_words(reading, one))
        found[key] = found.get(key, 0) + one.links
    media = [name for name in ORDER if any(medium == name for _, medium in found)]
    bars: list[dict[str, Any]] = [
        {
            "label": f"{fmt.plain(length)} m",
            "parts": [
                {
                    "part": medium, "value": found[(length, medium)],
                    "text": f"{medium}, {fmt.plain(length)} m: {fmt.count(found[(length, medium)])} links",
                }
                for medium in media
                if (length, medium) in found
            ],
        }
        for length in lengths
    ]  # fmt: skip
    for bar in bars:
        bar["text"] = fmt.count(sum(part["value"] for part in bar["parts"]))
    links = sum(one.links for one in cabling.classes)
    copper = sum(row.links for row in cabling.rows if row.kind.is_copper)
    return Figure(
        "C14c", "bars",
        f"{fmt.count(links)} links in {fmt.count(cabling.cables)} cables: {fmt.percent(copper / links, 0)} % of the links "
        f"are copper, the longest is {fmt.significant(max(one.longest_m for one in cabling.classes))} m",
        "A bar for each length that is ordered: the links up to that length, by what they are made of.",
        {"bars": bars, "parts": media, "axis": "links", "hues": "media"},
        _schedule(reading),
    )  # fmt: skip


def _schedule(reading: Reading) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            words(one.tier), words(class_words(reading, one)), words(one.medium), number(one.ordered_m),
            number(one.longest_m), whole(one.links),
        )
        for one in reading.built.cluster.cabling.classes
    ]  # fmt: skip
    total = sum(one.links for one in reading.built.cluster.cabling.classes)
    rows.append((words("All"), *[words("")] * 4, whole(total)))
    return Table(
        "schedule",
        "Cable schedule: links by the length they are ordered in",
        (
            Column("Between", numeric=False), Column("Medium", numeric=False), Column("Parts", numeric=False),
            Column("Ordered", "m"), Column("Longest", "m"), Column("Links"),
        ),
        tuple(rows),
        total=True,
    )  # fmt: skip


def cables_table(reading: Reading) -> Table:
    """Cables, modules, draw and cost of every medium between two tiers."""
    cabling = reading.built.cluster.cabling
    rows: list[tuple[Cell, ...]] = [
        (
            words(row.tier), words(row.medium), words(row.kind), whole(row.links), whole(row.cables),
            whole(row.modules), number(row.longest_m), number(row.power_w / 1e3),
            words(fmt.NOTHING) if row.cost is None else number(row.cost.typ_usd / 1e3),
        )
        for row in cabling.rows
    ]  # fmt: skip
    priced = [row.cost.typ_usd for row in cabling.rows if row.cost is not None]
    rows.append(
        (
            words("All"), words(""), words(""), whole(sum(row.links for row in cabling.rows)), whole(cabling.cables),
            whole(cabling.transceivers), number(max((row.longest_m for row in cabling.rows), default=0.0)),
            number(cabling.power_w / 1e3), number(sum(priced) / 1e3),
        )
    )  # fmt: skip
    return Table(
        "cabling",
        "Cables and optics in service (without spares)",
        (
            Column("Between", numeric=False), Column("Medium", numeric=False), Column("Kind", numeric=False),
            Column("Links"), Column("Cables"), Column("Modules"), Column("Longest", "m"), Column("Draw", "kW"),
            Column("Cost", "k USD"),
        ),
        tuple(rows),
        total=True,
    )  # fmt: skip


def totals_table(reading: Reading) -> Table | None:
    """What all of it adds up to: fibres, trunks, panels, hours; None where nothing is cabled."""
    lines = [line for line in reading.ledger if line.key.startswith("design.cabling.")]
    if not lines:
        return None
    return Table(
        "cabling-totals",
        "What the cabling of all networks adds up to",
        (Column("Quantity", numeric=False), Column("Value"), Column("Basis", numeric=False)),
        tuple((words(line.label), reading.quantity(line.key), reading.letter(line.key)) for line in lines),
    )
