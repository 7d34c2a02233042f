"""Running costs by month: energy, space, support, staff, software, insurance."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.schema import Site
from planner.design.bom import BomRow
from planner.finance.capex import Capex
from planner.finance.cost_lines import further_at_end, further_running
from planner.finance.escalation import risen, times
from planner.finance.support_lines import support
from planner.finance.tariff_lines import demand_charges, price_of_energy, rented_kw
from planner.finance.timeline import Timeline
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Expr, added, sum_year
from planner.scenario.givens import assume, figure_line, wish_line
from planner.scenario.money_costs import Escalator
from planner.scenario.parts import Parts
from planner.scenario.schema import Housing
from planner.units import KILO, MEGA, MONTHS_PER_YEAR


@dataclass(frozen=True, slots=True)
class Opex:
    """Ledger lines of running costs: each monthly, cash in positive (so negative).

    Attributes:
        at_end: Costs of the last month, such as decommissioning; no part of the total.
        deposits: Paid at first and returned in the last month; no part of the total.
        not_deductible: What tax doesn't let deduct of the total.
    """

    lines: tuple[Line, ...]
    total: Line
    year1: Line
    at_end: Line
    deposits: Line
    not_deductible: Expr | None = None


def opex(ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], bought: Capex, time: Timeline) -> Opex:
    """Enter all running costs and their total."""
    lines = [_energy(ledger, parts, time)]
    charged = demand_charges(ledger, parts, time)
    if charged is not None:
        lines.append(_cash(ledger, "demand", "Demand, standby and customer charges", charged))
    if parts.loaded.scenario.site.housing is Housing.COLOCATION:
        lines.append(_space(ledger, parts, time))
    else:
        lines.append(_upkeep(ledger, parts, bought, time))
    lines += [
        *support(ledger, parts, rows, time),
        _staff(ledger, parts, time),
        _software(ledger, parts, time),
        _insurance(ledger, parts, bought, time),
    ]
    more = further_running(ledger, parts, rows, time)
    lines += more.lines
    total = ledger.derive("cash.opex_usd", "Running costs", "USD", added(lines), sign=Sign.CASH)
    year1 = ledger.derive(
        "opex.year1_usd", "Running costs, first twelve months in service", "USD",
        -sum_year(total, first=time.first_month), sign=Sign.COST,
    )  # fmt: skip
    at_end, deposits = further_at_end(ledger, parts, rows, time)
    return Opex(tuple(lines), total, year1, at_end, deposits, more.not_deductible)


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
        ledger["power.average_facility_w"] / KILO * ledger["timing.hours_per_month"] * time.drawing,
    )  # fmt: skip
    return _cash(ledger, "energy", "Energy", kwh * price_of_energy(ledger, parts, time, price))


def _space(ledger: Ledger, parts: Parts, time: Timeline) -> Line:
    """Rent follows the power that is reserved, in whole blocks, whatever is drawn."""
    rent = _rent(ledger, parts)
    rise = risen(ledger, parts, time, Escalator.COLOCATION)
    return _cash(ledger, "space", "Colocation", times(rented_kw(ledger, parts, time) * rent, rise))


def _rent(ledger: Ledger, parts: Parts) -> Expr:
    """Rent for a kW: as typed, else the market's for air, with the premium of liquid-capable space."""
    wish = parts.loaded.scenario.site.colocation_usd_per_kw_month
    key, label, unit = "site.colocation_usd_per_kw_month", "Colocation for a kW of IT power", "USD/kW/month"
    if wish is not None:
        return wish_line(ledger, parts.loaded, key, label, unit, wish, "site", "colocation_usd_per_kw_month")
    known = parts.site.item.colocation_usd_per_kw_month is not None
    place = parts.site if known else parts.catalog.entry(Site, "world")
    rent = figure_line(ledger, key, label, unit, place, "colocation_usd_per_kw_month")
    if not parts.cooling.item.liquid:
        return rent
    premium = assume(
        ledger, parts.catalog, "facility", "colocation_liquid_premium_fraction",
        "Liquid-capable space over air-cooled", "fraction",
    )  # fmt: skip
    return rent * (1 + premium)


def _upkeep(ledger: Ledger, parts: Parts, bought: Capex, time: Timeline) -> Line:
    assert bought.facility is not None
    rate = assume(
        ledger, parts.catalog, "finance", "facility_upkeep_fraction_per_year",
        "Upkeep of the building, share of its cost a year", "fraction/year",
    )  # fmt: skip
    rise = risen(ledger, parts, time, Escalator.COLOCATION)
    return _cash(
        ledger,
        "space",
        "Building upkeep",
        times(ledger["capex.facility_usd"] * rate / MONTHS_PER_YEAR * time.share, rise),
    )


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
    return _cash(
        ledger,
        "staff",
        "Staff",
        times(posts * salary / MONTHS_PER_YEAR * time.share, risen(ledger, parts, time, Escalator.LABOUR)),
    )


def _software(ledger: Ledger, parts: Parts, time: Timeline) -> Line:
    wish = parts.loaded.scenario.money.software_usd_per_gpu_year
    fee = wish_line(
        ledger, parts.loaded, "money.software_usd_per_gpu_year", "Software for a GPU", "USD/year", wish,
        "money", "software_usd_per_gpu_year",
    )  # fmt: skip
    cost = fee * ledger["cluster.gpus"] / MONTHS_PER_YEAR * time.share
    return _cash(ledger, "software", "Software", times(cost, risen(ledger, parts, time, Escalator.SUPPORT)))


def _insurance(ledger: Ledger, parts: Parts, bought: Capex, time: Timeline) -> Line:
    rate = assume(
        ledger, parts.catalog, "finance", "insurance_fraction_per_year",
        "Insurance, share of purchase a year", "fraction/year",
    )  # fmt: skip
    return _cash(ledger, "insurance", "Insurance", bought.total * rate / MONTHS_PER_YEAR * time.share)
