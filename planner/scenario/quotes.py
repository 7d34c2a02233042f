"""Vendor quotes as plain data, and the quotes that a scenario names.

Files of quotes are read above this layer, by `planner.intake` (see `planner.scenario.quote_reader`); what comes
back is the same for a CSV file and for a workbook.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.errors import InputError, Place, Problem, ScenarioError
from planner.scenario.anchors import beside
from planner.scenario.load import Loaded
from planner.scenario.quote_reader import read


@dataclass(frozen=True, slots=True)
class PaymentTerms:
    """When a purchase is paid; the three shares add up to 1.

    Attributes:
        deposit_fraction: With the order.
        on_ship_fraction: When it is shipped.
        on_acceptance_fraction: When it is accepted in service.
        net_days: Days that each invoice may stand open.
    """

    deposit_fraction: float = 0.0
    on_ship_fraction: float = 1.0
    on_acceptance_fraction: float = 0.0
    net_days: float = 0.0


@dataclass(frozen=True, slots=True)
class QuoteLine:
    """One price of one part, from one row of a quote.

    Attributes:
        place: File and row.
        part: Part as the vendor writes it.
        catalog_id: Item of the catalog that the row names beside it; empty where it names none.
        date: Of the quote, YYYY-MM-DD.
        valid_until: Last day on which it can be ordered; empty where the quote states none.
        unit: ``1`` for pieces, ``m`` for metres.
        price: Of one, in ``currency``.
        min_quantity: The price holds for orders of so many and more.
        moq: Smallest order that is taken.
        usd_per_unit: USD for one unit of the currency, where the quote states it.
        support_years: Years of support; included unless ``support_price`` is stated.
        support_price: For one part and all those years, in ``currency``.
    """

    place: Place
    vendor: str
    quote_id: str
    date: str
    valid_until: str
    part: str
    price: float
    currency: str = "USD"
    catalog_id: str = ""
    description: str = ""
    unit: str = "1"
    min_quantity: float = 1.0
    moq: float = 1.0
    usd_per_unit: float | None = None
    lead_time_weeks: float | None = None
    terms: PaymentTerms | None = None
    support_years: float | None = None
    support_price: float | None = None

    @property
    def least(self) -> float:
        """Smallest order that gets the price."""
        return max(self.min_quantity, self.moq)

    @property
    def title(self) -> str:
        """Quote and vendor, for people.

        >>> QuoteLine(Place("q.csv", 2), "Acme", "Q-7", "2026-11-01", "", "QM9700", 35e3).title
        'quote Q-7 of Acme'
        """
        return f"quote {self.quote_id} of {self.vendor}"


@dataclass(frozen=True, slots=True)
class Quotes:
    """What files of quotes hold.

    Attributes:
        lines: Prices, in the order of files and rows.
        declined: Place and part of rows that a vendor left without a price.
        ignored: File and heading of columns that nothing is made of.
    """

    lines: tuple[QuoteLine, ...] = ()
    declined: tuple[tuple[Place, str], ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()


def quotes_of(loaded: Loaded) -> Quotes:
    """Quotes of the files that a scenario names.

    A name in a file is looked up beside that file, one on the command line from the current folder.

    Raises:
        ScenarioError: Every problem of the files.
    """
    names = loaded.scenario.quotes
    if not names:
        return Quotes()
    places = [loaded.document.place(("quotes", index)) for index in range(len(names))]
    paths = [beside(name, place) for name, place in zip(names, places, strict=True)]
    problems = [
        Problem(f"no quote file '{path}'", place, "quotes", "name a CSV file or a workbook (.xlsx)")
        for path, place in zip(paths, places, strict=True)
        if not path.is_file()
    ]
    if problems:
        raise ScenarioError(problems)
    try:
        return read(paths)
    except InputError as error:
        raise ScenarioError(error.problems) from error
