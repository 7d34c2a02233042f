"""A catalog's list of 5,000 parts."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice

from planner.catalog.index import CatalogIndex, catalog_index
from planner.catalog.store import open_catalog

PARTS = 5_000


def large(family: str) -> CatalogIndex:
    """The shipped items over and over, as one family of 5,000."""
    index = catalog_index(open_catalog())
    rows = tuple(
        replace(row, family=family, id=f"{row.id}-{number}")
        for number, row in enumerate(islice(cycle(index.items), PARTS))
    )
    return CatalogIndex(rows, (), "0", 0)
