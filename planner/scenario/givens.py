"""Enters given lines: figures of the catalog, named assumptions, and the user's wishes."""

from __future__ import annotations

from typing import Any

from planner.catalog.figure import Figure
from planner.catalog.store import Catalog, Entry
from planner.ledger import Ledger, Line
from planner.scenario.load import Loaded


def assume(ledger: Ledger, catalog: Catalog, file: str, key: str, label: str, unit: str) -> Line:
    """A named factor of ``catalog/assumptions/<file>.yaml`` as ``assumption.<key>``, entered once."""
    name = f"assumption.{key}"
    if name in ledger:
        return ledger[name]
    figure, source = catalog.figure(file, key)
    return ledger.given(name, label, unit, figure.value, source, low=figure.low, high=figure.high)


def figure_line(
    ledger: Ledger,
    key: str,
    label: str,
    unit: str,
    entry: Entry[Any],
    field: str,
    *,
    missing: float | None = None,
) -> Line:
    """A figure of a catalog item, in the file's unit; entered once.

    Args:
        missing: Value where the item has no such figure; without it that is an error.
    """
    if key in ledger:
        return ledger[key]
    figure: Figure | None = getattr(entry.item, field)
    if figure is None:
        assert missing is not None, f"{entry.item.id} has no {field}"
        return ledger.given(key, label, unit, missing, entry.source("id"))
    return ledger.given(key, label, unit, figure.value, entry.source(field), low=figure.low, high=figure.high)


def wish_line(
    ledger: Ledger, loaded: Loaded, key: str, label: str, unit: str, value: float, *path: str | int
) -> Line:
    """A value of the scenario, with the place in the file or the default's reason."""
    return ledger.given(key, label, unit, value, loaded.source(*path))
