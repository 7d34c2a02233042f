"""What the same work costs on rented GPUs, beside owning them."""

from __future__ import annotations

from planner.ledger import Ledger, Line, Sign
from planner.scenario.givens import figure_line
from planner.scenario.parts import Parts
from planner.units import MEGA, SECONDS_PER_HOUR


def rent(ledger: Ledger, parts: Parts) -> None:
    """Enter the rent of the offer that the scenario names, what owning saves against it, and its unit costs.

    A committed term pays for every hour, on demand for the scheduled ones alone. Rent is before tax, and so is the
    cost of owning that it is compared with.

    Args:
        ledger: Holds the discounted hours and the cost of owning; takes the lines ``rent.*``.
        parts: Names the offer; without one nothing is entered.
    """
    if parts.rental is None:
        return
    price = figure_line(
        ledger, "rent.usd_per_gpu_hour", f"Rent, {parts.rental.item.name}", "USD/GPU-h", parts.rental,
        "usd_per_gpu_hour",
    )  # fmt: skip
    committed = parts.rental.item.term_months > 0
    rented = ledger["unit.pv_gpu_hours_installed" if committed else "unit.pv_gpu_hours_sold"]
    whole = ledger.derive(
        "rent.npv_usd", "Rent for the same work, present value", "USD", rented * price, sign=Sign.COST,
        note="a committed term pays for every hour, on demand for the scheduled ones",
    )  # fmt: skip
    owned = ledger["tco.before_tax_npv_usd" if "tco.before_tax_npv_usd" in ledger else "tco.npv_usd"]
    ledger.derive("rent.saved_by_owning_usd", "Saved by owning, present value", "USD", whole - owned)
    _unit_costs(ledger, parts, whole)
    if committed:
        return  # a committed term is paid whether it is used or not: no utilisation breaks even
    ledger.derive(
        "rent.break_even_utilisation_fraction", "Utilisation at which owning costs as much as rent on demand",
        "fraction", owned / (price * ledger["unit.pv_gpu_hours_available"]),
    )  # fmt: skip


def _unit_costs(ledger: Ledger, parts: Parts, whole: Line) -> None:
    """The rent of a scheduled hour, of the training run and of a million output tokens."""
    hour = ledger.derive(
        "rent.usd_per_gpu_hour_sold", "Rent of a GPU-hour scheduled", "USD/GPU-h",
        whole / ledger["unit.pv_gpu_hours_sold"], sign=Sign.COST,
    )  # fmt: skip
    if parts.workload("training") is not None:
        ledger.derive(
            "rent.usd_per_training_run", "Rent for the training run", "USD",
            ledger["performance.training.gpu_hours"] * hour, sign=Sign.COST,
        )  # fmt: skip
    if parts.workload("serving") is not None:
        ledger.derive(
            "rent.usd_per_mtoken_output", "Rent for a million output tokens", "USD/Mtoken",
            hour * MEGA
            / (ledger["performance.serving.output_tokens_per_s_per_gpu"] * SECONDS_PER_HOUR
               * ledger["performance.serving.goodput_fraction"]),
            sign=Sign.COST, note="as for owned GPUs: prompts are charged to the answers",
        )  # fmt: skip
