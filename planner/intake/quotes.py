"""Vendor quotes from CSV files and workbooks.

A quote is a table with a row of headings, after lines such as ``Vendor, Acme`` that hold for all of it. A part
has a row for each quantity break, or a column for each. Every row that is wrong is told, all of them at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

from planner.errors import InputError, Place, Problem
from planner.intake import cells
from planner.intake.headings import SIGNS, Columns, Field, columns_of, currency_in, field_of
from planner.intake.sheets import MAX_SAID, UNCALCULATED, Sheet, read_sheets
from planner.scenario.quotes import PaymentTerms, QuoteLine, Quotes

T = TypeVar("T")

_SUM: Final = re.compile(r"\s*(sub|grand )?\s*-?total\b.*|\s*sum\b.*", re.IGNORECASE)
_CODE: Final = re.compile(r"[A-Z]{3}")
_SAID: Final = (Field.MIN_QUANTITY, Field.MOQ, Field.LEAD_WEEKS, Field.SUPPORT_PRICE)
"""What nobody fills in for a part that isn't offered."""


def read_quotes(paths: Sequence[Path]) -> Quotes:
    """Prices of files of quotes, in the order of files and rows.

    Raises:
        InputError: Every problem of every file, each with file, row and remedy.
    """
    return _kept(tuple(_stamp(path) for path in paths))


def _stamp(path: Path) -> tuple[Path, int, int]:
    """A file with what changes when it does; zeros for one that reading will refuse."""
    try:
        known = path.stat()
    except OSError:
        return path, 0, 0
    return path, known.st_mtime_ns, known.st_size


@lru_cache(maxsize=16)
def _kept(stamps: tuple[tuple[Path, int, int], ...]) -> Quotes:
    """Files as read, until one changes: a sweep evaluates a scenario thousands of times."""
    found = _Found()
    for path, _, _ in stamps:
        try:
            sheets = read_sheets(path)
        except InputError as error:
            found.problems += error.problems
            continue
        before = len(found.lines) + len(found.problems) + len(found.declined)
        for sheet in sheets:
            _read_sheet(sheet, found)
        if len(found.lines) + len(found.problems) + len(found.declined) == before:
            found.problems.append(
                Problem(
                    "holds no table of prices", Place(str(path), 1),
                    remedy="head the columns part, unit price, currency, vendor, quote id, quote date, valid until",
                )
            )  # fmt: skip
    found.problems += _twice(found.lines)
    if found.problems:
        raise InputError(found.problems)
    return Quotes(tuple(found.lines), tuple(found.declined), tuple(found.ignored))


@dataclass(slots=True)
class _Found:
    lines: list[QuoteLine] = field(default_factory=list)
    declined: list[tuple[Place, str]] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def _read_sheet(sheet: Sheet, found: _Found) -> None:
    """Rows below the headings; a sheet without headings holds no quote."""
    head = next((at for at, row in enumerate(sheet.rows) if columns_of(row).heads_a_table), None)
    if head is None:
        return
    columns = columns_of(sheet.rows[head])
    for one, other in columns.twice:
        found.problems.append(
            Problem(
                f"'{one.strip()}' and '{other.strip()}' mean the same",
                Place(sheet.name, head + 1),
                remedy="keep one of them",
            )
        )
    found.ignored += [(sheet.name, heading) for heading in columns.ignored]
    above = _above(sheet.rows[:head])
    for at, row in enumerate(sheet.rows[head + 1 :], start=head + 2):
        if any(text.strip() for text in row) and not _is_sum(row, columns):
            _Row(Place(sheet.name, at), row, columns, above, found).read()


def _above(rows: Sequence[Sequence[str]]) -> dict[Field, str]:
    """Lines above the table that name a field and its value: ``Vendor, Acme`` or ``Vendor: Acme``."""
    found: dict[Field, str] = {}
    for row in rows:
        texts = [text.strip() for text in row if text.strip()]
        if len(texts) == 1 and ":" in texts[0]:
            texts = [part.strip() for part in texts[0].split(":", 1)]
        for name, value in zip(texts[::2], texts[1::2], strict=False):
            known = field_of(name.rstrip(":"))
            if known is not None and value:
                found.setdefault(known, value)
    return found


def _is_sum(row: Sequence[str], columns: Columns) -> bool:
    """A row of sums has a word for it first and no price of one part."""
    texts = [text for text in row if text.strip()]
    price = columns.fields.get(Field.PRICE)
    unpriced = price is None or price >= len(row) or not row[price].strip()
    return bool(_SUM.fullmatch(texts[0])) and unpriced


@dataclass(slots=True)
class _Row:
    """One row being read; what is wrong with it goes to the others' problems."""

    place: Place
    row: Sequence[str]
    columns: Columns
    above: dict[Field, str]
    found: _Found

    def read(self) -> None:
        """Enter a line for each price of the row."""
        before = len(self.found.problems)
        part, named = self.text(Field.PART), self.text(Field.CATALOG_ID)
        if not part and not named:
            self.wrong("part", "the row names no part", "name one, or remove the row")
        prices = self.prices()
        if not prices and len(self.found.problems) == before:
            if any(self.own(one) for one in _SAID):
                self.wrong(
                    "unit price", f"'{part or named}' has no price", "add it, or leave the whole row blank"
                )
            else:
                self.found.declined.append((self.place, part or named))
            return
        shared = self.shared()
        if len(self.found.problems) > before:
            return
        for least, price in prices:
            self.found.lines.append(
                QuoteLine(
                    place=self.place,
                    part=part or named,
                    catalog_id=named,
                    price=price,
                    min_quantity=least,
                    **shared,
                )
            )

    def shared(self) -> dict[str, Any]:
        """What holds for all prices of the row."""
        found: dict[str, Any] = {
            "vendor": self.needed(Field.VENDOR, "who quotes it"),
            "quote_id": self.needed(Field.QUOTE_ID, "the number of the quote"),
            "date": self.parsed(Field.DATE, cells.day) or self.needed(Field.DATE, "the day of the quote"),
            "valid_until": self.parsed(Field.VALID_UNTIL, cells.day) or "",
            "currency": self.currency(),
            "description": self.text(Field.DESCRIPTION),
            "unit": self.parsed(Field.UNIT, cells.unit) or "1",
            "moq": self.parsed(Field.MOQ, cells.positive) or 1.0,
            "usd_per_unit": self.parsed(Field.FX, cells.positive),
            "lead_time_weeks": self.parsed(
                Field.LEAD_WEEKS, lambda text: cells.weeks(text, days=self.columns.days)
            ),
            "support_years": self.parsed(Field.SUPPORT_YEARS, cells.not_negative),
            "support_price": self.parsed(Field.SUPPORT_PRICE, cells.not_negative),
            "terms": self.terms(),
        }
        if found["valid_until"] and found["date"] and found["valid_until"] < found["date"]:
            self.wrong(
                "valid until",
                f"is {found['valid_until']}, before the quote's own date {found['date']}",
                "correct one of them",
            )
        if found["support_price"] is not None and not found["support_years"]:
            self.wrong(
                "support years", "the price of support says not for how many years", "add support years"
            )
        return found

    def prices(self) -> list[tuple[float, float]]:
        """Quantity from which each price holds, and the price."""
        found = []
        for least, column in self.columns.tiers:
            text = self.cell(column)
            price = self.tried(f"price {least:g}+", text, cells.positive) if text else None
            if price is not None:
                found.append((max(least, 1.0), price))
        least = self.parsed(Field.MIN_QUANTITY, cells.positive) or 1.0
        price = self.parsed(Field.PRICE, cells.positive)
        if price is not None and not any(tier == least for tier, _ in found):
            found.append((least, price))
        return found

    def currency(self) -> str:
        """Currency of the row, of the lines above, of a heading, or of a sign before the price."""
        column = self.columns.fields.get(Field.PRICE)
        shown = currency_in(self.cell(column)) if column is not None else ""
        text = self.text(Field.CURRENCY) or self.columns.currency or shown
        code = SIGNS.get(text, text.upper())
        if not code:
            return self.needed(Field.CURRENCY, "the currency of the price")
        if not _CODE.fullmatch(code):
            self.wrong("currency", f"'{text}' is no currency", "write its three letters, such as EUR")
        elif shown and shown != code:
            self.wrong("currency", f"is {code}, and the price is written in {shown}", "correct one of them")
        return code

    def terms(self) -> PaymentTerms | None:
        """Terms by columns, else in words; None where the quote states none."""
        stated = [self.text(one) for one in (Field.DEPOSIT, Field.ON_SHIP, Field.ON_ACCEPTANCE)]
        days = self.parsed(Field.NET_DAYS, cells.not_negative) or 0.0
        if any(stated):
            shares = [self.share(one) for one in (Field.DEPOSIT, Field.ON_SHIP, Field.ON_ACCEPTANCE)]
            return self.tried(
                "payment terms", "", lambda _: cells.agreed(shares[0], shares[1], shares[2], days)
            )
        said = self.parsed(Field.TERMS, cells.terms)
        if said is None and self.text(Field.NET_DAYS):
            return PaymentTerms(net_days=days)
        return said

    def share(self, one: Field) -> float:
        """A share of the price; 0 where the row states none."""
        percent = self.columns.fields.get(one) in self.columns.percent
        return self.parsed(one, lambda text: cells.share(text, percent=percent)) or 0.0

    def cell(self, column: int) -> str:
        return self.row[column].strip() if column < len(self.row) else ""

    def own(self, one: Field) -> str:
        """What the row itself says."""
        column = self.columns.fields.get(one)
        return "" if column is None else self.cell(column)

    def text(self, one: Field) -> str:
        """What the row says, or else the lines above the table."""
        return self.own(one) or self.above.get(one, "")

    def needed(self, one: Field, what: str) -> str:
        text = self.text(one)
        if not text:
            self.wrong(
                one.value,
                f"is missing: {what}",
                f"fill the column {one.value}, or add a line '{one.value}' above the table",
            )
        return text

    def parsed(self, one: Field, parse: Callable[[str], T]) -> T | None:
        """A field's value; None where it is blank or wrong."""
        text = self.text(one)
        return self.tried(one.value, text, parse) if text else None

    def tried(self, name: str, text: str, parse: Callable[[str], T]) -> T | None:
        if text == UNCALCULATED:
            self.wrong(
                name,
                "is a formula without a value",
                "open and save it in an office program, or type the value",
            )
            return None
        try:
            return parse(text)
        except ValueError as error:
            shown = text if len(text) <= MAX_SAID else f"{text[:MAX_SAID]}…"
            said, _, remedy = str(error).replace(text, shown).partition("; ")
            self.wrong(name, said, remedy)
            return None

    def wrong(self, name: str, message: str, remedy: str) -> None:
        self.found.problems.append(Problem(message, self.place, name, remedy))


def _twice(lines: Sequence[QuoteLine]) -> list[Problem]:
    """Prices of one quote for the same part and quantity that differ."""
    seen: dict[tuple[str, ...], QuoteLine] = {}
    problems = []
    for line in lines:
        key = (line.vendor, line.quote_id, line.part.lower(), line.unit, f"{line.min_quantity:g}")
        first = seen.setdefault(key, line)
        if first.price != line.price:
            problems.append(
                Problem(
                    f"'{line.part}' from {line.min_quantity:g} has two prices in {line.title} (the other in {first.place})",
                    line.place, "unit price", "keep one of them, or state quantities from which each holds",
                )
            )  # fmt: skip
    return problems
