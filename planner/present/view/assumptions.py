"""Every given number with its source, and the scenario as it was read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner.documents import Path_
from planner.evaluate import Evaluation
from planner.ledger import Axis, Kind, Ledger
from planner.ledger.lines import Line
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Section, Table

GROUPS = (
    ("Prices", ("price.", "rent.")),
    ("Site and terms", ("site.", "money.", "cluster.", "phase.", "timing.")),
    ("Power", ("watts.", "power.", "energy.")),
    ("Machines and network", ("accelerator.", "network.", "storage.", "bom.", "design.")),
    ("Workloads", ("performance.", "workload.", "outcome.")),
    ("Factors of the models", ("assumption.",)),
)
LETTERS = (
    "Letters: M measured, D data sheet, P published, Q quote, E estimate or a vendor's claim, u typed by the user. "
    "P10 and P90 bound the middle 80 % of what is plausible."
)


def assumptions_section(evaluation: Evaluation) -> Section:
    """The scenario, then given lines by group."""
    tables = [_scenario(evaluation)]
    left = [line for line in evaluation.ledger if line.kind is Kind.GIVEN and line.axis is Axis.SCALAR]
    for title, starts in GROUPS:
        lines = [line for line in left if line.key.startswith(starts)]
        left = [line for line in left if not line.key.startswith(starts)]
        if lines:
            tables.append(_group(evaluation, title, lines))
    if left:
        tables.append(_group(evaluation, "Others", left))
    return Section("assumptions", "Assumptions", LETTERS, (), tuple(tables))


def source_title(evaluation: Evaluation, line: Line) -> str:
    """Title of the publication behind a given line, or where its value stands."""
    source = line.source
    if source is None:
        return ""
    if not source.source:
        return source.note or source.where
    entry = evaluation.parts.catalog.sources.get(source.source)
    title = entry.title if entry is not None else source.source
    return title if source.verified else f"{title} (not verified)"


def _group(evaluation: Evaluation, title: str, lines: list[Line]) -> Table:
    ledger = evaluation.ledger
    rows = tuple(_row(evaluation, ledger, line) for line in lines)
    return Table(
        f"given-{title.lower().replace(' ', '-')}",
        title,
        (
            Column("Assumption", numeric=False),
            Column("Value"),
            Column("P10"),
            Column("P90"),
            Column("Basis", numeric=False),
            Column("Source", numeric=False),
            Column("Date", numeric=False),
            Column("Stands in", numeric=False),
        ),
        rows,
    )


def _row(evaluation: Evaluation, ledger: Ledger, line: Line) -> tuple[Cell, ...]:
    source, value = line.source, ledger.scalar(line)
    assert source is not None
    low = fmt.NOTHING if line.low is None else fmt.given(line.low, line.unit)
    high = fmt.NOTHING if line.high is None else fmt.given(line.high, line.unit)
    return (
        Cell(line.label),
        Cell(fmt.given(value, line.unit), value, line.key),
        Cell(low, line.low),
        Cell(high, line.high),
        Cell(source.basis.letter, letter=source.basis.letter),
        Cell(source_title(evaluation, line)),
        Cell(source.as_of or fmt.NOTHING),
        Cell(source.where),
    )


def _scenario(evaluation: Evaluation) -> Table:
    loaded = evaluation.loaded
    rows = []
    for path, value in _leaves(loaded.document.data, ()):
        place = loaded.document.places.get(path)
        rows.append(
            (
                Cell(".".join(str(step) for step in path)),
                Cell(str(value)),
                Cell(loaded.stands(path)),
                Cell(f"{place.path}:{place.line}" if place is not None and place.line else str(place or "")),
            )
        )
    return Table(
        "scenario",
        "The scenario as it was read",
        (
            Column("Key", numeric=False),
            Column("Value", numeric=False),
            Column("Stands", numeric=False),
            Column("Where", numeric=False),
        ),
        tuple(rows),
    )


def _leaves(data: Any, path: Path_) -> Iterator[tuple[Path_, Any]]:
    """Values of nested data with their paths, in order."""
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from _leaves(value, (*path, key))
    elif isinstance(data, list) and data:
        for index, value in enumerate(data):
            yield from _leaves(value, (*path, index))
    else:
        yield path, data
