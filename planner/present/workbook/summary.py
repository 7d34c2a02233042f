"""The first page: the finding, the outcomes, cash by year, the purchase, owning against renting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import planner
from planner.evaluate import Evaluation
from planner.ledger import Kind, Ledger
from planner.present import format as fmt
from planner.present.view.outcomes import OUTCOMES, finding, headlines, noted_limits, verdict
from planner.present.workbook.calc import Frame
from planner.present.workbook.cells import SheetCells, letters, quoted
from planner.present.workbook.layout import (
    ANY_CHANGE,
    CASH,
    CHANGED,
    FIRST_YEAR,
    INPUT_CHANGED,
    INPUTS,
    SUMMARY,
    needs_a_run,
)
from planner.present.workbook.sheet import NOT_A_NUMBER, Sheet, or_not_a_number
from planner.present.workbook.styles import Shown, headline_shown
from planner.present.workbook.tables import Years
from planner.scenario.limits import LOAD_OUTCOME

_HEAD: Final = (
    "Outcome", "Value", "Unit", "P10", "P90", "Limit", "Met", "As planned", "Change", "Followed", "Key",
    "Limit as planned",
)  # fmt: skip
_WIDTHS: Final = (47, 14, 13, 11, 11, 13, 12, 13, 11, 16, 45, 17)
LAST_PRINTED: Final = 9
"""Column that says whether a row is followed; keys and planned limits stay on the screen."""
_HEAD_ROW: Final = 5
_MILLION: Final = 1e6
"""Cash and purchase are in M USD at any size."""
_LIMIT, _LIMIT_PLANNED = 5, 11
BANNER: Final = "An input that needs a new run was changed: the values here are not those of such a plan."
_MORE: Final = (
    "outcome.waiting_usd_per_year", "outcome.idle_fraction", "outcome.ttft_p99_s", LOAD_OUTCOME,
    "power.facility_peak_w",
    "power.energy_kwh_per_year", "design.racks", "opex.year1_usd", "tco.npv_usd", "tco.total_usd",
    "unit.usd_per_gpu_hour_sold", "unit.usd_per_training_run", "metrics.npv_usd", "metrics.irr_fraction",
)  # fmt: skip
"""Headlines after those of the outcomes bar."""
_RENT: Final = (
    "tco.npv_usd", "rent.npv_usd", "rent.saved_by_owning_usd", "rent.break_even_utilisation_fraction",
)  # fmt: skip


def headline_keys(evaluation: Evaluation) -> list[str]:
    """Keys of the outcome table, in its order."""
    keys = [outcome.key for outcome in OUTCOMES] + list(_MORE)
    if evaluation.ledger.lines.get("cash.revenue_usd") is None:
        keys.remove("metrics.npv_usd")  # without revenue it repeats the cost of ownership
    return [key for key in keys if key in evaluation.ledger]


def limits(evaluation: Evaluation) -> dict[str, float]:
    """Limits by the key they judge, in the ledger's units: those the verdict speaks of."""
    found = {
        outcome.judged_by or outcome.key: cell.limit
        for cell, outcome in zip(headlines(evaluation), OUTCOMES, strict=True)
        if cell.limit is not None and outcome.key in evaluation.ledger
    }
    noted = noted_limits(evaluation.loaded).items()
    return found | {key: limit.value for key, limit in noted if key in evaluation.ledger}


def live(ledger: Ledger, followed: frozenset[str]) -> frozenset[str]:
    """Lines that move when an input of the workbook moves."""
    found = set(followed)
    for line in ledger:
        if line.kind is Kind.DERIVED and any(key in found for key in ledger.inputs_of(line.key)):
            found.add(line.key)
    return frozenset(found)


@dataclass(slots=True)
class _Page:
    sheet: Sheet
    frame: Frame
    cells: SheetCells


def draw_summary(book: Any, sheet: Sheet, frame: Frame, years: Years) -> None:
    """The whole page, from the finding to the stamp."""
    page = _Page(sheet, frame, SheetCells(frame.layout, SUMMARY))
    evaluation = frame.evaluation
    sheet.status(2, 0, frame.status)
    first, last = frame.layout.locked_row + 2, frame.layout.tables_row
    changed = f"{quoted(INPUTS)}${letters(INPUT_CHANGED)}${first}:${letters(INPUT_CHANGED)}${last}"
    sheet.formula(3, 0, f'=IF(COUNTIF({changed},"{CHANGED}")>0,"{BANNER}","")', "", "banner")
    for column, width in enumerate(_WIDTHS):
        sheet.raw.set_column(column, column, width)
    row = after_outcomes = _outcomes(page) + 1
    row = _years(page, row, years) + 1
    row = _purchase(book, page, row) + 1
    row = _rent(page, row)
    row = stamp(sheet, evaluation, frame.command, row)
    _said(page, row, after_outcomes - 1)


def _said(page: _Page, row: int, end: int) -> None:
    """Finding and verdict on top; once something they rest on was changed they say of what they speak.

    The texts themselves stand below the stamp: text of a scenario never becomes part of a formula.
    """
    sheet, evaluation = page.sheet, page.frame.evaluation
    said, title = verdict(evaluation, headlines(evaluation))[0].removesuffix("."), finding(evaluation)
    for at, (name, text) in enumerate(
        (("Finding, as planned", title), ("Verdict, as planned", said)), start=row
    ):
        sheet.text(at, 0, name)
        sheet.text(at, 1, text)
    text = f'=IF({ANY_CHANGE},"As planned: "&$B${row + 1},$B${row + 1})'
    sheet.formula(0, 0, text, title, "title")
    if not limits(evaluation):
        sheet.text(1, 0, f"{said}.", "verdict")  # true whatever is changed
        return
    limit, planned = (
        f"${letters(at)}${_HEAD_ROW + 2}:${letters(at)}${end}" for at in (_LIMIT, _LIMIT_PLANNED)
    )
    other = f"OR({ANY_CHANGE},SUMPRODUCT(--({limit}<>{planned}))>0)"
    text = f'=IF({other},"As planned: "&$B${row + 2}&"; limits below are judged again.",$B${row + 2}&".")'
    sheet.formula(1, 0, text, f"{said}.", "verdict")


def _outcomes(page: _Page) -> int:
    sheet, frame = page.sheet, page.frame
    evaluation, ledger = frame.evaluation, frame.ledger
    assert evaluation.built is not None
    sheet.head(_HEAD_ROW, _HEAD, right=frozenset({1, 3, 4, 5, 7, 8, 11}))
    fixed = needs_a_run(ledger, evaluation.built)
    free = frozenset(line.key for line in ledger if line.kind is Kind.GIVEN) - fixed
    moving, known = live(ledger, free), limits(evaluation)
    names = {outcome.key: outcome.name for outcome in OUTCOMES}
    row = _HEAD_ROW
    sheet.raw.set_row(_HEAD_ROW, 28)
    for column in (3, 4):
        # Ranges come from draws of the planner: those of other inputs are not known here.
        text = f'=IF({ANY_CHANGE},"{_HEAD[column]}, as planned","{_HEAD[column]}")'
        sheet.formula(_HEAD_ROW, column, text, _HEAD[column], "head right")
    for row, key in enumerate(headline_keys(evaluation), start=_HEAD_ROW + 1):
        line, value = ledger[key], ledger.scalar(key)
        shown = headline_shown(line.unit, value)
        follows, here, pattern = key in moving, row + 1, shown.pattern
        sheet.text(row, 0, names.get(key, line.label), "text" if follows else "planner")
        text = shown.formula(page.cells.at(key, None), page.cells.constant)
        text = or_not_a_number(text) if key in frame.fragile and shown.divisor != 1 else text
        role = "link" if follows else "planner"
        sheet.formula(row, 1, text, shown.of(value) if math.isfinite(value) else NOT_A_NUMBER, role, pattern)
        sheet.text(row, 2, shown.unit, "unit")
        found = evaluation.ranges.get(key)
        for column, bound in ((3, found.p10), (4, found.p90)) if found else ():
            if math.isfinite(bound):
                sheet.number(row, column, shown.of(bound), "static", pattern)
        if key in known:
            _limit(sheet, row, shown, shown.of(value), shown.of(known[key]))
        sheet.number(row, 7, shown.of(value), "static", pattern)
        change = value - value if math.isfinite(value) else math.nan
        moved = f"=B{here}-H{here}"
        moved = or_not_a_number(moved) if key in frame.fragile else moved
        sheet.formula(row, 8, moved, change, "formula" if follows else "planner", pattern)
        sheet.text(row, 9, "live" if follows else "by planner only", "unit")
        sheet.text(row, 10, key, "key")
    alarm = {"type": "cell", "criteria": "==", "value": '"missed"', "format": sheet.styles.get("banner")}
    sheet.raw.conditional_format(_HEAD_ROW + 1, 6, row, 6, alarm)
    return row + 1


def _limit(sheet: Sheet, row: int, shown: Shown, value: float, limit: float) -> None:
    """A limit to type over, in the unit of its row, and whether the value meets it."""
    here = row + 1
    sheet.number(row, _LIMIT, limit, "input", shown.pattern)
    sheet.number(row, _LIMIT_PLANNED, limit, "static", shown.pattern)
    rule = {
        "validate": "decimal",
        "criteria": ">=",
        "value": 0,
        "input_title": f"Limit in {shown.unit}",
        "input_message": f"At most so many {shown.unit}. As planned: {fmt.written(limit)} {shown.unit}. "
        "Empty: not judged.",
        "error_title": "Not a limit",
        "error_message": f"A number in {shown.unit}, zero or more.",
    }
    sheet.raw.data_validation(row, _LIMIT, row, _LIMIT, rule)
    judged = f'IF(ISNUMBER(B{here}),IF(B{here}<=F{here},"met","missed"),"{NOT_A_NUMBER}")'
    said = ("met" if value <= limit else "missed") if math.isfinite(value) else NOT_A_NUMBER
    sheet.formula(row, 6, f'=IF(F{here}="","",{judged})', said, "said")


def _years(page: _Page, row: int, years: Years) -> int:
    """One row a year: purchase, running costs, resale, revenue, net, so far."""
    sheet, frame = page.sheet, page.frame
    built = frame.evaluation.built
    assert built is not None
    groups: list[tuple[str, Sequence[Any]]] = [
        ("Purchase", built.capex.payments), ("Running costs", built.opex.lines), ("Resale", (built.cash.residual,)),
    ]  # fmt: skip
    if built.cash.revenue is not None:
        groups.append(("Revenue", (built.cash.revenue,)))
    groups.append(("Net cash", (built.cash.net,)))
    names = ("Cash by year, M USD (in positive)", *(name for name, _ in groups), "So far")
    sheet.head(row, names, right=frozenset(range(1, len(names))))
    shown = headline_shown("USD", _MILLION)
    pattern = f"{shown.pattern};-{shown.pattern};0"
    by_year = {line.key: _by_year(frame, line.key, years.count) for line in years.lines}
    so_far, net_column = 0.0, letters(len(groups))
    for year in range(years.count):
        at, column = row + 1 + year, letters(FIRST_YEAR + year)
        sheet.text(at, 0, f"Year {year}" if year else "First payment (year 0)")
        for index, (_, lines) in enumerate(groups, start=1):
            rows = [years.row(line) + 1 for line in lines]
            prefix = quoted(CASH)
            cells = f"{prefix}{column}{rows[0]}"
            cells = f"SUM({cells}:{column}{rows[-1]})" if len(rows) > 1 else cells
            total = shown.of(sum(by_year[line.key][year] for line in lines))
            sheet.formula(at, index, shown.formula(cells, page.cells.constant), total, "link", pattern)
        so_far += shown.of(by_year[built.cash.net.key][year])
        text = f"=SUM({net_column}${row + 2}:{net_column}{at + 1})"
        sheet.formula(at, len(groups) + 1, text, so_far, "formula", pattern)
    return row + years.count + 1


def _by_year(frame: Frame, key: str, count: int) -> list[float]:
    values: list[float] = frame.ledger.values[key][0].tolist()
    return [values[0], *(sum(values[12 * year - 11 : 12 * year + 1]) for year in range(1, count))]


def _purchase(book: Any, page: _Page, row: int) -> int:
    """Classes with where each bar starts, and the waterfall drawn from them."""
    sheet, frame = page.sheet, page.frame
    built = frame.evaluation.built
    assert built is not None
    head = ("Purchase by class", "Amount", "Unit", "Bar starts", "Share")
    sheet.head(row, head, right=frozenset({1, 3, 4}))
    classes, total = built.capex.classes, frame.value(built.capex.total)
    shown = headline_shown("USD", _MILLION)
    first, last, before = row + 2, row + 1 + len(classes), 0.0
    for at, line in enumerate([*classes, built.capex.total], start=row + 1):
        amount, end = shown.of(frame.value(line)), at == row + 1 + len(classes)
        sheet.text(at, 0, line.label, "total" if end else "text")
        role = "link total" if end else "link"
        sheet.formula(
            at,
            1,
            shown.formula(page.cells.at(line.key, None), page.cells.constant),
            amount,
            role,
            shown.pattern,
        )
        sheet.text(at, 2, shown.unit, "unit")
        if end or at == row + 1:
            sheet.number(at, 3, 0.0, "static", shown.pattern)
        else:
            sheet.formula(at, 3, f"=D{at}+B{at}", before, "static", shown.pattern)
        sheet.formula(at, 4, f"=B{at + 1}/$B${last + 1}", amount / shown.of(total), "formula", "0.0%")
        before += amount
    _waterfall(book, sheet, row, first - 1, last)
    return row + len(classes) + 2


def _waterfall(book: Any, sheet: Sheet, top: int, first: int, last: int) -> None:
    chart = book.add_chart({"type": "bar", "subtype": "stacked"})
    names = [SUMMARY, first, 0, last, 0]
    chart.add_series(
        {"name": "Bar starts", "categories": names, "values": [SUMMARY, first, 3, last, 3],
         "fill": {"none": True}, "border": {"none": True}}
    )  # fmt: skip
    chart.add_series(
        {"name": "Amount", "categories": names, "values": [SUMMARY, first, 1, last, 1], "gap": 35,
         "fill": {"color": "#9DC3E6"}, "border": {"none": True},
         "points": [None] * (last - first) + [{"fill": {"color": "#8497B0"}}],
         "data_labels": {"value": True, "num_format": "#,##0.00", "font": {"size": 8, "color": "#000000"}}}
    )  # fmt: skip
    chart.set_title({"name": "What makes the purchase, M USD", "name_font": {"size": 10}, "overlay": False})
    chart.set_legend({"none": True})
    chart.set_y_axis(
        {
            "reverse": True,
            "num_font": {"size": 8},
            "major_tick_mark": "none",
            "crossing": "max",
            "interval_unit": 1,
        }
    )
    chart.set_x_axis(
        {"num_format": "#,##0", "num_font": {"size": 8}, "min": 0,
         "major_gridlines": {"visible": True, "line": {"color": "#E0E0E0"}}}
    )  # fmt: skip
    chart.set_size({"width": 456, "height": 24 * (last - first + 4)})
    sheet.raw.insert_chart(top, 5, chart, {"x_offset": 12, "y_offset": 2})


def _rent(page: _Page, row: int) -> int:
    sheet, ledger = page.sheet, page.frame.ledger
    if "rent.npv_usd" not in ledger:
        return row
    sheet.head(row, ("Own against rent", "Value", "Unit"), right=frozenset({1}))
    for at, key in enumerate(_RENT, start=row + 1):
        line, value = ledger[key], ledger.scalar(key)
        shown = headline_shown(line.unit, value)
        sheet.text(at, 0, line.label)
        sheet.formula(
            at,
            1,
            shown.formula(page.cells.at(key, None), page.cells.constant),
            shown.of(value),
            "link",
            shown.pattern,
        )
        sheet.text(at, 2, shown.unit, "unit")
    return row + len(_RENT) + 2


def stamp(sheet: Sheet, evaluation: Evaluation, command: str, row: int) -> int:
    """What made these numbers, how to make them again, and what the colours mean; the next row."""
    loaded, parts = evaluation.loaded, evaluation.parts
    sheet.head(row, ("How this was made", "", "", "", ""))
    for at, (name, said) in enumerate(
        (
            ("Tool", f"cluster-planner {planner.__version__}"),
            ("Scenario, hash", f"{loaded.document.path}, {loaded.digest()}"),
            ("Catalog, hash", parts.catalog.digest()),
            ("Prices and parts as of", parts.as_of),
            ("To make it again", command),
            (
                "Colours",
                "blue: typed in; black: formula; green: from another sheet; grey italic: by the planner only",
            ),
        ),
        start=row + 1,
    ):
        sheet.text(at, 0, name)
        sheet.text(at, 1, said)
    return at + 1
