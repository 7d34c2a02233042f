"""Ledger lines of electricity by contract and of a colocation contract's commitment."""

from __future__ import annotations

from planner.finance.escalation import contract_year, risen, times
from planner.finance.timeline import Timeline, calendar_month
from planner.ledger import Axis, Ledger, Line
from planner.ledger.nodes import Expr, flag, lookup, maximum, minimum, prev, rolling_max
from planner.power.facility import facility_power_w
from planner.power.peak_pue import hottest_pue_in
from planner.scenario.givens import wish_line
from planner.scenario.money import Tariff
from planner.scenario.money_costs import Escalator
from planner.scenario.parts import Parts
from planner.units import KILO


def price_of_energy(ledger: Ledger, parts: Parts, time: Timeline, flat: Expr) -> Expr:
    """Price of a kWh: by hours of the day where the tariff has them, with riders, risen over the years.

    Args:
        flat: The site's one price.
    """
    terms = parts.loaded.scenario.money.tariff
    rise = risen(ledger, parts, time, Escalator.ENERGY)
    if terms is None:
        return times(flat, rise)
    price = flat
    if terms.on_peak_share_fraction > 0 and terms.on_peak_usd_per_kwh is not None:
        share = _term(
            ledger, parts, terms, "on_peak_share_fraction", "Share of the energy at dear hours", "fraction"
        )
        dear = _term(
            ledger, parts, terms, "on_peak_usd_per_kwh", "Price of electricity at dear hours", "USD/kWh"
        )
        if terms.off_peak_usd_per_kwh is not None:
            price = _term(
                ledger, parts, terms, "off_peak_usd_per_kwh", "Price of electricity at other hours", "USD/kWh"
            )
        price = share * dear + (1 - share) * price
    elif terms.off_peak_usd_per_kwh is not None:
        price = _term(
            ledger, parts, terms, "off_peak_usd_per_kwh", "Price of electricity by contract", "USD/kWh"
        )
    if terms.riders_usd_per_kwh > 0:
        price = price + _term(
            ledger, parts, terms, "riders_usd_per_kwh", "Certificates and levies", "USD/kWh"
        )
    average = ledger.derive("tariff.usd_per_kwh", "Average price of electricity", "USD/kWh", price)
    return times(average, rise)


def demand_charges(ledger: Ledger, parts: Parts, time: Timeline) -> Expr | None:
    """Charges on power: demand with its ratchet, standby, and the fixed charge; None where the tariff has none.

    Billed is the month's peak, or a share of the highest of the months before where that is more. A month's peak
    is that of the IT equipment in service at the PUE of the month's hottest hours, so it follows the season.
    """
    terms = parts.loaded.scenario.money.tariff
    if terms is None:
        return None
    ledger.derive(
        "tariff.hottest_pue", "PUE in the month's hottest hours", "1",
        hottest_pue_in(ledger, parts, calendar_month(ledger, parts)),
    )  # fmt: skip
    met = facility_power_w(ledger, ledger["power.it_peak_w"], pue="tariff.hottest_pue")
    peak = ledger.derive("tariff.peak_kw", "Peak at the meter by month", "kW", met / KILO * time.drawing)
    found: list[Expr] = []
    if terms.demand_usd_per_kw_month > 0:
        price = _term(ledger, parts, terms, "demand_usd_per_kw_month", "Demand charge", "USD/kW/month")
        found.append(_billed(ledger, parts, terms, peak) * price)
    if terms.standby_usd_per_kw_month > 0:
        price = _term(ledger, parts, terms, "standby_usd_per_kw_month", "Standby capacity", "USD/kW/month")
        found.append(ledger["power.demand_peak_w"] / KILO * price * _begun(time))
    if terms.fixed_usd_per_month > 0:
        found.append(
            _term(ledger, parts, terms, "fixed_usd_per_month", "Customer charge", "USD/month") * _begun(time)
        )
    if not found:
        return None
    total = found[0]
    for one in found[1:]:
        total = total + one
    return times(total, risen(ledger, parts, time, Escalator.ENERGY))


def _billed(ledger: Ledger, parts: Parts, terms: Tariff, peak: Line) -> Expr:
    if terms.ratchet_fraction == 0:
        return peak
    share = _term(
        ledger,
        parts,
        terms,
        "ratchet_fraction",
        "Share of the highest demand before that is billed",
        "fraction",
    )
    before = ledger.derive("tariff.peak_before_kw", "Peak of the month before", "kW", prev(peak, 0))
    return ledger.derive(
        "tariff.billed_kw",
        "Demand billed",
        "kW",
        maximum(peak, share * rolling_max(before, terms.ratchet_months)),
    )


def rented_kw(ledger: Ledger, parts: Parts, time: Timeline) -> Expr:
    """IT power that colocation bills: what is reserved and in service, but no less than is committed."""
    used = ledger["power.reserved_it_kw"] * time.share
    terms = parts.loaded.scenario.money.colocation
    if terms is None or (terms.committed_fraction == 0 and not terms.committed_by_year):
        return used
    contract: Expr = ledger["power.reserved_it_kw"]
    if terms.contract_kw is not None:
        contract = wish_line(
            ledger, parts.loaded, "money.colocation.contract_kw", "IT power under contract", "kW", terms.contract_kw,
            "money", "colocation", "contract_kw",
        )  # fmt: skip
    committed = _committed(ledger, parts, time) * contract * _begun(time)
    used_line = ledger.derive("colocation.used_kw", "IT power used of the contract", "kW", used)
    return ledger.derive(
        "colocation.billed_kw", "IT power billed", "kW", maximum(used_line, committed), note="take or pay"
    )


def _committed(ledger: Ledger, parts: Parts, time: Timeline) -> Expr:
    terms = parts.loaded.scenario.money.colocation
    assert terms is not None
    if not terms.committed_by_year:
        return wish_line(
            ledger, parts.loaded, "money.colocation.committed_fraction", "Share of the contract paid in any case",
            "fraction", terms.committed_fraction, "money", "colocation", "committed_fraction",
        )  # fmt: skip
    shares = list(terms.committed_by_year)
    table = ledger.given(
        "money.colocation.committed_by_year", "Share of the contract paid in any case, by year", "fraction", shares,
        parts.loaded.source("money", "colocation", "committed_by_year"), axis=Axis.TABLE,
    )  # fmt: skip
    return lookup(table, minimum(float(len(shares)), contract_year(ledger, time) + 1))


def _begun(time: Timeline) -> Expr:
    """1 from the first month in service on."""
    return flag(time.share, ">", 0)


def _term(ledger: Ledger, parts: Parts, terms: Tariff, field: str, label: str, unit: str) -> Line:
    key = f"money.tariff.{field}"
    if key in ledger:
        return ledger[key]
    return wish_line(ledger, parts.loaded, key, label, unit, getattr(terms, field), "money", "tariff", field)
