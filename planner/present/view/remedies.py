"""Remedies that were tried, as a table and in words."""

from __future__ import annotations

from planner.errors import Problem
from planner.evaluate import Evaluation, Tried
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Table

MONEY = (
    ("capex.total_usd", "Purchase"), ("tco.npv_usd", "Present value of cost"),
    ("unit.usd_per_gpu_hour", "Cost of a GPU-hour"),
)  # fmt: skip
OUTCOMES = (
    ("outcome.gpu_utilisation_fraction", "GPU utilisation"), ("outcome.waiting_fraction", "Time lost waiting"),
    ("outcome.serving_output_tokens_per_s", "Serving throughput"), ("outcome.tpot_p99_s", "Time per token, p99"),
    ("performance.training.days_to_train", "Training time"), ("power.facility_peak_w", "Power at peak"),
)  # fmt: skip
UNITS = {
    "capex.total_usd": "USD", "tco.npv_usd": "USD", "unit.usd_per_gpu_hour": "USD",
    "outcome.gpu_utilisation_fraction": "fraction", "outcome.waiting_fraction": "fraction",
    "outcome.serving_output_tokens_per_s": "tokens/s", "outcome.tpot_p99_s": "s",
    "performance.training.days_to_train": "days", "power.facility_peak_w": "W",
}  # fmt: skip
BASE = {
    "missed": "change against the plan as it stands in brackets",
    "refused": "of the plan as it would be then",
}


def tried_table(evaluation: Evaluation) -> Table | None:
    """One row for each remedy that was tried and cures, the cheapest of each problem first; None without any."""
    if not evaluation.tried:
        return None
    keys = [
        (key, name) for key, name in (*MONEY, *OUTCOMES) if any(key in one.values for one in evaluation.tried)
    ]
    return Table(
        "remedies",
        f"Remedies that were tried, {BASE['missed' if evaluation.feasible else 'refused']}",
        (
            Column("What is in the way", numeric=False),
            Column("Remedy", numeric=False),
            *(Column(name) for _, name in keys),
            Column("Leaves", numeric=False),
        ),
        tuple(_row(one, [key for key, _ in keys]) for one in evaluation.tried),
    )


def _row(tried: Tried, keys: list[str]) -> tuple[Cell, ...]:
    return (
        Cell(tried.problem.message),
        Cell(f"{tried.remedy.words}{' (cheapest)' if tried.first else ''}"),
        *(Cell(_figure(tried, key), tried.values.get(key)) for key in keys),
        Cell(_left(tried)),
    )


def _figure(tried: Tried, key: str) -> str:
    """A value with its change."""
    if key not in tried.values:
        return fmt.NOTHING
    text = fmt.quantity(tried.values[key], UNITS[key])
    return f"{text} ({_change(tried, key)})" if key in tried.changes else text


def _change(tried: Tried, key: str) -> str:
    change, unit = tried.changes[key], UNITS[key]
    if abs(change) < 1e-9 * abs(tried.values[key]):
        return "="
    sign, size = "+" if change > 0 else "-", abs(change)
    if unit == "fraction":
        return f"{sign}{fmt.significant(size * 100)} points"
    return f"{sign}{fmt.quantity(size, unit)}"


def _left(tried: Tried) -> str:
    """What is still in the way with a remedy."""
    if not tried.builds:
        return "something else is in the way then"
    return f"misses {', '.join(tried.breaks)}" if tried.breaks else "nothing in the way"


def cheapest_in_words(evaluation: Evaluation, problem: Problem) -> str:
    """The cheapest cure of a problem with what it costs; empty where none was tried or none cures."""
    found = next(
        (one for one in evaluation.tried if one.first and one.problem.message == problem.message), None
    )
    if found is None:
        return ""
    said = [f"cheapest: {found.remedy.words}"]
    for key, name in (("capex.total_usd", "purchase"), ("tco.npv_usd", "NPV of cost")):
        said.append(f"{name} {_change(found, key) if key in found.changes else fmt.money(found.values[key])}")
    if found.breaks:
        said.append(f"and it then misses {', '.join(found.breaks)}")
    return ", ".join(said)
