"""Headings of quotes: which column holds what, under the names that vendors give it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Field(StrEnum):
    """What a column of a quote, or a line above its table, may hold."""

    PART = "part"
    CATALOG_ID = "catalog id"
    DESCRIPTION = "description"
    UNIT = "unit"
    MIN_QUANTITY = "min quantity"
    MOQ = "moq"
    PRICE = "unit price"
    CURRENCY = "currency"
    FX = "usd per currency"
    VENDOR = "vendor"
    QUOTE_ID = "quote id"
    DATE = "quote date"
    VALID_UNTIL = "valid until"
    LEAD_WEEKS = "lead time weeks"
    DEPOSIT = "deposit %"
    ON_SHIP = "on ship %"
    ON_ACCEPTANCE = "on acceptance %"
    NET_DAYS = "net days"
    TERMS = "payment terms"
    SUPPORT_YEARS = "support years"
    SUPPORT_PRICE = "support price"


SYNONYMS: Final[dict[Field, tuple[str, ...]]] = {
    Field.PART: (
        "part", "part number", "part no", "part nr", "part id", "pn", "p n", "mpn", "sku", "item", "item number",
        "item no", "item code", "product", "product code", "product number", "model", "model number", "material",
        "article", "article number", "manufacturer part number", "vendor part", "vendor part number",
        "supplier part number",
    ),
    Field.CATALOG_ID: (
        "catalog id", "catalogue id", "catalog item", "planner id", "customer part", "customer part number",
        "buyer part number", "your part number", "your item",
    ),
    Field.DESCRIPTION: ("description", "desc", "item description", "product description", "product name", "name", "details"),
    Field.UNIT: ("unit", "uom", "unit of measure", "units", "sold by"),
    Field.MIN_QUANTITY: (
        "min quantity", "min qty", "minimum quantity", "minimum qty", "quantity break", "qty break", "price break",
        "break", "break quantity", "from quantity", "from qty", "quantity from", "qty from", "tier", "tier from",
        "volume break", "volume from",
    ),
    Field.MOQ: ("moq", "minimum order quantity", "minimum order qty", "min order quantity", "min order qty", "minimum order", "min order"),
    Field.PRICE: (
        "unit price", "price", "price each", "each", "unit cost", "cost each", "price per unit", "net price",
        "net unit price", "price net", "quoted price", "quoted unit price", "offer price", "your price", "price per piece",
    ),
    Field.CURRENCY: ("currency", "ccy", "cur", "curr", "price currency"),
    Field.FX: ("usd per currency", "usd per currency unit", "fx", "fx rate", "exchange rate", "usd rate", "rate to usd"),
    Field.VENDOR: ("vendor", "supplier", "seller", "reseller", "from", "quoted by", "company", "vendor name", "supplier name"),
    Field.QUOTE_ID: (
        "quote id", "quote", "quote number", "quote no", "quote ref", "quote reference", "quotation", "quotation number",
        "quotation no", "offer", "offer number", "offer no", "bid", "bid number", "reference",
    ),
    Field.DATE: ("quote date", "date", "quotation date", "offer date", "date of quote", "issued", "issue date", "bid date"),
    Field.VALID_UNTIL: (
        "valid until", "valid to", "valid through", "valid till", "validity", "validity date", "validity end", "expires",
        "expires on", "expiry", "expiry date", "expiration", "expiration date", "quote valid until", "offer valid until",
        "price valid until",
    ),
    Field.LEAD_WEEKS: (
        "lead time weeks", "lead time", "leadtime", "lead weeks", "lead time days", "delivery time", "delivery weeks",
        "delivery time weeks", "delivery lead time", "availability",
    ),
    Field.DEPOSIT: ("deposit", "deposit percent", "down payment", "advance", "advance payment", "prepayment", "with order", "on order"),
    Field.ON_SHIP: ("on ship", "on shipment", "on shipping", "on delivery", "ship percent", "at shipment", "on dispatch"),
    Field.ON_ACCEPTANCE: ("on acceptance", "acceptance", "at acceptance", "on installation", "on commissioning", "final payment"),
    Field.NET_DAYS: ("net days", "payment days", "days net", "net", "payable within days", "payment due days"),
    Field.TERMS: ("payment terms", "terms", "terms of payment", "payment"),
    Field.SUPPORT_YEARS: (
        "support years", "support included years", "support term years", "years of support", "support term", "warranty years",
        "support included",
    ),
    Field.SUPPORT_PRICE: ("support price", "support unit price", "support cost", "price of support", "support each", "support price each"),
}  # fmt: skip
"""Names of each column, in lower case and without marks; the first one is how we call it ourselves."""

KNOWN_AND_UNUSED: Final = re.compile(
    r"(qty|quantity|quantities|requested.*|quantity .*|total.*|amount|extended.*|ext .*|line.*|pos|position|no|nr|"
    r"notes?|remarks?|comments?|class|needed.*|needed by.*|list price|discount.*|family|phase.*|sum)"
)
"""Headings of what a quote says besides: quantities asked for, sums, remarks."""
_FIELD: Final = {
    name: field for field, names in SYNONYMS.items() for name in (field.value.rstrip(" %"), *names)
}
_TIER: Final = re.compile(
    r"(?:unit |net )?(?:price |usd |eur |from |at |qty |quantity |ge |>= |≥ )*(\d[\d.,' ]*)\s*"
    r"(?:\+|and more|or more|and up|up|pcs|pieces|units|qty)?(?: price| usd| eur| each)*"
)
_CURRENCIES: Final = re.compile(
    r"\b(usd|eur|gbp|jpy|chf|cny|twd|krw|sgd|aud|cad|inr|sek|nok|dkk|pln)\b|([$€£])"
)
SIGNS: Final = {"$": "USD", "€": "EUR", "£": "GBP"}


@dataclass(frozen=True, slots=True)
class Columns:
    """What stands in which column.

    Attributes:
        fields: Column of each field.
        tiers: Quantity from which the price of a column holds, and that column.
        currency: Currency that a price's heading names; empty where none does.
        days: Whether lead times are in days.
        percent: Columns whose heading says that they are percentages.
        twice: Headings that mean the same, in pairs.
        ignored: Headings that mean nothing here.
    """

    fields: dict[Field, int]
    tiers: tuple[tuple[float, int], ...] = ()
    currency: str = ""
    days: bool = False
    percent: frozenset[int] = frozenset()
    twice: tuple[tuple[str, str], ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def heads_a_table(self) -> bool:
        """Whether prices of parts can stand below."""
        named = Field.PART in self.fields or Field.CATALOG_ID in self.fields
        return named and (Field.PRICE in self.fields or bool(self.tiers))


def plain(heading: str) -> str:
    """A heading in lower case, with blanks for marks.

    >>> plain("Part-No. "), plain("Lead time (weeks)"), plain("Deposit %")
    ('part no', 'lead time weeks', 'deposit %')
    """
    return " ".join(
        re.sub(r"[^0-9a-z%$€£+>=≥.,']+", " ", heading.lower().replace("#", " no "))
        .replace(". ", " ")
        .strip(" .,")
        .split()
    )


def currency_in(text: str) -> str:
    """Currency that a text names; empty where none or several are named.

    >>> currency_in("Unit price (EUR)"), currency_in("$"), currency_in("price")
    ('EUR', 'USD', '')
    """
    found = {
        match[1].upper() if match[1] else SIGNS[match[2]] for match in _CURRENCIES.finditer(text.lower())
    }
    return found.pop() if len(found) == 1 else ""


def field_of(heading: str) -> Field | None:
    """What a heading means; None where it means nothing here.

    >>> field_of("Part No."), field_of("Unit Price (EUR)"), field_of("Colour")
    (<Field.PART: 'part'>, <Field.PRICE: 'unit price'>, None)
    """
    word = plain(heading)
    if word in _FIELD:
        return _FIELD[word]
    bare = " ".join(_CURRENCIES.sub(" ", word).replace("%", " ").replace("percent", " ").split())
    return _FIELD.get(bare)


def tier_of(heading: str) -> float | None:
    """Quantity from which the price under a heading holds.

    >>> tier_of("Price 64+"), tier_of("qty 1,000"), tier_of("Unit price")
    (64.0, 1000.0, None)
    """
    match = _TIER.fullmatch(plain(heading))
    if match is None:
        return None
    digits = re.sub(r"[^\d]", "", match[1])
    return float(digits) if digits else None


def columns_of(headings: Sequence[str]) -> Columns:
    """Say what stands in each column of a row of headings."""
    fields: dict[Field, int] = {}
    tiers: dict[float, int] = {}
    percent, twice, ignored = set(), [], []
    for column, heading in enumerate(headings):
        if not heading.strip():
            continue
        field, tier = field_of(heading), tier_of(heading)
        if field is not None and field in fields:
            twice.append((headings[fields[field]], heading))
        elif field is not None:
            fields[field] = column
        elif tier is not None and tier in tiers:
            twice.append((headings[tiers[tier]], heading))
        elif tier is not None:
            tiers[tier] = column
        elif not KNOWN_AND_UNUSED.fullmatch(plain(heading)):
            ignored.append(heading.strip())
        if "%" in heading or "percent" in heading.lower():
            percent.add(column)
    priced = [headings[fields[Field.PRICE]]] if Field.PRICE in fields else []
    named = {currency_in(text) for text in (*priced, *(headings[column] for column in tiers.values()))} - {""}
    lead = headings[fields[Field.LEAD_WEEKS]].lower() if Field.LEAD_WEEKS in fields else ""
    return Columns(
        fields, tuple(sorted(tiers.items())), named.pop() if len(named) == 1 else "", "day" in lead,
        frozenset(percent), tuple(twice), tuple(ignored),
    )  # fmt: skip
