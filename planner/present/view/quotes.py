"""Which quotes the bill is priced by, and what of them the plan doesn't use."""

from __future__ import annotations

from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Table
from planner.present.view.reading import Reading, number, whole, words
from planner.scenario.quote_match import match_quotes
from planner.scenario.quotes import quotes_of


def quotes_table(reading: Reading) -> Table | None:
    """A row for each part that a quote prices; None where none does."""
    rows = []
    for row in reading.built.bom:
        if row.quote is None:
            continue
        line = row.quote.line
        weeks = words(fmt.NOTHING) if line.lead_time_weeks is None else number(line.lead_time_weeks)
        rows.append(
            (
                words(row.demand.name), words(line.vendor), words(line.quote_id), words(line.date),
                words(line.valid_until or fmt.NOTHING), _typed(line.price), words(line.currency),
                _typed(line.least), _typed(row.quote.ordered), weeks,
            )
        )  # fmt: skip
    if not rows:
        return None
    columns = (
        Column("Part", numeric=False), Column("Vendor", numeric=False), Column("Quote", numeric=False),
        Column("Of", numeric=False), Column("Valid until", numeric=False), Column("Price"),
        Column("Currency", numeric=False), Column("From"), Column("Smallest order"), Column("Lead time", "weeks"),
    )  # fmt: skip
    return Table("quotes", "Quotes that the bill is priced by", columns, tuple(rows))


def _typed(value: float) -> Cell:
    """A number as it is typed: whole where it is whole."""
    return whole(value) if value.is_integer() else number(value, 6)


def quote_notes(reading: Reading) -> list[str]:
    """Lines of quotes that mean no part of the catalog, and how quotes are taken."""
    quotes = quotes_of(reading.evaluation.loaded)
    if not quotes.lines:
        return []
    unmatched = match_quotes(quotes, reading.evaluation.parts.catalog).unmatched
    notes = [
        "Of the quotes that are valid on every order's date the cheapest is taken, at the break that the smallest "
        "order of the part reaches. The design is chosen by catalog prices."
    ]
    if any(row.quote is not None and row.quote.line.terms is not None for row in reading.built.bom):
        notes.append(
            "Payments follow the scenario's terms (money.deposit_fraction and money.payment), not those of the quotes; "
            "planner quotes weighs the quotes by their own."
        )
    return notes + [
        f"{one.line.place}: '{one.line.part}' is no part of the catalog ({one.remedy})" for one in unmatched
    ]
