"""The load of a serving workload: requests a second over the day, by region, and what stands by.

Every field's docstring is its help text in editors, in the TUI and in ``planner init``.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from planner.scenario.fields import Fraction, Id, Positive, Strict

HOURS = 24

Hour = Annotated[float, Field(ge=-12, le=14, allow_inf_nan=False, strict=True)]


class Region(Strict):
    """A place with replicas of its own, which nothing elsewhere stands in for."""

    id: Id
    """Short name of the region."""
    share_fraction: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False, strict=True)]
    """Its share of the day's requests; the regions' shares add up to 1."""
    utc_offset_hours: Hour = 0.0
    """Its time zone; the day's curve is in local hours, so regions peak one after the other."""


class ServingLoad(Strict):
    """Requests that a fleet has to answer, and how it is kept."""

    requests_per_s: Positive
    """Requests a second in the busiest hour, all regions together as if each were in its own."""
    hourly_fraction: tuple[Fraction, ...] | None = None
    """Load of the 24 hours of a local day over the busiest one's, from midnight; the same all day by default."""
    regions: tuple[Region, ...] = Field(default=(), max_length=32)
    """Regions that are sized and rounded each by itself; one by default."""
    spare_replicas: Annotated[int, Field(ge=0, le=1000, strict=True)] = 0
    """Replicas that stand by in every region (N+k): the objective holds while so many are out."""
    startup_s: Positive | None = None
    """From asking for a replica until it serves, which is how far ahead autoscaling has to act; the catalog's time
    to load a model by default."""

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        """A day of 24 hours with a busiest one, and shares of a whole.

        Raises:
            ValueError: The first thing that is wrong.
        """
        hours = self.hourly_fraction
        if hours is not None and len(hours) != HOURS:
            raise ValueError(f"hourly_fraction has {len(hours)} values, and a day has {HOURS} hours")
        if hours is not None and max(hours) != 1.0:
            raise ValueError(
                f"hourly_fraction's largest value is {max(hours):g}, and the busiest hour's is 1"
            )
        ids = [one.id for one in self.regions]
        twice = sorted({one for one in ids if ids.count(one) > 1})
        if twice:
            raise ValueError(f"region id '{twice[0]}' is used twice")
        shares = sum(one.share_fraction for one in self.regions)
        if self.regions and abs(shares - 1.0) > 1e-6:
            raise ValueError(f"regions' share_fraction add up to {shares:g}, and they are shares of one load")
        return self
