"""What sized pools cost, and whether they need fewer GPUs than replicas that do prompts and answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.catalog.store import Catalog
from planner.errors import PlannerError
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Ledger, Sign
from planner.performance.assumed import SERVING_FILE
from planner.performance.fleet import replicas_needed
from planner.performance.serve import Served
from planner.performance.serving_points import Objective
from planner.performance.serving_pools import Way
from planner.scenario.load import Loaded
from planner.study.sizing import Load
from planner.study.sizing_machines import Edit, served_of
from planner.study.sizing_pools import PoolFleet, size_pools
from planner.study.sizing_price import KEY, Priced, by_itself, machine_edits
from planner.units import MEGA, SECONDS_PER_HOUR

AGREEMENTS = 3
"""Times that pools are sized anew where their plan's network sustains another rate than the one they were sized with."""
SAME = 1e-12


@dataclass(frozen=True, slots=True)
class PricedPools:
    """Sized pools with their plan.

    Attributes:
        together_gpus: Of the best fleet that does prompts and answers at every replica.
        edits: Fields of the scenario that make the plan these pools.
        evaluation: Of that plan; None where it can't be built, with the reason.
    """

    fleet: PoolFleet
    together_gpus: int
    edits: tuple[Edit, ...]
    evaluation: Evaluation | None
    why_not: str

    @property
    def saved_fraction(self) -> float:
        """GPUs that pools save, negative where they need more."""
        return 1.0 - self.fleet.gpus / self.together_gpus

    def value(self, name: str) -> float | None:
        """A scalar of its lines, such as ``usd_per_mtoken_output``; None where there is none."""
        if self.evaluation is None or f"sizing.{name}" not in self.evaluation.ledger:
            return None
        return self.evaluation.ledger.scalar(f"sizing.{name}")


def pools_beside(
    loaded: Loaded, catalog: Catalog, index: int, fleets: tuple[Priced, ...], load: Load, objective: Objective
) -> PricedPools | None:
    """The pools with the fewest GPUs on any machine of the fleets shown, evaluated as a plan.

    Args:
        loaded, catalog, index: The scenario, its catalog, and the workload's place.
        fleets: Without pools, best first; those that can't be built have no network to size pools on.
        load, objective: What is carried, and within which limits.

    Returns:
        None where no plan has a network between servers, or no pools keep the objective.
    """
    found = []
    for one in fleets:
        way = None if one.evaluation is None else plan_way(one.evaluation, catalog)
        if way is not None and (sized := size_pools(one.fleet.candidate, way, load, objective)) is not None:
            found.append(sized)
    if not found:
        return None
    best = min(found, key=lambda one: one.gpus)
    return _priced(loaded, catalog, index, best, load, objective, fleets[0].fleet.gpus)


def plan_way(evaluation: Evaluation, catalog: Catalog) -> Way | None:
    """How caches move between servers of a plan without pools, of shape (1,); None where it has no network."""
    built = evaluation.built
    assert built is not None
    rate = np.ravel(built.performance.links.outside.bytes_per_s)[:1]
    if not np.isfinite(rate).all():
        return None
    handover, overlap = (
        np.array([catalog.figure(SERVING_FILE, f"serving_{name}")[0].value])
        for name in ("handover_s", "transfer_overlap_fraction")
    )
    return Way(rate, handover, overlap)


def _priced(
    loaded: Loaded, catalog: Catalog, index: int, fleet: PoolFleet, load: Load, objective: Objective, together: int
) -> PricedPools:  # fmt: skip
    """Evaluate the plan with the pools, sized anew while its own network says otherwise."""
    for _ in range(AGREEMENTS):
        edits = pool_edits(loaded, catalog, index, fleet)
        try:
            evaluation = evaluate(by_itself(loaded, index, edits), catalog)
            served = served_of(evaluation, loaded.scenario.workloads[index])
        except PlannerError as error:
            why = "; ".join(one.message for one in error.problems)
            return PricedPools(fleet, together, edits, None, why)
        way = _way_of(served)
        again = size_pools(fleet.candidate, way, load, objective)
        if again is None or (again.wish == fleet.wish and again.gpus == fleet.gpus):
            break
        fleet = again
    assert served.apart is not None
    _enter(evaluation.ledger, fleet, load)
    return PricedPools(fleet, together, edits, evaluation, "")


def _way_of(served: Served) -> Way:
    apart = served.apart
    assert apart is not None
    return Way(*(np.ravel(getattr(apart.way, name))[:1] for name in Way.__slots__))


def pool_edits(loaded: Loaded, catalog: Catalog, index: int, fleet: PoolFleet) -> tuple[Edit, ...]:
    """Fields of a scenario that make its plan these pools."""
    machine = machine_edits(loaded, catalog, index, fleet.candidate, gpus=fleet.gpus)
    return (*machine, (("workloads", index, "disaggregated"), fleet.wish))


def _enter(ledger: Ledger, fleet: PoolFleet, load: Load) -> None:
    """Ledger lines of the pools' size and what their tokens cost at the load."""
    inputs = ledger.inputs_of(f"{KEY}.output_tokens_per_s_per_gpu")
    needed = [
        sum(getattr(one, f"{pool}_replicas") for one in fleet.regions) for pool in ("prefill", "decode")
    ]
    for name, label, unit, value, function, note in (
        ("gpus", "GPUs of both pools", "1", fleet.gpus, size_pools, "the fewest in whole servers, spare ones included"),
        ("prefill_replicas", "Prefill replicas at the peaks", "1", needed[0], replicas_needed,
         "each region rounded up by itself"),
        ("decode_replicas", "Decode replicas at the peaks", "1", needed[1], replicas_needed,
         "each region rounded up by itself"),
        ("prefill_replica_requests_per_s", "Requests a second of a prefill replica within the objective", "requests/s",
         fleet.prefill_per_s, size_pools, "the most at which the first token keeps its limit"),
        ("decode_replica_requests_per_s", "Requests a second of a decode replica within the objective", "requests/s",
         fleet.decode_per_s, size_pools, "the most at which later tokens keep theirs"),
        ("mean_requests_per_s", "Requests a second over the day", "requests/s", load.mean_requests_per_s, size_pools,
         "mean of all regions"),
    ):  # fmt: skip
        ledger.compute(f"sizing.{name}", label, unit, value, function=function, inputs=inputs, note=note)
    made = ledger.derive(
        "sizing.output_tokens_per_s", "Output tokens of the load", "tokens/s",
        ledger["sizing.mean_requests_per_s"] * ledger[f"{KEY}.output_tokens"],
    )  # fmt: skip
    cost = ledger.derive(
        "sizing.usd_per_hour", "Cost of both pools", "USD/h", ledger["unit.usd_per_gpu_hour"] * ledger["sizing.gpus"],
        sign=Sign.COST, note="every GPU is paid all day",
    )  # fmt: skip
    ledger.derive(
        "sizing.usd_per_mtoken_output", "Cost of a million output tokens at the load", "USD/Mtoken",
        cost * MEGA / (made * SECONDS_PER_HOUR), sign=Sign.COST,
        note="both pools over the load's output tokens: prompts are charged to the answers",
    )  # fmt: skip
