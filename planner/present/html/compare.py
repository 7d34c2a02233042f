"""The comparison's page: tables whose numbers lead to their derivation in each scenario; no request, no clock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from markupsafe import Markup

from planner.present.html.page import environment
from planner.present.view.brief import stamp
from planner.present.view.compare import SPLIT, compare_section, range_texts
from planner.present.view.model import Cell, Column, Section, Table
from planner.present.view.why import WhyEntry, WhyInput, why_entries
from planner.resources import shipped
from planner.study.compare import Comparison


@dataclass(frozen=True, slots=True)
class Derivations:
    """One scenario's entries, their keys led by its letter."""

    title: str
    entries: tuple[WhyEntry, ...]


def compare_html(comparison: Comparison) -> str:
    """The whole page, as one file that opens from disk."""
    section = _with_ranges(comparison, compare_section(comparison))
    told = tuple(_derivations(comparison, section))
    page = environment().get_template("compare.html.jinja").render(
        section=section, told=told, known=frozenset(entry.key for one in told for entry in one.entries),
        stamps=[(f"{one.letter} {one.name}", stamp(one.evaluation)) for one in comparison.entrants],
        style=Markup((shipped("templates") / "report" / "report.css").read_text(encoding="utf-8")),
    )  # fmt: skip
    return page


def _with_ranges(comparison: Comparison, section: Section) -> Section:
    """The section with a table of P10 to P90 after the outcomes, for which a page has room."""
    rows = tuple(
        (Cell(row.label), *(Cell(text or "–") for text in range_texts(comparison, row)))
        for row in comparison.outcomes
    )
    columns = (
        Column("Outcome", numeric=False),
        *(Column(f"{one.letter} {one.name}") for one in comparison.entrants),
    )
    table = Table("compare-ranges", "P10 to P90 of the outcomes", columns, rows)
    at = next(place for place, one in enumerate(section.tables) if one.id == "compare-outcomes") + 1
    return replace(section, tables=(*section.tables[:at], table, *section.tables[at:]))


def _derivations(comparison: Comparison, section: Section) -> Iterator[Derivations]:
    cells = [cell.key for table in section.tables for row in table.rows for cell in row if cell.key]
    for one in comparison.entrants:
        start = f"{one.letter}{SPLIT}"
        keys = [key.removeprefix(start) for key in cells if key.startswith(start)]
        if one.built:
            entries = tuple(_led(start, entry) for entry in why_entries(one.evaluation, keys))
            yield Derivations(f"{one.letter} {one.name}", entries)


def _led(start: str, entry: WhyEntry) -> WhyEntry:
    """The entry with every key led by its scenario's letter, so that two scenarios don't mix."""
    inputs = tuple(
        WhyInput(f"{start}{one.key}", one.label, one.text, one.letter, one.date) for one in entry.inputs
    )
    same = f"{start}{entry.same_as}" if entry.same_as else ""
    return replace(entry, key=f"{start}{entry.key}", same_as=same, inputs=inputs)
