"""What every surface draws: headline cells, tables, figures, sections."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Better(StrEnum):
    """Which direction is good."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class Headline:
    """One cell of the outcomes bar, and one tile of the report.

    Attributes:
        bar: Name of at most eight characters, with its unit.
        name: Full name.
        value: In the ledger's unit; None where the plan has no such outcome.
        short: Value of at most six characters for the bar, ``–`` where there is none.
        text: Value with its unit.
        limit: Limit of the scenario in the ledger's unit.
        limit_text: Limit with its unit.
        met: Whether the limit is met; None without a limit.
        low: P10 over draws of the inputs, where they were made; high is P90.
        odds: Share of draws that meet the limit.
        letter: How it is known: the weakest basis that carries it, see `planner.sourced.Basis`.
        note: A second line, such as the yearly cost of waiting.
        judged_key: Line that the limit is judged by where it isn't the one shown, such as power at
            peak; None where it is the same.
        judged_value: Its value.
        saturated: True for a latency that the stated load drives beyond any: `value` is then that within the objective,
            not of the load. None otherwise.
    """

    key: str
    bar: str
    name: str
    better: Better
    value: float | None
    short: str
    text: str
    limit: float | None = None
    limit_text: str = ""
    met: bool | None = None
    low: float | None = None
    high: float | None = None
    range_text: str = ""
    odds: float | None = None
    letter: str = ""
    note: str = ""
    judged_key: str | None = None
    judged_value: float | None = None
    saturated: bool | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, the unit in the head, and whether it holds numbers."""

    name: str
    unit: str = ""
    numeric: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, the number behind it, and the ledger key that explains it."""

    text: str
    value: float | None = None
    key: str = ""
    letter: str = ""
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; ``total`` marks the last row as a sum."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart: what it says, the data to draw, and the table behind it.

    Attributes:
        id: ``C1`` to ``C19`` of the chart list; a letter follows where several answer one question.
        kind: What draws it: ``stack``, ``ladder``, ``lanes``, ``curve``, ``sankey``, ``oneline``, ``range``,
            ``months``, ``waterfall``, ``columns``, ``crossing``, ``topology``, ``racks``, ``elevation``, ``bars``,
            ``bandwidth``.
        title: Its message, a sentence made from the evaluation.
        help: One line on how to read it.
        data: Plain data for the drawing, by kind.
        table: The same numbers in rows.
    """

    id: str
    kind: str
    title: str
    help: str
    data: dict[str, Any]
    table: Table
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report; ``missing`` says why it has nothing, where it has nothing."""

    id: str
    title: str
    lead: str = ""
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """Why a plan can't be built, and what would put it right."""

    message: str
    place: str
    remedies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    """Everything a surface shows of one evaluation.

    Attributes:
        finding: Title as one sentence: what, how long or how fast, how much.
        verdict: Which limits are met or missed, by how much, and the tightest one.
        meets: Whether all limits are met; False where the plan can't be built.
        stamp: Scenario file, catalog date, versions and hashes, in order.
        tried: Remedies of a refused plan or a missed limit that were tried, with what each costs; None without.
        choices: What was decided, against what, and when that would flip; None where nothing is built.
        unknowns: The inputs most worth measuring; None where nothing is built.
        glossary: Terms and what they mean here.
        measured: Points measured on one's own endpoints beside the model; they stand in the sections too.
    """

    name: str
    finding: str
    verdict: str
    meets: bool
    feasible: bool
    headlines: tuple[Headline, ...]
    sections: tuple[Section, ...]
    refusal: tuple[Remedy, ...] = ()
    tried: Table | None = None
    stamp: tuple[tuple[str, str], ...] = field(default_factory=tuple)
    choices: Table | None = None
    unknowns: Table | None = None
    glossary: tuple[tuple[str, str], ...] = ()
    measured: tuple[Table, ...] = ()
