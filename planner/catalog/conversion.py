"""What a catalog says of parts that convert and distribute electric power."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Self

from pydantic import model_validator

from planner.catalog.figure import Figure, Id
from planner.catalog.item import Item


class ConversionKind(StrEnum):
    """Place of a part between the meter and a server's board."""

    TRANSFORMER = "transformer"
    """From medium voltage, with the switchgear behind it."""
    UPS = "ups"
    """Uninterruptible supply of a hall."""
    RACK_FEED = "rack-feed"
    """Power strip, or tap of a busway, that feeds one rack."""
    PSU = "psu"
    """Supply inside a server, or shelf of rectifiers in a rack."""


class PowerConversion(Item):
    """A part that loses some of the power that runs through it.

    Efficiency is power out over power in. At least one load is stated; between loads it runs straight,
    above the highest it stays, and below the lowest the lost watts stay.
    """

    family: ClassVar[str] = "power_conversion"

    kind: ConversionKind
    efficiency_at_10_percent_fraction: Figure | None = None
    efficiency_at_20_percent_fraction: Figure | None = None
    efficiency_at_25_percent_fraction: Figure | None = None
    efficiency_at_50_percent_fraction: Figure | None = None
    efficiency_at_75_percent_fraction: Figure | None = None
    efficiency_at_100_percent_fraction: Figure | None = None
    rating_kw: Figure | None = None
    """Power out of the largest unit; without one the part is as large as its server."""
    step_kw: Figure | None = None
    """Ratings come in multiples of this, up to the largest unit."""
    small_step_kw: Figure | None = None
    """Ratings below one step come in multiples of this; there are none without it."""
    overload_ratio: Figure | None = None
    """Short draw over rating that it carries without tripping: what transients may reach."""
    per_path_max: int | None = None
    """Feeds that one rack takes on each of its paths."""
    default_for_cooling: tuple[Id, ...] = ()
    """Cooling methods in whose halls it is taken where a scenario names none."""

    @property
    def curve(self) -> tuple[tuple[float, float], ...]:
        """Load, as a share of the rating, and efficiency at it."""
        found = []
        for percent in (10, 20, 25, 50, 75, 100):
            figure: Figure | None = getattr(self, f"efficiency_at_{percent}_percent_fraction")
            if figure is not None:
                found.append((percent / 100.0, figure.value))
        return tuple(found)

    @model_validator(mode="after")
    def _is_a_curve(self) -> Self:
        if not self.curve:
            raise ValueError("a part that converts power states its efficiency at one load or more")
        if any(not 0.0 < efficiency <= 1.0 for _, efficiency in self.curve):
            raise ValueError("an efficiency is above 0 and at most 1")
        if self.kind is not ConversionKind.PSU and (self.rating_kw is None or self.step_kw is None):
            raise ValueError(
                f"a {self.kind.value} has a rating_kw and a step_kw, from which units are counted"
            )
        if self.kind is ConversionKind.RACK_FEED and self.per_path_max is None:
            raise ValueError("a rack-feed says how many a rack takes on each path (per_path_max)")
        return self
