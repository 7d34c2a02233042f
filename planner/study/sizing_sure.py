"""How sure a sized fleet is: the share of draws in which its load meets the objective, and the fleet for a wanted share.

A draw changes what the model, the machine and the prices may be; the fleet, its replicas and its load stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.catalog.store import Catalog
from planner.evaluate import Evaluation
from planner.performance.serving_points import Objective, at_rate
from planner.scenario.limits import AT_LOAD, SATURATED_LOAD
from planner.scenario.load import Loaded
from planner.study.bands import DRAWS, SEED, Drawing
from planner.study.risk_inputs import inputs_of
from planner.study.sizing import Fleet, Load, RegionLoad, size_fleets
from planner.study.sizing_price import Priced, priced

FIRST, TOKEN = "outcome.ttft_p99_s", "outcome.tpot_p99_s"
MARGINS: Final = (1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0)
"""Of the load, for which a fleet is sized so that its own load keeps the objective in more draws."""
HALVINGS: Final = 3
"""Between the last margin that isn't sure enough and the first that is."""


@dataclass(frozen=True, slots=True)
class Sure:
    """A fleet that is sure enough, or the surest that was tried.

    Attributes:
        fleet: Priced, carrying its own load.
        odds: Share of draws in which that load meets the objective.
        margin: Of the load, that the replicas are counted for.
        enough: Whether the odds are those that were wanted.
    """

    fleet: Priced
    odds: float
    margin: float
    enough: bool


def met_odds(evaluation: Evaluation | None, objective: Objective) -> float | None:
    """Share of draws in which both tails keep an objective: at the stated load, else at the plan's operating point.

    None of a plan that can't be built, or whose inputs have no ranges.
    """
    if evaluation is None or not evaluation.feasible:
        return None
    ledger = evaluation.ledger
    first, token = (AT_LOAD[key] if AT_LOAD[key] in ledger else key for key in (FIRST, TOKEN))
    inputs = inputs_of(evaluation)
    if not inputs.lines:
        return None
    drawing = Drawing(evaluation, inputs, (first, token, SATURATED_LOAD))
    found = drawing.results(drawing.scores(DRAWS, np.random.default_rng(SEED)))
    met = (found[first] <= objective.first_token_p99_s) & (found[token] <= objective.per_token_p99_s)
    if SATURATED_LOAD in found:
        met = met & (found[SATURATED_LOAD] < 1.0)
    return float(met.mean())


def sure_fleet(
    loaded: Loaded,
    catalog: Catalog,
    index: int,
    found: Priced,
    load: Load,
    objective: Objective,
    wanted: float,
) -> Sure:
    """The fewest replicas of a fleet's layout with which its load meets the objective in a wanted share of draws.

    Args:
        loaded, catalog, index: The scenario, which states the load.
        found: The fleet for the expected values.
        load, objective: What it carries, within what.
        wanted: Share of draws.

    Returns:
        See `Sure`; not enough where four times the load's replicas aren't either: single requests are then too slow in
        too many draws, which no number of replicas mends.
    """
    least = best = Sure(found, met_odds(found.evaluation, objective) or 0.0, 1.0, False)
    if least.odds >= wanted:
        return replace(least, enough=True)
    for margin in MARGINS:
        one = _with_margin(loaded, catalog, index, found, load, objective, margin)
        if one.odds >= wanted:
            return _between(loaded, catalog, index, found, load, objective, wanted, least, one)
        least, best = one, max(best, one, key=lambda each: each.odds)
    return best


def _between(
    loaded: Loaded, catalog: Catalog, index: int, found: Priced, load: Load, objective: Objective, wanted: float,
    low: Sure, high: Sure,
) -> Sure:  # fmt: skip
    """The smallest of some fleets between one that isn't sure enough and one that is."""
    for _ in range(HALVINGS):
        if high.fleet.fleet.servers - low.fleet.fleet.servers <= 1:
            break
        middle = (low.margin + high.margin) / 2.0
        one = _with_margin(loaded, catalog, index, found, load, objective, middle)
        low, high = (low, one) if one.odds >= wanted else (one, high)
    return replace(high, enough=True)


def _with_margin(
    loaded: Loaded,
    catalog: Catalog,
    index: int,
    found: Priced,
    load: Load,
    objective: Objective,
    margin: float,
) -> Sure:
    fleet = with_margin(found.fleet, load, objective, margin)
    one = priced(loaded, catalog, index, fleet, load)
    return Sure(one, met_odds(one.evaluation, objective) or 0.0, margin, False)


def with_margin(fleet: Fleet, load: Load, objective: Objective, margin: float) -> Fleet:
    """A fleet of the same replicas for so many times the load, which then carries the load itself."""
    more = replace(load, regions=tuple(_more(load, margin)))
    own = replace(fleet.candidate, layouts=fleet.capacity.layout)
    sized = size_fleets([own], more, objective).fleets[0]
    busiest = max(
        region.peak_requests_per_s / one.replicas
        for region, one in zip(load.regions, sized.regions, strict=True)
    )
    regions = tuple(
        replace(one, peak_requests_per_s=region.peak_requests_per_s)
        for region, one in zip(load.regions, sized.regions, strict=True)
    )
    point = at_rate(
        own.server,
        requests=own.requests,
        layout=fleet.capacity.layout,
        rate_per_s=busiest * own.per_token_ratio,
    )
    return replace(
        fleet, regions=regions, busiest=own.corrected(point), tried=fleet.tried, candidate=fleet.candidate
    )


def _more(load: Load, margin: float) -> Iterator[RegionLoad]:
    for one in load.regions:
        yield replace(
            one,
            peak_requests_per_s=one.peak_requests_per_s * margin,
            requests_per_s=one.requests_per_s * margin,
        )
