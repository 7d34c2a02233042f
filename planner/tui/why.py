"""Why a number is what it is: a tree over the ledger, down to source and date."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from planner.evaluate import Evaluation
from planner.ledger import Axis, Kind
from planner.ledger import Line as LedgerLine
from planner.ledger.words import words
from planner.present import format as fmt
from planner.tui.lines import Line, Part, cut, wrapped
from planner.tui.overlay import Overlay

DEEPEST = 24


def value_text(evaluation: Evaluation, line: LedgerLine) -> str:
    """A line's value with its unit; of a series, its first and last month."""
    values = evaluation.ledger.value(line)
    if line.axis is Axis.SCALAR:
        return fmt.quantity(float(values[0]), line.unit)
    first, last = float(values[0][0]), float(values[0][-1])
    return (
        f"{fmt.quantity(first, line.unit)} … {fmt.quantity(last, line.unit)} over {values.shape[-1]} months"
    )


def origin(evaluation: Evaluation, line: LedgerLine) -> str:
    """Where a given line comes from: letter, publication, date, range, place in the file."""
    source = line.source
    if source is None:
        return ""
    entry = evaluation.parts.catalog.sources.get(source.source)
    titled = entry.title if entry is not None else source.source
    spread = ""
    if line.low is not None and line.high is not None:
        spread = f"P10-P90 {fmt.quantity(line.low, line.unit)} to {fmt.quantity(line.high, line.unit)}"
    parts = [source.basis.letter, titled, source.as_of, spread, source.where, source.note]
    if not source.verified:
        parts.append("not read in a source")
    return " · ".join(part for part in parts if part)


def told(evaluation: Evaluation, line: LedgerLine) -> str:
    """How a line came about, in words."""
    if line.kind is Kind.GIVEN:
        return origin(evaluation, line)
    if line.key in evaluation.ledger.overrides:
        return f"typed over: {evaluation.ledger.overrides[line.key].reason}"
    return words(line, evaluation.ledger.lines)


class Why(Overlay):
    """The tree of one key; enter opens an input, ``e`` edits the field a given line stands for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "edit the input", id="why.edit"),
        Binding("y", "copy", "copy", id="why.copy"),
    ]

    def __init__(self, evaluation: Evaluation, key: str, editable: Callable[[str], bool]) -> None:
        line = evaluation.ledger[key]
        super().__init__(
            f"why {line.label}", foot="enter opens and closes   e edits the input found   y copies   esc back"
        )
        self.evaluation, self.root, self.editable = evaluation, key, editable
        self.open: set[str] = {"0"}

    def fill(self) -> None:
        """The tree as far as it is open."""
        lines: list[Line] = []
        self._add(lines, self.root, "0", 0, frozenset())
        self.view.show(lines)

    def _add(self, lines: list[Line], key: str, at: str, depth: int, above: frozenset[str]) -> None:
        ledger = self.evaluation.ledger
        line = ledger[key]
        inputs = () if key in above or depth > DEEPEST else ledger.inputs_of(key)
        is_open = at in self.open
        arrow = ("▾" if is_open else "▸") if inputs else " "
        pad = "  " * min(depth, 12)
        letter = f" {line.source.basis.letter}" if line.source is not None else ""
        room = self.room
        name = f" {pad}{arrow} {line.label}"
        value = f"{value_text(self.evaluation, line)}{letter}"
        name = cut(name, max(10, room - len(value) - 2))
        parts: tuple[Part, ...] = (
            (name, "head" if depth == 0 else "plain"),
            (" " * max(1, room - len(name) - len(value) - 1), "plain"),
            (value, "accent"),
        )
        lines.append(Line(parts, f"{at}|{key}", True))
        if is_open or not inputs or depth == 0:
            for one in wrapped(told(self.evaluation, line), max(20, room - len(pad) - 6)):
                lines.append(Line(((f" {pad}    {one}", "dim"),)))
            if depth == 0:
                lines.append(Line(((f"     {line.key}", "dim"),)))
        if is_open:
            for number, other in enumerate(inputs):
                self._add(lines, other, f"{at}.{number}", depth + 1, above | {key})

    def choose(self, key: str) -> None:
        """Open or close an input."""
        at = key.partition("|")[0]
        self.open ^= {at}
        self.fill()

    def action_edit(self) -> None:
        """Close, and edit the scenario's field behind this input."""
        key = self.view.key.partition("|")[2]
        source = self.evaluation.ledger[key].source if key else None
        if source is not None and self.editable(source.where):
            self.leave(source.where)
        else:
            self.app.bell()

    def action_copy(self) -> None:
        """Copy the tree as text."""
        self.app.copy_to_clipboard("\n".join(line.text.rstrip() for line in self.view.lines))


def line_of_path(evaluation: Evaluation, path: tuple[str | int, ...]) -> str | None:
    """Key of the ledger line that a scenario's field was entered as; None where none was."""
    place = evaluation.loaded.source(*path)
    dotted = ".".join(str(step) for step in path)
    for line in evaluation.ledger:
        if line.kind is Kind.GIVEN and line.source is not None:
            if place.where == "default":
                if line.source.note == place.note and line.source.where == "default":
                    return line.key
            elif line.source.where == place.where and (
                line.key.endswith(str(path[-1])) or line.key == dotted
            ):
                return line.key
    same = [
        line.key for line in evaluation.ledger
        if line.source is not None and line.source.where == place.where and place.where != "default"
    ]  # fmt: skip
    return same[0] if same else None
