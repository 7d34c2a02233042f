"""Running costs by month: energy, space, support, staff, software, insurance."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.schema import Site
from planner.design.bom import AssetClass, BomRow
from planner.finance.capex import Capex
from planner.finance.timeline import Timeline
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Expr, added, sum_year
from planner.scenario.givens import assume, figure_line, wish_line
from planner.scenario.parts import Parts
from planner.scenario.schema import Housing
from planner.units import KILO, MEGA, MONTHS_PER_YEAR


@dataclass(frozen=True, slots=True)
class Opex:
    """Ledger lines of running costs: each monthly, cash in positive (so negative)."""

    lines: tuple[Line, ...]
    total: Line
    year1: Line


def opex(ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], bought: Capex, time: Timeline) -> Opex:
    """Enter all running costs and their total."""
    lines = [_energy(ledger, parts, time)]
    if parts.loaded.scenario.site.housing is Housing.COLOCATION:
        lines.append(_space(ledger, parts, time))
    else:
        lines.append(_upkeep(ledger, parts, bought, time))
    lines += [
        _support(ledger, parts, rows, time),
        _staff(ledger, parts, time),
        _software(ledger, parts, time),
        _insurance(ledger, parts, bought, time),
    ]
    total = ledger.derive("cash.opex_usd", "Running costs", "USD", added(lines), sign=Sign.CASH)
    year1 = ledger.derive(
        "opex.year1_usd", "Running costs, first twelve months in service", "USD",
        -sum_year(total, first=time.first_month), sign=Sign.COST,
    )  # fmt: skip
    return Opex(tuple(lines), total, year1)


def _cash(ledger: Ledger, name: str, label: str, cost: Expr) -> Line:
    return ledger.derive(f"cash.opex_{name}_usd", label, "USD", -cost, sign=Sign.CASH)


def _energy(ledger: Ledger, parts: Parts, time: Timeline) -> Line:
    wish = parts.loaded.scenario.site.electricity_usd_per_kwh
    key, label = "site.electricity_usd_per_kwh", "Price of electricity"
    price = (
        figure_line(ledger, key, label, "USD/kWh", parts.site, "electricity_usd_per_kwh")
        if wish is None
        else wish_line(ledger, parts.loaded, key, label, "USD/kWh", wish, "site", "electricity_usd_per_kwh")
    )
    kwh = ledger.derive(
        "energy.kwh", "Energy at the meter", "kWh",
        ledger["power.average_facility_w"] / KILO * ledger["timing.hours_per_month"] * time.share,
    )  # fmt: skip
    return _cash(ledger, "energy", "Energy", kwh * price)


def _space(ledger: Ledger, parts: Parts, time: Timeline) -> Line:
    wish = parts.loaded.scenario.site.colocation_usd_per_kw_month
    key, label = "site.colocation_usd_per_kw_month", "Colocation for a kW of IT power"
    if wish is not None:
        rent = wish_line(
            ledger, parts.loaded, key, label, "USD/kW/month", wish, "site", "colocation_usd_per_kw_month"
        )
    elif parts.site.item.colocation_usd_per_kw_month is not None:
        rent = figure_line(ledger, key, label, "USD/kW/month", parts.site, "colocation_usd_per_kw_month")
    else:
        rent = figure_line(
            ledger,
            key,
            label,
            "USD/kW/month",
            parts.catalog.entry(Site, "world"),
            "colocation_usd_per_kw_month",
        )
    contracted = ledger["power.it_peak_w"] / KILO
    return _cash(ledger, "space", "Colocation", contracted * rent * time.share)


def _upkeep(ledger: Ledger, parts: Parts, bought: Capex, time: Timeline) -> Line:
    assert bought.facility is not None
    rate = assume(
        ledger, parts.catalog, "finance", "facility_upkeep_fraction_per_year",
        "Upkeep of the building, share of its cost a year", "fraction/year",
    )  # fmt: skip
    return _cash(ledger, "space", "Building upkeep", bought.facility * rate / MONTHS_PER_YEAR * time.share)


def _support(ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], time: Timeline) -> Line:
    rate = assume(
        ledger, parts.catalog, "finance", "support_fraction_per_year",
        "Hardware support, share of price a year", "fraction/year",
    )  # fmt: skip
    covered = [
        row.cost
        for row in rows
        if row.demand.asset_class in (AssetClass.SERVERS, AssetClass.SWITCHES, AssetClass.STORAGE)
    ]
    return _cash(ledger, "support", "Hardware support", added(covered) * rate / MONTHS_PER_YEAR * time.share)


def _staff(ledger: Ledger, parts: Parts, time: Timeline) -> Line:
    salary = assume(
        ledger, parts.catalog, "finance", "staff_usd_per_fte_year", "Cost of one full-time post", "USD/year"
    )
    wish = parts.loaded.scenario.money.staff_fte
    posts: Line
    if wish is not None:
        posts = wish_line(ledger, parts.loaded, "money.staff_fte", "Staff", "FTE", wish, "money", "staff_fte")
    else:
        per_mw = assume(
            ledger, parts.catalog, "finance", "staff_fte_per_mw", "Staff for a MW of IT", "FTE/MW"
        )
        posts = ledger.derive("money.staff_fte", "Staff", "FTE", per_mw * ledger["power.it_peak_w"] / MEGA)
    return _cash(ledger, "staff", "Staff", posts * salary / MONTHS_PER_YEAR * time.share)


def _software(ledger: Ledger, parts: Parts, time: Timeline) -> Line:
    wish = parts.loaded.scenario.money.software_usd_per_gpu_year
    fee = wish_line(
        ledger, parts.loaded, "money.software_usd_per_gpu_year", "Software for a GPU", "USD/year", wish,
        "money", "software_usd_per_gpu_year",
    )  # fmt: skip
    return _cash(ledger, "software", "Software", fee * ledger["cluster.gpus"] / MONTHS_PER_YEAR * time.share)


def _insurance(ledger: Ledger, parts: Parts, bought: Capex, time: Timeline) -> Line:
    rate = assume(
        ledger, parts.catalog, "finance", "insurance_fraction_per_year",
        "Insurance, share of purchase a year", "fraction/year",
    )  # fmt: skip
    return _cash(ledger, "insurance", "Insurance", bought.total * rate / MONTHS_PER_YEAR * time.share)
