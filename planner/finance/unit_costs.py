"""What one GPU-hour, one million tokens and one training run cost."""

from __future__ import annotations

from planner.finance.cashflow import CashFlow
from planner.finance.operator import operator_view, ramped_hours
from planner.finance.rent import rent
from planner.finance.timeline import Timeline
from planner.finance.token_costs import token_costs
from planner.finance.worth import worth
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Expr, ref
from planner.scenario.givens import wish_line
from planner.scenario.parts import Parts
from planner.units import DAYS_PER_YEAR, SECONDS_PER_DAY, SECONDS_PER_HOUR

HOURS_PER_DAY = SECONDS_PER_DAY / SECONDS_PER_HOUR


def hours(ledger: Ledger, parts: Parts, time: Timeline) -> None:
    """Enter the four kinds of GPU-hours: installed, available, sold, goodput."""
    used = wish_line(
        ledger, parts.loaded, "money.utilisation_fraction", "Share of available hours scheduled", "fraction",
        parts.loaded.scenario.money.utilisation_fraction, "money", "utilisation_fraction",
    )  # fmt: skip
    available = ledger.derive(
        "timing.gpu_hours_available", "GPU-hours available", "GPU-h",
        time.hours * ledger["performance.availability_fraction"],
    )  # fmt: skip
    given_out, ramped = ledger["workload.scheduled_fraction"], ramped_hours(ledger, parts, time)
    offered: Expr = (
        ref(available) if ramped is time.hours else ramped * ledger["performance.availability_fraction"]
    )
    sold = ledger.derive("timing.gpu_hours_sold", "GPU-hours scheduled", "GPU-h", offered * used * given_out)
    ledger.derive(
        "timing.gpu_hours_goodput",
        "GPU-hours of useful work",
        "GPU-h",
        sold * ledger["performance.goodput_fraction"],
    )
    ledger.derive(
        "outcome.idle_fraction", "Paid GPU-hours nothing runs on", "fraction",
        1 - used * given_out * ledger["performance.availability_fraction"],
    )  # fmt: skip


def unit_costs(ledger: Ledger, parts: Parts, time: Timeline, flow: CashFlow) -> None:
    """Enter the levelised costs: present value of cost over present value of hours."""
    cost = before_tax(ledger)
    for suffix, label, series in (
        ("", "installed", time.hours),
        ("_available", "available", ledger["timing.gpu_hours_available"]),
        ("_sold", "scheduled", ledger["timing.gpu_hours_sold"]),
        ("_goodput", "of useful work", ledger["timing.gpu_hours_goodput"]),
    ):
        discounted = ledger.derive(
            f"unit.pv_gpu_hours{suffix or '_installed'}", f"GPU-hours {label}, discounted", "GPU-h",
            worth(ledger, flow.rates, series),
        )  # fmt: skip
        ledger.derive(
            f"unit.usd_per_gpu_hour{suffix}",
            f"Cost of a GPU-hour {label}",
            "USD/GPU-h",
            cost / discounted,
            sign=Sign.COST,
        )
    scheduled = ledger["unit.usd_per_gpu_hour_sold"]
    _waiting(ledger, time, scheduled)
    serving, training = parts.workload("serving"), parts.workload("training")
    if serving is not None:
        token_costs(ledger, scheduled, [kind.server.item.id for kind in parts.kinds])
    if training is not None:
        ledger.derive(
            "unit.usd_per_training_run", "Cost of the training run", "USD",
            ledger["performance.training.gpu_hours"] * scheduled, sign=Sign.COST,
        )  # fmt: skip
    rent(ledger, parts)
    operator_view(ledger, time)


def before_tax(ledger: Ledger) -> Line:
    """Cost of ownership before income tax, as rent is too: what a price is compared with."""
    return ledger["tco.before_tax_npv_usd" if "tco.before_tax_npv_usd" in ledger else "tco.npv_usd"]


def _waiting(ledger: Ledger, time: Timeline, scheduled: Line) -> None:
    year = ledger.derive(
        "outcome.scheduled_gpu_hours_per_year", "GPU-hours scheduled in a full year", "GPU-h/year",
        ledger["cluster.gpus"] * DAYS_PER_YEAR * HOURS_PER_DAY * ledger["money.utilisation_fraction"]
        * ledger["performance.availability_fraction"] * ledger["workload.scheduled_fraction"],
    )  # fmt: skip
    ledger.derive(
        "outcome.waiting_usd_per_year", "Cost of waiting", "USD/year",
        ledger["outcome.waiting_fraction"] * year * scheduled, sign=Sign.COST,
    )  # fmt: skip
