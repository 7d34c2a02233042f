"""What one GPU-hour, one million tokens and one training run cost; own against rent."""

from __future__ import annotations

from planner.finance.cashflow import CashFlow
from planner.finance.timeline import Timeline
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import npv
from planner.scenario.givens import figure_line, wish_line
from planner.scenario.parts import Parts
from planner.units import DAYS_PER_YEAR, MEGA, SECONDS_PER_DAY, SECONDS_PER_HOUR

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
    given_out = ledger["workload.scheduled_fraction"]
    sold = ledger.derive(
        "timing.gpu_hours_sold", "GPU-hours scheduled", "GPU-h", available * used * given_out
    )
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
    cost = ledger["tco.npv_usd"]
    for suffix, label, series in (
        ("", "installed", time.hours),
        ("_available", "available", ledger["timing.gpu_hours_available"]),
        ("_sold", "scheduled", ledger["timing.gpu_hours_sold"]),
        ("_goodput", "of useful work", ledger["timing.gpu_hours_goodput"]),
    ):
        worth = ledger.derive(
            f"unit.pv_gpu_hours{suffix or '_installed'}", f"GPU-hours {label}, discounted", "GPU-h",
            npv(flow.rate, series),
        )  # fmt: skip
        ledger.derive(
            f"unit.usd_per_gpu_hour{suffix}",
            f"Cost of a GPU-hour {label}",
            "USD/GPU-h",
            cost / worth,
            sign=Sign.COST,
        )
    scheduled = ledger["unit.usd_per_gpu_hour_sold"]
    _waiting(ledger, time, scheduled)
    serving, training = parts.workload("serving"), parts.workload("training")
    if serving is not None:
        ledger.derive(
            "unit.usd_per_mtoken_output", "Cost of a million output tokens", "USD/Mtoken",
            scheduled * MEGA
            / (ledger["performance.serving.output_tokens_per_s_per_gpu"] * SECONDS_PER_HOUR
               * ledger["performance.serving.goodput_fraction"]),
            sign=Sign.COST,
        )  # fmt: skip
    if training is not None:
        ledger.derive(
            "unit.usd_per_training_run", "Cost of the training run", "USD",
            ledger["performance.training.gpu_hours"] * scheduled, sign=Sign.COST,
        )  # fmt: skip
    _rent(ledger, parts, flow)


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


def _rent(ledger: Ledger, parts: Parts, flow: CashFlow) -> None:
    if parts.rental is None:
        return
    price = figure_line(
        ledger, "rent.usd_per_gpu_hour", f"Rent, {parts.rental.item.name}", "USD/GPU-h", parts.rental,
        "usd_per_gpu_hour",
    )  # fmt: skip
    committed = parts.rental.item.term_months > 0
    rented = ledger["unit.pv_gpu_hours_installed" if committed else "unit.pv_gpu_hours_sold"]
    rent = ledger.derive(
        "rent.npv_usd", "Rent for the same work, present value", "USD", rented * price, sign=Sign.COST,
        note="a committed term pays for every hour, on demand for the scheduled ones",
    )  # fmt: skip
    ledger.derive(
        "rent.saved_by_owning_usd", "Saved by owning, present value", "USD", rent - ledger["tco.npv_usd"]
    )
    if committed:
        return  # a committed term is paid whether it is used or not: no utilisation breaks even
    ledger.derive(
        "rent.break_even_utilisation_fraction", "Utilisation at which owning costs as much as rent on demand",
        "fraction", ledger["tco.npv_usd"] / (price * ledger["unit.pv_gpu_hours_available"]),
    )  # fmt: skip
