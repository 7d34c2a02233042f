"""Ledger lines of the options: monthly cash, present value, cost of a GPU-hour, and the part that follows its use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.evaluate import Built, Evaluation, evaluate
from planner.finance.timeline import start_of
from planner.finance.worth import worth
from planner.ledger import Axis, Ledger, Line, Sign
from planner.ledger.nodes import Expr, node, ref, sum_months
from planner.scenario.givens import figure_line
from planner.scenario.site import Housing
from planner.study.options_offers import Offer
from planner.units import MONTHS_PER_YEAR

HOUSED = {Housing.COLOCATION: "colocation", Housing.OWN: "own building"}


@dataclass(frozen=True, slots=True)
class Entered:
    """An option whose lines stand in the ledger."""

    id: str
    label: str
    notes: tuple[str, ...] = ()


def built_of(evaluation: Evaluation) -> Built:
    """The design of a plan that is known to be built."""
    assert evaluation.built is not None
    return evaluation.built


def enter_option(
    evaluation: Evaluation, name: str, label: str, cash: Expr, varying: Expr, *, running: Expr,
    ends: tuple[Line, ...] = (), notes: tuple[str, ...] = (),
) -> Entered:  # fmt: skip
    """Enter what every option has.

    Args:
        cash: By month, cash in positive, before income tax.
        varying: The part of its present value, as cost, that follows the utilisation.
        running: The part of the cash that pays for the month it falls in; the rest is spread over installed hours in
            the effective cost.
        ends: Parts of the cash that fall at the end whatever the timing of flows.
    """
    ledger, built = evaluation.ledger, built_of(evaluation)
    flow = ledger.derive(
        f"options.{name}.cash_usd", f"Cash, {label}", "USD", cash, sign=Sign.CASH, axis=Axis.MONTH
    )
    value = ledger.derive(
        f"options.{name}.npv_usd", f"Cost, {label}, present value", "USD", -worth(ledger, built.cash.rates, flow, ends),
        sign=Sign.COST,
    )  # fmt: skip
    ledger.derive(
        f"options.{name}.usd_per_gpu_hour", f"Cost of a GPU-hour scheduled, {label}", "USD/GPU-h",
        value / ledger["unit.pv_gpu_hours_sold"], sign=Sign.COST,
        note="the hours that the plan's workloads are scheduled on, the same for every option",
    )  # fmt: skip
    ledger.derive(
        f"options.{name}.varying_npv_usd", f"Part of the cost that follows utilisation, {label}", "USD", varying,
        sign=Sign.COST,
    )  # fmt: skip
    apart = ledger.derive(
        f"options.{name}.spread_usd", f"Cash that pays for other months too, {label}", "USD", flow - running,
        sign=Sign.CASH, axis=Axis.MONTH,
    )  # fmt: skip
    share = ledger["timing.gpu_hours"] / sum_months(ledger["timing.gpu_hours"])
    ledger.derive(
        f"options.{name}.effective_usd", f"Effective cost, {label}", "USD", -(flow - apart + sum_months(apart) * share),
        sign=Sign.COST, axis=Axis.MONTH, note="purchases, deposits and resale spread over the hours installed",
    )  # fmt: skip
    return Entered(name, label, notes)


def enter_owned(evaluation: Evaluation) -> Entered:
    """The plan as it stands."""
    ledger, housing = evaluation.ledger, evaluation.loaded.scenario.site.housing
    return enter_option(
        evaluation, f"owned-{housing.value}", f"Owned, {HOUSED[housing]}", ref("cash.cost_usd"),
        energy_of_use(ledger), running=ref("cash.opex_usd"), ends=built_of(evaluation).cash.ends,
    )  # fmt: skip


def enter_other_housing(evaluation: Evaluation, other: Evaluation) -> Entered:
    """The plan in the other housing, evaluated apart; its monthly cash is carried over."""
    ledger, theirs, housing = evaluation.ledger, other.ledger, other.loaded.scenario.site.housing
    name, label = f"owned-{housing.value}", f"Owned, {HOUSED[housing]}"
    inputs, note = ["cash.cost_usd"], f"the same plan with site.housing {housing.value}, evaluated apart"
    cash = ledger.compute(
        f"options.{name}.cash_apart_usd", f"Cash of the plan evaluated apart, {label}", "USD",
        _in_our_months(evaluation, other, "cash.cost_usd"), function=evaluate, inputs=inputs, axis=Axis.MONTH, sign=Sign.CASH, note=note,
    )  # fmt: skip
    varying = ledger.compute(
        f"options.{name}.energy_of_use_npv_usd", f"Energy that work adds, {label}, present value", "USD",
        _worked_out(theirs, energy_of_use(theirs)), function=evaluate, inputs=inputs, sign=Sign.COST, note=note,
    )  # fmt: skip
    running = ledger.compute(
        f"options.{name}.running_apart_usd", f"Running costs of the plan evaluated apart, {label}", "USD",
        _in_our_months(evaluation, other, "cash.opex_usd"), function=evaluate, inputs=inputs, axis=Axis.MONTH, sign=Sign.CASH, note=note,
    )  # fmt: skip
    return enter_option(evaluation, name, label, ref(cash), ref(varying), running=ref(running), notes=(note,))


def enter_rented(evaluation: Evaluation, offer: Offer) -> Entered:
    """Rent of the same hours: of scheduled ones on demand, of all installed ones under a committed term."""
    ledger = evaluation.ledger
    label = f"{offer.provider}, {offer.term}"
    price = figure_line(
        ledger, f"options.{offer.id}.rent_usd_per_gpu_hour", f"Rent, {label}", "USD/GPU-h", offer.entry,
        "usd_per_gpu_hour",
    )  # fmt: skip
    committed = offer.term_months > 0
    hours = ledger["timing.gpu_hours" if committed else "timing.gpu_hours_sold"]
    whole = ledger["unit.pv_gpu_hours_installed" if committed else "unit.pv_gpu_hours_sold"]
    horizon = evaluation.loaded.scenario.money.horizon_months
    notes = ["pays for every installed hour, used or not" if committed else "pays for scheduled hours alone"]
    if committed and offer.term_months < horizon:
        notes.append(f"renewed every {offer.term_months} months at the same price")
    if committed and offer.term_months > horizon:
        notes.append(f"its term is longer than the horizon of {horizon} months, whose rent alone is counted")
    paid = -(hours * price)
    return enter_option(
        evaluation,
        offer.id,
        label,
        paid,
        node(0.0) if committed else whole * price,
        running=paid,
        notes=tuple(notes),
    )


def _in_our_months(evaluation: Evaluation, other: Evaluation, key: str) -> Floats:
    """Another plan's series by the months of this one, whose first payment may be earlier: a building comes first."""
    (year, month), (their_year, their_month) = (
        start_of(one.loaded, one.parts.as_of) for one in (evaluation, other)
    )
    later = (their_year - year) * int(MONTHS_PER_YEAR) + their_month - month
    series = other.ledger.value(key)
    rest = evaluation.ledger.months - later - series.shape[-1]
    assert later >= 0 and rest >= 0, "the other housing is paid and used within the plan's months"
    return np.pad(series, ((0, 0), (later, rest)))


def energy_of_use(ledger: Ledger) -> Expr:
    """Present value of the energy that work adds to what idle equipment draws."""
    idle, busy = ledger["power.it_idle_w"], ledger["power.it_w"]
    share = (busy - idle) * ledger["power.busy_fraction"] / ledger["power.average_it_w"]
    return ledger["tco.opex_energy_npv_usd"] * share


def _worked_out(ledger: Ledger, expression: Expr) -> float:
    """Value of a formula over another plan's ledger."""
    key = "options.energy_of_use_npv_usd"
    line = (
        ledger[key]
        if key in ledger
        else ledger.derive(key, "Energy that work adds, present value", "USD", expression)
    )
    return ledger.scalar(line)
