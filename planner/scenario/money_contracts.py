"""Terms of contracts for electricity and for space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, model_validator

from planner.scenario.fields import Fraction, NotNegative, Positive, Strict
from planner.schema_errors import DisagreementError


class Tariff(Strict):
    """Electricity by contract, in place of one price for all."""

    on_peak_share_fraction: Fraction = 0.0
    """Share of the energy drawn at the dear hours."""
    on_peak_usd_per_kwh: NotNegative | None = None
    """Price at the dear hours."""
    off_peak_usd_per_kwh: NotNegative | None = None
    """Price at all others; the site's price by default."""
    demand_usd_per_kw_month: NotNegative = 0.0
    """Charge on a month's highest power, at the PUE of its hottest hours. The catalog's prices of energy are averages that hold it already."""
    ratchet_fraction: Fraction = 0.0
    """Share of the highest demand of the months before that is billed at least."""
    ratchet_months: Annotated[int, Field(ge=1, le=24, strict=True)] = 11
    """Months that the ratchet remembers."""
    fixed_usd_per_month: NotNegative = 0.0
    """Customer charge."""
    standby_usd_per_kw_month: NotNegative = 0.0
    """Capacity reserved at the meter, for each kW of demand peak."""
    riders_usd_per_kwh: NotNegative = 0.0
    """Certificates, levies and carbon, for each kWh."""

    @model_validator(mode="after")
    def _terms_agree(self) -> Self:
        said = list(self._wrong())
        if said:
            raise DisagreementError(said)
        return self

    def _wrong(self) -> Iterator[tuple[tuple[str, ...], str]]:
        stated = self.model_fields_set
        if self.on_peak_share_fraction > 0 and self.on_peak_usd_per_kwh is None:
            yield ("on_peak_share_fraction",), "on_peak_share_fraction needs on_peak_usd_per_kwh"
        if self.on_peak_usd_per_kwh is not None and "on_peak_share_fraction" not in stated:
            yield ("on_peak_usd_per_kwh",), "on_peak_usd_per_kwh does nothing without on_peak_share_fraction"
        for name in ("ratchet_fraction", "ratchet_months"):
            if name in stated and "demand_usd_per_kw_month" not in stated:
                yield (name,), f"{name} does nothing without demand_usd_per_kw_month"


class ColocationTerms(Strict):
    """Take-or-pay of a colocation contract."""

    contract_kw: Positive | None = None
    """IT power under contract; what the plan reserves by default."""
    committed_fraction: Fraction = 0.0
    """Share of it that is paid whether it is used or not."""
    committed_by_year: tuple[Fraction, ...] = Field(default=(), max_length=15)
    """The same by contract year, for a ramp; the last one holds from then on."""

    @model_validator(mode="after")
    def _commits_once(self) -> Self:
        stated = self.model_fields_set
        if self.committed_by_year and self.committed_fraction > 0:
            raise DisagreementError(
                [
                    (
                        ("committed_fraction",),
                        "committed_fraction and committed_by_year say the same: give one of them",
                    )
                ]
            )
        if self.contract_kw is not None and not stated & {"committed_fraction", "committed_by_year"}:
            raise DisagreementError(
                [
                    (
                        ("contract_kw",),
                        "contract_kw does nothing without committed_fraction or committed_by_year",
                    )
                ]
            )
        return self
