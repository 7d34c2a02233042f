"""What a seller of GPU-hours may say of its market.

Every field's docstring is its help text in editors, in the TUI and in ``planner init``.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.scenario.fields import Fraction, Strict


class Operator(Strict):
    """How sales start and prices fall, for who sells GPU-hours."""

    ramp_months: Annotated[int, Field(ge=0, le=60, strict=True)] = 0
    """Months in service until each phase has sold all that it will sell; at once by default."""
    ramp_start_fraction: Fraction = 0.0
    """Share of that sold on the first day."""
    price_fall_fraction_per_year: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False, strict=True)] = 0.0
    """Fall of the selling price a year, from the first month in service."""
