"""Limits that a plan misses, as problems with the edits that may meet them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isinf

from planner.errors import Problem, Remedy
from planner.evaluate import Evaluation
from planner.scenario.limits import (
    AT_LOAD,
    LOAD_OUTCOME,
    SATURATED_LOAD,
    judged_latency_s,
    load_limit,
    power_limit_key,
    power_limit_mw,
)
from planner.scenario.remedies import settled
from planner.scenario.schema import Scenario, WorkloadKind
from planner.study import limit_remedies as remedies
from planner.units import MEGA


@dataclass(frozen=True, slots=True)
class Missed:
    """A limit and the value that is over it, in the ledger's unit.

    Attributes:
        key: Field of the scenario that states it.
        said: What the value is.
    """

    key: str
    said: str
    limit: float
    value: float

    @property
    def share(self) -> float:
        """Limit over value, below 1."""
        return self.limit / self.value


@dataclass(frozen=True, slots=True)
class _Judge:
    """How one limit is judged: the ledger line, its name, the unit shown and its scale, and what may cure it."""

    line: str
    said: str
    unit: str
    limit: Callable[[Scenario], tuple[str, float | None]]
    remedies: Callable[[Evaluation, float], list[Remedy]]
    scale: float = 1.0


def _of_limits(field: str) -> Callable[[Scenario], tuple[str, float | None]]:
    return lambda scenario: (f"limits.{field}", getattr(scenario.limits, field))


def _of_latency(field: str) -> Callable[[Scenario], tuple[str, float | None]]:
    """The plan's limit, else the objective of the first serving workload."""

    def limit(scenario: Scenario) -> tuple[str, float | None]:
        stated = getattr(scenario.limits, field)
        if stated is not None:
            return f"limits.{field}", stated
        for index, workload in enumerate(scenario.workloads):
            if workload.kind is WorkloadKind.SERVING:
                return f"workloads.{index}.slo.{field}", getattr(workload.slo, field)
        return f"limits.{field}", None

    return limit


def _of_power(scenario: Scenario) -> tuple[str, float | None]:
    limit = power_limit_mw(scenario)
    return power_limit_key(scenario), None if limit is None else limit * MEGA


JUDGES = (
    _Judge("performance.training.days_to_train", "training takes", "days", _of_limits("days"), remedies.sooner),
    _Judge("outcome.ttft_p99_s", "the first token takes", "s at p99", _of_latency("ttft_p99_s"), remedies.first_token),
    _Judge("outcome.tpot_p99_s", "a token takes", "s at p99", _of_latency("tpot_p99_s"), remedies.each_token),
    _Judge(LOAD_OUTCOME, "the load takes", "% of the GPUs it gets", load_limit, remedies.more_replicas, 100.0),
    _Judge("power.facility_peak_w", "the site draws", "MW at peak", _of_power, remedies.less_power, 1 / MEGA),
    _Judge("capex.total_usd", "the purchase costs", "million USD", _of_limits("capex_usd"), remedies.less_capex, 1 / MEGA),
    _Judge(
        "unit.usd_per_gpu_hour", "a GPU-hour costs", "USD", _of_limits("usd_per_gpu_hour"), remedies.cheaper_hours
    ),
    _Judge(
        "unit.usd_per_mtoken_output", "a million output tokens costs", "USD", _of_limits("usd_per_mtoken_output"),
        remedies.cheaper_tokens,
    ),
)  # fmt: skip


def missed_limits(evaluation: Evaluation) -> tuple[Problem, ...]:
    """Every limit that a plan misses; empty for one that can't be built, whose refusal says what is in the way."""
    if not evaluation.feasible:
        return ()
    return tuple(_problem(evaluation, judge, missed) for judge, missed in _missed(evaluation))


def _missed(evaluation: Evaluation) -> Iterator[tuple[_Judge, Missed]]:
    ledger = evaluation.ledger
    for judge in JUDGES:
        key, limit = judge.limit(evaluation.loaded.scenario)
        if limit is None or judge.line not in ledger:
            continue
        value = judged_latency_s(ledger, judge.line)
        if value > limit:
            yield judge, Missed(key, judge.said, limit, value)


def _problem(evaluation: Evaluation, judge: _Judge, missed: Missed) -> Problem:
    ledger, cures, share = evaluation.ledger, judge.remedies, missed.share
    if judge.line in AT_LOAD and LOAD_OUTCOME in ledger and ledger.scalar(LOAD_OUTCOME) > 1.0:
        # latencies are missed because of the load, so what cures it is what carries the load
        cures, share = remedies.more_replicas, 1.0 / ledger.scalar(LOAD_OUTCOME)
    found = cures(evaluation, share)
    value, limit = missed.value * judge.scale, missed.limit * judge.scale
    fixes = tuple(settled(one, evaluation.parts) for one in found)
    said = f"{missed.said} {value:,.4g} {judge.unit}"
    if isinf(value):
        said = f"{missed.said} ever longer: the load is {ledger.scalar(SATURATED_LOAD):,.3g} times what the replicas answer"
    return Problem(
        f"{said}, over the limit of {limit:,.4g}",
        evaluation.loaded.document.place(tuple(missed.key.split("."))),
        missed.key,
        remedies=tuple(one for one in fixes if one.edits),
    )
