"""What a catalog says of depreciation: lives that operators state, and tables of tax law."""

from __future__ import annotations

from typing import ClassVar, Final, Self

from pydantic import Field, model_validator

from planner.catalog.figure import Date, Figure, Finite, Frozen, Id
from planner.catalog.item import Item
from planner.sourced import Basis

_CLOSES_TO: Final = 1e-6
"""Columns are sums of numbers with three decimals; they come to 100 but for floating point."""


class PercentColumn(Frozen):
    """Percent of the basis deducted by tax year, one recovery period of a table, with its source."""

    percent: tuple[Finite, ...] = Field(min_length=1)
    """First tax year first; a period of n years touches n + 1 tax years."""
    source: Id
    basis: Basis
    as_of: Date
    verified: bool = True
    note: str = ""

    @model_validator(mode="after")
    def _deducts_the_whole_basis(self) -> Self:
        total = sum(self.percent)
        if min(self.percent) < 0:
            raise ValueError(f"percent has {min(self.percent):g}, and a deduction must not be negative")
        if abs(total - 100.0) > _CLOSES_TO:
            raise ValueError(f"percent sums to {total:.6g}, and must sum to 100")
        return self


class DepreciationLife(Item):
    """A book life that an operator states, or a table of deductions that a tax law prescribes."""

    family: ClassVar[str] = "depreciation"

    life_years: Figure | None = None
    three_year: PercentColumn | None = None
    five_year: PercentColumn | None = None
    seven_year: PercentColumn | None = None
    ten_year: PercentColumn | None = None
    fifteen_year: PercentColumn | None = None
    twenty_year: PercentColumn | None = None

    @model_validator(mode="after")
    def _is_a_life_or_a_table(self) -> Self:
        if (self.life_years is None) == (not self.columns):
            raise ValueError("needs life_years, or columns such as five_year, and not both")
        return self

    @property
    def columns(self) -> dict[int, tuple[str, PercentColumn]]:
        """Field and column by recovery period in years."""
        found = {years: (field, getattr(self, field)) for years, field in RECOVERY_FIELDS.items()}
        return {years: (field, column) for years, (field, column) in found.items() if column is not None}


RECOVERY_FIELDS: Final = {
    3: "three_year",
    5: "five_year",
    7: "seven_year",
    10: "ten_year",
    15: "fifteen_year",
    20: "twenty_year",
}
"""Recovery periods in years for which columns may be given."""
