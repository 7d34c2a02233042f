"""Named corrections of the catalog as ledger lines and arrays, with a record of which were used."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.errors import CatalogError
from planner.ledger import Ledger, Line
from planner.scenario.givens import assume

FILE = "performance"
UNITS = (
    ("_fraction", "fraction"), ("_ratio", "1"), ("_factor", "1"), ("_exponent", "1"), ("_s", "s"),
    ("_bytes", "byte"), ("_per_s", "byte/s"), ("_tokens", "tokens"),
)  # fmt: skip

T = TypeVar("T")


class Assumed:
    """Reads figures of ``catalog/assumptions/performance.yaml`` and remembers the lines for `inputs`."""

    def __init__(self, ledger: Ledger, catalog: Catalog) -> None:
        self.ledger, self.catalog = ledger, catalog
        self.lines: list[Line] = []

    def use(self, line: Line) -> Floats:
        """Values of a line, remembered as an input."""
        if line not in self.lines:
            self.lines.append(line)
        return self.ledger.value(line)

    def __call__(self, key: str) -> Floats:
        """Values of a figure, shape (n,)."""
        label = key.replace("_", " ").removesuffix(" fraction").removesuffix(" s").capitalize()
        unit = next((unit for end, unit in UNITS if key.endswith(end)), "1")
        return self.use(assume(self.ledger, self.catalog, FILE, key, label, unit))

    def first_of(self, *keys: str) -> Floats:
        """The first of several figures that the catalog has: the special case before the general one.

        Raises:
            CatalogError: It has none of them.
        """
        for key in keys[:-1]:
            if f"assumption.{key}" in self.ledger:
                return self(key)
            try:
                self.catalog.figure(FILE, key)
            except CatalogError:
                continue
            return self(key)
        return self(keys[-1])


def rows(values: T, count: int) -> T:
    """The first rows of a dataclass of arrays: draws keep the plan that the first row chose."""
    assert is_dataclass(values) and not isinstance(values, type)
    cut: dict[str, Any] = {}
    for field in fields(values):
        value = getattr(values, field.name)
        if isinstance(value, np.ndarray):
            cut[field.name] = value[:count]
        elif is_dataclass(value):
            cut[field.name] = rows(value, count)
    return replace(values, **cut)


def family(generation: str) -> str:
    """Generation under which efficiencies are tabulated.

    >>> family("blackwell-ultra"), family("cdna3")
    ('blackwell', 'other')
    """
    known = next((name for name in ("ampere", "hopper", "blackwell") if generation.startswith(name)), "other")
    return "other" if generation == "blackwell-gb202" else known
