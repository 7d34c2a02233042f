"""What every catalog item has."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import model_validator

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
    sources: tuple[Id, ...] = ()
    """Publications behind what is no figure: counts, dates, whether it can be ordered."""
    note: str = ""

    @model_validator(mode="after")
    def _figures_are_physical(self) -> Self:
        """Prices are above zero, and nothing physical is negative."""
        for name, value in self:
            if not isinstance(value, Figure):
                continue
            least = value.value if value.low is None else value.low
            if "_usd" in name and value.value <= 0:
                raise ValueError(f"{name} is {value.value:g}, and must be more than 0")
            if least < 0:
                raise ValueError(f"{name} goes down to {least:g}, and must not be negative")
        return self
