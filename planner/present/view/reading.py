"""Reads cells of tables out of a built evaluation: text, value, key, letter, age."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cached_property

from planner.evaluate import Built, Evaluation
from planner.ledger import Kind, Ledger
from planner.ledger.lines import Line
from planner.present import format as fmt
from planner.present.view.model import Cell
from planner.sourced import Source

WEAKEST = ("u", "M", "D", "P", "Q", "E")
"""Letters from the strongest basis to the weakest. What the user typed (a count, a choice) is no evidence
for a price or a wattage, so it shows only where nothing else is below."""
STALE_DAYS = 180


@dataclass(frozen=True)
class Reading:
    """An evaluation that was built, with what every section asks of it."""

    evaluation: Evaluation
    built: Built

    @property
    def ledger(self) -> Ledger:
        """The evaluation's lines."""
        return self.evaluation.ledger

    @property
    def as_of(self) -> str:
        """Date against which prices are stale."""
        return self.evaluation.parts.as_of

    @cached_property
    def letters(self) -> dict[str, str]:
        """Letter of every line."""
        return line_letters(self.ledger)

    def value(self, key: str | Line) -> float:
        """Value of a scalar line, in the ledger's unit."""
        return self.ledger.scalar(key)

    def has(self, key: str) -> bool:
        """Whether the evaluation has a line."""
        return key in self.ledger

    def number(self, key: str, scale: float = 1.0, digits: int = 3) -> Cell:
        """A line's value times a scale, with so many significant digits, for a column that states the unit."""
        value = self.value(key) * scale
        return self._of(key, fmt.significant(value, digits), value)

    def as_written(self, key: str) -> Cell:
        """A given line's value with all its digits."""
        return self._of(key, fmt.plain(self.value(key)), self.value(key))

    def count(self, key: str) -> Cell:
        """A line's value as a whole number."""
        return self._of(key, fmt.count(self.value(key)), self.value(key))

    def percent(self, key: str, places: int = 1) -> Cell:
        """A fraction in percent."""
        return self._of(key, fmt.percent(self.value(key), places), self.value(key) * 100)

    def quantity(self, key: str) -> Cell:
        """A line's value with its unit."""
        line = self.ledger[key]
        return self._of(key, fmt.quantity(self.value(key), line.unit), self.value(key))

    def letter(self, key: str) -> Cell:
        """The letter alone."""
        return Cell(self.letters[key], letter=self.letters[key])

    def _of(self, key: str, text: str, value: float) -> Cell:
        source = self.ledger[key].source
        old = source is not None and key.startswith("price.") and is_stale(source, self.as_of)
        return Cell(text, value, key, self.letters[key], old)


def number(value: float, digits: int = 3) -> Cell:
    """A cell of a value that has no line of its own."""
    return Cell(fmt.significant(value, digits), value)


def whole(value: float) -> Cell:
    """A cell of a count that has no line of its own."""
    return Cell(fmt.count(value), value)


def share(value: float, places: int = 1) -> Cell:
    """A cell of a fraction, in percent, that has no line of its own."""
    return Cell(fmt.percent(value, places), value * 100)


def words(text: str, key: str = "") -> Cell:
    """A cell of text."""
    return Cell(text, key=key)


def line_letters(ledger: Ledger) -> dict[str, str]:
    """For every line, the letter of the weakest basis among everything it rests on.

    Lines may refer to last month's value of later ones, so this goes round until nothing changes.
    """
    inputs = {key: ledger.inputs_of(key) for key in ledger.lines}
    rank = {
        key: WEAKEST.index(line.source.basis.letter) if line.kind is Kind.GIVEN and line.source else 0
        for key, line in ledger.lines.items()
    }
    changed = True
    while changed:
        changed = False
        for key, names in inputs.items():
            worst = max((rank[name] for name in names), default=0)
            if worst > rank[key]:
                rank[key], changed = worst, True
    return {key: WEAKEST[place] for key, place in rank.items()}


def day(text: str, *, end: bool = True) -> date | None:
    """A date as precise as its source gives it: the last day of a year or month, or the first.

    >>> day("2025-02"), day("2025", end=False)
    (datetime.date(2025, 2, 28), datetime.date(2025, 1, 1))
    """
    parts = [int(part) for part in text.split("-")] if text else []
    if not parts:
        return None
    month = parts[1] if len(parts) > 1 else (12 if end else 1)
    if len(parts) > 2:
        return date(parts[0], month, parts[2])
    if not end:
        return date(parts[0], month, 1)
    following = date(parts[0] + month // 12, month % 12 + 1, 1)
    return date.fromordinal(following.toordinal() - 1)


def is_stale(source: Source, as_of: str) -> bool:
    """Whether a price is more than 180 days older than the plan; a month counts from its end."""
    read, today = day(source.as_of), day(as_of)
    return read is not None and today is not None and (today - read).days > STALE_DAYS


def months_old(text: str, as_of: str) -> int | None:
    """Whole months from a date to the plan's date."""
    read, today = day(text), day(as_of)
    if read is None or today is None:
        return None
    return max(0, (today.year - read.year) * 12 + today.month - read.month - (today.day < read.day))
