"""The cases a reader selects: one cell names the case, one column holds the values that all formulas read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from planner.evaluate import Evaluation
from planner.ledger import Axis, Kind, Line
from planner.present.workbook.calc import Frame
from planner.present.workbook.cells import letters, quoted
from planner.present.workbook.layout import (
    CASE_FIRST,
    CASE_FIRST_ROW,
    CASE_HEAD,
    CASE_LIVE,
    CASE_NUMBER,
    CASE_SELECTOR,
    CHANGED,
    INPUT_CHANGED,
    INPUT_HIGH,
    INPUT_LOW,
    INPUT_VALUE,
    INPUTS,
    SCENARIOS,
    Layout,
    needs_a_run,
)
from planner.present.workbook.sheet import Sheet
from planner.present.workbook.styles import number_format, unit_text
from planner.study.cases import BASE, Case, named_cases

_HEAD: Final = ("Input", "Unit", "Value used")
_NOTES: Final = (
    "Every formula reads the column 'Value used'. It takes the selected case, and an input typed over on Inputs holds in every case.",
    "Ends are P10 and P90 of the sources. A case shows what follows in money and energy; design and throughput stay as planned.",
)  # fmt: skip


def followed_lines(evaluation: Evaluation) -> list[Line]:
    """Inputs that formulas of the workbook follow, in the order of the sheets."""
    assert evaluation.built is not None
    fixed = needs_a_run(evaluation.ledger, evaluation.built)
    return [
        line
        for line in evaluation.ledger
        if line.kind is Kind.GIVEN and line.axis is Axis.SCALAR and line.key not in fixed
    ]


def followed_keys(evaluation: Evaluation) -> list[str]:
    """Keys of the inputs that a reader may change."""
    return [line.key for line in followed_lines(evaluation)]


def cases(evaluation: Evaluation) -> tuple[Case, ...]:
    """What can be selected; the plan itself comes first."""
    return named_cases(evaluation.ledger, followed_lines(evaluation))


def cases_of(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """Values of each case by key."""
    return {case.name: case.values for case in cases(evaluation)}


def draw_scenarios(sheet: Sheet, frame: Frame) -> None:
    """The selector, the column that formulas read, and the cases beside it."""
    known = cases(frame.evaluation)
    last = CASE_FIRST + len(known) - 1
    sheet.text(0, 0, "Scenarios", "title")
    sheet.status(0, 1, frame.status)
    for row, note in enumerate(_NOTES, start=CASE_NUMBER + 1):
        sheet.text(row, 0, note, "quiet")
    sheet.text(CASE_SELECTOR, 0, "Selected case (choose from the list)")
    sheet.text(CASE_SELECTOR, CASE_LIVE, BASE, "input")
    heads = f"${letters(CASE_FIRST)}${CASE_HEAD + 1}:${letters(last)}${CASE_HEAD + 1}"
    sheet.raw.data_validation(
        CASE_SELECTOR, CASE_LIVE, CASE_SELECTOR, CASE_LIVE,
        {"validate": "list", "source": f"={heads}", "input_title": "Selected case",
         "input_message": "Choose a case; every sheet follows.", "error_title": "No such case",
         "error_message": "Choose one of the list."},
    )  # fmt: skip
    sheet.text(CASE_NUMBER, 0, "Its number")
    selected = f"$C${CASE_SELECTOR + 1}"
    sheet.formula(CASE_NUMBER, CASE_LIVE, f"=MATCH({selected},{heads},0)", 1.0, "formula", "0")
    sheet.head(
        CASE_HEAD, (*_HEAD, *(case.name for case in known), "Key"), right=frozenset(range(CASE_LIVE, last + 1))
    )  # fmt: skip
    sheet.raw.set_row(CASE_HEAD, 28)
    for column, width in enumerate((45, 13, 14, *(12 for _ in known), 46)):
        sheet.raw.set_column(column, column, width)
    sheet.raw.freeze_panes(CASE_FIRST_ROW, CASE_LIVE + 1)
    for group in frame.layout.followed:
        for line in group.lines:
            _input(sheet, frame, line, known)
    _meanings(sheet, known, frame.layout)


def _input(sheet: Sheet, frame: Frame, line: Line, known: Sequence[Case]) -> None:
    row, on_inputs = frame.layout.live[line.key].row, frame.layout.spots[line.key].row + 1
    value, pattern, here = frame.value(line), number_format(line.unit, frame.value(line)), row + 1
    sheet.text(row, 0, line.label)
    sheet.text(row, 1, unit_text(line.unit), "unit")
    sheet.text(row, CASE_FIRST + len(known), line.key, "key")
    cell = {
        column: f"{quoted(INPUTS)}${letters(column)}${on_inputs}"
        for column in (INPUT_VALUE, INPUT_CHANGED, INPUT_LOW, INPUT_HIGH)
    }
    row_of_cases = f"${letters(CASE_FIRST)}{here}:${letters(CASE_FIRST + len(known) - 1)}{here}"
    text = f'=IF({cell[INPUT_CHANGED]}="{CHANGED}",{cell[INPUT_VALUE]},INDEX({row_of_cases},1,$C${CASE_NUMBER + 1}))'
    sheet.formula(row, CASE_LIVE, text, value, "formula", pattern)
    base = f"=${letters(CASE_FIRST)}{here}"
    for column, case in enumerate(known, start=CASE_FIRST):
        end = case.values[line.key]
        if column == CASE_FIRST:
            source, role = f"={cell[INPUT_VALUE]}", "link"
        elif end == value:
            source, role = base, "formula"
        else:
            source, role = f"={cell[INPUT_LOW if end == line.low else INPUT_HIGH]}", "link"
        sheet.formula(row, column, source, end, role, number_format(line.unit, end))


def _meanings(sheet: Sheet, known: Sequence[Case], layout: Layout) -> None:
    row = layout.end[SCENARIOS] + 2
    sheet.head(row, ("What each case takes", ""))
    for at, case in enumerate(known, start=row + 1):
        sheet.text(at, 0, case.name)
        sheet.text(at, 1, case.meaning, "quiet")
