"""The nine headline cells, the finding and the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from planner.evaluate import Evaluation
from planner.ledger import Kind, Ledger
from planner.present import format as fmt
from planner.present.view.model import Better, Headline, Remedy
from planner.scenario.schema import Limits, Scenario


@dataclass(frozen=True, slots=True)
class _Outcome:
    """How one headline cell is made: its key, names, scale to the bar's unit, and its limit."""

    key: str
    bar: str
    name: str
    better: Better
    scale: float
    limit: Callable[[Limits], float | None] | None = None
    limit_scale: float = 1.0
    note: str = ""
    judged_by: str = ""


OUTCOMES = (
    _Outcome("outcome.gpu_utilisation_fraction", "UTIL %", "GPU utilisation", Better.HIGHER, 100.0),
    _Outcome(
        "outcome.waiting_fraction", "WAIT %", "Time lost waiting", Better.LOWER, 100.0,
        note="outcome.waiting_usd_per_year",
    ),
    _Outcome(
        "performance.training.days_to_train", "DAYS", "Training time", Better.LOWER, 1.0, lambda limits: limits.days
    ),
    _Outcome(
        "outcome.tpot_p99_s", "p99 ms", "Time per output token, p99", Better.LOWER, 1e3,
        lambda limits: limits.tpot_p99_s, note="outcome.ttft_p99_s",
    ),
    _Outcome("outcome.serving_output_tokens_per_s", "tok/s", "Serving throughput", Better.HIGHER, 1.0),
    _Outcome(
        "power.facility_w", "MW", "Power at the meter", Better.LOWER, 1e-6,
        None, 1e6, note="power.facility_peak_w", judged_by="power.facility_peak_w",
    ),
    _Outcome(
        "capex.total_usd", "CAPEX", "Purchase", Better.LOWER, 1.0, lambda limits: limits.capex_usd
    ),
    _Outcome(
        "unit.usd_per_gpu_hour", "$/GPUh", "Cost of an installed GPU-hour", Better.LOWER, 1.0,
        lambda limits: limits.usd_per_gpu_hour,
    ),
    _Outcome(
        "unit.usd_per_mtoken_output", "$/Mtok", "Cost of a million output tokens", Better.LOWER, 1.0,
        lambda limits: limits.usd_per_mtoken_output,
    ),
)  # fmt: skip

_WEAKEST = ("M", "D", "P", "Q", "u", "E")


def headlines(evaluation: Evaluation) -> tuple[Headline, ...]:
    """The nine cells, always all of them and in the same order."""
    limits = evaluation.loaded.scenario.limits
    return tuple(_headline(evaluation, limits, outcome) for outcome in OUTCOMES)


def _headline(evaluation: Evaluation, limits: Limits, outcome: _Outcome) -> Headline:
    ledger = evaluation.ledger
    wished = outcome.limit(limits) if outcome.limit is not None else None
    if outcome.key == "power.facility_w":
        wished = power_limit_mw(evaluation.loaded.scenario)
    limit = None if wished is None else wished * outcome.limit_scale
    if not evaluation.feasible or outcome.key not in ledger:
        return Headline(
            outcome.key, outcome.bar, outcome.name, outcome.better, None, fmt.NOTHING, fmt.NOTHING, limit
        )
    line, value = ledger[outcome.key], ledger.scalar(outcome.key)
    judged = ledger.scalar(outcome.judged_by) if outcome.judged_by else value
    note = ""
    if outcome.note in ledger:
        other = ledger[outcome.note]
        note = f"{other.label}: {fmt.quantity(ledger.scalar(other), other.unit)}"
    return Headline(
        outcome.key, outcome.bar, outcome.name, outcome.better, value,
        fmt.percent(value) if outcome.scale == 100.0 else fmt.short(value * outcome.scale),
        fmt.quantity(value, line.unit), limit,
        _limit_text(limit, line.unit, outcome),
        None if limit is None else judged <= limit,
        letter=weakest_letter(ledger, outcome.key), note=note, **_spread(evaluation, outcome, line.unit, limit),
    )  # fmt: skip


def power_limit_mw(scenario: Scenario) -> float | None:
    """The lower of what the plan may draw and what the site's utility can deliver."""
    known = [limit for limit in (scenario.limits.site_mw, scenario.site.limit_mw) if limit is not None]
    return min(known, default=None)


def _limit_text(limit: float | None, unit: str, outcome: _Outcome) -> str:
    if limit is None:
        return ""
    return fmt.quantity(limit, unit) + (" at peak" if outcome.judged_by else "")


def _spread(evaluation: Evaluation, outcome: _Outcome, unit: str, limit: float | None) -> dict[str, Any]:
    """P10 and P90 of a headline and the odds of meeting its limit, where draws were made."""
    found = evaluation.ranges.get(outcome.key)
    if found is None:
        return {}
    judged = evaluation.ranges.get(outcome.judged_by, found)
    low, high = fmt.quantity(found.p10, unit), fmt.quantity(found.p90, unit)
    if low.partition(" ")[2] == high.partition(" ")[2]:
        low = low.partition(" ")[0]
    return {
        "low": found.p10,
        "high": found.p90,
        "range_text": f"{low} to {high}",
        "odds": None if limit is None else judged.odds_at_most(limit),
    }


def weakest_letter(ledger: Ledger, key: str) -> str:
    """Letter of the weakest basis among everything a line rests on."""
    seen: set[str] = set()
    waiting, worst = [key], 0
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        line = ledger[name]
        if line.kind is Kind.GIVEN and line.source is not None:
            worst = max(worst, _WEAKEST.index(line.source.basis.letter))
        waiting += [one for one in ledger.inputs_of(name) if one not in seen]
    return _WEAKEST[worst]


def finding(evaluation: Evaluation) -> str:
    """The report's title as one sentence."""
    scenario = evaluation.loaded.scenario
    if not evaluation.feasible:
        return f"{scenario.name}: can't be built as described"
    ledger = evaluation.ledger
    said = []
    if "performance.training.days_to_train" in ledger:
        said.append(f"{fmt.significant(ledger.scalar('performance.training.days_to_train'))} days to train")
    if "outcome.serving_output_tokens_per_s" in ledger:
        said.append(f"{fmt.short(ledger.scalar('outcome.serving_output_tokens_per_s'))} output tokens/s")
    said.append(f"{fmt.quantity(ledger.scalar('power.facility_w'), 'W')} at the meter")
    said.append(f"{fmt.money(ledger.scalar('capex.total_usd'))} to buy")
    return f"{scenario.name}: {', '.join(said)}"


def verdict(evaluation: Evaluation, cells: tuple[Headline, ...]) -> tuple[str, bool]:
    """Limits met and missed with their margins, and whether all are met."""
    if not evaluation.feasible:
        assert evaluation.refusal is not None
        return f"Can't be built: {evaluation.refusal.problems[0].message}.", False
    judged = [*_margins(evaluation, cells)]
    if not judged:
        return "The scenario states no limits.", True
    missed = [one for one in judged if one[1] < 0]
    if missed:
        names = "; ".join(f"{name} by {-margin * 100:.3g} %" for name, margin in missed)
        return f"Misses {len(missed)} of {len(judged)} limits: {names}.", False
    name, margin = min(judged, key=lambda one: one[1])
    plural = "all limits" if len(judged) > 1 else "its limit"
    return (
        f"Meets {plural} ({len(judged)}); the tightest is {name}, with {margin * 100:.3g} % to spare.",
        True,
    )


def _margins(evaluation: Evaluation, cells: tuple[Headline, ...]) -> list[tuple[str, float]]:
    """Name and share of the limit that is left, negative where it is missed."""
    ledger, limits = evaluation.ledger, evaluation.loaded.scenario.limits
    found = []
    for cell, outcome in zip(cells, OUTCOMES, strict=True):
        if cell.limit is not None and cell.value is not None:
            judged = ledger.scalar(outcome.judged_by) if outcome.judged_by else cell.value
            found.append((f"{cell.name.lower()} ({cell.limit_text})", 1 - judged / cell.limit))
    if limits.ttft_p99_s is not None and "outcome.ttft_p99_s" in ledger:
        found.append(
            (f"time to first token, p99 ({fmt.duration(limits.ttft_p99_s)})",
             1 - ledger.scalar("outcome.ttft_p99_s") / limits.ttft_p99_s)
        )  # fmt: skip
    return [(name, margin) for name, margin in found if math.isfinite(margin)]


def refusals(evaluation: Evaluation) -> tuple[Remedy, ...]:
    """Why the plan can't be built, with remedies one by one."""
    if evaluation.refusal is None:
        return ()
    return tuple(
        Remedy(
            problem.message,
            str(problem.place) if problem.place else problem.key,
            tuple(part.strip() for part in problem.remedy.split(";") if part.strip()),
        )
        for problem in evaluation.refusal.problems
    )
