"""The workbook of a plan that can't be built: why, what would put it right, and what was asked."""

from __future__ import annotations

from typing import Any

from planner.evaluate import Evaluation
from planner.present.view.outcomes import finding, headlines, refusals, verdict
from planner.present.workbook.calc import command
from planner.present.workbook.inputs import scenario_leaves
from planner.present.workbook.layout import CHANGES, INPUTS, SUMMARY
from planner.present.workbook.notes import draw_changes
from planner.present.workbook.sheet import Sheet
from planner.present.workbook.styles import Styles
from planner.present.workbook.summary import stamp


def draw_refusal(book: Any, styles: Styles, evaluation: Evaluation) -> None:
    """Three sheets without a figure that doesn't exist."""
    summary, inputs, changes = (Sheet(book, name, styles) for name in (SUMMARY, INPUTS, CHANGES))
    _summary(summary, evaluation)
    _inputs(inputs, evaluation)
    draw_changes(changes, evaluation, "")
    for sheet in (summary, inputs, changes):
        sheet.finish()


def _summary(sheet: Sheet, evaluation: Evaluation) -> None:
    said, _ = verdict(evaluation, headlines(evaluation))
    sheet.text(0, 0, finding(evaluation), "title")
    sheet.text(1, 0, said, "verdict")
    sheet.head(3, ("What is in the way", "Where", "What would put it right"))
    for column, width in enumerate((80, 40, 80)):
        sheet.raw.set_column(column, column, width)
    row = 4
    for problem in refusals(evaluation):
        for index, remedy in enumerate(problem.remedies or ("",)):
            if index == 0:
                sheet.text(row, 0, problem.message, "wrap")
                sheet.text(row, 1, problem.place, "wrap")
            sheet.text(row, 2, remedy, "wrap")
            row += 1
    sheet.text(row + 1, 0, "There are no costs and no performance of a cluster that can't be built.", "quiet")
    stamp(sheet, evaluation, command(evaluation), row + 3)


def _inputs(sheet: Sheet, evaluation: Evaluation) -> None:
    sheet.text(0, 0, "What the scenario asks for. Change the file, then run it again.", "title")
    sheet.head(2, ("Field", "Value", "Where"), right=frozenset({1}))
    for column, width in enumerate((50, 40, 60)):
        sheet.raw.set_column(column, column, width)
    sheet.raw.freeze_panes(3, 1)
    for row, choice in enumerate(scenario_leaves(evaluation), start=3):
        sheet.text(row, 0, choice.key, "key")
        if isinstance(choice.value, str):
            sheet.text(row, 1, choice.value, "given")
        else:
            sheet.number(row, 1, choice.value, "given", "General")
        sheet.text(row, 2, choice.where, "quiet")
