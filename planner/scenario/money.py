"""Terms of the calculation: rates, lives, tax, debt, leases, tariffs, prices to come, further costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from planner.scenario.fields import Count, Day, Fraction, Id, NotNegative, Positive, Strict
from planner.scenario.money_choices import (
    ContingencyBase,
    Discounting,
    LeaseView,
    LossUse,
    PaymentTiming,
    RateBasis,
    TaxMethod,
)
from planner.scenario.money_contracts import ColocationTerms, Tariff
from planner.scenario.money_costs import Amount, Cost, Escalation, wrong_costs
from planner.scenario.operator import Operator
from planner.schema_errors import DisagreementError

Rate = Annotated[float, Field(ge=-0.5, lt=1, allow_inf_nan=False, strict=True)]
Months = Annotated[int, Field(ge=0, le=180, strict=True)]
CurrencyCode = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
MACRS_YEARS = (3, 5, 7, 10, 15, 20)
"""Recovery periods with a percentage table."""
LONGEST_TABLE_YEARS = 20
WHOLE = 1.0 + 1e-9
"""Shares that sum to one, with what binary fractions leave."""


class Depreciation(Strict):
    """Book lives, straight line."""

    server_years: Positive | None = None
    """Life of servers and storage; the catalog's default otherwise."""
    network_years: Positive | None = None
    """Life of switches, cables and optics."""
    facility_years: Positive | None = None
    """Life of construction."""
    residual_fraction: Fraction | None = None
    """Resale value of servers at the horizon's end, share of their price; a lease that ends earlier goes by age."""


class Tax(Strict):
    """Income tax on the project, by fiscal year."""

    rate_fraction: Fraction = 0.25
    """Tax on income."""
    method: TaxMethod = TaxMethod.MACRS
    """How purchases are written off for tax."""
    server_years: Positive | None = None
    """Recovery period of servers and storage; the law's by default, the book life under straight-line."""
    network_years: Positive | None = None
    """Recovery period of the network."""
    facility_years: Positive | None = None
    """Recovery period of construction; over 20 years it is written off evenly from the middle of the month."""
    bonus_fraction: Fraction | None = None
    """Share of the basis deducted at once, for recovery periods up to 20 years; the law's by default under MACRS, else 0."""
    losses: LossUse = LossUse.CARRIED
    """What becomes of losses: set off at once in a group, carried forward under a cap, or lost."""
    loss_cap_fraction: Fraction | None = None
    """Share of a year's income that carried losses may offset; the law's by default."""
    fiscal_year_start_month: Annotated[int, Field(ge=1, le=12, strict=True)] = 1
    """Month of the calendar that a fiscal year begins with."""

    @model_validator(mode="after")
    def _terms_agree(self) -> Self:
        said = [*self._wrong_cap(), *self._wrong_years()]
        if said:
            raise DisagreementError(said)
        return self

    def _wrong_cap(self) -> Iterator[tuple[tuple[str, ...], str]]:
        if self.loss_cap_fraction is not None and self.losses is not LossUse.CARRIED:
            yield (
                ("loss_cap_fraction",),
                f"loss_cap_fraction does nothing where losses are {self.losses.value}",
            )

    def _wrong_years(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Recovery periods without a table."""
        if self.method is not TaxMethod.MACRS:
            return
        known = ", ".join(f"{one:g}" for one in MACRS_YEARS)
        for name in ("server_years", "network_years", "facility_years"):
            years = getattr(self, name)
            if years is not None and years <= LONGEST_TABLE_YEARS and years not in MACRS_YEARS:
                yield (
                    (name,),
                    f"{name} is {years:g}, and MACRS has tables for {known} years, or more than 20",
                )


class Capital(Strict):
    """Cost of capital, for the discount rate where none is given."""

    debt_fraction: Fraction
    """Debt over debt and equity, at market values."""
    debt_rate_fraction: Rate
    """Interest a year, before tax."""
    equity_rate_fraction: Rate
    """Return a year that owners ask."""


class Debt(Strict):
    """A loan for the purchase, a tranche for each phase, repaid in level monthly payments."""

    share_fraction: Fraction = 0.7
    """Share of each payment for the purchase that is borrowed."""
    rate_fraction: Rate = 0.08
    """Interest a year, a twelfth each month."""
    term_months: Annotated[int, Field(ge=1, le=180, strict=True)] = 48
    """Payments of each tranche."""
    grace_months: Months = 0
    """Months in service before repayment starts, with interest alone."""
    fee_fraction: Fraction = 0.0
    """Fee on what is borrowed, paid with each draw."""
    cover_ratio: Positive | None = None
    """Least cover of debt service that the lender asks (DSCR)."""


class Lease(Strict):
    """A lease of the servers, compared with buying them."""

    payment_fraction_per_month: Positive
    """Rent of a month, share of the price."""
    term_months: Annotated[int, Field(ge=1, le=180, strict=True)] = 48
    """Payments."""
    timing: PaymentTiming = PaymentTiming.ARREARS
    """At a month's start, or at its end."""
    rate_fraction: Rate = 0.08
    """Rate a year of borrowing, before tax: discounts rent and tax relief."""
    residual_rate_fraction: Rate = 0.12
    """Rate a year for what the servers are worth at the end, less certain than rent."""
    buyout_fraction: Fraction | None = None
    """Price of an option to buy at the end, share of the price; none by default."""
    view: LeaseView = LeaseView.FINANCE
    """How it is charged in the books."""


class WorkingCapital(Strict):
    """Cash tied up between delivery and payment."""

    receivable_days: NotNegative = 0.0
    """Days until customers pay (DSO)."""
    payable_days: NotNegative = 0.0
    """Days until running costs are paid (DPO)."""


class Currency(Strict):
    """A foreign currency."""

    usd: Positive
    """USD for one unit, on the plan's date: converts purchases."""
    rate_fraction: Rate | None = None
    """Interest a year in it; with usd_rate_fraction it gives forward rates, which convert running costs."""
    usd_rate_fraction: Rate | None = None
    """Interest a year in USD."""

    @model_validator(mode="after")
    def _has_both_rates_or_none(self) -> Self:
        if (self.rate_fraction is None) != (self.usd_rate_fraction is None):
            stated = "usd_rate_fraction" if self.rate_fraction is None else "rate_fraction"
            raise DisagreementError(
                [
                    (
                        (stated,),
                        "rate_fraction and usd_rate_fraction make a forward rate together: give both or none",
                    )
                ]
            )
        return self


class Landed(Strict):
    """What hardware costs beyond its price until it stands in the hall."""

    freight_fraction: Fraction = 0.0
    """Transport, share of the price."""
    insurance_fraction: Fraction = 0.0
    """Insurance in transit, share of the price."""
    duty_fraction: Fraction = 0.0
    """Duty, on price, freight and insurance."""
    tax_fraction: Fraction = 0.0
    """Sales tax or VAT, on the duty-paid value."""
    recovered_fraction: Fraction = 0.0
    """Share of that tax that comes back: 1 for recoverable VAT."""


class Contingency(Strict):
    """Money set aside for what is not foreseen."""

    fraction: Fraction
    """Share of the base."""
    base: ContingencyBase = ContingencyBase.PURCHASE
    """Prices alone, hardware as landed after duty and tax, or the whole purchase."""
    spent_fraction: Fraction = 1.0
    """Share that is expected to be spent: it alone is paid and depreciated; the budget holds all of it."""


class PriceErosion(Strict):
    """Prices that fall until an order is placed."""

    server_fraction_per_year: Rate | None = None
    """Fall of prices of servers and storage a year; the catalog's figure by default."""
    network_fraction_per_year: Rate | None = None
    """The same of switches, optics and cables; the catalog's figure, for optics alone, by default."""


class PaymentTerms(Strict):
    """When a purchase is paid, besides money.deposit_fraction with the order."""

    shipped_fraction: Fraction = 0.0
    """Share paid when it ships."""
    shipped_months_before_service: Months = 1
    """How long before the in-service date it ships."""
    accepted_months_after_service: Annotated[int, Field(ge=0, le=12, strict=True)] = 0
    """How long after the in-service date the rest is paid."""


class Construction(Strict):
    """Dates of the building, paid in equal parts from order to in_service."""

    order: Day
    """Date of the first payment."""
    in_service: Day
    """Date from which it is written off."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.in_service[:7] < self.order[:7]:
            raise DisagreementError([(("in_service",), "construction is in service before it is ordered")])
        return self


class Money(Strict):
    """Terms of the calculation."""

    currency: Literal["USD"] = "USD"
    """Reporting currency."""
    horizon_months: Annotated[int, Field(ge=12, le=180, strict=True)] = 60
    """Months of operation from the first in-service date."""
    discount_rate_fraction: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False, strict=True)] | None = (
        None
    )
    """Yearly discount rate; of money.capital if that is given, else the catalog's default."""
    utilisation_fraction: Annotated[float, Field(ge=0.001, le=1, allow_inf_nan=False, strict=True)] = 0.85
    """Share of available GPU-hours that workloads are scheduled on."""
    deposit_fraction: Fraction = 0.3
    """Share of a purchase paid with the order; the rest is paid at the in-service date."""
    depreciation: Depreciation = Depreciation()
    """Book lives."""
    rental: Id | None = None
    """Rental offer to compare with, an item of rentals."""
    sell_usd_per_gpu_hour: Positive | None = None
    """Price at which GPU-hours are sold; none for own use."""
    staff_fte: NotNegative | None = None
    """Full-time staff; by size by default."""
    software_usd_per_gpu_year: NotNegative = 0.0
    """Software licences for each GPU."""
    warranty_months: Months = 0
    """Months in service before hardware support is paid."""
    discounting: Discounting = Discounting.MONTHS
    """When flows fall: at each month's end, in the middle of years, or on their dates (actual days over 365)."""
    rate_basis: RateBasis = RateBasis.NOMINAL
    """Whether the discount rate is nominal, or real and lifted by inflation."""
    inflation_fraction: Rate = 0.0
    """General rise of prices a year; escalates what says so, and lifts a real rate."""
    escalation: Escalation | None = None
    """Rise of running costs a year, by kind; none by default."""
    payment: PaymentTerms | None = None
    """Payment terms; deposit with the order and the rest at the in-service date by default."""
    price_erosion: PriceErosion | None = None
    """Fall of prices until the order; today's prices by default."""
    landed: Landed | None = None
    """Freight, duty and taxes on hardware; none by default."""
    contingency: Contingency | None = None
    """Contingency; none by default."""
    construction: Construction | None = None
    """Dates of an own building; with the servers by default."""
    tariff: Tariff | None = None
    """Terms of electricity; one price for all by default."""
    colocation: ColocationTerms | None = None
    """Terms of a colocation contract; rent on what is reserved by default."""
    working_capital: WorkingCapital | None = None
    """Days until bills are paid; none by default."""
    tax: Tax | None = None
    """Income tax; before tax by default."""
    capital: Capital | None = None
    """Cost of capital, for the discount rate."""
    debt: Debt | None = None
    """A loan; paid from own funds by default."""
    lease: Lease | None = None
    """A lease of the servers to compare with buying."""
    operator: Operator | None = None
    """Ramp and price decay of sales, with sell_usd_per_gpu_hour; all sold at once at one price by default."""
    currencies: dict[CurrencyCode, Currency] = Field(default_factory=dict, max_length=20)
    """Foreign currencies that amounts and quotes are given in, such as EUR: {usd: 1.08}."""
    costs: dict[Id, Cost] = Field(default_factory=dict, max_length=100)
    """Further costs by name; names of the complete list are known, others say when they fall."""

    @model_validator(mode="after")
    def _terms_agree(self) -> Self:
        said = [*self._wrong_alone(), *self._wrong_without_sales()]
        sold = self.sell_usd_per_gpu_hour is not None
        costs = wrong_costs(self.costs, frozenset(self.currencies), sold=sold)
        said += [(("costs", *field), text) for field, text in costs]
        if said:
            raise DisagreementError(said)
        return self

    def _wrong_alone(self) -> Iterator[tuple[tuple[str, ...], str]]:
        shipped = 0.0 if self.payment is None else self.payment.shipped_fraction
        paid = self.deposit_fraction + shipped
        if paid > WHOLE:
            typed = "deposit_fraction" in self.model_fields_set
            yield (
                ("deposit_fraction",) if typed else ("payment", "shipped_fraction"),
                f"deposit_fraction and payment.shipped_fraction add up to {paid:g}, and at most 1 can be paid",
            )
        if self.lease is not None and self.lease.term_months > self.horizon_months:
            yield (
                ("lease", "term_months"),
                f"lease.term_months is {self.lease.term_months}, and the horizon has {self.horizon_months} months",
            )
        if self.rate_basis is RateBasis.REAL and self.inflation_fraction == 0:
            yield ("rate_basis",), "rate_basis real needs inflation_fraction"

    def _wrong_without_sales(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Terms that speak of revenue need some."""
        if self.sell_usd_per_gpu_hour is not None:
            return
        if self.operator is not None:
            yield ("operator",), "operator needs sell_usd_per_gpu_hour, the price that hours are sold at"
        if self.debt is not None and self.debt.cover_ratio is not None:
            yield (
                ("debt", "cover_ratio"),
                "debt.cover_ratio needs sell_usd_per_gpu_hour: without sales nothing covers debt service",
            )
        if self.working_capital is not None and self.working_capital.receivable_days > 0:
            yield (
                ("working_capital", "receivable_days"),
                "working_capital.receivable_days needs sell_usd_per_gpu_hour: without sales nobody owes",
            )


__all__ = [
    "Amount",
    "Capital",
    "ColocationTerms",
    "Construction",
    "Contingency",
    "ContingencyBase",
    "Cost",
    "Count",
    "Currency",
    "Debt",
    "Depreciation",
    "Discounting",
    "Escalation",
    "Landed",
    "Lease",
    "LeaseView",
    "LossUse",
    "Money",
    "Operator",
    "PaymentTerms",
    "PaymentTiming",
    "PriceErosion",
    "RateBasis",
    "Tariff",
    "Tax",
    "TaxMethod",
    "WorkingCapital",
]
