"""What a plan search found, as a sentence, a table, and points of time against cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from planner.performance.memory import total_bytes
from planner.performance.search import Goal
from planner.performance.search_words import number, recompute_in_words, sharding_in_words
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Table
from planner.study.plan_search import FoundPlans, PlanPoint
from planner.units import GIGA

FRONT, OWN, OTHER = "●", "*", "·"
"""Marks of a plan that no other beats in time and cost, of the one the scenario names, and of the rest."""
KEY: Final = "plan:"
"""Before the place of a plan in the key of its row."""


@dataclass(frozen=True, slots=True)
class PlanSpot:
    """A plan in the plot: calendar days and million USD of the run."""

    days: float
    million_usd: float
    mark: str


def search_lead(found: FoundPlans, points: Sequence[PlanPoint]) -> str:
    """How many were tried, how many fit, how many are on the front, and how the scenario's own plan stands."""
    choice, job = found.choice, found.trained.job
    said = (
        f"{found.trained.workload.id}, {found.trained.workload.model} on {job.gpus:,} GPUs: {choice.tried:,} plans tried, "
        f"{choice.fitting:,} fit the memory"
    )
    if not choice.feasible:
        return f"{said}. None fits: {choice.why_not}."
    front = sum(one.on_front for one in points)
    beaten = (
        "one is sooner and cheaper than all others"
        if front == 1
        else f"{front} are beaten by none in time and cost"
    )
    return f"{said}; {beaten}.{_own(found, points)}"


def _own(found: FoundPlans, points: Sequence[PlanPoint]) -> str:
    if found.own is None:
        return ""
    if found.own.ranked is None:
        return f" The scenario's own plan can't run: {found.own.why_not}."
    mine = next(one for one in points if one.own)
    more = mine.run.days / points[0].run.days - 1.0
    return f" The scenario's own plan ({OWN}) takes {fmt.percent(more)} % longer than the soonest."


def ordered(points: Sequence[PlanPoint], goal: Goal) -> list[PlanPoint]:
    """Plans by one goal, the best first; of equals the sooner."""
    values = {
        Goal.TIME: lambda one: one.run.days,
        Goal.COST: lambda one: one.run.usd,
        Goal.ENERGY: lambda one: one.run.kwh,
    }
    return sorted(points, key=lambda one: (values[goal](one), one.run.days))


def search_table(points: Sequence[PlanPoint], goal: Goal) -> Table:
    """Plans as rows, in the order they are given; a row's key is its place."""
    columns = (
        Column(""), Column("TP"), Column("PP"), Column("CP"), Column("DP"), Column("EP"), Column("VP"), Column("MB"),
        Column("shard", numeric=False), Column("days"), Column("M USD"), Column("GPUs"), Column("MFU", "%"),
        Column("GB"), Column("GWh"), Column("also", numeric=False),
    )  # fmt: skip
    rows = tuple(_row(place, one) for place, one in enumerate(points))
    return Table("plans", f"Plans by {goal.value}", columns, rows)


def mark_of(one: PlanPoint) -> str:
    """Glyph of a plan, in the table and in the plot."""
    return OWN if one.own else FRONT if one.on_front else OTHER


def _row(place: int, one: PlanPoint) -> tuple[Cell, ...]:
    plan, run = one.ranked.plan, one.run
    degrees = ("tensor_ranks", "pipeline_ranks", "context_ranks", "data_ranks", "expert_ranks", "virtual_stages",
               "microbatch_sequences")  # fmt: skip
    experts = number(plan, "expert_tensor_ranks")
    cells = [Cell(f"{number(plan, name):.0f}") for name in degrees]
    if experts > 1:
        cells[4] = Cell(f"{cells[4].text}x{experts:.0f}")
    said = [part for part in (recompute_in_words(plan), one.ranked.why) if part]
    return (
        Cell(mark_of(one), key=f"{KEY}{place}"), *cells, Cell(sharding_in_words(plan)),
        Cell(fmt.significant(run.days, 4), run.days), Cell(fmt.significant(run.usd / 1e6, 4), run.usd),
        Cell(fmt.count(run.gpus)), Cell(fmt.percent(useful(one)), useful(one)),
        Cell(fmt.significant(float(total_bytes(one.ranked.memory)[0]) / GIGA)), Cell(fmt.significant(run.kwh / 1e6)),
        Cell("; ".join(said)),
    )  # fmt: skip


def useful(one: PlanPoint) -> float:
    """Model FLOP over peak, with the step as measured runs of one's own correct it."""
    return float(one.ranked.step.mfu[0] * one.ranked.step.step_s[0]) / one.run.step_s


def spots(points: Sequence[PlanPoint]) -> list[PlanSpot]:
    """Points of the plot, in the order they are given."""
    return [PlanSpot(one.run.days, one.run.usd / 1e6, mark_of(one)) for one in points]
