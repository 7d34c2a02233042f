"""The list by which finance rejects a workbook, as a program: what it finds, by cell.

The list: formulas of a row that are not one formula, numbers typed into formulas, sheets, rows or columns
that are hidden, numbers kept as text, inputs without unit, basis or source, error cells, merged cells,
links to other files, functions that recalculate at every look or that older programs don't have, names for
whole series, and iteration. Numbers allowed in a formula are 0 and 1 (and so -1): all others are cells.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.utils import column_index_from_string

from planner.present.workbook.layout import INPUTS, MONTHLY

VOLATILE = ("NOW", "TODAY", "RAND", "RANDBETWEEN", "OFFSET", "INDIRECT", "CELL", "INFO")
DYNAMIC = ("XLOOKUP", "XMATCH", "FILTER", "SEQUENCE", "LET", "LAMBDA", "UNIQUE", "SORT", "SORTBY", "RANDARRAY", "TEXTJOIN", "IFS", "SWITCH", "CONCAT")  # fmt: skip
FIRST_MONTH = 7
"""Column G: from here on monthly sheets have one formula a row."""
_STRING = re.compile(r'"[^"]*"')
_SHEET = re.compile(r"'[^']*'!|\b[A-Za-z_][\w.]*!")
_REFERENCE = re.compile(r"(\$?)\b([A-Z]{1,3})(\$?)(\d+)\b(?!\()")
_FUNCTION = re.compile(r"([A-Z][A-Z0-9._]*)\(")
_NUMBER = re.compile(r"(?<![A-Za-z_.$\d])(\d+\.?\d*(?:E[-+]?\d+)?|\.\d+)", re.IGNORECASE)
_TEXT_NUMBER = re.compile(r"[-+]?[\d,. ]*\d[\d,. ]*%?")


def findings(path: Path) -> list[str]:
    """Everything on the list that a workbook has; empty is the pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        formulas, values = openpyxl.load_workbook(path), openpyxl.load_workbook(path, data_only=True)
    found = [*_book(formulas)]
    for sheet in formulas.worksheets:
        found += [*_sheet(sheet), *_cells(sheet, values[sheet.title])]
        if sheet.title in MONTHLY:
            found += _rows(sheet)
    found += _inputs(formulas[INPUTS]) if INPUTS in formulas.sheetnames else ["no sheet of inputs"]
    formulas.close()
    values.close()
    return found


def _book(book: Any) -> Iterator[str]:
    if book._external_links:
        yield "links to another file"
    if book.calculation.iterate:
        yield "iteration is on"
    for name, defined in book.defined_names.items():
        if not re.fullmatch(r"(?:'[^']+'|\w+)!\$[A-Z]+\$\d+", str(defined.attr_text)):
            yield f"name {name} stands for {defined.attr_text}, which is no single cell"


def _sheet(sheet: Any) -> Iterator[str]:
    if sheet.sheet_state != "visible":
        yield f"{sheet.title} is hidden"
    yield from (
        f"{sheet.title}: row {row} is hidden" for row, one in sheet.row_dimensions.items() if one.hidden
    )
    yield from (
        f"{sheet.title}: column {column} is hidden"
        for column, one in sheet.column_dimensions.items()
        if one.hidden
    )
    yield from (f"{sheet.title}: {area} is merged" for area in sheet.merged_cells.ranges)


def _cells(sheet: Any, values: Any) -> Iterator[str]:
    for row in sheet.iter_rows():
        for cell in row:
            if cell.value is None:
                continue
            place = f"{sheet.title}!{cell.coordinate}"
            if cell.data_type == "f":
                yield from (f"{place}: {said}" for said in of_formula(str(cell.value)))
                value = values[cell.coordinate].value
                if value is None and '""' not in str(cell.value):  # an empty text is stored as nothing
                    yield f"{place}: no stored value"
                elif isinstance(value, str) and value.startswith("#"):
                    yield f"{place}: {value}"
            elif cell.data_type == "e":
                yield f"{place}: {cell.value}"
            elif isinstance(cell.value, str) and _TEXT_NUMBER.fullmatch(cell.value):
                yield f"{place}: the number {cell.value!r} is text"


def of_formula(text: str) -> Iterator[str]:
    """What is wrong with one formula."""
    bare = _STRING.sub('""', text)
    if "[" in bare:
        yield f"links to another file: {text}"
    for function in _FUNCTION.findall(bare):
        if function in VOLATILE:
            yield f"{function} recalculates at every look"
        if function in DYNAMIC or function.startswith("_XL"):
            yield f"{function} is missing in older programs"
    numbers = _NUMBER.findall(_REFERENCE.sub("", _SHEET.sub("", bare)))
    yield from (f"{number} is typed into {text}" for number in numbers if float(number) not in (0.0, 1.0))


def _rows(sheet: Any) -> Iterator[str]:
    """Formulas of each row from the first month on, compared as seen from their own cells."""
    for row in sheet.iter_rows(min_col=FIRST_MONTH):
        filled = [cell for cell in row if cell.value is not None]
        if not any(cell.data_type == "f" for cell in filled):
            continue
        first = relative(filled[0])
        for cell in filled[1:]:
            if relative(cell) != first:
                yield f"{sheet.title}!{cell.coordinate}: {cell.value} is not the formula of its row, {filled[0].value}"
                break


def relative(cell: Any) -> str:
    """A formula with its references as steps from the cell itself; a constant is a formula of its own."""
    if cell.data_type != "f":
        return "constant"

    def step(match: re.Match[str]) -> str:
        column = column_index_from_string(match[2])
        across = f"C{column}" if match[1] else f"C[{column - cell.column}]"
        return (f"R{match[4]}" if match[3] else f"R[{int(match[4]) - cell.row}]") + across

    return _REFERENCE.sub(step, str(cell.value))


def _inputs(sheet: Any) -> Iterator[str]:
    """Each input has a unit, a basis and a source; a figure has a date."""
    for row in sheet.iter_rows(min_row=4, max_col=12):
        key, value = row[11].value, row[2].value
        if not key or value is None:
            continue
        missing = [
            what
            for what, column in (("label", 1), ("unit", 3), ("basis", 8), ("source", 9))
            if row[column].value in (None, "")
        ]
        if row[8].value not in ("u", None) and row[10].value in (None, ""):
            missing.append("date")
        if missing:
            yield f"{sheet.title}!{row[2].coordinate}: {key} has no {', no '.join(missing)}"
