"""Scenarios side by side as tables: outcomes, inputs, what would turn the choice over, design, money."""

from __future__ import annotations

from typing import Any, Final

from planner.evaluate import Evaluation
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Section, Table
from planner.present.view.outcomes import headlines, verdict, weakest_letter
from planner.study.compare import SURE, Comparison, Entrant, LineRow, OutcomeRow, Turn
from planner.study.flips import Flip
from planner.study.risk_sampling import Z90

CLOSE: Final = "too close to call"
MARK: Final = "▲"
"""Stands beside a value that is better than its nearest rival's in nine of ten draws."""
SPLIT: Final = ":"
"""Stands between a scenario's letter and the ledger key in the key of a cell."""


def compare_section(comparison: Comparison) -> Section:
    """Everything as one section; keys of cells are a scenario's letter and its ledger key."""
    tables = [_verdicts(comparison), _outcomes(comparison), _inputs(comparison), _turns(comparison)]
    tables += [
        _lines(comparison, comparison.design, "compare-design", "Design and power: what differs"),
        _lines(comparison, comparison.money, "compare-money", "Money: what differs"),
    ]
    return Section(
        "compare", "Scenarios side by side", lead(comparison), tables=tuple(tables), notes=_notes(comparison)
    )


def lead(comparison: Comparison) -> str:
    """What decides, in a sentence or two: who is surely better at what, and what is too close to call."""
    won: dict[str, list[str]] = {}
    close = []
    for row in comparison.outcomes:
        if row.best is None or row.same:
            continue
        if row.sure:
            won.setdefault(comparison.entrants[row.best].letter, []).append(lowered(row.label))
        else:
            close.append(lowered(row.label))
    said = [f"{letter} is ahead on {_listed(names)}." for letter, names in sorted(won.items())]
    if close:
        said.append(f"{CLOSE.capitalize()}: {_listed(close)}.")
    lost = [one.letter for one in comparison.entrants if not one.built]
    said += [f"{letter} can't be built." for letter in lost]
    return " ".join(said) or "Every outcome is the same."


def lowered(label: str) -> str:
    """A label inside a sentence; what begins with an abbreviation keeps it.

    >>> lowered("Training time"), lowered("GPU utilisation")
    ('training time', 'GPU utilisation')
    """
    return label if label[1:2].isupper() else f"{label[:1].lower()}{label[1:]}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def heads(comparison: Comparison) -> tuple[Column, ...]:
    """A column for each scenario."""
    return tuple(Column(f"{one.letter} {one.name}") for one in comparison.entrants)


def _verdicts(comparison: Comparison) -> Table:
    """Whether each meets its limits, in words."""
    rows = tuple(
        (
            Cell(f"{one.letter} {one.name}"),
            Cell(verdict(one.evaluation, headlines(one.evaluation))[0]),
            Cell(one.evaluation.loaded.document.path),
        )
        for one in comparison.entrants
    )
    columns = (
        Column("Scenario", numeric=False), Column("Limits", numeric=False), Column("File", numeric=False),
    )  # fmt: skip
    return Table("compare-verdicts", "The scenarios", columns, rows)


def _outcomes(comparison: Comparison) -> Table:
    rows = []
    for row in comparison.outcomes:
        cells = [_value(one, row, at) for at, one in enumerate(comparison.entrants)]
        rows.append((Cell(row.label), *cells, Cell(odds_text(comparison, row))))
    return Table(
        "compare-outcomes",
        f"Outcomes; {MARK} is better than its nearest rival in {SURE * 100:.0f} of 100 draws or more",
        (Column("Outcome", numeric=False), *heads(comparison), Column("How sure", numeric=False)),
        tuple(rows),
    )


def _value(one: Entrant, row: OutcomeRow, at: int) -> Cell:
    value = row.values[at]
    if value is None:
        return Cell(fmt.NOTHING if one.built else "not built")
    mark = f" {MARK}" if row.sure and row.best == at else ""
    letter = weakest_letter(one.evaluation.ledger, row.key)
    return Cell(f"{fmt.quantity(value, row.unit)}{mark}", value, f"{one.letter}{SPLIT}{row.key}", letter)


def odds_text(comparison: Comparison, row: OutcomeRow) -> str:
    """Who is better in how many draws.

    Differences are taken draw by draw with common inputs, so what both share does not blur them.
    """
    if row.same:
        return "the same"
    if row.best is None or row.rival is None or row.odds is None:
        return fmt.NOTHING
    best, rival = comparison.entrants[row.best].letter, comparison.entrants[row.rival].letter
    said = f"{best} before {rival} in {fmt.out_of_100(row.odds)} draws"
    return said if row.sure else f"{CLOSE}: {said}"


def range_texts(comparison: Comparison, row: OutcomeRow) -> tuple[str, ...]:
    """P10 to P90 of each scenario in words; empty where it has none."""
    found = []
    for one in comparison.entrants:
        spread = one.evaluation.ranges.get(row.key)
        found.append(
            ""
            if spread is None
            else f"{fmt.quantity(spread.p10, row.unit)} to {fmt.quantity(spread.p90, row.unit)}"
        )
    return tuple(found)


def _inputs(comparison: Comparison) -> Table:
    rows = tuple(
        (Cell(row.field), *(Cell(written(value)) for value in row.values)) for row in comparison.inputs
    )
    columns = tuple(Column(one.name, numeric=False) for one in heads(comparison))
    caption = f"Inputs: {len(rows)} differ, {comparison.equal_inputs} are the same"
    return Table("compare-inputs", caption, (Column("Input", numeric=False), *columns), rows)


def written(value: Any) -> str:
    """A field's value as a file has it; what no file says is a dash."""
    if value is None:
        return fmt.NOTHING
    if isinstance(value, list):
        return ", ".join(written(one) for one in value) or "none"
    return fmt.written(value) if isinstance(value, str | int | float | bool) else str(value)


def _lines(comparison: Comparison, lines: tuple[LineRow, ...], name: str, caption: str) -> Table:
    rows = []
    for row in lines:
        cells = [
            Cell(fmt.NOTHING)
            if value is None
            else Cell(fmt.quantity(value, row.unit), value, f"{one.letter}{SPLIT}{row.key}")
            for one, value in zip(comparison.entrants, row.values, strict=True)
        ]
        rows.append((Cell(row.label), *cells))
    return Table(name, caption, (Column("Line", numeric=False), *heads(comparison)), tuple(rows))


def _turns(comparison: Comparison) -> Table:
    rows = tuple(
        (
            Cell(_label(comparison, one.key)),
            Cell(f"{comparison.entrants[one.other].letter} over {comparison.entrants[one.better].letter}"),
            Cell(flip_text(comparison.entrants[one.better].evaluation, one.flip)),
        )
        for one in comparison.turns
    )
    columns = (
        Column("On", numeric=False), Column("Would put", numeric=False), Column("Once, all else as planned", numeric=False),
    )  # fmt: skip
    return Table(
        "compare-turns", "What would turn the choice over, within P10 to P90 of one input", columns, rows
    )


def _label(comparison: Comparison, key: str) -> str:
    return next(row.label for row in comparison.outcomes if row.key == key)


def turn_text(comparison: Comparison, turn: Turn) -> str:
    """One turn as a sentence."""
    other, better = comparison.entrants[turn.other].letter, comparison.entrants[turn.better].letter
    said = flip_text(comparison.entrants[turn.better].evaluation, turn.flip)
    return f"{other} over {better} on {lowered(_label(comparison, turn.key))} once {said}"


def flip_text(evaluation: Evaluation, flip: Flip) -> str:
    """The place where a decision turns: a value of a single input, else how far along its range several stand."""
    way = "above" if flip.above else "below"
    name = flip.factor.name
    if flip.value is None or flip.planned is None:
        return f"{name}: {way} {fmt.percent(abs(flip.score) / _FULL, 0)} % of the way to {'P90' if flip.above else 'P10'}"
    unit = next((line.unit for line in evaluation.ledger if line.key == flip.factor.keys[0]), "")
    if not unit:
        return f"{name}: {way} {fmt.significant(flip.value)} (planned {fmt.significant(flip.planned)})"
    return f"{name}: {way} {fmt.quantity(flip.value, unit)} (planned {fmt.quantity(flip.planned, unit)})"


_FULL: Final = Z90
"""Standard normal score of P90."""


def _notes(comparison: Comparison) -> tuple[str, ...]:
    return (
        f"Odds are of differences over {comparison.draws} draws with the same inputs for every scenario. The design, the "
        "plan and the dates stay; an input that only one scenario has is drawn for it alone.",
        f"Fewer than {SURE * 100:.0f} of 100 draws are {CLOSE}.",
    )


__all__ = [
    "CLOSE",
    "MARK",
    "SPLIT",
    "compare_section",
    "flip_text",
    "heads",
    "lead",
    "lowered",
    "odds_text",
    "range_texts",
    "turn_text",
    "written",
]
