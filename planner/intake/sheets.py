"""Rows of text from CSV files and workbooks, with what stands where."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

from planner.errors import InputError, Place, Problem

MAX_BYTES: Final = 10_000_000
MAX_UNPACKED_BYTES: Final = 200_000_000
MAX_ROWS: Final = 20_000
MAX_COLUMNS: Final = 200
MAX_SAID: Final = 120
"""Characters of a text that a problem repeats."""
UNCALCULATED: Final = "\x00formula"
"""Stands for a formula whose value is not in the file."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of one sheet.

    Attributes:
        name: As problems call it: the file, and the sheet of a workbook.
        rows: Texts of each row; numbers as Python writes them, dates as YYYY-MM-DD.
    """

    name: str
    rows: tuple[tuple[str, ...], ...]


def read_sheets(path: Path) -> tuple[Sheet, ...]:
    """Sheets of a CSV file or a workbook.

    Raises:
        InputError: It can't be read, is too large, or is neither.
    """
    raw = _raw(path)
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        return _workbook(path, raw)
    if path.suffix.lower() in (".csv", ".tsv", ".txt"):
        return (_csv(path, raw),)
    raise InputError(
        Problem(
            f"'{path.suffix}' files of quotes are not read",
            Place(str(path)),
            remedy="save it as .csv or .xlsx",
        )
    )


def _raw(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(Problem(f"can't be read: {error.strerror or error}", Place(str(path)))) from error
    if len(raw) > MAX_BYTES:
        raise InputError(
            Problem(
                f"has more than {MAX_BYTES:,} bytes", Place(str(path)), remedy="keep only the quote in it"
            )
        )
    return raw


def _csv(path: Path, raw: bytes) -> Sheet:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = Place(str(path), raw[: error.start].count(b"\n") + 1)
        raise InputError(Problem("is not UTF-8", place, remedy="save it as CSV UTF-8")) from error
    head = "\n".join(text.splitlines()[:20])
    mark = max(",;\t", key=head.count)
    rows: list[tuple[str, ...]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    try:
        for row in reader:
            # a row stands on the line on which it begins, and its number is that of the last line it takes
            rows += [()] * (reader.line_num - len(rows) - 1)
            rows.append(tuple(row))
            _refuse_size(str(path), len(rows), len(row))
    except csv.Error as error:
        raise InputError(
            Problem(f"is no CSV: {error}", Place(str(path), reader.line_num), remedy="save it as CSV UTF-8")
        ) from error
    return Sheet(str(path), tuple(rows))


def _refuse_size(name: str, rows: int, columns: int) -> None:
    if rows > MAX_ROWS or columns > MAX_COLUMNS:
        raise InputError(
            Problem(
                f"has more than {MAX_ROWS:,} rows or {MAX_COLUMNS} columns", Place(name, rows),
                remedy="keep only the quote in it",
            )
        )  # fmt: skip


def _workbook(path: Path, raw: bytes) -> tuple[Sheet, ...]:
    """Sheets of a workbook that is only read, after a look at how large it is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            size = sum(one.file_size for one in packed.infolist())
        if size <= MAX_UNPACKED_BYTES:
            return tuple(_visible(path, _opened(raw, data_only=True), _opened(raw, data_only=False)))
    except InputError:
        raise
    except Exception as error:  # whatever a broken package makes the reader raise, sheet by sheet
        raise InputError(
            Problem(
                f"is no workbook that can be read: {str(error)[:MAX_SAID]}",
                Place(str(path)),
                remedy="save it as .xlsx again, or as CSV",
            )
        ) from error
    raise InputError(
        Problem(f"has {size:,} bytes unpacked", Place(str(path)), remedy="keep only the quote in it")
    )


def _visible(path: Path, values: Any, formulas: Any) -> Iterator[Sheet]:
    """Sheets that people see: a price on a hidden one is no offer."""
    for sheet in values.worksheets:
        if sheet.sheet_state != "visible":
            continue
        name, written = f"{path}[{sheet.title}]", formulas[sheet.title]
        for one in (sheet, written):
            one.reset_dimensions()  # a wrong size in the file would cut rows off
        rows: list[tuple[str, ...]] = []
        for found, typed in zip(sheet.iter_rows(), written.iter_rows(), strict=False):
            _refuse_size(name, len(rows) + 1, len(found))
            rows.append(tuple(_text(one, other) for one, other in zip(found, typed, strict=False)))
        yield Sheet(name, tuple(rows))


def _opened(raw: bytes, *, data_only: bool) -> Any:
    from openpyxl import load_workbook

    return load_workbook(io.BytesIO(raw), read_only=True, data_only=data_only, keep_links=False)


def _text(cell: Any, written: Any) -> str:
    value = cell.value
    if value is None:
        return UNCALCULATED if isinstance(written.value, str) and written.value.startswith("=") else ""
    if isinstance(value, datetime | date):
        return value.strftime("%Y-%m-%d")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        # four digits after the point: a cell's number is not mistaken for one with thousands
        shown = (
            f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.10f}".rstrip("0")
        )
        whole, _, cents = shown.partition(".")
        text = f"{whole}.{cents.ljust(4, '0')}" if cents else whole
        return f"{number_percent(float(value))}%" if "%" in str(cell.number_format) else text
    return str(value).strip()


def number_percent(value: float) -> str:
    """A cell of the format percent as what is seen in it.

    >>> number_percent(0.3)
    '30'
    """
    return f"{value * 100:.6f}".rstrip("0").rstrip(".")
