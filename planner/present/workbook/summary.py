"""The first page: the finding, the outcomes, cash by year, the purchase, owning against renting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import planner
from planner.evaluate import Evaluation
from planner.ledger import Kind, Ledger
from planner.present.view.outcomes import OUTCOMES, finding, headlines, power_limit_mw, verdict
from planner.present.workbook.calc import Frame
from planner.present.workbook.cells import SheetCells, letters, quoted
from planner.present.workbook.layout import (
    CASH,
    FIRST_MONTH,
    INPUT_CHANGED,
    INPUTS,
    SUMMARY,
    needs_a_run,
)
from planner.present.workbook.sheet import Sheet, or_not_a_number
from planner.present.workbook.styles import headline_format
from planner.present.workbook.tables import Years

_HEAD: Final = (
    "Outcome", "Value", "Unit", "P10", "P90", "Limit", "Met", "As planned", "Change", "Followed", "Key",
)  # fmt: skip
_WIDTHS: Final = (47, 14, 13, 11, 11, 13, 12, 13, 11, 16, 45)
_HEAD_ROW: Final = 5
BANNER: Final = "An input that needs a new run was changed: the values here are not those of such a plan."
_MORE: Final = (
    "outcome.waiting_usd_per_year", "outcome.idle_fraction", "outcome.ttft_p99_s", "power.facility_peak_w",
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
    """Limits by the key they judge, in the ledger's units."""
    wishes, found = evaluation.loaded.scenario, {}
    for outcome in OUTCOMES:
        wished = outcome.limit(wishes.limits) if outcome.limit is not None else None
        if wished is not None:
            found[outcome.judged_by or outcome.key] = wished * outcome.limit_scale
    if wishes.limits.ttft_p99_s is not None:
        found["outcome.ttft_p99_s"] = wishes.limits.ttft_p99_s
    power = power_limit_mw(wishes)
    if power is not None:
        found["power.facility_peak_w"] = power * 1e6
    return found


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
    said, _ = verdict(evaluation, headlines(evaluation))
    sheet.text(0, 0, finding(evaluation), "title")
    sheet.text(1, 0, said, "verdict")
    sheet.status(2, 0, frame.status)
    first, last = frame.layout.locked_row + 2, frame.layout.tables_row
    changed = f"{quoted(INPUTS)}${letters(INPUT_CHANGED)}${first}:${letters(INPUT_CHANGED)}${last}"
    sheet.formula(3, 0, f'=IF(COUNTIF({changed},TRUE)>0,"{BANNER}","")', "", "banner")
    for column, width in enumerate(_WIDTHS):
        sheet.raw.set_column(column, column, width)
    row = _outcomes(page) + 1
    row = _years(page, row, years) + 1
    row = _purchase(book, page, row) + 1
    row = _rent(page, row)
    stamp(sheet, evaluation, frame.command, row)


def _outcomes(page: _Page) -> int:
    sheet, frame = page.sheet, page.frame
    evaluation, ledger = frame.evaluation, frame.ledger
    assert evaluation.built is not None
    sheet.head(_HEAD_ROW, _HEAD, right=frozenset({1, 3, 4, 5, 7, 8}))
    fixed = needs_a_run(ledger, evaluation.built)
    free = frozenset(line.key for line in ledger if line.kind is Kind.GIVEN) - fixed
    moving, known = live(ledger, free), limits(evaluation)
    names = {outcome.key: outcome.name for outcome in OUTCOMES}
    row = _HEAD_ROW
    for row, key in enumerate(headline_keys(evaluation), start=_HEAD_ROW + 1):
        line, value = ledger[key], ledger.scalar(key)
        pattern, unit = headline_format(line.unit, value)
        follows, here = key in moving, row + 1
        shown: float | str = value if math.isfinite(value) else "n/a"
        sheet.text(row, 0, names.get(key, line.label), "text" if follows else "planner")
        sheet.formula(
            row, 1, f"={page.cells.at(key, None)}", shown, "link" if follows else "planner", pattern
        )
        sheet.text(row, 2, unit, "unit")
        found = evaluation.ranges.get(key)
        for column, bound in ((3, found.p10), (4, found.p90)) if found else ():
            if math.isfinite(bound):
                sheet.number(row, column, bound, "static", pattern)
        if key in known:
            limit = known[key]
            sheet.number(row, 5, limit, "input", pattern)
            met = f'=IF(F{here}="","",IF(B{here}<=F{here},"met","missed"))'
            sheet.formula(row, 6, met, "met" if value <= limit else "missed", "said")
        sheet.number(row, 7, value, "static", pattern)
        change = value - value if math.isfinite(value) else math.nan
        moved = f"=B{here}-H{here}"
        moved = or_not_a_number(moved) if key in frame.fragile else moved
        sheet.formula(row, 8, moved, change, "formula" if follows else "planner", pattern)
        sheet.text(row, 9, "live" if follows else "by planner only", "unit")
        sheet.text(row, 10, key, "key")
    alarm = {"type": "cell", "criteria": "==", "value": '"missed"', "format": sheet.styles.get("banner")}
    sheet.raw.conditional_format(_HEAD_ROW + 1, 6, row, 6, alarm)
    return row + 1


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
    pattern = "#,##0.00,,;-#,##0.00,,;0"
    by_year = {line.key: _by_year(frame, line.key, years.count) for line in years.lines}
    so_far, net_column = 0.0, letters(len(groups))
    for year in range(years.count):
        at, column = row + 1 + year, letters(FIRST_MONTH + year)
        sheet.text(at, 0, f"Year {year}" if year else "First payment (year 0)")
        for index, (_, lines) in enumerate(groups, start=1):
            rows = [years.row(line) + 1 for line in lines]
            prefix = quoted(CASH)
            text = (
                f"=SUM({prefix}{column}{rows[0]}:{column}{rows[-1]})"
                if len(rows) > 1
                else f"={prefix}{column}{rows[0]}"
            )
            sheet.formula(at, index, text, sum(by_year[line.key][year] for line in lines), "link", pattern)
        so_far += by_year[built.cash.net.key][year]
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
    pattern, unit = headline_format("USD", max(total, 1e6))
    first, last, before = row + 2, row + 1 + len(classes), 0.0
    for at, line in enumerate([*classes, built.capex.total], start=row + 1):
        amount, end = frame.value(line), at == row + 1 + len(classes)
        sheet.text(at, 0, line.label, "total" if end else "text")
        role = "link total" if end else "link"
        sheet.formula(at, 1, f"={page.cells.at(line.key, None)}", amount, role, pattern)
        sheet.text(at, 2, unit, "unit")
        if end or at == row + 1:
            sheet.number(at, 3, 0.0, "static", pattern)
        else:
            sheet.formula(at, 3, f"=D{at}+B{at}", before, "static", pattern)
        sheet.formula(at, 4, f"=B{at + 1}/$B${last + 1}", amount / total, "formula", "0.0%")
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
         "data_labels": {"value": True, "num_format": "#,##0.00,,", "font": {"size": 8, "color": "#000000"}}}
    )  # fmt: skip
    chart.set_title({"name": "What makes the purchase, M USD", "name_font": {"size": 10}, "overlay": False})
    chart.set_legend({"none": True})
    chart.set_y_axis({"reverse": True, "num_font": {"size": 8}, "major_tick_mark": "none", "crossing": "max"})
    chart.set_x_axis(
        {"num_format": "#,##0,,", "num_font": {"size": 8}, "min": 0,
         "major_gridlines": {"visible": True, "line": {"color": "#E0E0E0"}}}
    )  # fmt: skip
    chart.set_size({"width": 690, "height": 20 * (last - first + 4)})
    sheet.raw.insert_chart(top, 5, chart, {"x_offset": 12, "y_offset": 2})


def _rent(page: _Page, row: int) -> int:
    sheet, ledger = page.sheet, page.frame.ledger
    if "rent.npv_usd" not in ledger:
        return row
    sheet.head(row, ("Own against rent", "Value", "Unit"), right=frozenset({1}))
    for at, key in enumerate(_RENT, start=row + 1):
        line, value = ledger[key], ledger.scalar(key)
        pattern, unit = headline_format(line.unit, value)
        sheet.text(at, 0, line.label)
        sheet.formula(at, 1, f"={page.cells.at(key, None)}", value, "link", pattern)
        sheet.text(at, 2, unit, "unit")
    return row + len(_RENT) + 2


def stamp(sheet: Sheet, evaluation: Evaluation, command: str, row: int) -> None:
    """What made these numbers, how to make them again, and what the colours mean."""
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
