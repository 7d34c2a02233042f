"""Puts the workbook together."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from typing import Any, Final

import xlsxwriter

import planner
from planner.evaluate import Evaluation
from planner.ledger import Kind
from planner.present.workbook import calc, checks, inputs, notes, summary, tables
from planner.present.workbook.cells import letters, quoted
from planner.present.workbook.layout import (
    BOM,
    CASH,
    CHANGES,
    CHECKS,
    DATE_ROW,
    HEAD_ROW,
    INPUT_HEAD,
    INPUTS,
    MONTHLY,
    ORDER,
    POWER,
    SOURCES,
    SUMMARY,
    lay_out,
)
from planner.present.workbook.named_style import name_the_input_style
from planner.present.workbook.names import excel_names
from planner.present.workbook.refusal import draw_refusal
from planner.present.workbook.sheet import Sheet
from planner.present.workbook.styles import BLUE, PALE_YELLOW, Styles

_MONTHS_ON_A_PAGE: Final = 24
_OPTIONS: Final = {
    "in_memory": True,
    # Text from a scenario stays text, whatever it begins with.
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def workbook_bytes(evaluation: Evaluation) -> bytes:
    """The workbook of one evaluation; the same evaluation gives the same bytes."""
    buffer = BytesIO()
    book = xlsxwriter.Workbook(buffer, dict(_OPTIONS))
    book.set_size(2400, 1600)
    book.set_properties(
        {
            "title": evaluation.loaded.scenario.name,
            "subject": "Capacity plan and cost of ownership of an AI cluster",
            "author": f"cluster-planner {planner.__version__}",
            "comments": f"scenario {evaluation.loaded.digest()}, catalog {evaluation.parts.catalog.digest()}",
            "created": datetime(2000, 1, 1),
        }
    )
    styles = Styles(book)
    if evaluation.feasible:
        _draw(book, styles, evaluation)
    else:
        draw_refusal(book, styles, evaluation)
    book.close()
    return name_the_input_style(buffer.getvalue(), font=BLUE, fill=PALE_YELLOW)


def _draw(book: Any, styles: Styles, evaluation: Evaluation) -> None:
    layout = lay_out(evaluation, inputs.scenario_choices(evaluation))
    frame = calc.Frame(evaluation, layout, "")
    years, keys = tables.plan_years(frame), summary.headline_keys(evaluation)
    planned = checks.plan_checks(frame, years, keys)
    frame.status = checks.status_text(planned, len(ORDER) - 1)
    sheets = {name: Sheet(book, name, styles) for name in ORDER}
    summary.draw_summary(book, sheets[SUMMARY], frame, years)
    inputs.draw_inputs(sheets[INPUTS], frame)
    for name in calc.TITLES:
        calc.draw(sheets[name], frame)
    tables.bill_of_materials(sheets[BOM], frame)
    tables.power_of_parts(sheets[POWER], frame)
    tables.cash_by_year(sheets[CASH], frame, years)
    notes.draw_sources(sheets[SOURCES], evaluation, frame.status)
    notes.draw_changes(sheets[CHANGES], evaluation, frame.status)
    others = [sheet for name, sheet in sheets.items() if name != CHECKS]
    checks.draw_checks(sheets[CHECKS], [*planned, *checks.error_checks(others)])
    _names(book, frame, keys)
    for name, sheet in sheets.items():
        _finish(name, sheet, evaluation.ledger.months)


def _names(book: Any, frame: calc.Frame, headlines: list[str]) -> None:
    layout = frame.layout
    scalars = [key for key, spot in layout.spots.items() if spot.sheet == INPUTS and spot.column == 2]
    wanted = [*scalars, *(key for key in headlines if frame.ledger[key].kind is not Kind.GIVEN)]
    for key, name in excel_names(wanted).items():
        spot = layout.spots[key]
        book.define_name(name, f"={quoted(spot.sheet)}${letters(spot.column)}${spot.row + 1}")


def _finish(name: str, sheet: Sheet, months: int) -> None:
    if name == SUMMARY:
        sheet.finish(pages_high=1)
    elif name == INPUTS:
        sheet.finish(repeat=(INPUT_HEAD, INPUT_HEAD))
    elif name in (SOURCES, CHANGES):
        sheet.finish(repeat=(2, 2))
    elif name == CHECKS:
        sheet.finish(repeat=(checks.FIRST - 1, checks.FIRST - 1))
    else:
        monthly = name in MONTHLY
        pages = -(-months // _MONTHS_ON_A_PAGE) if monthly else 1
        sheet.finish(repeat=(DATE_ROW if monthly else HEAD_ROW, HEAD_ROW), pages_wide=pages)
