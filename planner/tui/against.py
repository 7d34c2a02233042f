"""A "vs pin" column for the tables of time, power and money: what each row has changed by since the pin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from planner.present import format as fmt
from planner.present.view.changes import BETTER, WORSE
from planner.present.view.model import Better, Cell, Column, Section, Table

HEAD: Final = "vs pin"


@dataclass(frozen=True, slots=True)
class _Judged:
    """Which column of a table is compared, and which direction is good; rows of `others` go the other way."""

    column: str
    better: Better
    others: frozenset[str] = frozenset()


_TABLES: Final[Mapping[str, _Judged]] = {
    "time-shares": _Judged("Share", Better.LOWER, frozenset({"Computing"})),
    "loss-ladder": _Judged("Factor", Better.HIGHER),
    "latency": _Judged("p99", Better.LOWER),
    "power-flows": _Judged("Power", Better.LOWER),
    "power-states": _Judged("Meter", Better.LOWER),
    "power-parts": _Judged("Typical", Better.LOWER),
    "capex": _Judged("Cost", Better.LOWER),
    "ownership": _Judged("Nominal", Better.LOWER),
    "running": _Judged("Cost", Better.LOWER),
    "unit-costs": _Judged("Cost", Better.LOWER),
}
"""Tables by id, or by the part of their id before the workload's name."""


def against(section: Section, pinned: Section) -> Section:
    """A section whose tables say what each row has changed by; what is gone since is said in a note."""
    before = {table.id: table for table in _tables(pinned)}
    gone: list[str] = []
    for table in _tables(section):
        old = before.get(table.id)
        if old is not None and _judged(table) is not None:
            gone += _gone(table, old)
    note = f"Pinned, and not there any more: {', '.join(gone)}."
    return replace(
        section,
        figures=tuple(replace(one, table=_with_change(one.table, before)) for one in section.figures),
        tables=tuple(_with_change(one, before) for one in section.tables),
        notes=(note, *section.notes) if gone else section.notes,
    )


def _tables(section: Section) -> tuple[Table, ...]:
    return (*(figure.table for figure in section.figures), *section.tables)


def _judged(table: Table) -> tuple[int, _Judged] | None:
    """Place of the compared column, and how a change of it is judged."""
    rule = _TABLES.get(table.id) or _TABLES.get(table.id.partition("-")[0])
    places = [at for at, one in enumerate(table.columns) if rule is not None and one.name == rule.column]
    return (places[0], rule) if places and rule is not None else None


def _name(table: Table, row: tuple[Cell, ...], column: int) -> tuple[str, ...]:
    return tuple(row[at].text for at in range(column) if not table.columns[at].numeric)


def _with_change(table: Table, before: Mapping[str, Table]) -> Table:
    found, old = _judged(table), before.get(table.id)
    if found is None or old is None:
        return table
    column, rule = found
    was = {_name(old, row, column): row[column] for row in old.rows}
    rows = []
    for row in table.rows:
        name = _name(table, row, column)
        better = rule.better
        if name[0] in rule.others:
            better = Better.HIGHER if better is Better.LOWER else Better.LOWER
        change = Cell(change_text(was.get(name), row[column], better))
        rows.append((*row[: column + 1], change, *row[column + 1 :]))
    columns = (*table.columns[: column + 1], Column(HEAD), *table.columns[column + 1 :])
    return replace(table, columns=columns, rows=tuple(rows))


def change_text(old: Cell | None, new: Cell, better: Better) -> str:
    """A signed number in the column's unit and its judgement; ``=`` where the digits shown are the same.

    >>> change_text(Cell("16.0", 16.04), Cell("14.6", 14.62), Better.LOWER)
    '-1.42 ▲'
    >>> change_text(Cell("5.00", 5.001), Cell("5.00", 5.002), Better.LOWER), change_text(None, Cell("1", 1.0), Better.LOWER)
    ('=  ', 'new  ')
    """
    if old is None or old.value is None or new.value is None:
        return "new  " if new.value is not None else ""
    if old.text == new.text:
        return "=  "
    difference = new.value - old.value
    good = (difference > 0) == (better is Better.HIGHER)
    return f"{fmt.signed(difference)} {BETTER if good else WORSE}"


def _gone(table: Table, old: Table) -> list[str]:
    """Rows that only the pin has, with what they came to."""
    found = _judged(table)
    assert found is not None
    column, _ = found
    there = {_name(table, row, column) for row in table.rows}
    unit = f" {old.columns[column].unit}" if old.columns[column].unit else ""
    return [
        f"{' > '.join(_name(old, row, column))} ({row[column].text}{unit})"
        for row in old.rows
        if _name(old, row, column) not in there and row[column].value is not None
    ]
