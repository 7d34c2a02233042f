"""Sheets of formulas: one column structure, scalars in one column, months along the row."""

from __future__ import annotations

import math
import re
import shlex
from datetime import date
from typing import Final

from planner.evaluate import Evaluation
from planner.finance.timeline import start_of
from planner.ledger import Axis, Kind, Line
from planner.ledger.nodes import Binary, Expr, Irr, Mirr, Xirr, children
from planner.ledger.words import words
from planner.performance.evidence import SHOWN
from planner.present.workbook.cells import SheetCells, month_formulas, quoted, scalar_formula
from planner.present.workbook.layout import (
    BOM,
    CABLES,
    CAPEX,
    CASH,
    CHAIN,
    DATE_ROW,
    DEPRECIATION,
    FINANCE,
    FIRST_MONTH,
    FIRST_ROW,
    HEAD_ROW,
    HOW,
    KEY,
    METRICS,
    MONTHLY,
    NAME,
    NOTE_ROW,
    OPEX,
    PERFORMANCE,
    POWER,
    SHARE,
    STATUS_ROW,
    TAX,
    TIMING,
    TOTAL,
    UNIT,
    VALUE,
    YEAR_ROW,
    Layout,
)
from planner.present.workbook.sheet import NOT_A_NUMBER, Sheet, or_not_a_number
from planner.present.workbook.styles import number_format, unit_text
from planner.units import MONTHS_PER_YEAR

TITLES: Final = {
    TIMING: ("Timing", "When phases are paid and work, and the GPU-hours of each month."),
    BOM: ("Bill of materials", "What is bought. Counts in service come from the design; spares and prices are inputs."),
    CABLES: ("Cables", "Links by the length they are ordered in, as designed; below, what the cabling adds up to."),
    PERFORMANCE: ("Performance", "What the cluster delivers."),
    CAPEX: ("Capex", "The purchase by class, and when it is paid (cash in positive, so payments are negative)."),
    SHARE: ("Network share", "Cost, load and energy by what they serve; adapters stand with the servers."),
    POWER: ("Power", "From parts to the meter. Nameplate is not load: each part has its draw by state."),
    CHAIN: ("Power chain", "From the utility to the racks: what each stage loses, how many units of which size stand there."),
    OPEX: ("Opex", "Running costs by month, cash in positive."),
    DEPRECIATION: ("Depreciation", "Straight line from the month after a phase goes into service."),
    FINANCE: ("Finance", "Loan, lease and working capital, apart from the project's own flows; cash in positive."),
    TAX: ("Tax", "Income tax by fiscal year: deductions, losses and what is paid."),
    CASH: ("Cash flow", "Cash by month and its running balance; cash in positive."),
    METRICS: ("Metrics", "Present values, unit costs, and owning against renting."),
}  # fmt: skip
_HEAD: Final = ("Name", "Unit", "Value", "Total", "Key", "How it comes about")
_FLOWS: Final = ("USD", "GPU-h", "kWh")
_BALANCES: Final = re.compile(r"(^|_)(opening|closing|value|cumulative|grown|so_far|before|in_year)(_|$)")
"""Words in the name of a balance: adding up its months would mean nothing."""


_TEXTS: Final = {BOM: (9, 8), CABLES: (6, 7), POWER: (6, 7)}
"""Columns of key and explanation where a table stands above the rows."""


class Frame:
    """What the sheets of formulas need of an evaluation, worked out once."""

    def __init__(self, evaluation: Evaluation, layout: Layout, status: str) -> None:
        self.evaluation, self.layout, self.status = evaluation, layout, status
        self.ledger = evaluation.ledger
        self.fragile = _without_rate(self.ledger.lines)
        self.command = command(evaluation)

    def value(self, line: Line) -> float:
        """Value of a scalar line."""
        return float(self.ledger.values[line.key][0])

    def series(self, line: Line) -> list[float]:
        """Values of a line over months."""
        found: list[float] = self.ledger.values[line.key][0].tolist()
        return found


def command(evaluation: Evaluation) -> str:
    """What to type to make the report again."""
    loaded = evaluation.loaded
    shown = loaded.document.path
    name = loaded.stem if shown.startswith("templates/scenarios/") else shown
    places = loaded.document.places.values()
    changes = dict.fromkeys(place.path for place in places if place.path.startswith("--set "))
    wishes = [f"--set {shlex.quote(change.removeprefix('--set '))}" for change in changes]
    return " ".join(["planner run", shlex.quote(name), *wishes, "-o reports"])


def _without_rate(lines: dict[str, Line]) -> frozenset[str]:
    """Lines that may lack a value: a rate of return may not exist, and a payback may never come."""
    found: set[str] = set()
    for line in lines.values():
        if line.expression is not None and _reads_rate(line.expression, found):
            found.add(line.key)
    return frozenset(found)


def _reads_rate(expr: Expr, known: set[str]) -> bool:
    if isinstance(expr, Irr | Xirr | Mirr) or getattr(expr, "key", "") in known or _where_any(expr):
        return True
    return any(_reads_rate(child, known) for child in children(expr))


def _where_any(expr: Expr) -> bool:
    """Whether it is written as x * count / count, which is no number where the count is zero."""
    match expr:
        case Binary("/", Binary("*", _, before), divisor):
            return before is divisor
    return False


_NONE: Final = {
    FINANCE: "This plan has no loan, no lease and no working capital (money.debt, money.lease, money.working_capital).",
    TAX: "This plan is before tax (money.tax sets one).",
}
"""What a sheet says that has no rows."""


def draw(sheet: Sheet, frame: Frame) -> None:
    """Draw one sheet of formulas: its header, then its rows."""
    months = frame.ledger.months if sheet.name in MONTHLY else 0
    header(sheet, frame, months)
    cells = SheetCells(frame.layout, sheet.name)
    if sheet.name in _NONE and not frame.layout.rows.get(sheet.name):
        sheet.text(FIRST_ROW, NAME, _NONE[sheet.name], "quiet")
    for row in frame.layout.rows.get(sheet.name, ()):
        if row.line is None:
            sheet.text(row.row, NAME, row.heading, "heading")
            for column in range(UNIT, HOW + 1):
                sheet.raw.write_blank(row.row, column, None, sheet.styles.get("heading"))
        else:
            _line(sheet, frame, cells, row.row, row.line)
            if row.line.key.startswith("workload."):
                sheet.raw.set_row(row.row, None, None, {"level": 1})


def header(sheet: Sheet, frame: Frame, months: int) -> None:
    """Title, checks, what the sheet holds, time axis, headings, widths and frozen panes."""
    title, note = TITLES[sheet.name]
    sheet.text(STATUS_ROW, NAME, title, "title")
    sheet.status(STATUS_ROW, UNIT, frame.status)
    if sheet.name == PERFORMANCE and (names := measured_profiles(frame.evaluation)):
        note = f"{note} Collectives rest on measurements of profile {', '.join(names)}."
    sheet.text(NOTE_ROW, NAME, note, "quiet")
    computed = f"Grey italic values come from a new run only: change the scenario, then {frame.command}"
    sheet.text(NOTE_ROW, _TEXTS.get(sheet.name, (KEY, HOW))[0], computed, "quiet")
    for column, width in enumerate((46, 12, 17, 17, 16, 16) if months else (58, 12, 18, 16, 46, 84)):
        sheet.raw.set_column(column, column, width)
    sheet.raw.set_column(FIRST_MONTH, FIRST_MONTH + max(months, 1) - 1, _month_width(frame))
    if sheet.name in (BOM, CABLES, POWER):
        return
    sheet.head(HEAD_ROW, _HEAD, right=frozenset({VALUE, TOTAL}))
    if months:
        _time_axis(sheet, frame, months)
        sheet.raw.freeze_panes(FIRST_ROW, FIRST_MONTH)
    else:
        sheet.raw.freeze_panes(FIRST_ROW, UNIT)


def measured_profiles(evaluation: Evaluation) -> list[str]:
    """Calibration profiles whose measurements the plan's throughput rests on, by id."""
    assert evaluation.built is not None
    performance = evaluation.built.performance
    within = [
        one.curves.group(operation, one.curves.sizes[-1]).profile
        for one in performance.domains
        for operation in SHOWN
    ]
    return sorted({one for one in (*within, *performance.links.measured.profiles.values()) if one})


def _month_width(frame: Frame) -> int:
    """Room for the largest amount of any month."""
    largest = max(
        float(abs(frame.ledger.values[line.key][0]).max()) for line in frame.ledger if line.axis is Axis.MONTH
    )
    return max(9, len(f"-{largest:,.0f}") + 1)


def start_date(evaluation: Evaluation) -> date:
    """First day of the month of the first payment."""
    return date(*start_of(evaluation.loaded, evaluation.parts.as_of), 1)


def month_dates(evaluation: Evaluation, months: int) -> list[int]:
    """First days of the months as Excel counts days."""
    start, epoch = start_date(evaluation), date(1899, 12, 30)
    found = []
    for month in range(months):
        years, rest = divmod(start.month - 1 + month, 12)
        found.append((date(start.year + years, rest + 1, 1) - epoch).days)
    return found


def years_of(months: int) -> list[int]:
    """Year a month belongs to: 0 for the first payment, then twelve months each."""
    return [-(-month // int(MONTHS_PER_YEAR)) for month in range(months)]


def _time_axis(sheet: Sheet, frame: Frame, months: int) -> None:
    """Month number, date and year above each column; the other sheets link to Timing."""
    dates, years = month_dates(frame.evaluation, months), years_of(months)
    on_timing, at = sheet.name == TIMING, quoted(TIMING)
    spot = frame.layout.spots["timing.month"]
    names = SheetCells(frame.layout, sheet.name).columns
    if on_timing:
        sheet.text(DATE_ROW, NAME, "Month of; the value is that of the first payment")
        sheet.text(YEAR_ROW, NAME, "Year; the value is the months in one")
        sheet.number(DATE_ROW, VALUE, dates[0], "given", "mmm yy")
        sheet.number(YEAR_ROW, VALUE, MONTHS_PER_YEAR, "given", "0")
    else:
        sheet.text(DATE_ROW, HOW, "Month of", "unit")
        sheet.text(YEAR_ROW, HOW, "Year", "unit")
    start, per_year, role = f"$C${DATE_ROW + 1}", f"$C${YEAR_ROW + 1}", "formula" if on_timing else "link"
    for month, name in enumerate(names[:months]):
        column = FIRST_MONTH + month
        here = f"{name}{spot.row + 1}"
        date_text = f"=EDATE({start},{here})" if on_timing else f"={at}{name}${DATE_ROW + 1}"
        sheet.formula(DATE_ROW, column, date_text, dates[month], role, "mmm yy")
        if on_timing:
            sheet.formula(YEAR_ROW, column, f"=ROUNDUP({here}/{per_year},0)", years[month], role, "0")
        head = f"={here}" if on_timing else f"={at}{name}${HEAD_ROW + 1}"
        sheet.formula(HEAD_ROW, column, head, month, "head right", "0")
    if not on_timing:
        for month, name in enumerate(names[:months]):
            text = f"={at}{name}${YEAR_ROW + 1}"
            sheet.formula(YEAR_ROW, FIRST_MONTH + month, text, years[month], role, "0")


def _line(sheet: Sheet, frame: Frame, cells: SheetCells, row: int, line: Line) -> None:
    sheet.text(row, NAME, line.label)
    sheet.text(row, UNIT, unit_text(line.unit), "unit")
    key, said = _TEXTS.get(sheet.name, (KEY, HOW))
    sheet.text(row, key, line.key, "key")
    sheet.text(row, said, how(frame, line), "quiet")
    if line.axis is Axis.SCALAR:
        write_scalar(sheet, frame, cells, row, VALUE, line)
        return
    values = frame.series(line)
    pattern = number_format(line.unit, values)
    if line.kind is Kind.DERIVED:
        for column, (text, value) in enumerate(
            zip(month_formulas(cells, line), values, strict=True), start=FIRST_MONTH
        ):
            sheet.formula(row, column, text, value, "formula", pattern)
    else:
        role = "given" if line.kind is Kind.GIVEN else "computed"
        for column, value in enumerate(values, start=FIRST_MONTH):
            sheet.number(row, column, value, role, pattern)
    if line.unit in _FLOWS and not _BALANCES.search(line.key.rsplit(".", 1)[-1]):
        first, last = cells.columns[0], cells.columns[-1]
        text = f"=SUM({first}{row + 1}:{last}{row + 1})"
        sheet.formula(row, TOTAL, text, sum(values), "formula", number_format(line.unit, values))


def write_scalar(
    sheet: Sheet, frame: Frame, cells: SheetCells, row: int, column: int, line: Line, role: str = ""
) -> None:
    """A scalar line in its home, or a link to it where it lives elsewhere."""
    value, spot = frame.value(line), frame.layout.spots[line.key]
    pattern = number_format(line.unit, value)
    if (spot.sheet, spot.row, spot.column) != (sheet.name, row, column):
        sheet.formula(row, column, f"={cells.at(line.key, None)}", _linked(value), role or "link", pattern)
    elif line.kind is Kind.DERIVED:
        text = scalar_formula(cells, line)
        if line.key in frame.fragile:
            text = or_not_a_number(text)
        sheet.formula(row, column, text, value, role or "formula", pattern)
    else:
        sheet.number(row, column, value, role or "computed", pattern)


def _linked(value: float) -> float | str:
    """What a link to a cell shows: "n/a" is passed on as it is."""
    return value if math.isfinite(value) else NOT_A_NUMBER


def how(frame: Frame, line: Line) -> str:
    """Formula in words; of a computed line, what recomputes it."""
    said = words(line, frame.ledger.lines)
    if line.kind is Kind.COMPUTED:
        return f"by a new run: {said}"
    return f"the number {said}" if said.replace(".", "").isdigit() else said
