"""Why a number is what it is: its formula in words and its inputs, down to source and date."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from planner.evaluate import Evaluation
from planner.ledger import Axis, Kind, Ledger
from planner.ledger.lines import Line
from planner.ledger.words import words
from planner.present import format as fmt
from planner.present.view.assumptions import source_title
from planner.present.view.reading import line_letters


@dataclass(frozen=True, slots=True)
class WhyInput:
    """An input of a line, as a row under it."""

    key: str
    label: str
    text: str
    letter: str
    date: str


@dataclass(frozen=True, slots=True)
class WhyEntry:
    """One line explained.

    Attributes:
        how: ``given``, ``computed`` or ``derived``.
        formula: In words; for a given line its note.
        same_as: Key of an entry before this one that lists the same inputs; then `inputs` is empty.
        source: Title of the publication; where: file and line of the value.
    """

    key: str
    label: str
    text: str
    range_text: str
    letter: str
    how: str
    formula: str
    inputs: tuple[WhyInput, ...] = ()
    same_as: str = ""
    same_label: str = ""
    same_count: int = 0
    source: str = ""
    date: str = ""
    where: str = ""


def value_text(ledger: Ledger, line: Line) -> str:
    """Value of a line with its unit; a series shows its first and last month."""
    values = ledger.value(line)[0]
    if line.axis is Axis.SCALAR:
        return fmt.quantity(float(values), line.unit)
    first, last = float(values[0]), float(values[-1])
    kind = "months" if line.axis is Axis.MONTH else "entries"
    return f"{len(values)} {kind}, {fmt.quantity(first, line.unit)} to {fmt.quantity(last, line.unit)}"


def why_entries(evaluation: Evaluation, keys: Iterable[str]) -> tuple[WhyEntry, ...]:
    """Entries of the given keys and of everything below them, each once, a line before its inputs."""
    ledger = evaluation.ledger
    letters = line_letters(ledger)
    waiting = [key for key in dict.fromkeys(keys) if key in ledger]
    order: dict[str, None] = {}
    while waiting:
        key = waiting.pop(0)
        if key not in order:
            order[key] = None
            waiting += [name for name in ledger.inputs_of(key) if name not in order]
    listed: dict[tuple[str, ...], str] = {}
    return tuple(_entry(evaluation, ledger[key], letters, listed) for key in order)


def why(evaluation: Evaluation, key: str) -> WhyEntry:
    """One line explained, without what is below its inputs."""
    return _entry(evaluation, evaluation.ledger[key], line_letters(evaluation.ledger), {})


def _entry(
    evaluation: Evaluation, line: Line, letters: dict[str, str], listed: dict[tuple[str, ...], str]
) -> WhyEntry:
    ledger = evaluation.ledger
    names = ledger.inputs_of(line.key)
    same = listed.setdefault(names, line.key) if len(names) > 3 else line.key
    repeated = same != line.key
    source = line.source
    ranged = line.low is not None and line.high is not None and line.high > line.low
    return WhyEntry(
        key=line.key,
        label=line.label,
        text=value_text(ledger, line),
        range_text=f"{fmt.quantity(line.low or 0.0, line.unit)} to {fmt.quantity(line.high or 0.0, line.unit)}"
        if ranged
        else "",
        letter=letters[line.key],
        how=line.kind.value,
        formula=(source.note if source is not None else "")
        if line.kind is Kind.GIVEN
        else words(line, ledger.lines),
        inputs=() if repeated else tuple(_input(ledger, name, letters) for name in names),
        same_as=same if repeated else "",
        same_label=ledger[same].label if repeated else "",
        same_count=len(names),
        source=source_title(evaluation, line) if line.kind is Kind.GIVEN else "",
        date=source.as_of if source is not None else "",
        where=source.where if source is not None else "",
    )


def _input(ledger: Ledger, name: str, letters: dict[str, str]) -> WhyInput:
    line = ledger[name]
    date = line.source.as_of if line.source is not None else ""
    return WhyInput(name, line.label, value_text(ledger, line), letters[name], date)
