"""What a sized fleet costs and draws: the plan evaluated with it, and its tokens as ledger lines ``sizing.*``.

The fleet is put into the scenario, so its network, racks, power and money are the plan's own. Beside it stand the
rent of the same GPUs, with and without autoscaling, and the price of the same tokens at an API.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.catalog.schema import Server
from planner.catalog.store import Catalog
from planner.errors import PlannerError
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Expr, ref
from planner.performance.fleet import running_replicas
from planner.performance.serving import operating_point
from planner.performance.serving_points import Objective, serving_points
from planner.scenario.alternatives import beside
from planner.scenario.givens import figure_line
from planner.scenario.load import Loaded
from planner.scenario.schema import Workload
from planner.study.api_prices import ApiOffer, api_offers
from planner.study.options_offers import Offer, offers
from planner.study.sizing import Candidate, Fleet, Load, size_fleets
from planner.study.sizing_machines import Edit, cooled, edited, served_of
from planner.units import MEGA, SECONDS_PER_HOUR

KEY = "performance.serving"
SETTLING_ROUNDS: Final = 3
"""Until a fleet and the plan that has it agree; the first one nearly always does."""
SAME: Final = 1e-9
"""Relative difference of rates that are one."""


@dataclass(frozen=True, slots=True)
class Priced:
    """A fleet with its price, or why the plan can't have it.

    Attributes:
        edits: Fields of the scenario that make the plan this fleet.
        evaluation: Of the plan with the fleet; None where it can't be built.
        rental: Cheapest offer on demand of its accelerator; None where the catalog has none.
        api: Prices of the model's tokens, the cheapest for these lengths first.
    """

    fleet: Fleet
    edits: tuple[Edit, ...]
    evaluation: Evaluation | None
    why_not: str
    rental: Offer | None
    api: tuple[ApiOffer, ...] = ()

    @property
    def spare_servers(self) -> int:
        """Servers that the plan buys beyond those in service; 0 where it can't be built."""
        if self.evaluation is None:
            return 0
        key, ledger = f"bom.{self.fleet.candidate.server_id}", self.evaluation.ledger
        return int(ledger.scalar(f"{key}.count") - ledger.scalar(f"{key}.designed"))

    def value(self, name: str) -> float | None:
        """A scalar of its lines, such as ``usd_per_mtoken_output``; None where there is none."""
        if self.evaluation is None or f"sizing.{name}" not in self.evaluation.ledger:
            return None
        return self.evaluation.ledger.scalar(f"sizing.{name}")


def fleet_edits(loaded: Loaded, catalog: Catalog, index: int, fleet: Fleet) -> tuple[Edit, ...]:
    """Fields of a scenario that make its plan a fleet: servers, GPUs, precision, weights, and what goes with them."""
    found = machine_edits(loaded, catalog, index, fleet.candidate, gpus=fleet.gpus)
    if loaded.scenario.workloads[index].disaggregated is not None:
        return (*found, (("workloads", index, "disaggregated"), None))
    return found


def machine_edits(
    loaded: Loaded, catalog: Catalog, index: int, candidate: Candidate, *, gpus: int
) -> tuple[Edit, ...]:
    """Fields of a scenario that give a workload so many GPUs of a candidate, in its precision and format."""
    scenario = loaded.scenario
    group, workload = scenario.cluster.groups[0], scenario.workloads[index]
    shelf = beside(catalog)
    found: list[Edit] = []
    if len(scenario.cluster.groups) > 1:
        wish = dict(loaded.document.data["cluster"]["groups"][0])
        wish |= {"server": candidate.server_id, "gpus": gpus}
        wish.pop("phase", None)
        found += [(("cluster", "groups"), [wish]), (("phases",), None)]
    else:
        found.append((("cluster", "groups", 0, "gpus"), gpus))
        if candidate.server_id != group.server:
            found.append((("cluster", "groups", 0, "server"), candidate.server_id))
    if candidate.precision is not workload.precision:
        found.append((("workloads", index, "precision"), candidate.precision.value))
    if candidate.weights is not workload.weights:
        form = None if candidate.weights is None else candidate.weights.value
        found.append((("workloads", index, "weights"), form))
    server, now = shelf.get(Server, candidate.server_id), shelf.get(Server, group.server)
    if server.accelerator != now.accelerator and scenario.money.rental is not None:
        found.append((("money", "rental"), None))
    return (*found, *cooled(loaded, shelf, server))


def priced(loaded: Loaded, catalog: Catalog, index: int, fleet: Fleet, load: Load) -> Priced:
    """Evaluate the plan with a fleet and enter what its tokens cost.

    Args:
        loaded: The scenario, with the workload's load and limits.
        catalog: Where parts and prices are looked up.
        index: Place of the workload.
        fleet: What was sized.
        load: What it carries.
    """
    for _ in range(SETTLING_ROUNDS):
        edits = fleet_edits(loaded, catalog, index, fleet)
        try:
            evaluation = evaluate(by_itself(loaded, index, edits), catalog)
        except PlannerError as error:
            return Priced(fleet, edits, None, "; ".join(one.message for one in error.problems), None)
        if evaluation.built is None:
            assert evaluation.refusal is not None
            why = "; ".join(one.message for one in evaluation.refusal.problems)
            return Priced(fleet, edits, None, why, None)
        other = as_planned(evaluation, loaded.scenario.workloads[index], fleet, load)
        if other is None:
            break
        fleet = other
    rental = _cheapest(offers(evaluation.parts)[0])
    workload = loaded.scenario.workloads[index]
    api = api_offers(
        evaluation.parts.catalog, workload.model, input_tokens=workload.input_tokens,
        output_tokens=workload.output_tokens, as_of=evaluation.parts.as_of,
    )  # fmt: skip
    _enter(evaluation, fleet, load, rental)
    if api:
        _enter_api(evaluation.ledger, api[0])
    return Priced(fleet, edits, evaluation, "", rental, tuple(api))


def as_planned(evaluation: Evaluation, workload: Workload, fleet: Fleet, load: Load) -> Fleet | None:
    """A fleet sized again with the machines as the plan that has it finds them, where the plan would serve otherwise.

    A machine may do better or worse inside a plan than alone: by its overrides, its cap on power, its cooling.

    Returns:
        None where plan and fleet agree, and where no load is stated, by which a plan could choose.
    """
    served, ledger = served_of(evaluation, workload), evaluation.ledger
    if workload.load is None or served.pools is not None:
        return None
    mine, own = fleet.capacity, (served.layout.gpus, served.layout.attention_ranks, served.point.rate_per_s)
    said = (mine.layout.gpus, mine.layout.attention_ranks, mine.point.rate_per_s)
    if all(np.isclose(one[0], two[0], rtol=SAME, atol=0.0) for one, two in zip(own, said, strict=True)):
        return None
    first, token = (
        ledger.scalar(f"{served.key}.{name}") for name in ("first_token_error_ratio", "model_error_ratio")
    )
    candidate = replace(
        fleet.candidate, server=served.server, requests=served.requests, first_token_ratio=first,
        per_token_ratio=token,
    )  # fmt: skip
    slo = workload.slo
    again = size_fleets([candidate], load, Objective(slo.ttft_p99_s, slo.tpot_p99_s)).fleets
    return again[0] if again else None


def by_itself(loaded: Loaded, index: int, edits: Sequence[Edit]) -> Loaded:
    """The scenario with edits and the workload alone on its fleet: others of the scenario would take a share of it."""
    data = loaded.document.data["workloads"]
    if len(data) == 1:
        return edited(loaded, edits)
    first: Edit = (("workloads",), [{**data[index], "share_fraction": 1.0}])
    own = ("workloads", index)
    moved = [((own[0], 0, *path[2:]), value) if path[:2] == own else (path, value) for path, value in edits]
    return edited(loaded, [first, *moved])


def _cheapest(found: Sequence[Offer]) -> Offer | None:
    on_demand = [one for one in found if one.term_months == 0]
    return min(on_demand, key=lambda one: (one.usd_per_gpu_hour, one.id), default=None)


def _enter(evaluation: Evaluation, fleet: Fleet, load: Load, rental: Offer | None) -> None:
    ledger = evaluation.ledger
    _enter_counts(ledger, fleet, load)
    _enter_owned(ledger)
    _enter_power(ledger, fleet)
    if rental is not None:
        _enter_rented(evaluation, rental)


def _enter_counts(ledger: Ledger, fleet: Fleet, load: Load) -> None:
    """What the sizing found, as computed lines that rest on the operating point's inputs."""
    inputs = ledger.inputs_of(f"{KEY}.output_tokens_per_s_per_gpu")
    point, most = fleet.capacity.point, fleet.saturated.point
    for name, label, unit, value, function, note in (
        ("gpus", "GPUs of the fleet", "1", fleet.gpus, size_fleets, "the fewest in whole servers, spare ones included"),
        ("replicas", "Replicas at the peaks", "1", fleet.replicas, size_fleets, "each region rounded up by itself"),
        ("standing_replicas", "Replicas that stand", "1", fleet.standing, size_fleets,
         "spare ones and the rest of whole servers included"),
        ("replica_gpus", "GPUs of a replica", "1", fleet.replica_gpus, size_fleets, ""),
        ("mean_gpus", "GPUs over the day with autoscaling", "1", fleet.mean_gpus, running_replicas,
         "asked for the start-up time ahead; spare replicas run all day"),
        ("mean_requests_per_s", "Requests a second over the day", "requests/s", load.mean_requests_per_s,
         size_fleets, "mean of all regions"),
        ("replica_requests_per_s", "Requests a second of a replica within the objective", "requests/s",
         float(point.rate_per_s[0]), operating_point, "the most at which both tails keep their limits"),
        ("prefill_share_fraction", "Share of GPU time in prompts", "fraction",
         float(point.prefill_share_fraction[0]), operating_point, "at that rate"),
        ("output_tokens_per_s_per_gpu", "Output tokens of a GPU within the objective", "tokens/s",
         float(point.output_tokens_per_s_per_gpu[0]), operating_point, "at that rate"),
        ("output_tokens_per_s_per_gpu_saturated", "Output tokens of a GPU at saturation", "tokens/s",
         float(most.output_tokens_per_s_per_gpu[0]), serving_points, "the most of any replica, whatever the latency"),
    ):  # fmt: skip
        ledger.compute(f"sizing.{name}", label, unit, value, function=function, inputs=inputs, note=note)
    ledger.derive(
        "sizing.output_tokens_per_s", "Output tokens of the load", "tokens/s",
        ledger["sizing.mean_requests_per_s"] * ledger[f"{KEY}.output_tokens"],
    )  # fmt: skip


def _mtoken(ledger: Ledger, name: str, label: str, expression: Expr, note: str) -> Line:
    return ledger.derive(
        f"sizing.usd_per_mtoken_{name}", label, "USD/Mtoken", expression, sign=Sign.COST, note=note
    )


def _enter_owned(ledger: Ledger) -> None:
    """Tokens of the owned fleet: at the load, with all replicas at the objective, and at saturation."""
    hour, made = ledger["unit.usd_per_gpu_hour"], ledger["sizing.output_tokens_per_s"]
    cost = ledger.derive(
        "sizing.usd_per_hour", "Cost of the fleet", "USD/h", hour * ledger["sizing.gpus"], sign=Sign.COST,
        note="every GPU is paid all day",
    )  # fmt: skip
    whole = _mtoken(
        ledger, "output", "Cost of a million output tokens at the load", cost * MEGA / (made * SECONDS_PER_HOUR),
        "the whole fleet over the load's output tokens: prompts are charged to the answers",
    )  # fmt: skip
    share, asked, answered = (
        ledger["sizing.prefill_share_fraction"], ledger[f"{KEY}.input_tokens"], ledger[f"{KEY}.output_tokens"],
    )  # fmt: skip
    _mtoken(
        ledger, "input", "Cost of a million input tokens at the load", whole * share * answered / asked,
        "the share of GPU time in prompts, over the input tokens",
    )  # fmt: skip
    _mtoken(
        ledger, "output_decode", "Cost of a million output tokens without their prompts", whole * (1 - share),
        "the share of GPU time that isn't in prompts, over the output tokens",
    )  # fmt: skip
    for name, label, unit in (
        ("output_full", "Cost of a million output tokens, replicas full within the objective", "output"),
        ("output_saturated", "Cost of a million output tokens at saturation", "output_saturated"),
    ):
        _mtoken(
            ledger, name, label, ref(ledger[f"unit.usd_per_mtoken_{unit}"]),
            "a scheduled GPU-hour over its tokens, as the plan's own line has it: every GPU sold in its scheduled hours",
        )  # fmt: skip


def _enter_power(ledger: Ledger, fleet: Fleet) -> None:
    """Mean power at the meter, between idle and serving by how busy the replicas are, and tokens for a joule."""
    able = ledger["sizing.standing_replicas"] * ledger["sizing.replica_requests_per_s"]
    busy = ledger.derive(
        "sizing.busy_fraction", "Mean load over what all replicas carry", "fraction",
        ledger["sizing.mean_requests_per_s"] / able,
    )  # fmt: skip
    idle = ledger["power.facility_idle_w"]
    mean = ledger.derive(
        "sizing.power_w", "Power at the meter, mean over the day", "W",
        idle + (ledger["power.facility_inference_w"] - idle) * busy,
        note=f"all {fleet.gpus} GPUs stay on; between idle and serving by the load",
    )  # fmt: skip
    ledger.derive(
        "sizing.tokens_per_j", "Output tokens for a joule", "tokens/J",
        ledger["sizing.output_tokens_per_s"] / mean,
    )  # fmt: skip


def _enter_rented(evaluation: Evaluation, rental: Offer) -> None:
    """The same tokens on rented GPUs: all of them all day, and those that autoscaling asks for."""
    ledger = evaluation.ledger
    price = figure_line(
        ledger, "sizing.rent_usd_per_gpu_hour", f"Rent on demand, {rental.entry.item.name}", "USD/GPU-h",
        rental.entry, "usd_per_gpu_hour",
    )  # fmt: skip
    made = ledger["sizing.output_tokens_per_s"] * SECONDS_PER_HOUR
    for name, label, gpus, note in (
        ("rented", "Rent of the fleet for a million output tokens", "gpus", "all of its GPUs all day"),
        ("autoscaled", "Rent for a million output tokens with autoscaling", "mean_gpus",
         "GPUs rented while their replicas run or start"),
    ):  # fmt: skip
        _mtoken(ledger, f"output_{name}", label, price * ledger[f"sizing.{gpus}"] * MEGA / made, note)


def _enter_api(ledger: Ledger, offer: ApiOffer) -> None:
    """The same tokens at the cheapest interface, and the load at which the fleet costs as much."""
    name = offer.entry.item.name
    asked, made = (
        figure_line(ledger, f"sizing.api_usd_per_mtoken_{way}", f"{said}, {name}", "USD/Mtoken", offer.entry,
                    f"usd_per_mtoken_{way}")
        for way, said in (("input", "Million input tokens"), ("output", "Million output tokens"))
    )  # fmt: skip
    price = _mtoken(
        ledger, "output_api", "Price of a million output tokens at an API",
        made + asked * ledger[f"{KEY}.input_tokens"] / ledger[f"{KEY}.output_tokens"],
        "its prices for the same tokens in and out, without discounts for cached or batched ones",
    )  # fmt: skip
    ledger.derive(
        "sizing.api_even_requests_per_s", "Mean load at which the fleet costs as much as the API", "requests/s",
        ledger["sizing.usd_per_hour"] * MEGA / (price * SECONDS_PER_HOUR * ledger[f"{KEY}.output_tokens"]),
        note="above what the fleet carries, the API is cheaper at any load",
    )  # fmt: skip
