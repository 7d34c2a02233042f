"""Scenarios side by side: what differs in input, design, outcome and money, and what would turn the choice over.

All of them are drawn with the same scores (common random numbers): an input of one name has one score in each, so
the odds are of differences, and an uncertainty that all share does not count as one between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.errors import InputError, Problem
from planner.evaluate import Evaluation, evaluate
from planner.finance.uncertainty import Factor
from planner.ledger import Axis, Line
from planner.scenario.load import Loaded
from planner.study.bands import HEADLINE_KEYS, SEED, Drawing, range_of
from planner.study.flips import Flip, flip_of, turning_scores
from planner.study.limits import JUDGES
from planner.study.risk_inputs import Inputs, inputs_of, score_name
from planner.study.risk_sampling import normal_scores

FEWEST, MOST = 2, 4
"""Scenarios that can be told apart on one screen and one page."""
DRAWS: Final = 255
SURE: Final = 0.9
"""Share of the draws in which one has to be better before it is called better."""
HIGHER: Final = frozenset({"outcome.gpu_utilisation_fraction", "outcome.serving_output_tokens_per_s"})
"""Outcomes of which more is better; of all others less is."""
DECIDED_BY: Final = (
    "outcome.gpu_utilisation_fraction", "outcome.waiting_fraction", "performance.training.days_to_train",
    "outcome.tpot_p99_s", "outcome.serving_output_tokens_per_s", "power.facility_w", "capex.total_usd",
    "unit.usd_per_gpu_hour", "unit.usd_per_mtoken_output", "unit.usd_per_training_run", "tco.npv_usd",
)  # fmt: skip
"""Outcomes that scenarios are judged by, in the order of every surface."""
TURNED_BY: Final = ("performance.training.days_to_train", "outcome.serving_output_tokens_per_s", "tco.npv_usd",
                    "unit.usd_per_gpu_hour")  # fmt: skip
"""Outcomes of which the turning points are looked for."""
ASKED_FIRST: Final = (
    "design.fabric.tiers", "design.fabric.leaf_switches", "design.fabric.spine_switches", "design.fabric.core_switches",
    "design.fabric.links", "design.fabric.transceivers", "design.racks", "power.it_w", "power.facility_peak_w", "power.pue",
    "power.hottest_pue", "power.energy_kwh_per_year", "power.water_l_per_year", "power.carbon_kg_per_year",
    "power.reserved_it_kw",
)  # fmt: skip
"""Results of design and power that stand before all others that differ."""
_NAMES: Final = frozenset({"name", "extends", "schema_version", "overrides"})


@dataclass(frozen=True, slots=True)
class Entrant:
    """One scenario of a comparison.

    Attributes:
        letter: A to D, as columns are called.
        name: Of the scenario.
        evaluation: With its ranges where it can be built.
        draws: Results of the common draws by key; empty where it can't be built.
    """

    letter: str
    name: str
    evaluation: Evaluation
    draws: Mapping[str, Floats]

    @property
    def built(self) -> bool:
        """Whether it has outcomes."""
        return self.evaluation.feasible


@dataclass(frozen=True, slots=True)
class InputRow:
    """A field of which at least two scenarios say different things; None where one says nothing."""

    field: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class LineRow:
    """A result of the design or the money that differs; None where a scenario has no such line."""

    key: str
    label: str
    unit: str
    values: tuple[float | None, ...]

    @property
    def spread(self) -> float:
        """How far apart the values are, where no line counts as nothing."""
        known = [value or 0.0 for value in self.values]
        return max(known) - min(known)


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """An outcome of all scenarios.

    Attributes:
        higher: Whether more is better.
        best: Place of the scenario with the best value; None where fewer than two have one.
        odds: Share of the common draws in which the best is at least as good as its nearest rival; None without one.
        same: All values are equal.
    """

    key: str
    label: str
    unit: str
    values: tuple[float | None, ...]
    higher: bool
    best: int | None = None
    rival: int | None = None
    odds: float | None = None
    same: bool = False

    @property
    def sure(self) -> bool:
        """Whether the best is better in so many draws that it may be called so."""
        return self.odds is not None and self.odds >= SURE and not self.same


@dataclass(frozen=True, slots=True)
class Turn:
    """An input that would make the second of two scenarios the better one by an outcome, all else as planned."""

    key: str
    better: int
    other: int
    flip: Flip


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole comparison, columns in the order the scenarios were named."""

    entrants: tuple[Entrant, ...]
    inputs: tuple[InputRow, ...]
    equal_inputs: int
    outcomes: tuple[OutcomeRow, ...]
    design: tuple[LineRow, ...]
    money: tuple[LineRow, ...]
    """The furthest apart first."""
    turns: tuple[Turn, ...]
    draws: int


def compare_scenarios(
    scenarios: Sequence[Loaded], catalog: Catalog, *, draws: int = DRAWS, seed: int = SEED
) -> Comparison:
    """Evaluate scenarios and set them side by side.

    Args:
        scenarios: Two to four.
        catalog: Where their parts are looked up.
        draws: Common draws of their inputs.
        seed: Same seed, same odds.

    Raises:
        InputError: Too few or too many, or a scenario names parts that are missing.
    """
    return compare([evaluate(one, catalog) for one in scenarios], draws=draws, seed=seed)


def compare(evaluations: Sequence[Evaluation], *, draws: int = DRAWS, seed: int = SEED) -> Comparison:
    """The same of evaluations that were made before.

    Raises:
        InputError: Fewer than two or more than four.
    """
    if not FEWEST <= len(evaluations) <= MOST:
        raise InputError(
            Problem(
                f"{len(evaluations)} scenarios can't be compared", remedy=f"name {FEWEST} to {MOST} of them"
            )
        )
    common = _Common(evaluations)
    entrants = _entrants(common, draws, seed)
    differing, equal = differing_inputs([one.loaded for one in evaluations])
    outcomes = tuple(row for key in DECIDED_BY if (row := _outcome(entrants, key)) is not None)
    money = _lines(entrants, ("capex.", "opex.year1", "tco.", "unit.", "rent."))
    return Comparison(
        entrants, differing, equal, outcomes, _design(entrants),
        tuple(sorted(money, key=lambda row: -row.spread)), _turns(outcomes, common), draws,
    )  # fmt: skip


class _Common:
    """Scores that several plans share: an input of one name has one column in all of them; plans go by their place."""

    def __init__(self, plans: Sequence[Evaluation]) -> None:
        self.plans = tuple(plans)
        self.inputs = {place: inputs_of(one) for place, one in enumerate(plans) if one.feasible}
        self.columns: dict[str, int] = {}
        self.at: dict[int, tuple[int, ...]] = {}
        together: dict[str, tuple[set[int], float]] = {}
        for place, inputs in self.inputs.items():
            names = _column_names(inputs)
            self.at[place] = tuple(self.columns.setdefault(name, len(self.columns)) for name in names)
            for factor in inputs.factors:
                if len(factor.columns) > 1:
                    # the number of members stands in the name, and plans differ in it
                    members, _ = together.setdefault(
                        factor.name.rpartition(" (")[0], (set(), factor.correlation)
                    )
                    members.update(self.at[place][column] for column in factor.columns)
        self.correlated = tuple((tuple(sorted(members)), share) for members, share in together.values())

    def scores(self, rows: int, seed: int) -> Floats:
        """Draws of all columns."""
        random = np.random.default_rng(seed)
        return normal_scores(rows, len(self.columns), random, correlated=self.correlated)

    def results(self, place: int, keys: Iterable[str], scores: Floats) -> dict[str, Floats]:
        """Results of one plan from the common scores; none of a plan that can't be built."""
        if place not in self.inputs:
            return {}
        drawing = Drawing(self.plans[place], self.inputs[place], tuple(keys))
        return drawing.results(scores[:, list(self.at[place])])

    def factors(self, places: Sequence[int]) -> list[tuple[Factor, tuple[int, ...], int]]:
        """Every factor of some plans once, with its common columns and a plan that has it."""
        found: dict[tuple[int, ...], tuple[Factor, tuple[int, ...], int]] = {}
        for place in places:
            for factor in self.inputs[place].factors:
                columns = tuple(self.at[place][column] for column in factor.columns)
                found.setdefault(columns, (factor, columns, place))
        return list(found.values())


def _column_names(inputs: Inputs) -> list[str]:
    names = [""] * inputs.width
    for line, column in zip(inputs.lines, inputs.columns, strict=True):
        names[column] = score_name(line)
    return names


def _entrants(common: _Common, draws: int, seed: int) -> tuple[Entrant, ...]:
    scores = common.scores(draws, seed)
    keys = tuple(dict.fromkeys((*HEADLINE_KEYS, *DECIDED_BY, *(judge.line for judge in JUDGES))))
    found = []
    for place, (letter, one) in enumerate(zip("ABCD", common.plans, strict=False)):
        results = common.results(place, keys, scores)
        ranges = {key: range_of(column) for key, column in results.items()}
        found.append(Entrant(letter, one.loaded.scenario.name, replace(one, ranges=ranges), results))
    return tuple(found)


def _outcome(entrants: Sequence[Entrant], key: str) -> OutcomeRow | None:
    """One outcome of all; None where no scenario has it."""
    values = tuple(
        one.evaluation.ledger.scalar(key) if one.built and key in one.evaluation.ledger else None
        for one in entrants
    )
    line = _line(entrants, key)
    if line is None:
        return None
    row = OutcomeRow(key, line.label, line.unit, values, key in HIGHER)
    sign = 1.0 if row.higher else -1.0
    order = sorted(
        (at for at, value in enumerate(values) if value is not None),
        key=lambda at: (-sign * (values[at] or 0.0), at),
    )
    if len(order) < FEWEST:
        return row
    best, same = order[0], len({values[at] for at in order}) == 1
    # a plan that stands there twice is no rival of itself
    rival = next((at for at in order if values[at] != values[best]), order[1])
    better = sign * (entrants[best].draws[key] - entrants[rival].draws[key])
    return replace(
        row, best=best, rival=rival, same=same, odds=float((better > 0).mean() + 0.5 * (better == 0).mean())
    )


def _line(entrants: Sequence[Entrant], key: str) -> Line | None:
    return next(
        (one.evaluation.ledger[key] for one in entrants if one.built and key in one.evaluation.ledger), None
    )


def differing_inputs(scenarios: Sequence[Loaded]) -> tuple[tuple[InputRow, ...], int]:
    """Fields of which scenarios say different things, and how many they agree on."""
    flat = [dict(_fields(one.scenario.model_dump(mode="json", by_alias=True), "")) for one in scenarios]
    names = list(dict.fromkeys(name for one in flat for name in one))
    rows = [InputRow(name, tuple(one.get(name) for one in flat)) for name in names]
    different = tuple(row for row in rows if any(value != row.values[0] for value in row.values))
    return different, len(rows) - len(different)


def _fields(value: Any, name: str) -> Iterable[tuple[str, Any]]:
    """Every field with its path; items of a list go by their ids where they have one."""
    if isinstance(value, dict):
        for key, one in value.items():
            if name or key not in _NAMES:
                yield from _fields(one, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        for index, one in enumerate(value):
            yield from _fields(one, f"{name}.{one.get('id', index)}")
    else:
        yield name, value


def _lines(entrants: Sequence[Entrant], starts: tuple[str, ...]) -> tuple[LineRow, ...]:
    """Scalar results that differ, in the ledger's order."""
    built = [one for one in entrants if one.built]
    lines = {
        line.key: line
        for one in built
        for line in one.evaluation.ledger
        if line.axis is Axis.SCALAR and line.key.startswith(starts) and line.source is None
    }
    found = []
    for key, line in lines.items():
        values = tuple(
            one.evaluation.ledger.scalar(key) if one.built and key in one.evaluation.ledger else None
            for one in entrants
        )
        shown = [value for value, one in zip(values, entrants, strict=True) if one.built]
        if any(value != shown[0] for value in shown):
            found.append(LineRow(key, line.label, line.unit, values))
    return tuple(found)


def _design(entrants: Sequence[Entrant]) -> tuple[LineRow, ...]:
    """Results of design and power that differ: what architects and facility engineers ask first leads."""
    places = {key: at for at, key in enumerate(ASKED_FIRST)}
    rows = _lines(entrants, ("design.", "power."))
    return tuple(sorted(rows, key=lambda row: places.get(row.key, len(places))))


def _turns(outcomes: Sequence[OutcomeRow], common: _Common) -> tuple[Turn, ...]:
    """Inputs that alone would make the runner-up the better one, for the outcomes that decide."""
    found: list[Turn] = []
    for row in outcomes:
        if row.key not in TURNED_BY or row.best is None or row.rival is None or row.same:
            continue
        best, rival = row.best, row.rival
        factors = common.factors((best, rival))

        def gap(scores: Floats, row: OutcomeRow = row, best: int = best, rival: int = rival) -> Floats:
            ahead = common.results(best, (row.key,), scores)[row.key]
            behind = common.results(rival, (row.key,), scores)[row.key]
            return np.asarray(behind - ahead if row.higher else ahead - behind)

        turned = turning_scores(gap, [columns for _, columns, _ in factors], len(common.columns))
        flips = []
        for at, score in turned.items():
            factor, _, place = factors[at]
            flip = flip_of(common.plans[place], common.inputs[place], factor, score)
            flips.append(Turn(row.key, best, rival, flip))
        found += sorted(flips, key=lambda one: abs(one.flip.score))
    return tuple(found)
