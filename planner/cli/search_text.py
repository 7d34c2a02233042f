"""What a search found, for a terminal and for programs."""

from __future__ import annotations

import textwrap
from dataclasses import fields

import numpy as np

from planner.performance.memory import TrainingMemory, total_bytes
from planner.performance.parallelism import Plan, microbatches
from planner.performance.plans import whole_table
from planner.performance.search import Goal, PlanChoice, Ranked
from planner.performance.search_run import Run, RunRates, run_of
from planner.performance.search_words import (
    PARTS,
    features_in_words,
    number,
    plan_in_words,
    recompute_in_words,
    sharding_in_words,
    values_in_words,
)  # fmt: skip
from planner.performance.train import Trained
from planner.study.plan_search import Own
from planner.study.scenario_plan import FIELDS, scenario_plan
from planner.units import GIGA

WIDTH = 80
TITLES = {
    Goal.TIME: "the shortest step",
    Goal.COST: "the least cost of the run",
    Goal.ENERGY: "the least energy of the run",
}


def as_object(
    name: str, found: Trained, choice: PlanChoice, rates: RunRates, goal: Goal, own: Own | None
) -> dict[str, object]:
    """The answer for programs: axes, counts, refusals, the rankings by every goal, and the scenario's own plan."""
    return {
        "scenario": name, "workload": found.workload.id, "model": found.workload.model, "gpus": found.job.gpus,
        "batch_sequences": found.job.batch_sequences, "sequence_tokens": found.job.sequence_tokens,
        "tokens": rates.tokens, "usd_per_gpu_hour": rates.usd_per_gpu_hour, "by": goal.value,
        "axes": {axis: list(values) for axis, values in choice.axes.items()},
        "plans_tried": choice.tried, "plans_fitting": choice.fitting, "refused": dict(choice.refused),
        "best": {
            one.value: [plan_object(ranked, rates) for ranked in ranking]
            for one, ranking in choice.rankings.items()
        },
        "own_plan": None if own is None else _own_object(own, choice, rates, goal),
    }  # fmt: skip


def own_rank(own: Own, ranking: tuple[Ranked, ...]) -> int | None:
    """Place of the scenario's own plan in a ranking, from 1; None where it isn't among the best."""
    if own.ranked is None:
        return None
    mine = whole_table(own.ranked.plan)
    return next(
        (rank for rank, one in enumerate(ranking, start=1) if np.array_equal(whole_table(one.plan), mine)),
        None,
    )


def _own_object(own: Own, choice: PlanChoice, rates: RunRates, goal: Goal) -> dict[str, object]:
    if own.ranked is None:
        return {"why_not": own.why_not}
    return {"rank": own_rank(own, choice.rankings[goal]), **plan_object(own.ranked, rates)}


def plan_object(one: Ranked, rates: RunRates) -> dict[str, object]:
    """One plan of a ranking with its run."""
    run = run_of(rates, one)
    return {
        "plan": _degrees(one.plan),
        "scenario_plan": scenario_plan(one.plan),
        "step_s": run.step_s,
        "parts_s": {
            name.removesuffix("_s"): float(getattr(one.step.parts, name)[0]) * rates.step_ratio for name in PARTS
        },
        "memory_bytes": {
            part.name.removesuffix("_bytes"): float(getattr(one.memory, part.name)[0])
            for part in fields(TrainingMemory)
        },
        "mfu_fraction": float(one.step.mfu[0]) / rates.step_ratio,
        **_run_object(run),
        "why_not_first": one.why or None,
    }  # fmt: skip


def _run_object(run: Run) -> dict[str, object]:
    return {
        "gpus": run.gpus, "tokens_per_s": run.tokens_per_s, "days": run.days, "gpu_hours": run.gpu_hours,
        "usd": run.usd, "kwh": run.kwh,
    }  # fmt: skip


def _degrees(plan: Plan) -> dict[str, object]:
    return {
        **{name: int(number(plan, field)) for name, field in FIELDS},
        "gradient_accumulation": int(microbatches(plan)[0]),
        "sharding": sharding_in_words(plan),
        "recomputed_layers_fraction": number(plan, "recomputed_layers_fraction"),
        "recomputed_attention_fraction": number(plan, "recomputed_attention_fraction"),
    }


def as_rows(found: Trained, choice: PlanChoice, rates: RunRates) -> list[dict[str, object]]:
    """Rankings by every goal as flat rows."""
    rows = []
    for goal, ranking in choice.rankings.items():
        for rank, one in enumerate(ranking, start=1):
            run = run_of(rates, one)
            rows.append({
                "workload": found.workload.id, "by": goal.value, "rank": rank, **_degrees(one.plan),
                "step_s": run.step_s, **_run_object(run), "mfu_fraction": float(one.step.mfu[0]) / rates.step_ratio,
                "memory_gb": float(total_bytes(one.memory)[0]) / GIGA, "why_not_first": one.why,
                **{name: float(getattr(one.step.parts, name)[0]) * rates.step_ratio for name in PARTS},
            })  # fmt: skip
    return rows


def as_text(found: Trained, choice: PlanChoice, rates: RunRates, goal: Goal, own: Own | None) -> str:
    """The answer at 80 columns: axes and counts, the ranking, the best by the other goals, refusals."""
    job = found.job
    lines = [
        f"{found.workload.model} on {job.gpus:,} GPUs: {choice.tried:,} plans, {choice.fitting:,} fit the memory",
        f"{job.batch_sequences:,} sequences of {job.sequence_tokens:,} tokens a step, "
        f"{rates.tokens / 1e12:.3g} T tokens, {rates.usd_per_gpu_hour:.2f} USD a GPU-hour",
        "",
        "axes",
    ]
    for axis, values in choice.axes.items():
        lines += _wrapped(f"  {axis.replace('_', ' ')}  ", values_in_words(values))
    lines += ["", *_ranking(choice, rates, goal, job.gpus, own), ""]
    for other in choice.rankings:
        if other is not goal:
            lines += _first(choice, rates, other)
    lines.append("cost and energy are of the GPUs that a plan uses")
    lines += ["", "refused"]
    for reason, count in sorted(choice.refused.items(), key=lambda item: (-item[1], item[0])):
        if count:
            lines += _wrapped(f"{count:>12,}  ", reason)
    return "\n".join(lines)


def _ranking(choice: PlanChoice, rates: RunRates, goal: Goal, gpus: int, own: Own | None) -> list[str]:
    lines = [
        f"by {goal.value}: {TITLES[goal]}",
        f"{'':>3} {'TP':>3} {'PP':>3} {'CP':>4} {'DP':>5} {'EP':>3} {'VP':>3} {'MB':>3} {'shard':<6} {'step':>9} "
        f"{'MFU':>6} {'GB':>5} {'days':>7} {'M USD':>7}",
    ]
    mine = None if own is None else own_rank(own, choice.rankings[goal])
    for rank, one in enumerate(choice.rankings[goal], start=1):
        place = f"{rank}*" if rank == mine else str(rank)
        run, plan = run_of(rates, one), one.plan
        experts = f"{number(plan, 'expert_ranks'):.0f}"
        if number(plan, "expert_tensor_ranks") > 1:
            experts += f"x{number(plan, 'expert_tensor_ranks'):.0f}"
        lines.append(
            f"{place:>3} {number(plan, 'tensor_ranks'):>3.0f} {number(plan, 'pipeline_ranks'):>3.0f} "
            f"{number(plan, 'context_ranks'):>4.0f} {number(plan, 'data_ranks'):>5.0f} {experts:>3} "
            f"{number(plan, 'virtual_stages'):>3.0f} {number(plan, 'microbatch_sequences'):>3.0f} "
            f"{sharding_in_words(plan):<6} {_seconds(run.step_s):>9} "
            f"{one.step.mfu[0] / rates.step_ratio * 100:>5.1f}% {total_bytes(one.memory)[0] / GIGA:>5.1f} "
            f"{run.days:>7.4g} {_millions(run.usd):>7}"
        )
        used = f"uses {run.gpus:,} GPUs" if run.gpus < gpus else ""
        said = [part for part in (one.why, recompute_in_words(plan), *features_in_words(plan), used) if part]
        if said:
            lines += _wrapped("      ", "; ".join(said))
    return lines + ([] if own is None else _own_lines(own, mine, choice.rankings[goal][0], rates))


def _own_lines(own: Own, rank: int | None, best: Ranked, rates: RunRates) -> list[str]:
    """The scenario's own plan: its mark in the table, or its figures where it isn't among the best."""
    if rank is not None:
        return [f"* the scenario's own plan, number {rank}"]
    if own.ranked is None:
        return _wrapped("* the scenario's own plan can't run: ", own.why_not)
    run, first = run_of(rates, own.ranked), run_of(rates, best)
    return _wrapped(
        "* the scenario's own plan: ",
        f"{plan_in_words(own.ranked.plan)}, step {_seconds(run.step_s)} ({run.step_s / first.step_s - 1:+.1%} against "
        f"the first; {own.ranked.why or 'nothing lost'}), {run.days:.4g} days, {run.usd / 1e6:.4g} M USD",
    )


def _first(choice: PlanChoice, rates: RunRates, goal: Goal) -> list[str]:
    one = choice.rankings[goal][0]
    run = run_of(rates, one)
    return _wrapped(
        f"by {goal.value}: ",
        f"{plan_in_words(one.plan)} on {run.gpus:,} GPUs, step {_seconds(run.step_s)}, {run.days:.4g} days, {run.usd / 1e6:.4g} M USD, "
        f"{run.kwh / 1e6:.4g} GWh",
    )


def _seconds(value: float) -> str:
    return f"{value:.4g} s"


def _millions(usd: float) -> str:
    """Millions in seven characters."""
    return f"{usd / 1e6:.4g}" if usd >= 1e5 else f"{usd / 1e6:.3g}"


def _wrapped(start: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start)) or [start]
