"""Ranges and what makes them: numbers that draws of the planner gave, which no formula of a workbook can."""

from __future__ import annotations

import math
from typing import Final

from planner.finance.uncertainty import Uncertainty
from planner.present.workbook.calc import Frame
from planner.present.workbook.layout import ANY_CHANGE
from planner.present.workbook.sheet import Sheet
from planner.present.workbook.styles import headline_shown

_HEAD: Final = ("Outcome", "As planned", "Unit", "P10", "P50", "P90", "Key")
_SWINGS: Final = (
    "Input, alone at its P10 and at its P90",
    "Result at P10",
    "Unit",
    "Result at P90",
    "Width",
    "",
    "Key",
)
HEAD_ROW, LAST_PRINTED = 4, 5
_LISTED: Final = 10
"""Inputs named one by one; the others stand together."""


def draw_risk(sheet: Sheet, frame: Frame) -> None:
    """P10, P50 and P90 of outcomes, and the inputs that move one of them most."""
    evaluation = frame.evaluation
    sheet.text(0, 0, "Risk", "title")
    sheet.status(0, 1, frame.status)
    sheet.text(
        1,
        0,
        "Computed by the planner from draws of all ranged inputs; static here, and of the plan as it was run.",
        "quiet",
    )
    said = "These ranges are of the plan before inputs or the case were changed: import the workbook and run it again."
    sheet.formula(2, 0, f'=IF({ANY_CHANGE},"{said}","")', "", "banner")
    for column, width in enumerate((62, 16, 13, 16, 16, 16, 46)):
        sheet.raw.set_column(column, column, width)
    sheet.head(HEAD_ROW, _HEAD, right=frozenset({1, 3, 4, 5}))
    sheet.raw.freeze_panes(HEAD_ROW + 1, 1)
    row = HEAD_ROW + 1
    for key, found in evaluation.ranges.items():
        line = frame.ledger.lines.get(key)
        if line is None:
            continue
        shown = headline_shown(line.unit, frame.value(line))
        sheet.text(row, 0, line.label)
        sheet.number(row, 1, shown.of(frame.value(line)), "computed", shown.pattern)
        sheet.text(row, 2, shown.unit, "unit")
        for column, value in ((3, found.p10), (4, found.p50), (5, found.p90)):
            if math.isfinite(value):
                sheet.number(row, column, shown.of(value), "computed", shown.pattern)
        sheet.text(row, 6, key, "key")
        row += 1
    if not evaluation.ranges:
        sheet.text(row, 0, "No ranges were drawn for this plan.", "quiet")
        row += 1
    if evaluation.risk is not None:
        _swings(sheet, frame, evaluation.risk, row + 1)


def _swings(sheet: Sheet, frame: Frame, risk: Uncertainty, row: int) -> None:
    line = frame.ledger[risk.key]
    shown = headline_shown(line.unit, risk.value)
    sheet.text(row, 0, f"What moves: {line.label}", "heading")
    for column in range(1, len(_HEAD)):
        sheet.raw.write_blank(row, column, None, sheet.styles.get("heading"))
    sheet.head(row + 1, _SWINGS, right=frozenset({1, 3, 4}))
    shown_swings = [*risk.swings[:_LISTED], *([risk.rest] if risk.rest is not None else [])]
    for at, swing in enumerate(shown_swings, start=row + 2):
        sheet.text(at, 0, swing.factor.name)
        for column, value in ((1, swing.at_low), (3, swing.at_high), (4, swing.width)):
            sheet.number(at, column, shown.of(value), "computed", shown.pattern)
        sheet.text(at, 2, shown.unit, "unit")
        sheet.text(at, 6, swing.factor.keys[0] if swing.factor.keys else "", "key")
    row += len(shown_swings) + 3
    for at, (name, value) in enumerate(
        (("Draws", risk.draws), ("Latin hypercubes", risk.cubes), ("Seed", risk.seed), ("Inputs drawn", risk.inputs)), start=row
    ):  # fmt: skip
        sheet.text(at, 0, name)
        sheet.number(at, 1, value, "computed", "0")
        sheet.text(at, 2, "number", "unit")
