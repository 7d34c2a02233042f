"""The whole answer for a serving workload: sized fleets with their prices, and what the network does to the best.

Without a stated load, what the plan's own GPUs carry within the objective is the load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Final

from planner.catalog.store import Catalog
from planner.choices import Precision, WeightFormat
from planner.errors import DesignError, Problem, Remedy
from planner.evaluate import evaluate
from planner.performance.serving_points import Objective
from planner.scenario.load import Loaded
from planner.scenario.parts import resolve
from planner.study.sizing import Fleet, Load, Sizing, load_of, size_fleets
from planner.study.sizing_machines import candidates_of, served_of, servers_of
from planner.study.sizing_network import (
    HandOver,
    NetworkEffect,
    domain_effects,
    hand_over,
    spanning_effects,
)
from planner.study.sizing_pools_price import PricedPools, pools_beside
from planner.study.sizing_price import Priced, priced
from planner.study.sizing_sure import Sure, met_odds, sure_fleet

ODDS_OF: Final = 3
"""Fleets whose odds are drawn, the best ones."""
EQUAL_COST_FRACTION: Final = 0.01
"""Difference of costs below which fleets of equal size are told apart by what they carry."""


class FleetGoal(StrEnum):
    """What fleets are ranked by."""

    GPUS = "gpus"
    """Fewest GPUs."""
    COST = "cost"
    """Least cost of a million output tokens at the load."""
    ENERGY = "energy"
    """Most tokens for a joule."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search for a serving workload found.

    Attributes:
        index: Place of the workload in the scenario.
        stated: Whether the scenario states the load; otherwise it is what the plan's own GPUs carry.
        fleets: Best first; those that can't be built last.
        pools: Separate pools with the fewest GPUs; None where no plan has a network, or none keep the objective.
        odds: Share of draws in which each of the first fleets meets the objective; fewer than fleets.
        sure: The best fleet with replicas for a wanted share of draws; None where none was asked for.
        domain, spanning, moved: What the network does to the best fleet; empty and None where that isn't priced.
    """

    loaded: Loaded
    index: int
    goal: FleetGoal
    stated: bool
    sizing: Sizing
    fleets: tuple[Priced, ...]
    domain: tuple[NetworkEffect, ...]
    spanning: tuple[NetworkEffect, ...]
    moved: HandOver | None
    pools: PricedPools | None = None
    odds: tuple[float | None, ...] = ()
    sure: Sure | None = None

    @property
    def best(self) -> Priced:
        """The first fleet."""
        return self.fleets[0]


def search_serving(
    loaded: Loaded,
    catalog: Catalog,
    index: int,
    *,
    servers: Sequence[str] = (),
    precisions: Sequence[Precision] = (),
    weights: Sequence[WeightFormat] = (),
    goal: FleetGoal = FleetGoal.GPUS,
    top: int = 10,
    sure: float | None = None,
) -> Answer:
    """Size a serving workload and price the fleets: replicas that compute prompts and answers, and separate pools beside.

    Args:
        loaded: The scenario.
        catalog: Where parts and prices are looked up.
        index: Place of the workload.
        servers: Ids to try, or ``all``; the plan's own by default.
        precisions: To try; all that an accelerator has by default.
        weights: Formats to try; see `candidates_of`.
        goal: What fleets are ranked by.
        sure: Share of draws in which the best fleet has to meet the objective; by the expected values where None.
        top: Fleets priced, by the fewest GPUs; all of them where the goal needs their price.

    Raises:
        DesignError: No fleet keeps the objective, with the reason for each.
        PlannerError: The scenario is wrong.
    """
    parts = resolve(loaded, catalog)
    workload = loaded.scenario.workloads[index]
    objective = Objective(workload.slo.ttft_p99_s, workload.slo.tpot_p99_s)
    load = workload_load(loaded, catalog, index)
    names = servers_of(servers, parts)
    candidates, refused = candidates_of(
        loaded, catalog, index, servers=names, precisions=precisions, weights=weights
    )
    sizing = size_fleets(candidates, load, objective)
    sizing = Sizing(load, objective, sizing.fleets, (*sizing.refused, *refused), sizing.tried)
    if not sizing.fleets:
        raise _nothing(loaded, index, sizing)
    found = _ranked(
        goal, [priced(loaded, catalog, index, one, load) for one in _to_price(sizing.fleets, goal, top)]
    )
    shown = tuple(found[:top])
    best = shown[0]
    domain: list[NetworkEffect] = []
    spanning: list[NetworkEffect] = []
    moved = None
    if best.evaluation is not None:
        hour = best.evaluation.ledger.scalar("unit.usd_per_gpu_hour")
        chosen = best.fleet.candidate
        domain = domain_effects(chosen, objective, usd_per_gpu_hour=hour)
        spanning = spanning_effects(chosen, objective, best.evaluation, usd_per_gpu_hour=hour)
        moved = hand_over(chosen, best.fleet.capacity.layout, best.evaluation)
    odds = tuple(met_odds(one.evaluation, objective) for one in shown[:ODDS_OF])
    more = None
    if sure is not None:
        more = sure_fleet(loaded, catalog, index, best, load, objective, sure)
    pools = pools_beside(loaded, catalog, index, shown, load, objective)
    return Answer(
        loaded,
        index,
        goal,
        workload.load is not None,
        sizing,
        shown,
        tuple(domain),
        tuple(spanning),
        moved,
        pools,
        odds,
        more,
    )


def workload_load(loaded: Loaded, catalog: Catalog, index: int) -> Load:
    """The load that a workload states, else what the plan's own GPUs carry within the objective, all day.

    Raises:
        DesignError: No load is stated, and the plan can't be built.
    """
    workload = loaded.scenario.workloads[index]
    wish = workload.load
    startup = wish.startup_s if wish is not None else None
    if startup is None:
        startup = catalog.figure("network", "model_load_target_s")[0].value
    if wish is not None:
        return load_of(
            peak_requests_per_s=wish.requests_per_s, hourly_fraction=wish.hourly_fraction,
            regions=[(one.id, one.share_fraction, one.utc_offset_hours) for one in wish.regions],
            spare_replicas=wish.spare_replicas, startup_s=startup,
        )  # fmt: skip
    evaluation = evaluate(loaded, catalog)
    served, ledger = served_of(evaluation, workload), evaluation.ledger
    gpus = evaluation.parts.gpus * ledger.scalar(f"workload.{workload.id}.scheduled_fraction")
    replicas = max(gpus // float(served.layout.gpus[0]), 1.0)
    return load_of(
        peak_requests_per_s=replicas * float(served.point.rate_per_s[0]), hourly_fraction=None, regions=[],
        spare_replicas=0, startup_s=startup,
    )  # fmt: skip


def _to_price(fleets: Sequence[Fleet], goal: FleetGoal, top: int) -> Sequence[Fleet]:
    """Fleets that may be among the best: all of them, or by GPUs as many as are shown and those of equal size."""
    if goal is not FleetGoal.GPUS or len(fleets) <= top:
        return fleets
    return [one for one in fleets if one.gpus <= fleets[top - 1].gpus]


def _ranked(goal: FleetGoal, fleets: Sequence[Priced]) -> list[Priced]:
    """Best first; fleets that can't be built last.

    Fleets of equal size whose tokens cost within 1 % of the cheapest's stand by what they carry, the most first: a price
    isn't known better than that.
    """
    ordered = sorted(fleets, key=lambda one: _rank(goal, one))
    if goal is not FleetGoal.GPUS:
        return ordered
    found: list[Priced] = []
    for _, group in groupby(ordered, key=lambda one: (one.evaluation is None, one.fleet.gpus)):
        own = list(group)
        most = _rank(goal, own[0])[2] * (1.0 + EQUAL_COST_FRACTION)
        near = [one for one in own if _rank(goal, one)[2] <= most]
        found += sorted(near, key=lambda one: -one.fleet.able_requests_per_s)
        found += own[len(near) :]
    return found


def _rank(goal: FleetGoal, one: Priced) -> tuple[bool, float, float]:
    """Fleets that can't be built last; equal ones by their GPUs, then by cost."""
    cost = one.value("usd_per_mtoken_output") or float("inf")
    value = {
        FleetGoal.GPUS: float(one.fleet.gpus),
        FleetGoal.COST: cost,
        FleetGoal.ENERGY: -(one.value("tokens_per_j") or 0.0),
    }[goal]
    return one.evaluation is None, value, cost if goal is FleetGoal.GPUS else float(one.fleet.gpus)


def _nothing(loaded: Loaded, index: int, sizing: Sizing) -> DesignError:
    workload = loaded.scenario.workloads[index]
    wider = tuple(
        Remedy(
            f"a {said} up to {2 * getattr(workload.slo, field):g} s", ("workloads", index, "slo", field),
            2 * getattr(workload.slo, field),
        )
        for field, said in (("ttft_p99_s", "time to the first token"), ("tpot_p99_s", "time for each token"))
    )  # fmt: skip
    return DesignError(
        Problem(
            f"'{workload.model}' can't be served within its objective on {server}, {precision.value}: {why}",
            loaded.document.place(("workloads", index, "slo")),
            f"workloads.{workload.id}",
            remedies=(*wider, Remedy("other servers: --server all")),
        )
        for server, precision, why in sizing.refused
    )
