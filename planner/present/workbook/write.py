"""Puts the workbook together."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from typing import Any, Final

import xlsxwriter

import planner
from planner.evaluate import Evaluation
from planner.ledger import Kind
from planner.present.workbook import (
    cables,
    calc,
    check_sheet,
    checks,
    inputs,
    notes,
    risk,
    selector,
    summary,
    tables,
)
from planner.present.workbook.cells import letters, quoted
from planner.present.workbook.layout import (
    BOM,
    CABLES,
    CASE_HEAD,
    CASH,
    CHANGES,
    CHECKS,
    FIRST_YEAR,
    HEAD_ROW,
    INPUT_BASIS,
    INPUT_HEAD,
    INPUTS,
    ORDER,
    POWER,
    POWER_STATES,
    RISK,
    SCENARIOS,
    SOURCES,
    STATUS_ROW,
    SUMMARY,
    TOTAL,
    Layout,
    lay_out,
)
from planner.present.workbook.named_style import name_the_input_style
from planner.present.workbook.names import excel_names
from planner.present.workbook.refusal import draw_refusal
from planner.present.workbook.sheet import Area, Sheet
from planner.present.workbook.styles import BLUE, PALE_YELLOW, Styles

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
    frame.status = check_sheet.status_text(planned, len(ORDER) - 1)
    sheets = {name: Sheet(book, name, styles) for name in ORDER}
    summary.draw_summary(book, sheets[SUMMARY], frame, years)
    inputs.draw_inputs(sheets[INPUTS], frame)
    selector.draw_scenarios(sheets[SCENARIOS], frame)
    risk.draw_risk(sheets[RISK], frame)
    for name in calc.TITLES:
        calc.draw(sheets[name], frame)
    tables.bill_of_materials(sheets[BOM], frame)
    cables.cable_schedule(sheets[CABLES], frame)
    tables.power_of_parts(sheets[POWER], frame)
    tables.cash_by_year(sheets[CASH], frame, years)
    notes.draw_sources(sheets[SOURCES], evaluation, frame.status)
    notes.draw_changes(sheets[CHANGES], evaluation, frame.status)
    others = [sheet for name, sheet in sheets.items() if name != CHECKS]
    check_sheet.draw_checks(sheets[CHECKS], [*planned, *checks.error_checks(others)])
    _names(book, frame, keys)
    for name, sheet in sheets.items():
        _finish(name, sheet, layout, years)


def _names(book: Any, frame: calc.Frame, headlines: list[str]) -> None:
    layout = frame.layout
    scalars = [key for key, spot in layout.spots.items() if spot.sheet == INPUTS and spot.column == 2]
    wanted = [*scalars, *(key for key in headlines if frame.ledger[key].kind is not Kind.GIVEN)]
    for key, name in excel_names(wanted).items():
        spot = layout.spots[key]
        book.define_name(name, f"={quoted(spot.sheet)}${letters(spot.column)}${spot.row + 1}")


def _finish(name: str, sheet: Sheet, layout: Layout, years: tables.Years) -> None:
    """Print set-up: on paper stand names, units, values and totals, and cash by year."""
    head, high, area = HEAD_ROW, 0, Area(last_column=TOTAL)
    if name == SUMMARY:
        sheet.finish(pages_high=1, area=Area(last_column=summary.LAST_PRINTED))
        return
    if name == INPUTS:
        # Tables lie to the right of what is printed.
        last = layout.tables_row - 1 if layout.tables else layout.end[INPUTS]
        head, area = INPUT_HEAD, Area(last_row=last, last_column=INPUT_BASIS)
    elif name == SCENARIOS:
        head, area = CASE_HEAD, Area(last_column=sheet.columns - 1)
    elif name == RISK:
        head, area = risk.HEAD_ROW, Area(last_column=risk.LAST_PRINTED)
    elif name == SOURCES:
        head, area = 2, Area(last_column=notes.LAST_PRINTED_SOURCES)
    elif name == CHANGES:
        head, area = 2, Area(last_column=notes.LAST_PRINTED_CHANGES)
    elif name == CHECKS:
        head, area = check_sheet.FIRST - 1, Area(last_column=check_sheet.RESULT)
    elif name == BOM:
        area = Area(last_column=tables.BOM_LAST_PRINTED)
    elif name == CABLES:
        area = Area(last_column=cables.LAST_PRINTED)
    elif name == POWER:
        area = Area(last_column=POWER_STATES[-1])
    elif name == CASH:
        head, high = STATUS_ROW, 1
        area = Area(years.head - 1, years.row(years.lines[-1]), FIRST_YEAR + years.count - 1)
    narrow = area.last_column == TOTAL
    sheet.finish(repeat=(head, head), pages_high=high, area=area, upright=narrow)
