"""What every catalog item has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

from pydantic import model_validator

from planner.catalog.bounds import beyond
from planner.catalog.figure import Date, Figure, Frozen, Id


class Item(Frozen):
    """Fields every catalog item has."""

    family: ClassVar[str]

    id: Id
    name: str
    vendor: str = ""
    orderable: bool = True
    """False for roadmap and withdrawn parts: a bill of materials refuses them."""
    available: Date | None = None
    """First date an order can be placed; none when it has long been for sale."""
    why_not_orderable: str = ""
    part_numbers: tuple[str, ...] = ()
    """Order numbers of makers and vendors, under which a quote may name it."""
    sources: tuple[Id, ...] = ()
    """Publications behind what is no figure: counts, dates, whether it can be ordered."""
    note: str = ""

    @model_validator(mode="after")
    def _figures_are_physical(self) -> Self:
        """Prices are above zero, nothing physical is negative, and nothing is beyond the bounds of its unit."""
        found = [beyond(name, figure) for name, figure in self._figures()]
        said = [one for one in found if one]
        if said:
            raise ValueError("; ".join(said))
        return self

    def _figures(self) -> Iterator[tuple[str, Figure]]:
        """Figures of the item and of its mappings, each with its name."""
        for name, value in self:
            if isinstance(value, Figure):
                yield name, value
            elif isinstance(value, dict):
                yield from ((key, one) for key, one in value.items() if isinstance(one, Figure))
