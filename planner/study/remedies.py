"""Remedies that were tried: each is applied to a copy of the scenario and evaluated, and the cheapest comes first.

Only plans that can't be built or that miss a limit are looked at, and no more than a dozen evaluations are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from planner.catalog.store import Catalog
from planner.errors import PlannerError, Problem, Remedy
from planner.evaluate import Evaluation, Tried, evaluate
from planner.scenario.alternatives import beside, servers_with_memory
from planner.scenario.load import Loaded
from planner.scenario.parts import Parts, resolve
from planner.scenario.remedies import applied, to_server
from planner.study.limits import missed_limits
from planner.units import GIGA

MOST_EVALUATIONS: Final = 12
"""Evaluations made for one plan, all its problems together."""
MOST_SHOWN: Final = 5
"""Remedies kept for one problem."""
MOST_SERVERS: Final = 3
DEPTH: Final = 4
"""Edits that may follow each other where the first one isn't enough."""
COMPARED: Final = (
    "capex.total_usd", "tco.npv_usd", "unit.usd_per_gpu_hour", "outcome.gpu_utilisation_fraction",
    "outcome.waiting_fraction", "outcome.serving_output_tokens_per_s", "outcome.tpot_p99_s", "outcome.ttft_p99_s",
    "performance.training.days_to_train", "power.facility_peak_w",
)  # fmt: skip
"""Lines by which remedies are compared: money, and what the plan is judged on."""


def with_remedies(evaluation: Evaluation) -> Evaluation:
    """The evaluation with remedies that were tried; as it is where everything is well."""
    problems = problems_of(evaluation)
    if not problems:
        return evaluation
    catalog = evaluation.parts.catalog
    return replace(evaluation, tried=tried_remedies(evaluation.loaded, catalog, problems, before=evaluation))


def problems_of(evaluation: Evaluation) -> tuple[Problem, ...]:
    """Why a plan can't be built, else the limits it misses."""
    return evaluation.refusal.problems if evaluation.refusal is not None else missed_limits(evaluation)


def tried_remedies(
    loaded: Loaded, catalog: Catalog, problems: Sequence[Problem], *, before: Evaluation | None = None
) -> tuple[Tried, ...]:
    """Remedies that cure their problem, by problem, the lowest present value of cost first.

    Those that leave nothing in the way come before those that do, and those that break no other limit before
    those that break one. What cures nothing is left out.

    Args:
        loaded: The scenario.
        catalog: Its catalog; it is read apart, so that reports don't rest on parts that were only tried.
        problems: Why it can't be built, or limits it misses.
        before: Its evaluation, against which changes are counted where it can be built.
    """
    shelf = beside(catalog)
    bench = _Bench(loaded, shelf, _values(before), frozenset(_subject(one) for one in problems))
    queues = [list(_candidates(loaded, shelf, problem)) for problem in problems]
    found: dict[int, list[Tried]] = {index: [] for index in range(len(problems))}
    while any(queues) and bench.left > 0:  # in turn, so that no problem takes all evaluations
        for index, queue in enumerate(queues):
            if queue and bench.left > 0:
                tried = bench.tried(problems[index], queue.pop(0))
                found[index] += [tried] if tried is not None else []
    return tuple(one for tries in found.values() for one in _ranked(tries))


def _ranked(tries: Iterable[Tried]) -> list[Tried]:
    """The best few, with a mark on the first."""
    ranked = sorted(
        {repr(one.remedy.edits): one for one in tries}.values(),
        key=lambda one: (
            not one.builds,
            len(one.breaks),
            one.values.get("tco.npv_usd", 0.0),
            one.remedy.words,
        ),
    )
    # two ways may lead to the same edits
    return [replace(one, first=index == 0 and one.builds) for index, one in enumerate(ranked[:MOST_SHOWN])]


def _candidates(loaded: Loaded, shelf: Catalog, problem: Problem) -> Iterable[Remedy]:
    """What the problem offers, and servers of the catalog with more memory where a workload doesn't fit.

    One of each field comes first, then the others, so that few evaluations see many kinds.
    """
    offered = [one for one in problem.offered if one.edits]
    if _subject(problem).startswith("workloads.") and problem.key.count(".") == 1:
        offered += _larger_servers(resolve(loaded, shelf), shelf)
    rank: dict[int, int] = {}
    seen: dict[tuple[str | int, ...], int] = {}
    for index, one in enumerate(offered):
        rank[index] = seen.get(one.path, 0)
        seen[one.path] = rank[index] + 1
    return [offered[index] for index in sorted(rank, key=lambda index: (rank[index], index))]


def _larger_servers(parts: Parts, shelf: Catalog) -> list[Remedy]:
    found = [
        to_server(server.id, parts, gpus=server.gpus, said=f"{memory / GIGA:.0f} GB a GPU")
        for server, memory in servers_with_memory(shelf, parts)
    ]
    return [one for one in found if one is not None][:MOST_SERVERS]


def _values(evaluation: Evaluation | None) -> dict[str, float]:
    if evaluation is None or not evaluation.feasible:
        return {}
    ledger = evaluation.ledger
    return {key: ledger.scalar(key) for key in COMPARED if key in ledger}


def _subject(problem: Problem) -> str:
    """What a problem is about: all that its ports lack is one subject of a network, its cables another."""
    parts = problem.key.split(".")
    beside_it = parts[1:2] in (["optics"], ["storage"], ["inband"], ["oob"])
    return "network" if parts[0] == "network" and not beside_it else problem.key


@dataclass(slots=True)
class _Bench:
    """Evaluates edited copies of one scenario, and counts how many evaluations are left.

    Attributes:
        before: Values of the plan as it stands; empty where it can't be built.
        subjects: What its problems are about.
    """

    loaded: Loaded
    shelf: Catalog
    before: Mapping[str, float]
    subjects: frozenset[str]
    left: int = MOST_EVALUATIONS
    known: dict[str, Evaluation | None] = field(default_factory=dict)

    def tried(self, problem: Problem, remedy: Remedy) -> Tried | None:
        """What comes of a remedy, with the edits that have to follow it; None where it doesn't cure."""
        cure: Remedy = remedy
        for depth in range(DEPTH):
            after = self._evaluated(cure)
            if after is None:
                return None
            remaining = problems_of(after)
            still = next((one for one in remaining if _subject(one) == _subject(problem)), None)
            if still is None and after.feasible:
                return self._cured(problem, cure, after, remaining)
            following = _next(cure, remedy, still, remaining)
            if following is None or depth == DEPTH - 1:
                # what could be built before and can't be now is worse off
                return None if still is not None or self.before else Tried(problem, cure, False, {}, {})
            cure = following
        return None

    def _evaluated(self, remedy: Remedy) -> Evaluation | None:
        """The edited plan's evaluation, made once; None where the edits contradict the scenario or too many were made."""
        name = repr(sorted(map(repr, remedy.edits)))
        if name not in self.known and self.left > 0:
            self.left -= 1
            try:
                self.known[name] = evaluate(applied(self.loaded, remedy), self.shelf)
            except PlannerError:
                self.known[name] = None
        return self.known.get(name)

    def _cured(
        self, problem: Problem, cure: Remedy, after: Evaluation, remaining: Sequence[Problem]
    ) -> Tried:
        values = _values(after)
        changes = {key: value - self.before[key] for key, value in values.items() if key in self.before}
        breaks = tuple(one.key for one in remaining if _subject(one) not in self.subjects)
        return Tried(problem, cure, True, values, changes, breaks)


def _next(cure: Remedy, first: Remedy, still: Problem | None, remaining: Sequence[Problem]) -> Remedy | None:
    """Edits to try next: the same field by a further step, or what puts right whatever else is in the way."""
    if still is not None:
        return next(
            (one for one in still.offered if one.edits and one.path == first.path and one != first), None
        )
    for problem in remaining:
        for one in problem.offered:
            if one.edits and not {path for path, _ in one.edits} & {path for path, _ in cure.edits}:
                return Remedy(
                    f"{cure.words}, and {one.words}", cure.path, cure.value, (*cure.more, *one.edits)
                )
    return None


__all__ = ["MOST_EVALUATIONS", "problems_of", "tried_remedies", "with_remedies"]
