"""The nine headline cells, the finding and the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from planner.evaluate import Evaluation, Range
from planner.ledger import Kind, Ledger
from planner.present import format as fmt
from planner.present.view.model import Better, Headline, Remedy
from planner.present.view.reading import WEAKEST
from planner.scenario.limits import (
    AT_LOAD,
    LOAD_OUTCOME,
    SATURATED_LOAD,
    judged_latency_s,
    load_limit,
    power_limit_mw,
    saturated,
)
from planner.scenario.load import Loaded
from planner.scenario.schema import Limits, WorkloadKind


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
    _Outcome(
        "outcome.serving_output_tokens_per_s", "tok/s", "Serving throughput", Better.HIGHER, 1.0, note=LOAD_OUTCOME
    ),
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

_COMPLETE = ("performance.training.days_to_train", "outcome.serving_output_tokens_per_s")
"""Outcomes that the cluster reaches only once its last phase is in service."""
SATURATED = "saturated"
"""Said instead of a latency where the stated load is more than the replicas answer."""
SATURATED_SHORT = "sat."
COST_AT_LOAD = "unit.usd_per_mtoken_output_at_load"
_FIRST_TOKEN = "outcome.ttft_p99_s"
_NOTED = {_FIRST_TOKEN: "time to first token, p99", LOAD_OUTCOME: "GPUs for the load over those it gets"}


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit in the ledger's unit.

    Attributes:
        said: What a reader must know besides the number, such as ``at peak``.
    """

    value: float
    said: str = ""

    def text(self, unit: str) -> str:
        """The limit with its unit."""
        return fmt.quantity(self.value, unit) + self.said


def headlines(evaluation: Evaluation) -> tuple[Headline, ...]:
    """The nine cells, always all of them and in the same order."""
    return tuple(_headline(evaluation, outcome) for outcome in OUTCOMES)


def _headline(evaluation: Evaluation, outcome: _Outcome) -> Headline:
    ledger, limit = evaluation.ledger, limit_of(evaluation.loaded, outcome)
    if not evaluation.feasible or outcome.key not in ledger:
        return Headline(
            outcome.key, outcome.bar, outcome.name, outcome.better, None, fmt.NOTHING, fmt.NOTHING,
            None if limit is None else limit.value,
        )  # fmt: skip
    line, value = ledger[outcome.key], ledger.scalar(outcome.key)
    judged_by = judging_key(ledger, outcome)
    judged = judged_latency_s(ledger, outcome.key) if outcome.key in AT_LOAD else ledger.scalar(judged_by)
    full = outcome.key in AT_LOAD and saturated(ledger)
    return Headline(
        outcome.key, outcome.bar, outcome.name, outcome.better, value,
        SATURATED_SHORT if full else fmt.percent(value) if outcome.scale == 100.0 else fmt.short(value * outcome.scale),
        SATURATED if full else fmt.quantity(value, line.unit), None if limit is None else limit.value,
        "" if limit is None else limit.text(line.unit),
        None if limit is None else judged <= limit.value,
        letter=weakest_letter(ledger, outcome.key), note=_note(evaluation, outcome),
        judged_key=judged_by if judged_by != outcome.key else None,
        judged_value=judged if judged_by != outcome.key and math.isfinite(judged) else None,
        saturated=full or None,
        **_spread(evaluation, outcome, line.unit, limit),
    )  # fmt: skip


def judging_key(ledger: Ledger, outcome: _Outcome) -> str:
    """Line that a limit is judged by: latencies at the stated load where there is one."""
    at_load = AT_LOAD.get(outcome.key, "")
    return at_load if at_load in ledger else outcome.judged_by or outcome.key


def _in_neither_pool(ledger: Ledger) -> int:
    """GPUs of the first serving workload that separate pools have no use for."""
    key = "performance.serving.pools.idle_gpus"
    return round(ledger.scalar(key)) if key in ledger else 0


def _note(evaluation: Evaluation, outcome: _Outcome) -> str:
    ledger, said = evaluation.ledger, []
    if outcome.key in _COMPLETE and (month := month_complete(evaluation)) is not None:
        said.append(f"once complete (month {month} after the first order)")
    if outcome.key in AT_LOAD and (at := AT_LOAD[outcome.key]) in ledger:
        here = fmt.quantity(ledger.scalar(outcome.key), "s")
        if saturated(ledger):
            times = fmt.significant(ledger.scalar(SATURATED_LOAD))
            said.append(f"the stated load is {times} times the most that the replicas answer")
            said.append(f"within the objective it would be {here}")
        else:
            said.append(f"at the stated load {fmt.quantity(ledger.scalar(at), 's')}")
    kinds = {one.kind for one in evaluation.loaded.scenario.workloads}
    if outcome.key == "outcome.gpu_utilisation_fraction" and WorkloadKind.TRAINING not in kinds:
        said.append("of peak arithmetic (MFU), not the share of time that GPUs are busy")
    if outcome.key == "outcome.serving_output_tokens_per_s" and (idle := _in_neither_pool(ledger)):
        said.append(f"{idle:,} GPUs are in neither pool and wait for work")
    if outcome.key == "unit.usd_per_mtoken_output" and COST_AT_LOAD in ledger:
        hours = fmt.percent(ledger.scalar("money.utilisation_fraction"))
        at = fmt.quantity(ledger.scalar(COST_AT_LOAD), ledger[COST_AT_LOAD].unit)
        said.append(
            f"with all that it could serve sold, in {hours} % of the hours; {at} at the stated load, every hour paid"
        )
    if outcome.note in ledger:
        other = ledger[outcome.note]
        said.append(f"{other.label}: {_noted_value(ledger, outcome.note)}")
    limit = noted_limits(evaluation.loaded).get(outcome.note)
    if limit is not None and outcome.note in ledger:
        met = judged_latency_s(ledger, outcome.note) <= limit.value
        odds = odds_of(
            evaluation.ranges.get(AT_LOAD.get(outcome.note, "")), limit, evaluation.ranges.get(SATURATED_LOAD)
        )
        if AT_LOAD.get(outcome.note, "") not in ledger:
            odds = odds_of(evaluation.ranges.get(outcome.note), limit)
        said.append(f"limit {limit.text(ledger[outcome.note].unit)}{judgement(met, odds)}")
    return ", ".join(said)


def _noted_value(ledger: Ledger, key: str) -> str:
    if key in AT_LOAD and saturated(ledger):
        return SATURATED
    text = fmt.quantity(ledger.scalar(key), ledger[key].unit)
    at = AT_LOAD.get(key, "")
    return f"{text} ({fmt.quantity(ledger.scalar(at), 's')} at the stated load)" if at in ledger else text


def judgement(met: bool | None, odds: float | None) -> str:
    """What follows a limit: whether the plan meets it, and in how many draws.

    >>> judgement(True, None), judgement(False, 0.03), judgement(True, 0.71)
    (': met', ', missed: met in 3 of 100 draws', ': met in 71 of 100 draws')
    """
    if odds is None:
        return ": met" if met else ": missed"
    return f"{': ' if met else ', missed: '}met in {fmt.out_of_100(odds)} draws"


def odds_of(found: Range | None, limit: Limit | None, load: Range | None = None) -> float | None:
    """Share of the draws within a limit; None without draws or limit.

    Args:
        found: Of the line that is judged.
        load: Of a load over what is answered at most, which has to stay below 1 too; None for none.
    """
    if found is None or limit is None:
        return None
    if load is None:
        return found.odds_at_most(limit.value)
    return float(((found.draws <= limit.value) & (load.draws < 1.0)).mean())


def month_complete(evaluation: Evaluation) -> int | None:
    """Month after the first order in which the last of several phases goes into service."""
    phases = evaluation.built.phases if evaluation.built is not None else ()
    return max(one.service_month for one in phases) if len(phases) > 1 else None


def limit_of(loaded: Loaded, outcome: _Outcome) -> Limit | None:
    """Limit of an outcome: of the scenario's limits or, for latency, the objective its workload states."""
    if outcome.key == "power.facility_w":
        wished = power_limit_mw(loaded.scenario)
    else:
        wished = outcome.limit(loaded.scenario.limits) if outcome.limit is not None else None
    if wished is not None:
        return Limit(wished * outcome.limit_scale, " at peak" if outcome.judged_by else "")
    return _objective(loaded, "tpot_p99_s") if outcome.key == "outcome.tpot_p99_s" else None


def noted_limits(loaded: Loaded) -> dict[str, Limit]:
    """Limits of outcomes that stand in another cell's note, by key.

    They are of the time to first token, under the time per output token, and of a load, under the throughput.
    """
    wished, load = loaded.scenario.limits.ttft_p99_s, load_limit(loaded.scenario)[1]
    first = Limit(wished) if wished is not None else _objective(loaded, "ttft_p99_s")
    found = {_FIRST_TOKEN: first, LOAD_OUTCOME: None if load is None else Limit(load)}
    return {key: limit for key, limit in found.items() if limit is not None}


def _objective(loaded: Loaded, field: str) -> Limit | None:
    """Objective that the first serving workload states; the schema's default is nobody's wish."""
    for index, workload in enumerate(loaded.scenario.workloads):
        if workload.kind is WorkloadKind.SERVING:
            if loaded.stands(("workloads", index, "slo", field)) == "default":
                return None
            return Limit(float(getattr(workload.slo, field)), " as the workload asks")
    return None


def _spread(evaluation: Evaluation, outcome: _Outcome, unit: str, limit: Limit | None) -> dict[str, Any]:
    """P10 and P90 of a headline and the odds of meeting its limit, where draws were made."""
    found = evaluation.ranges.get(outcome.key)
    if found is None:
        return {}
    judging = judging_key(evaluation.ledger, outcome)
    judged = evaluation.ranges.get(judging, found)
    load = evaluation.ranges.get(SATURATED_LOAD) if judging == AT_LOAD.get(outcome.key) else None
    if outcome.key in AT_LOAD and saturated(evaluation.ledger):
        return {"low": found.p10, "high": found.p90, "odds": odds_of(judged, limit, load)}
    low, high = fmt.quantity(found.p10, unit), fmt.quantity(found.p90, unit)
    if low.partition(" ")[2] == high.partition(" ")[2]:
        low = low.partition(" ")[0]
    return {
        "low": found.p10,
        "high": found.p90,
        "range_text": f"{low} to {high}",
        "odds": odds_of(judged, limit, load),
    }


def weakest_letter(ledger: Ledger, key: str) -> str:
    """Letter of the weakest basis among everything a line rests on, as `reading.line_letters` finds it."""
    seen: set[str] = set()
    waiting, worst = [key], 0
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        line = ledger[name]
        if line.kind is Kind.GIVEN and line.source is not None:
            worst = max(worst, WEAKEST.index(line.source.basis.letter))
        waiting += [one for one in ledger.inputs_of(name) if one not in seen]
    return WEAKEST[worst]


def finding(evaluation: Evaluation) -> str:
    """The report's title as one sentence."""
    scenario = evaluation.loaded.scenario
    if not evaluation.feasible:
        return f"{scenario.name}: can't be built as described"
    ledger = evaluation.ledger
    said = []
    if "performance.training.days_to_train" in ledger:
        days = fmt.significant(ledger.scalar("performance.training.days_to_train"))
        said.append(f"{days} days to train" + (" once complete" if month_complete(evaluation) else ""))
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
        names = "; ".join(
            f"{name} by {-margin * 100:.3g} %" if math.isfinite(margin) else f"{name}, saturated"
            for name, margin in missed
        )
        return f"Misses {len(missed)} of {len(judged)} limits: {names}.", False
    name, margin = min(judged, key=lambda one: one[1])
    plural = "all limits" if len(judged) > 1 else "its limit"
    return (
        f"Meets {plural} ({len(judged)}); the tightest is {name}, with {margin * 100:.3g} % to spare.",
        True,
    )


def _margins(evaluation: Evaluation, cells: tuple[Headline, ...]) -> list[tuple[str, float]]:
    """Name and share of the limit that is left, negative where it is missed."""
    ledger = evaluation.ledger
    found = []
    for cell, outcome in zip(cells, OUTCOMES, strict=True):
        if cell.limit is not None and cell.value is not None:
            key = judging_key(ledger, outcome)
            judged = judged_latency_s(ledger, outcome.key) if outcome.key in AT_LOAD else ledger.scalar(key)
            name, month = cell.name.lower(), month_complete(evaluation)
            if outcome.key in _COMPLETE and month is not None:
                name += f" once complete in month {month}"
            found.append((f"{name} ({cell.limit_text})", 1 - judged / cell.limit))
    for key, limit in noted_limits(evaluation.loaded).items():
        if key in ledger:
            found.append(
                (
                    f"{_NOTED[key]} ({limit.text(ledger[key].unit)})",
                    1 - judged_latency_s(ledger, key) / limit.value,
                )
            )
    return [(name, margin) for name, margin in found if not math.isnan(margin)]


def refusals(evaluation: Evaluation) -> tuple[Remedy, ...]:
    """Why the plan can't be built, with remedies one by one."""
    if evaluation.refusal is None:
        return ()
    return tuple(
        Remedy(
            problem.message,
            str(problem.place) if problem.place else problem.key,
            tuple(one.words for one in problem.offered),
        )
        for problem in evaluation.refusal.problems
    )
