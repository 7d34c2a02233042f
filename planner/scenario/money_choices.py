"""Choices among the terms of money: how tax, losses, rates, leases and contingency are taken."""

from __future__ import annotations

from enum import StrEnum


class TaxMethod(StrEnum):
    """How a purchase is written off against taxable income."""

    MACRS = "macrs"
    """Percentage tables of the United States."""
    STRAIGHT_LINE = "straight-line"
    """Equal parts by month in service, as most other countries have it."""


class LossUse(StrEnum):
    """What becomes of a year's tax loss."""

    USED = "used"
    CARRIED = "carried-forward"
    LOST = "lost"


class Discounting(StrEnum):
    """When within a year flows are taken to fall."""

    MONTHS = "months"
    MID_YEAR = "mid-year"
    DATES = "dates"


class RateBasis(StrEnum):
    """Whether a rate holds inflation."""

    NOMINAL = "nominal"
    REAL = "real"


class PaymentTiming(StrEnum):
    """Whether rent is paid at a month's start or at its end."""

    ADVANCE = "advance"
    ARREARS = "arrears"


class LeaseView(StrEnum):
    """How a lease is charged; asset and liability stand on the balance sheet either way."""

    FINANCE = "finance"
    OPERATING = "operating"


class ContingencyBase(StrEnum):
    """What contingency is a share of."""

    HARDWARE = "hardware"
    LANDED = "landed"
    PURCHASE = "purchase"
