"""A catalog figure: a value, its range, and where it was read."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from planner.sourced import DATE, Basis

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=80)]
Date = Annotated[str, Field(coerce_numbers_to_str=True), StringConstraints(pattern=f"^{DATE.pattern}$")]
Finite = Annotated[float, Field(allow_inf_nan=False, strict=True)]


class Frozen(BaseModel):
    """Base of all schema classes: immutable, and a typo is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Figure(Frozen):
    """A number with its source.

    ``low`` and ``high`` are P10 and P90. A figure that nobody read in a source has
    ``verified: false`` and the basis ``estimate``.
    """

    value: Finite
    source: Id
    basis: Basis
    as_of: Date
    low: Finite | None = None
    high: Finite | None = None
    verified: bool = True
    note: str = ""

    @model_validator(mode="after")
    def _range_holds_value(self) -> Self:
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        if not low <= self.value <= high:
            raise ValueError(f"value {self.value:g} lies outside low {low:g} to high {high:g}")
        if self.basis is Basis.USER:
            raise ValueError("basis 'user' is for scenarios; use quote or estimate")
        if not self.verified and self.basis is not Basis.ESTIMATE:
            raise ValueError("an unverified figure has the basis 'estimate'")
        if self.basis is Basis.ESTIMATE and not self.note:
            raise ValueError("an estimate says why in its note")
        return self
