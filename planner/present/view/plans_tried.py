"""The best plans of a search beside each other, and what the others lost by."""

from __future__ import annotations

from planner.performance.memory import total_bytes
from planner.performance.search import Goal
from planner.performance.search_words import plan_in_words
from planner.performance.train import Trained
from planner.present import format as fmt
from planner.present.view.model import Column, Table
from planner.present.view.reading import Reading, number, share, words


def plans_tried(reading: Reading, trained: Trained) -> list[Table]:
    """The best of the search of one workload; nothing for a plan as typed."""
    choice, key = trained.choice, trained.key
    if not trained.searched:
        return []
    best = float(choice.rankings[Goal.TIME][0].step.step_s[0])
    measured = reading.value(f"{key}.step_s") / best
    rows = [
        (
            words(plan_in_words(one.plan)), number(float(one.step.step_s[0]) * measured),
            share(float(one.step.step_s[0]) / best - 1.0), number(float(total_bytes(one.memory)[0]) / 1e9),
            words(one.why or "the fastest"),
        )
        for one in choice.rankings[Goal.TIME]
    ]  # fmt: skip
    return [
        Table(
            f"plans-{trained.workload.id}",
            f"Plans tried for {trained.workload.id}: {fmt.count(choice.tried)}, of which "
            f"{fmt.count(choice.fitting)} fit the memory",
            (
                Column("Plan", numeric=False), Column("Step", "s"), Column("Longer by", "%"), Column("Memory", "GB"),
                Column("Loses most by", numeric=False),
            ),
            tuple(rows),
        )
    ]  # fmt: skip
