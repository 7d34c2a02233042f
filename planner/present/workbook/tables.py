"""Three tables with columns of their own: bill of materials, power by part, cash by year."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from planner.design.bom import AssetClass, BomRow
from planner.ledger import Line
from planner.present.workbook.calc import Frame, write_scalar, years_of
from planner.present.workbook.cells import SheetCells, letters, quoted
from planner.present.workbook.layout import (
    BOM,
    BOM_BOUGHT,
    BOM_COST,
    BOM_PRICE,
    BOM_SERVICE,
    CASH,
    FIRST_ROW,
    FIRST_YEAR,
    HEAD_ROW,
    NAME,
    POWER,
    POWER_COUNT,
    POWER_STATES,
    TIMING,
    UNIT,
    YEAR_ROW,
    class_label,
)
from planner.present.workbook.sheet import Sheet
from planner.present.workbook.styles import number_format, unit_text

_BOM_HEAD: Final = (
    "Part", "Unit", "In service", "Bought, with spares", "Price of one", "Cost, USD", "Basis", "Price date",
    "Source of the price", "Key, in service", "Key, bought", "Key, cost",
)  # fmt: skip
BOM_LAST_PRINTED: Final = 7
"""Date of the price; sources and keys stay on the screen."""
_POWER_HEAD: Final = (
    "Part", "Unit", "Running", "Idle, W", "Under load, W", "Peak, W", "Key, idle", "Key, under load", "Key, peak",
    "Key, running",
)  # fmt: skip


def bill_total_row(frame: Frame) -> int:
    """Row of the bill's total."""
    return frame.layout.bom[-1][0] + 1


def bill_of_materials(sheet: Sheet, frame: Frame) -> None:
    """Parts by class, each with counts, price and cost; the total below."""
    cells = SheetCells(frame.layout, BOM)
    sheet.head(HEAD_ROW, _BOM_HEAD, right=frozenset({2, 3, 4, 5}))
    for column, width in enumerate((58, 8, 13, 13, 16, 16, 7, 12, 50, 40, 40, 40)):
        sheet.raw.set_column(column, column, width)
    sheet.raw.freeze_panes(FIRST_ROW, UNIT)
    for row, entry in frame.layout.bom:
        if isinstance(entry, AssetClass):
            _band(sheet, row, class_label(entry), len(_BOM_HEAD))
        else:
            _part(sheet, frame, cells, row, entry)
            sheet.raw.set_row(row, None, None, {"level": 1})
    total, cost_column = bill_total_row(frame), letters(BOM_COST)
    sheet.raw.set_row(HEAD_ROW, 28)
    for column in range(NAME, BOM_COST):
        sheet.text(total, column, "" if column else "All parts", "total")
    cost = sum(frame.value(entry.cost) for _, entry in frame.layout.bom if isinstance(entry, BomRow))
    text = f"=SUM({cost_column}{FIRST_ROW + 1}:{cost_column}{total})"
    sheet.formula(total, BOM_COST, text, cost, "total", "#,##0")


def _part(sheet: Sheet, frame: Frame, cells: SheetCells, row: int, part: BomRow) -> None:
    demand = part.demand
    sheet.text(row, NAME, demand.name)
    sheet.text(row, UNIT, "m" if demand.unit == "m" else "piece", "unit")
    for column, line in (
        (BOM_SERVICE, demand.designed), (BOM_BOUGHT, part.count), (BOM_PRICE, part.price), (BOM_COST, part.cost),
    ):  # fmt: skip
        write_scalar(sheet, frame, cells, row, column, line)
    source = part.price_source or frame.ledger[part.price.key].source
    if source is not None:
        publication = frame.evaluation.parts.catalog.sources.get(source.source)
        sheet.text(row, 6, source.basis.letter, "middle")
        sheet.day(row, 7, source.as_of)
        sheet.text(row, 8, publication.title if publication else source.where, "quiet")
    for column, line in ((9, demand.designed), (10, part.count), (11, part.cost)):
        if frame.layout.lives_at(line.key, BOM, row):
            sheet.text(row, column, line.key, "key")


def power_of_parts(sheet: Sheet, frame: Frame) -> None:
    """Each consumer's count and draw by state."""
    cells = SheetCells(frame.layout, POWER)
    sheet.head(HEAD_ROW, _POWER_HEAD, right=frozenset({2, 3, 4, 5}))
    for column, width in enumerate((58, 11, 18, 16, 16, 16, 46, 46, 46, 46)):
        sheet.raw.set_column(column, column, width)
    sheet.raw.freeze_panes(FIRST_ROW, UNIT)
    labels = Counter(load.consumer.label for _, load in frame.layout.loads)
    for row, load in frame.layout.loads:
        one = load.consumer
        # The same switch in two tiers is two rows, and a name stands for one row only.
        sheet.text(row, NAME, one.label if labels[one.label] == 1 else f"{one.label} ({one.slug})")
        sheet.text(row, UNIT, "piece", "unit")
        write_scalar(sheet, frame, cells, row, POWER_COUNT, load.consumer.count)
        if frame.layout.lives_at(one.count.key, POWER, row):
            sheet.text(row, 9, one.count.key, "key")
        for column, line in zip(POWER_STATES, load.watts.values(), strict=True):
            write_scalar(sheet, frame, cells, row, column, line)
            if frame.layout.lives_at(line.key, POWER, row):
                sheet.text(row, column + 3, line.key, "key")


def _band(sheet: Sheet, row: int, title: str, width: int) -> None:
    sheet.text(row, NAME, title, "heading")
    for column in range(1, width):
        sheet.raw.write_blank(row, column, None, sheet.styles.get("heading"))


@dataclass(frozen=True, slots=True)
class Years:
    """Cash by year: rows of the roll-up on the cash-flow sheet, and the years along them."""

    head: int
    lines: tuple[Line, ...]
    count: int

    def row(self, line: Line) -> int:
        """Row of one line."""
        return self.head + 1 + self.lines.index(line)


def plan_years(frame: Frame) -> Years:
    """Which lines are rolled up, and where."""
    built = frame.evaluation.built
    assert built is not None
    lines = [*built.capex.payments, *built.opex.lines, built.cash.residual]
    if built.cash.revenue is not None:
        lines.append(built.cash.revenue)
    lines.append(built.cash.net)
    return Years(frame.layout.end[CASH] + 3, tuple(lines), years_of(frame.ledger.months)[-1] + 1)


def cash_by_year(sheet: Sheet, frame: Frame, years: Years) -> None:
    """The roll-up below the months: each year adds up its months by the year row of Timing."""
    cells = SheetCells(frame.layout, CASH)
    of_month, first, last = years_of(frame.ledger.months), cells.columns[0], cells.columns[-1]
    axis = f"{quoted(TIMING)}${first}${YEAR_ROW + 1}:${last}${YEAR_ROW + 1}"
    _band(sheet, years.head - 1, "By year; year 0 is the first payment", FIRST_YEAR + years.count)
    sheet.head(years.head, ("Name", "Unit", "", "Total"), right=frozenset({3}))
    for year in range(years.count):
        sheet.number(years.head, FIRST_YEAR + year, year, "head right", '"Year "0')
    for line in years.lines:
        row, values, home = years.row(line), frame.series(line), cells.spot(line.key)
        net = line.key == years.lines[-1].key
        role = "total" if net else "formula" if home.sheet == CASH else "link"
        sheet.text(row, NAME, f"{line.label}, by year", "total" if net else "text")
        sheet.text(row, UNIT, unit_text(line.unit), "unit")
        months = f"{cells.prefix(home.sheet)}${first}${home.row + 1}:${last}${home.row + 1}"
        pattern = number_format(line.unit, values)
        for year in range(years.count):
            text = f"=SUMIF({axis},{letters(FIRST_YEAR + year)}${years.head + 1},{months})"
            total = sum(value for value, at in zip(values, of_month, strict=True) if at == year)
            sheet.formula(row, FIRST_YEAR + year, text, total, role, pattern)
        start, end = letters(FIRST_YEAR), letters(FIRST_YEAR + years.count - 1)
        sheet.formula(
            row,
            3,
            f"=SUM({start}{row + 1}:{end}{row + 1})",
            sum(values),
            "total" if net else "formula",
            pattern,
        )
