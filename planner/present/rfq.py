"""A request for quotes as a workbook: what is needed and when, with blank columns for vendors to fill in.

Filled in and saved, it is read back as a quote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from io import BytesIO
from typing import Any, Final

import xlsxwriter

import planner
from planner.design.bom import LABELS, BomRow
from planner.design.orders import Order, first_day, orders_of
from planner.evaluate import Evaluation
from planner.present.bom_csv import built_of
from planner.present.workbook.styles import BLUE, DARK, FONT, PALE_GREY, PALE_YELLOW
from planner.study.procurement import by_order

ASKED: Final = ("Vendor", "Quote id", "Quote date", "Valid until", "Currency")
"""Lines above the table, which hold for all rows."""
FIRST: Final = len(ASKED) + 4
"""Row of the headings, from 0."""
CURRENCIES: Final = ("USD", "EUR", "GBP", "CHF", "JPY", "CNY", "TWD", "KRW", "SGD")
DATE: Final = "yyyy-mm-dd"
_HELP: Final = (
    "Fill in the yellow cells. A row without a unit price is not offered. For a quantity break, copy the row and "
    "state the smallest quantity from which its price holds. Leave the catalog id as it is."
)


@dataclass(frozen=True, slots=True)
class Blank:
    """A column for vendors.

    Attributes:
        rule: Validation of its cells, as XlsxWriter takes it.
        pattern: Number format.
    """

    heading: str
    width: int
    rule: dict[str, Any] = field(default_factory=dict)
    pattern: str = "General"


def _least(value: float, most: float, title: str, message: str) -> dict[str, Any]:
    return {
        "validate": "decimal", "criteria": "between", "minimum": value, "maximum": most, "error_title": title,
        "error_message": message,
    }  # fmt: skip


def _percent(when: str) -> dict[str, Any]:
    return _least(0, 100, "Share", f"Percent of the price that is paid {when}, from 0 to 100.")


def _blanks(as_of: date) -> tuple[Blank, ...]:
    day = {
        "validate": "date", "criteria": ">=", "value": as_of, "error_title": "Date",
        "error_message": f"A date of {as_of} or later.",
    }  # fmt: skip
    above = _least(1e-6, 1e12, "Number", "A number above 0.")
    return (
        Blank("Part number", 22),
        Blank("Min quantity", 12, _least(1, 1e9, "Quantity", "1 or more."), "#,##0"),
        Blank("Unit price", 14, above, "#,##0.00##"),
        Blank("Lead time (weeks)", 12, _least(0, 208, "Weeks", "Weeks from the order, 0 to 208."), "0.#"),
        Blank("Valid until", 13, day, DATE),
        Blank("MOQ", 10, _least(1, 1e9, "Quantity", "1 or more."), "#,##0"),
        Blank("Deposit %", 10, _percent("with the order"), "0.#"),
        Blank("On ship %", 10, _percent("on shipment"), "0.#"),
        Blank("On acceptance %", 13, _percent("on acceptance"), "0.#"),
        Blank("Net days", 10, _least(0, 365, "Days", "Days until an invoice is paid, 0 to 365."), "0"),
        Blank("Support years", 10, _least(0, 15, "Years", "Years of support, 0 to 15."), "0.#"),
        Blank("Support price", 14, _least(0, 1e12, "Price", "For one part and all those years; blank where included."),
              "#,##0.00"),
        Blank("Remarks", 40),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """A part with what each order buys of it, all its places in the design together."""

    row: BomRow
    quantities: tuple[float, ...]


def wanted_parts(evaluation: Evaluation, orders: Sequence[Order]) -> tuple[Wanted, ...]:
    """What is asked for, a part once, in the order of the bill.

    Raises:
        DesignError: The plan can't be built.
    """
    found: dict[tuple[str, str], Wanted] = {}
    for row in built_of(evaluation).bom:
        key = (row.demand.entry.item.id, row.demand.unit)
        more = by_order(evaluation, row, orders)
        before = found[key].quantities if key in found else (0.0,) * len(orders)
        first = found[key].row if key in found else row
        found[key] = Wanted(first, tuple(a + b for a, b in zip(before, more, strict=True)))
    return tuple(found.values())


def rfq_bytes(evaluation: Evaluation) -> bytes:
    """The workbook; the same plan gives the same bytes.

    Raises:
        DesignError: The plan can't be built.
    """
    orders = orders_of(evaluation.loaded, evaluation.parts.as_of)
    parts, blanks = wanted_parts(evaluation, orders), _blanks(first_day(evaluation.parts.as_of))
    buffer = BytesIO()
    book = xlsxwriter.Workbook(
        buffer,
        {
            "in_memory": True,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
        },
    )
    book.set_properties(
        {
            "title": f"Request for quotes: {evaluation.loaded.scenario.name}",
            "author": f"cluster-planner {planner.__version__}",
            "comments": f"scenario {evaluation.loaded.digest()}",
            "created": datetime(2000, 1, 1),
        }
    )
    sheet = _Sheet(book, book.add_worksheet("RFQ"))
    sheet.top(evaluation, blanks)
    sheet.table(parts, orders, blanks)
    book.close()
    return buffer.getvalue()


class _Sheet:
    """The one sheet, and its formats."""

    def __init__(self, book: Any, raw: Any) -> None:
        self.book, self.raw = book, raw
        self.formats: dict[tuple[tuple[str, Any], ...], Any] = {}

    def style(self, **properties: Any) -> Any:
        """A format, made once."""
        key = tuple(sorted(properties.items()))
        if key not in self.formats:
            self.formats[key] = self.book.add_format({**FONT, **properties})
        return self.formats[key]

    def blank(self, row: int, column: int, pattern: str = "General") -> None:
        """A cell to fill in."""
        style = self.style(
            bg_color=PALE_YELLOW, font_color=BLUE, border=1, border_color="#BFBFBF", num_format=pattern
        )
        self.raw.write_blank(row, column, None, style)

    def top(self, evaluation: Evaluation, blanks: Sequence[Blank]) -> None:
        """Title, what to do, and the cells that hold for the whole quote."""
        title = f"Request for quotes: {evaluation.loaded.scenario.name}"
        self.raw.write_string(0, 0, title, self.style(bold=True, font_size=14, font_color=DARK))
        self.raw.write_string(1, 0, _HELP, self.style(italic=True))
        rules = {one.heading: one for one in blanks}
        day = {**rules["Valid until"].rule}
        for at, name in enumerate(ASKED):
            row = at + 2
            self.raw.write_string(row, 0, name, self.style(bold=True))
            dated = name in ("Quote date", "Valid until")
            self.blank(row, 1, DATE if dated else "@" if name != "Currency" else "General")
            if dated:
                oldest = (
                    day
                    if name == "Valid until"
                    else {**day, "value": date(2000, 1, 1), "error_message": "A date."}
                )
                self.raw.data_validation(row, 1, row, 1, oldest)
            elif name == "Currency":
                codes = sorted({*CURRENCIES, *evaluation.loaded.scenario.money.currencies})
                self.raw.data_validation(row, 1, row, 1, {"validate": "list", "source": codes})

    def table(self, parts: Sequence[Wanted], orders: Sequence[Order], blanks: Sequence[Blank]) -> None:
        """A row for each part: what is needed, then the cells to fill in."""
        fixed = ["Catalog id", "Description", "Class", "Unit"]
        needed = [f"Needed for order {order.id} ({order.ordered})" for order in orders]
        headings = [*fixed, *needed, "Total quantity", "Needed by", *(one.heading for one in blanks)]
        widths = [26, 46, 22, 8, *(14 for _ in orders), 14, 13, *(one.width for one in blanks)]
        head = self.style(bold=True, bg_color=DARK, font_color="#FFFFFF", text_wrap=True, valign="top")
        for column, (heading, width) in enumerate(zip(headings, widths, strict=True)):
            self.raw.set_column(column, column, width)
            self.raw.write_string(FIRST, column, heading, head)
        for at, one in enumerate(parts, start=FIRST + 1):
            self._part(at, one, orders)
            for column, blank in enumerate(blanks, start=len(headings) - len(blanks)):
                self.blank(at, column, blank.pattern)
        start, last = len(headings) - len(blanks), FIRST + len(parts)
        for column, blank in enumerate(blanks, start=start):
            if blank.rule and parts:
                self.raw.data_validation(
                    FIRST + 1, column, last, column, {**blank.rule, "ignore_blank": True}
                )
        self._print(last, len(headings) - 1)

    def _part(self, at: int, one: Wanted, orders: Sequence[Order]) -> None:
        demand = one.row.demand
        grey = self.style(bg_color=PALE_GREY)
        count = self.style(bg_color=PALE_GREY, num_format="#,##0")
        due = [
            order.in_service
            for order, q in zip(orders, one.quantities, strict=True)
            if q > 0 and order.in_service
        ]
        texts = (demand.entry.item.id, demand.entry.item.name, LABELS[demand.asset_class],
                 "m" if demand.unit == "m" else "piece")  # fmt: skip
        for column, text in enumerate(texts):
            self.raw.write_string(at, column, text, grey)
        for column, quantity in enumerate(one.quantities, start=len(texts)):
            self.raw.write_number(at, column, quantity, count)
        column = len(texts) + len(one.quantities)
        self.raw.write_number(at, column, sum(one.quantities), count)
        if due:
            dated = self.style(bg_color=PALE_GREY, num_format=DATE)
            self.raw.write_datetime(at, column + 1, datetime.combine(min(due), datetime.min.time()), dated)
        else:
            self.raw.write_blank(at, column + 1, None, grey)

    def _print(self, last_row: int, last_column: int) -> None:
        self.raw.freeze_panes(FIRST + 1, 2)
        self.raw.set_landscape()
        self.raw.set_paper(9)
        self.raw.print_area(0, 0, last_row, last_column)
        self.raw.fit_to_pages(1, 0)
        self.raw.repeat_rows(FIRST)
        self.raw.set_row(FIRST, 44)
