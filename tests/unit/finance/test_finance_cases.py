"""Every published or hand-checked finance case, through the functions of `planner.finance`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ruamel.yaml import YAML

from planner.arrays import Floats
from planner.catalog.store import open_catalog
from planner.finance import (
    currency,
    discounting,
    erosion,
    leases,
    levelised,
    loans,
    macrs,
    returns,
    spares,
    tariffs,
    taxes,
    wacc,
    working_capital,
)
from planner.finance.day_counts import Dates, DayCount, year_fractions
from planner.finance.returns import RateOfReturn
from planner.units import HOURS_PER_YEAR

Case = dict[str, Any]
FILE = Path(__file__).parents[2] / "finance_cases.yaml"


@cache
def cases() -> dict[str, Case]:
    read = YAML(typ="safe").load(FILE.read_text(encoding="utf-8"))
    assert read["count"] == len(read["cases"])
    return {case["id"]: case for case in read["cases"]}


@cache
def table(years: int, quarter: int = macrs.HALF_YEAR) -> Floats:
    return macrs.macrs_table(catalog=open_catalog(), recovery_years=years, quarter=quarter)[0]


def one(value: float) -> Floats:
    """A batch of one scenario."""
    return np.array([float(value)])


def row(values: Any) -> Floats:
    """A series of one scenario."""
    return np.array([values], dtype=np.float64)


def days(values: Any) -> Dates:
    return np.array(np.atleast_1d(values), dtype="M8[D]")


def _macrs(given: Case) -> Case:
    return {"percent": 100.0 * table(given["recovery_years"], given.get("quarter", macrs.HALF_YEAR))}


def _mid_quarter(given: Case) -> Case:
    assets = given["assets"]
    basis, quarters = row([asset["cost"] for asset in assets]), row([asset["quarter"] for asset in assets])
    figure, _ = open_catalog().figure("tax", "mid_quarter_threshold_fraction")
    late = macrs.mid_quarter_holds(basis_usd=basis, quarters=quarters, threshold_fraction=one(figure.value))
    year1 = [
        macrs.deductions_usd(
            basis_usd=one(asset["cost"]),
            fractions=table(asset["recovery_years"], asset["quarter"] if late[0] else macrs.HALF_YEAR),
            bonus_fraction=one(given["bonus"]),
        )[0, 0]
        for asset in assets
    ]
    return {
        "q4_share": macrs.last_quarter_fraction(basis_usd=basis, quarters=quarters),
        "convention": "mid-quarter" if late[0] else "half-year",
        "year1": year1,
        "year1_total": sum(year1),
    }


def _npv(given: Case) -> Case:
    rate, flows = one(given["rate"]), row(given["flows"])
    return {
        "excel_npv": discounting.excel_npv(rate=rate, flows=flows),
        "npv_if_first_is_time0": discounting.npv(rate=rate, flows=flows),
    }


def _irr(given: Case) -> Case:
    flows = row(given["flows"])
    return {"irr_5y": returns.irr(flows=flows), "irr_4y": returns.irr(flows=flows[:, :-1])}


def _no_irr(given: Case) -> Case:
    flows = row(given["flows"])
    assert returns.why_no_rate(flows=flows)[0] == RateOfReturn.PURE_COST
    rate = returns.irr(flows=flows)[0]
    return {"irr": None if np.isnan(rate) else rate}


def _xirr(given: Case) -> Case:
    return {"xirr": returns.xirr(flows=row(given["flows"]), dates=days(given["dates"]))}


def _xirr_by_day_count(given: Case) -> Case:
    flows, dates = row(given["flows"]), days(given["dates"])
    counts = ("act/365F", "act/360", "30/360", "act/act ISDA")
    return {name: returns.xirr(flows=flows, dates=dates, day_count=DayCount(name)) for name in counts}


def _year_fraction(given: Case) -> Case:
    start, end = days(given["start"]), days(given["end"])
    found = year_fractions(start=start, end=end, day_count=DayCount.THIRTY_E_360)
    return {"basis4_30E_360": found}


def _mid_year(given: Case) -> Case:
    rate, outlay, flows = one(given["rate"]), one(given["time0"]), row(given["flows"])
    every = np.concatenate([outlay[:, None], flows], axis=1)
    middle = discounting.mid_year_periods(years=flows.shape[1])
    return {
        "npv_end_year": discounting.npv(rate=rate, flows=every),
        "npv_mid_year": discounting.mid_year_npv(rate=rate, outlay=outlay, flows=flows, at_end=one(0.0)),
        "irr_end_year": returns.irr(flows=every),
        "irr_mid_year": returns.irr(flows=every, periods=middle),
    }


def _mid_year_residual(given: Case) -> Case:
    found = discounting.mid_year_npv(
        rate=one(given["rate"]), outlay=one(given["time0"]), flows=row(given["flows"]),
        at_end=one(given["residual_end_year5"]),
    )  # fmt: skip
    return {"npv": found}


def _payment(given: Case) -> Case:
    rate, periods, lent = one(given["rate_annual"] / 12), one(given["n"]), one(given["pv"])
    return {
        name: loans.loan_payment_usd(rate=rate, periods=periods, lent_usd=lent, in_advance=early)
        for name, early in (("pmt_end", False), ("pmt_begin", True))
    }


def _amortisation(given: Case) -> Case:
    rate, lent = one(given["rate_annual"] / 12), one(given["pv"])
    loan = loans.amortisation(rate=rate, periods=given["n"], lent_usd=lent)
    level = loans.loan_payment_usd(rate=rate, periods=one(given["n"]), lent_usd=lent, in_advance=False)
    np.testing.assert_allclose(loan.interest + loan.principal, -level[0], rtol=1e-12)
    return {
        "payment": level,
        "total_interest": -loan.interest.sum(),
        "last_principal": -loan.principal[0, -1],
        "last_interest": -loan.interest[0, -1],
    }


def _rate(given: Case) -> Case:
    found = loans.implied_rate(periods=given["n"], payment_usd=one(given["pmt"]), lent_usd=one(given["pv"]))
    return {"rate": found}


def _forward_value(given: Case) -> Case:
    start, paid, end = (days(day) for day in given["dates"])
    to_paid, to_end = (one(rate) for rate in given["rates"])
    found = discounting.forward_value(
        amount=one(given["amount"]), start=start, paid=paid, end=end, rate_to_paid=to_paid, rate_to_end=to_end
    )
    return {"xfv": found}


def _wacc(given: Case) -> Case:
    rate = wacc.wacc(
        debt_fraction=wacc.debt_fraction(debt_to_equity=one(given["debt_to_equity"])),
        debt_rate=one(given["debt_rate"]),
        equity_rate=one(given["equity_return"]),
        tax_fraction=one(given["tax"]),
    )
    years = one(given["plant_life_years"] + given["construction_months"] / 12)
    return {"wacc": rate, "crf": levelised.capital_recovery_fraction(rate=rate, periods=years)}


def _fisher(given: Case) -> Case:
    return {"nominal": discounting.nominal_rate(real=one(given["real"]), inflation=one(given["inflation"]))}


def _forward(given: Case) -> Case:
    found = currency.forward_rate(
        spot=one(given["spot_usd_per_eur"]), rate=one(given["usd_rate"]), foreign_rate=one(given["eur_rate"]),
        years=one(given["years"]),
    )  # fmt: skip
    return {"forward": found}


def _lease(given: Case) -> Case:
    assert given["salvage"] == 0
    found = leases.advantage_of_leasing_usd(
        cost_usd=one(given["cost"]),
        payment_usd=one(given["lease_payment"]),
        payments=given["years"],
        in_advance={"arrears": False, "advance": True}[given["timing"]],
        debt_rate=one(given["debt_rate"]),
        tax_fraction=one(given["tax"]),
        depreciation_fractions=np.array(given["macrs_3y"]),
        residual_usd=one(given["salvage"]),
        residual_rate=one(given["debt_rate"]),
        buyout_usd=one(np.inf),
    )
    return {"nal": found}


def _equivalent(given: Case) -> Case:
    rate, found = one(given["rate"]), {}
    for name in "AB":
        option = given[name]
        flows = row([-option["capex"], *[-option["opex"]] * option["life"]])
        worth = discounting.npv(rate=rate, flows=flows)
        found[f"npv_{name}"] = worth
        found[f"eac_{name}"] = levelised.equivalent_annual(rate=rate, periods=one(option["life"]), npv=worth)
    return found


def _recovery(given: Case) -> Case:
    return {"crf": levelised.capital_recovery_fraction(rate=one(given["rate"]), periods=one(given["n"]))}


def _lcoe(given: Case) -> Case:
    found = levelised.fixed_charge_usd_per_kwh(
        charge_fraction=one(given["fcr"]), capex_usd=one(given["capex"]),
        fixed_usd_per_year=one(given["fixed_om"]), kwh_per_year=one(given["energy_kwh"]),
        variable_usd_per_kwh=one(given["variable_om"]),
    )  # fmt: skip
    return {"lcoe": found}


def _sold_energy(given: Case) -> Case:
    yearly = given["price"] * given["kwh_per_year"] - sum(given["opex_per_year"])
    flows = row([-sum(given["capex"]), *[yearly] * given["years"]])
    return {"npv": discounting.npv(rate=one(given["rate"]), flows=flows)}


def _cost_of_an_hour(given: Case) -> Case:
    life = given["life"]
    costs = row([given["capex"], *[given["opex_per_year"]] * life])
    costs[0, life] -= given["residual"]
    hours = row([0.0, *[given["gpus"] * given["hours_per_year"] * given["utilisation"]] * life])
    found = levelised.levelised_cost(rate=one(given["rate"]), costs=costs, units=hours)
    return {"usd_per_used_gpu_hour": found}


def _payback(given: Case) -> Case:
    flows = row(given["flows"])
    return {
        "simple": returns.payback_periods(flows=flows),
        "discounted": returns.discounted_payback_periods(rate=one(given["rate"]), flows=flows),
    }


def _index(given: Case) -> Case:
    return {"pi": returns.profitability_index(rate=one(given["rate"]), flows=row(given["flows"]))}


def _shield(given: Case) -> Case:
    def worth(fractions: Floats, bonus: float) -> Floats:
        deducted = macrs.deductions_usd(
            basis_usd=one(given["basis"]), fractions=fractions, bonus_fraction=one(bonus)
        )
        return taxes.shield_usd(
            deductions_usd=deducted, tax_fraction=one(given["tax"]), rate=one(given["rate"])
        )

    return {
        "pv_macrs": worth(table(5), 0.0),
        "pv_sl_5": worth(np.full(5, 0.2), 0.0),
        "pv_bonus": worth(table(5), 1.0),
    }


def _after_tax(given: Case) -> Case:
    deducted = given["capex"] * table(given["macrs"])[None, :]
    earned = row([given["ebitda_years_1_5"]] * 5 + [0.0])
    tax = taxes.income_tax(
        income_usd=earned - deducted, tax_fraction=one(given["tax"]), losses=taxes.Losses.USED,
        cap_fraction=one(1.0),
    )  # fmt: skip
    flows = taxes.after_tax_flows_usd(earned_usd=earned, tax_usd=tax.due, invested_usd=one(given["capex"]))
    npv = discounting.npv(rate=one(given["rate"]), flows=flows)
    return {"flows": flows[0], "npv": npv, "irr": returns.irr(flows=flows)}


def _energy_bill(given: Case) -> Case:
    meter_kw, peak_kw = given["it_kw"] * given["pue"], given["peak_it_kw"] * given["pue"]
    energy = one(meter_kw * given["load_factor"] * given["hours"])
    bill = tariffs.energy_bill(
        energy_kwh=energy, usd_per_kwh=one(given["energy_usd_kwh"]), demand_kw=one(peak_kw),
        usd_per_kw=one(given["demand_usd_kw"]), fixed_usd=one(given["customer_charge"]),
    )  # fmt: skip
    return {
        "kwh": energy,
        "energy_cost": bill.energy_usd,
        "demand_cost": bill.demand_usd,
        "total": bill.total_usd,
        "blended_usd_kwh": bill.usd_per_kwh,
    }


def _ratchet(given: Case) -> Case:
    peak = row(given["monthly_peak_kw"])

    def billed(share: float) -> Floats:
        return tariffs.billed_demand_kw(peak_kw=peak, ratchet_fraction=one(share), months_before=11)

    price = given["demand_usd_kw"]
    return {
        "billed_kw": billed(given["ratchet"])[0],
        "annual_cost": billed(given["ratchet"]).sum() * price,
        "without_ratchet": billed(0.0).sum() * price,
    }


def _take_or_pay(given: Case) -> Case:
    assert given["extra_usage_billed"]
    used = np.repeat(row(given["used_kw_by_year"]), 12, axis=1)
    billed = tariffs.take_or_pay_kw(
        used_kw=used, contract_kw=one(given["contract_kw"]), committed_fraction=one(given["commit_share"])
    )
    price = tariffs.escalated(
        price=one(given["usd_kw_month"]), rise_fraction=one(given["escalation"]), months=used.shape[1],
        anniversary=0,
    )  # fmt: skip
    by_year = (-1, 12)
    return {
        "billed_kw": billed.reshape(by_year).mean(axis=1),
        "cost": (billed * price).reshape(by_year).sum(axis=1),
        "idle_cost": ((billed - used) * price).reshape(by_year).sum(axis=1),
    }


def _erosion(given: Case) -> Case:
    paid, worth = erosion.phased_spending(
        units=row([phase["gpus"] for phase in given["phases"]]),
        price_usd=one(given["unit_price"]),
        fall_fraction_per_year=one(given["erosion_per_year"]),
        rate=one(given["rate"]),
        years=np.array([float(phase["t_years"]) for phase in given["phases"]]),
    )
    return {"nominal": paid, "pv": worth}


def _spares(given: Case) -> Case:
    mean = spares.expected_failures(
        units=one(given["units"]), failures_per_unit_year=one(given["afr"]),
        resupply_years=one(given["resupply_years"]),
    )  # fmt: skip
    stock = spares.poisson_quantile(mean=mean, level=one(given["service_level"]))
    assert spares.covered_fraction(mean=mean, stock=stock)[0] >= given["service_level"]
    assert spares.covered_fraction(mean=mean, stock=stock - 1.0)[0] < given["service_level"]
    return {"mean": mean, "stock": stock}


def _working_capital(given: Case) -> Case:
    revenue = row(given["revenue"])
    needed = working_capital.net_working_capital_usd(
        revenue_usd=revenue, purchases_usd=given["cogs_share"] * revenue, receivable_days=one(given["dso"]),
        payable_days=one(given["dpo"]), inventory_days=one(0.0),
    )  # fmt: skip
    effect = working_capital.cash_effect_usd(working_capital_usd=needed)
    return {"nwc": needed[0], "cash_effect": effect[0]}


def _construction(given: Case) -> Case:
    built = loans.construction_interest(draws_usd=row(given["draws"]), rate=one(given["rate"]))
    return {"interest": built.interest[0], "capitalised": built.capitalised}


def _breakdown(given: Case) -> Case:
    """The shares of the publication again, from the monthly amounts they make of its total."""
    published = cases()["hamilton_2010"]["expected"]["share"]
    amounts = row([given["monthly_total_usd"] * share for share in published.values()])
    shares = levelised.share_fractions(amounts=amounts)[0]
    assert amounts.sum() == pytest.approx(given["monthly_total_usd"])
    return {"share": dict(zip(published, shares, strict=True)), "sum": shares.sum()}


def _cluster(given: Case) -> Case:
    life, rate, rise = given["life"], one(given["rate"]), given["energy_escalation"]
    capex = given["gpus"] * given["price_gpu"] * (1.0 + given["other_capex_share"])
    hours = np.full(life, given["gpus"] * HOURS_PER_YEAR * given["utilisation"])
    meter_kw = given["gpus"] * given["kw_per_gpu"] * given["pue"]
    energy = meter_kw * HOURS_PER_YEAR * given["usd_kwh"] * (1.0 + rise) ** np.arange(life)
    earned = (hours * given["sell_usd_hour"] - energy)[None, :]
    tax = taxes.income_tax(
        income_usd=earned - capex * table(5)[:life], tax_fraction=one(given["tax"]),
        losses=taxes.Losses.FLOORED, cap_fraction=one(1.0),
    )  # fmt: skip
    assert given["tax_floor_zero"]
    flows = taxes.after_tax_flows_usd(earned_usd=earned, tax_usd=tax.due, invested_usd=one(capex))
    start = np.datetime64(given["start"], "Y")
    dates = (start + np.arange(life + 1)).astype("M8[D]")
    costs = np.concatenate([[capex], energy])[None, :]
    used = np.concatenate([[0.0], hours])[None, :]
    return {
        "npv": discounting.npv(rate=rate, flows=flows),
        "irr": returns.irr(flows=flows),
        "xnpv": discounting.xnpv(rate=rate, flows=flows, dates=dates),
        "xirr": returns.xirr(flows=flows, dates=dates),
        "lcoc_capital_plus_energy_per_used_gpu_hour": levelised.levelised_cost(
            rate=rate, costs=costs, units=used
        ),
    }


def _table_against_formula(given: Case) -> Case:
    """The table is the catalog's; `tests/workbook` has an office program work out the formula."""
    assert given["formula"].startswith("VDB(")
    return {"table_a1": 100.0 * table(5)}


HANDLERS: dict[str, Callable[[Case], Case]] = {
    "macrs_a1_5": _macrs,
    "macrs_a1_3": _macrs,
    "macrs_a2_5": _macrs,
    "macrs_a3_5": _macrs,
    "macrs_a5_5": _macrs,
    "macrs_midq_test": _mid_quarter,
    "npv_excel_1": _npv,
    "irr_excel": _irr,
    "irr_none": _no_irr,
    "xirr_excel": _xirr,
    "xirr_daycount": _xirr_by_day_count,
    "yearfrac": _year_fraction,
    "midyear_1": _mid_year,
    "midyear_residual": _mid_year_residual,
    "pmt_excel": _payment,
    "ipmt_npf": _amortisation,
    "rate_excel": _rate,
    "xfv": _forward_value,
    "wacc_profast": _wacc,
    "fisher": _fisher,
    "fx_forward": _forward,
    "nal_nationalrail": _lease,
    "eac_ab": _equivalent,
    "crf_zero": _recovery,
    "lcoe_sam": _lcoe,
    "npv_h2i_pos": _sold_energy,
    "lcoc_residual": _cost_of_an_hour,
    "payback": _payback,
    "pi": _index,
    "tax_shield_pv": _shield,
    "after_tax_project": _after_tax,
    "energy_bill": _energy_bill,
    "demand_ratchet_ramp": _ratchet,
    "take_or_pay": _take_or_pay,
    "price_erosion": _erosion,
    "spares_poisson": _spares,
    "nwc": _working_capital,
    "idc": _construction,
    "hamilton_2010": _breakdown,
    "wb_cluster_a": _cluster,
    "vdb_trap": _table_against_formula,
}
IN_AN_OFFICE_PROGRAM = {"vdb_trap": {"libreoffice_7_4"}}
"""Answers that only an office program gives: `tests/workbook/test_finance_in_office.py`."""
TIGHTER = {("after_tax_project", "irr"): 1e-8, ("wb_cluster_a", "irr"): 1e-8, ("wb_cluster_a", "xirr"): 1e-8,
           ("wb_cluster_a", "lcoc_capital_plus_energy_per_used_gpu_hour"): 1e-8, ("energy_bill", "blended_usd_kwh"): 1e-8,
           ("midyear_1", "irr_end_year"): 1e-4, ("midyear_1", "irr_mid_year"): 1e-4}  # fmt: skip
"""Rates among amounts: the case's tolerance is made for the amounts, so the answer's own digits bind here."""


def test_every_case_has_a_handler_and_every_handler_a_case() -> None:
    assert set(HANDLERS) == set(cases())


@pytest.mark.parametrize("case_id", HANDLERS)
def test_the_functions_give_the_known_answers(case_id: str) -> None:
    case = cases()[case_id]
    found = HANDLERS[case_id](case["inputs"])
    assert set(found) == set(case["expected"]) - IN_AN_OFFICE_PROGRAM.get(case_id, set())
    for name, answer in found.items():
        tolerance = TIGHTER.get((case_id, name), float(case["tolerance"]))
        _assert_same(answer, case["expected"][name], tolerance, f"{case_id}: {name}")


def _assert_same(found: Any, expected: Any, tolerance: float, what: str) -> None:
    if isinstance(expected, dict):
        assert set(found) == set(expected), what
        for name, answer in found.items():
            _assert_same(answer, expected[name], tolerance, f"{what}.{name}")
    elif expected is None or isinstance(expected, str):
        assert found == expected, what
    else:
        values = np.atleast_1d(np.asarray(found, dtype=np.float64))
        wanted = np.atleast_1d(np.asarray(expected, dtype=np.float64))
        assert values.shape == wanted.shape, what
        np.testing.assert_allclose(values, wanted, rtol=0, atol=tolerance, err_msg=what)
