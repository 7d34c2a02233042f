"""A part's price over time: what its file says and when, quotes of the open plan, and the fall that is expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.catalog.figure import Figure
from planner.catalog.store import Catalog
from planner.finance.erosion import eroded_price_usd
from planner.ledger import Ledger
from planner.present import format as fmt

YEARS: Final = (0.0, 1.0, 2.0, 3.0)
SERVERS: Final = frozenset({"servers", "accelerators"})
NETWORK: Final = frozenset({"switches", "nics", "transceivers", "cables"})
"""Families whose prices are taken to fall as servers' and as network parts' do; others have no rate on record."""


@dataclass(frozen=True, slots=True)
class PricePoint:
    """A price at a date, with its range and what it rests on.

    Attributes:
        said: Basis and source; of an expected price the rate it was worked out with.
        known: Whether it was stated, and not worked out.
    """

    date: str
    usd: float
    low: float
    high: float
    said: str
    known: bool


def price_path(
    family: str, part: str, price: Figure, catalog: Catalog, ledger: Ledger | None = None
) -> tuple[PricePoint, ...]:
    """Prices of a part in the order of their dates: stated ones, then the expected fall from the last of them.

    Args:
        family: Of the catalog.
        part: Its id.
        price: The catalog's figure.
        catalog: Where the rates of fall are looked up.
        ledger: Of the open plan, whose quoted price of the part is a point of its own; None without a plan.
    """
    found = [_stated(price, catalog), *_quoted(part, price, ledger)]
    found.sort(key=lambda one: one.date)
    rate = _rate(family, catalog)
    if rate is None:
        return tuple(found)
    fall, said = rate
    last = found[-1]
    years = np.array(YEARS[1:])
    ends = ((last.usd, fall.value), (last.low, fall.value if fall.high is None else fall.high),
            (last.high, fall.value if fall.low is None else fall.low))  # fmt: skip
    middle, low, high = (
        eroded_price_usd(price_usd=np.array([usd]), fall_fraction_per_year=np.array([share]), years=years)
        for usd, share in ends
    )
    found += [
        PricePoint(
            _later(last.date, int(year)), float(middle[at]), float(low[at]), float(high[at]), said, False
        )
        for at, year in enumerate(years)
    ]
    return tuple(found)


def _stated(price: Figure, catalog: Catalog) -> PricePoint:
    source = catalog.sources.get(price.source)
    title = source.title if source is not None else price.source
    low = price.value if price.low is None else price.low
    high = price.value if price.high is None else price.high
    return PricePoint(price.as_of, price.value, low, high, f"{price.basis.letter} {title}", True)


def _quoted(part: str, price: Figure, ledger: Ledger | None) -> list[PricePoint]:
    """The plan's own price of the part, where a quote or a typed value stands in for the catalog's."""
    key = f"price.{part}.price_usd"
    if ledger is None or key not in ledger:
        return []
    line = ledger[key]
    value = ledger.scalar(line)
    if line.source is None or value == price.value:
        return []
    low, high = (value if end is None else end for end in (line.low, line.high))
    return [
        PricePoint(
            line.source.as_of,
            value,
            low,
            high,
            f"{line.source.basis.letter} this plan, {line.source.where}",
            True,
        )
    ]


def _rate(family: str, catalog: Catalog) -> tuple[Figure, str] | None:
    name = (
        "price_erosion_fraction_per_year" if family in SERVERS else "optics_price_erosion_fraction_per_year"
    )
    if family not in SERVERS | NETWORK:
        return None
    figure, _ = catalog.figure("finance", name)
    return (
        figure,
        f"{figure.basis.letter} expected: falls {fmt.percent(figure.value)} % a year ({figure.source}, {figure.as_of})",
    )


def _later(date: str, years: int) -> str:
    """A date some years on, as precise as it was.

    >>> _later("2025-03", 2)
    '2027-03'
    """
    return f"{int(date[:4]) + years}{date[4:]}"
