"""A serving workload of a scenario: replicas, batch, throughput and tails, as ledger lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from planner.choices import Precision
from planner.design.cluster import Cluster
from planner.design.kinds import spanning_workloads
from planner.errors import DesignError, Problem, Remedy
from planner.ledger import Ledger, Line
from planner.performance.assumed import Assumed
from planner.performance.inference import STEP_TOKENS, Layout, serving_flop_per_output_token
from planner.performance.serving import (
    OperatingPoint,
    Requests,
    Server,
    ServingChoice,
    operating_point,
)  # fmt: skip
from planner.performance.serving_anatomy import anatomy_lines, runner_up_lines
from planner.performance.serving_assignment import Assigned, scenario_pools
from planner.performance.serving_choice import best_replicas
from planner.performance.serving_corrected import enter_without, error_ratio_lines, expected_ratios
from planner.performance.serving_machines import Placed, best_alone, mean_peak_flop_per_s, placed_servers
from planner.performance.serving_points import slower
from planner.performance.serving_pool_lines import kind_lines, pool_lines, together_lines
from planner.performance.serving_pool_work import decode_collective_share
from planner.performance.serving_pools import PoolPlan, best_pools, pools_point
from planner.performance.serving_step import iteration_parts
from planner.scenario.givens import wish_line
from planner.scenario.schema import Workload

BATCH_SEQUENCES = 512.0
HITS = (
    "the others attend to the prompt's whole cache; memory holds every request's whole prompt, as if none were shared, and"
    " separate pools move all of it"
)
MEANS = {
    "ttft": "queue, prompt, step and engine added up, as measured runs correct it",
    "tpot": "a decode step, stretched by the prompts of others, as measured runs correct it",
}
"""What a mean latency is made of, in words."""
TAILS = ", times the spread over requests and what real fleets' tails are over Poisson's"


@dataclass(frozen=True, slots=True)
class Served:
    """A serving workload's prediction.

    Attributes:
        layout, point: Of a replica that computes prompts and answers; with separate pools of a decode replica, and rates
            as its share of all GPUs.
        choice: The best replicas of the first kind, on the first kind of machine.
        pools: Separate pools, None without.
        placed: Every kind of machine in the plan; `server` is one of them, with pools that of the decode pool.
        apart: Separate pools with their machines and the way between them, None without.
    """

    workload: Workload
    key: str
    server: Server
    requests: Requests
    layout: Layout
    point: OperatingPoint
    choice: ServingChoice
    pools: PoolPlan | None = None
    placed: tuple[Placed, ...] = ()
    apart: Assigned | None = None


def serve(ledger: Ledger, cluster: Cluster, workload: Workload, index: int, key: str) -> Served:
    """Enter throughput and latency of a serving workload at the fastest point within its objective.

    Raises:
        DesignError: No replica holds the weights, nothing meets the objective, or servers of several kinds would serve
            together.
    """
    if workload.disaggregated is None and len(cluster.parts.machines) > 1:
        raise DesignError(spanning_workloads(cluster.parts))
    assumed = Assumed(ledger, cluster.parts.catalog)
    share = ledger.scalar(f"workload.{workload.id}.scheduled_fraction")
    placed = placed_servers(assumed, cluster, workload, share)
    wishes, requests = _requests(ledger, cluster, workload, index, key)
    ratios, apart = None, None
    if workload.disaggregated is None:
        ratios = error_ratio_lines(assumed, cluster, workload, key)
    alone = tuple(_alone(assumed, cluster, one, workload, requests, key) for one in placed)
    choice = alone[0]
    if workload.disaggregated is not None:
        apart = scenario_pools(assumed, cluster, workload, index, placed, requests, key)
        layout, server = apart.plan.decode, apart.decode.server
        point = apart.point(requests)
    elif not choice.feasible or choice.layout is None or choice.point is None:
        raise DesignError(_cannot(workload, index, cluster, choice))
    else:
        layout, server = choice.layout, placed[0].server
        point = operating_point(
            server, requests=requests, layout=layout, batch_sequences=choice.point.batch_sequences
        )
    first, decode = (None, None) if apart is None else (apart.prefill.group, apart.decode.group)
    enter_without(assumed, cluster, workload, key, point.latency, operating_point, decode)
    if ratios is None:
        ratios = error_ratio_lines(assumed, cluster, workload, key, of_token=decode, of_first=first)
    predicted = point
    point = slower(point, assumed.use(ratios[0]), assumed.use(ratios[1]))
    found = Served(
        workload,
        key,
        server,
        requests,
        layout,
        point,
        choice,
        None if apart is None else apart.plan,
        placed,
        apart,
    )
    inputs = [*assumed.lines, *wishes]
    parts: dict[str, list[Line | str]] = {}
    if apart is None:
        parts = anatomy_lines(ledger, key, server, requests, layout, predicted, inputs)
    _enter(ledger, found, inputs, parts)
    if apart is None:
        _enter_waiting(ledger, found, inputs)
    else:
        pool_lines(ledger, key, apart, requests, inputs)
        kind_lines(ledger, cluster, key, apart)
        together_lines(assumed, cluster, workload, key, apart, placed, alone, requests, inputs)
    _enter_use(ledger, found, inputs)
    return found


def _alone(
    assumed: Assumed, cluster: Cluster, one: Placed, workload: Workload, requests: Requests, key: str
) -> ServingChoice:
    """The best replicas of a kind of machine that do both, within limits as measured runs of that kind correct them."""
    token, first = expected_ratios(assumed, cluster, workload, key, of_token=one.group, of_first=one.group)
    return best_alone(cluster, one, workload, requests, per_token_ratio=token, first_token_ratio=first)


def _requests(
    ledger: Ledger, cluster: Cluster, workload: Workload, index: int, key: str
) -> tuple[list[Line], Requests]:
    loaded = cluster.parts.loaded
    prompt = wish_line(
        ledger, loaded, f"{key}.input_tokens", "Prompt of a request", "tokens", workload.input_tokens,
        "workloads", index, "input_tokens",
    )  # fmt: skip
    answer = wish_line(
        ledger, loaded, f"{key}.output_tokens", "Answer of a request", "tokens", workload.output_tokens,
        "workloads", index, "output_tokens",
    )  # fmt: skip
    first = wish_line(
        ledger, loaded, f"{key}.slo.ttft_p99_s", "Limit of the time to first token", "s", workload.slo.ttft_p99_s,
        "workloads", index, "slo", "ttft_p99_s",
    )  # fmt: skip
    each = wish_line(
        ledger, loaded, f"{key}.slo.tpot_p99_s", "Limit of the time for each token", "s", workload.slo.tpot_p99_s,
        "workloads", index, "slo", "tpot_p99_s",
    )  # fmt: skip
    requests = Requests(
        ledger.value(prompt), ledger.value(answer), np.array([STEP_TOKENS]), np.array([BATCH_SEQUENCES])
    )
    wishes = [prompt, answer, first, each]
    if workload.prefix_hit_fraction:
        hits = wish_line(
            ledger, loaded, f"{key}.prefix_hit_fraction", "Prompt tokens found in caches", "fraction",
            workload.prefix_hit_fraction, "workloads", index, "prefix_hit_fraction",
        )  # fmt: skip
        ledger.derive(
            f"{key}.computed_input_tokens", "Prompt tokens of a request that are computed", "tokens",
            prompt * (1 - hits), note=HITS,
        )  # fmt: skip
        wishes.append(hits)
        requests = replace(requests, hit_fraction=ledger.value(hits))
    return wishes, requests


def _cannot(workload: Workload, index: int, cluster: Cluster, choice: ServingChoice) -> Problem:
    name = cluster.parts.groups[0].accelerator.item.name
    remedies = _narrower(workload, index, cluster)
    if choice.point is None:
        remedies += [Remedy("accelerators with more memory"), Remedy("a larger scale-up domain")]
    else:
        wider = {"ttft_p99_s": "a time to the first token", "tpot_p99_s": "a time for each token"}
        remedies += [
            Remedy(
                f"{said} up to {2 * getattr(workload.slo, field):g} s",
                ("workloads", index, "slo", field), 2 * getattr(workload.slo, field),
            )
            for field, said in wider.items()
        ]  # fmt: skip
        remedies += [Remedy("shorter requests"), Remedy("faster accelerators")]
    return Problem(
        f"'{workload.model}' can't be served within its objective on {name}: {choice.why_not}",
        cluster.parts.loaded.document.place(("workloads", index, "model")),
        f"workloads.{workload.id}",
        remedies=tuple(remedies),
    )


def _narrower(workload: Workload, index: int, cluster: Cluster) -> list[Remedy]:
    """Arithmetic of fewer bytes a weight that the accelerator has."""
    item, order = cluster.parts.groups[0].accelerator.item, list(Precision)
    return [
        Remedy(f"precision {one.value}: fewer bytes a weight", ("workloads", index, "precision"), one.value)
        for one in order[order.index(workload.precision) + 1 :]
        if getattr(item, f"{one.value}_tflop_per_s") is not None
    ]


def _enter(ledger: Ledger, found: Served, inputs: list[Line], parts: Mapping[str, list[Line | str]]) -> None:
    key, point, layout = found.key, found.point, found.layout
    chosen = (
        "the most tokens"
        if found.workload.load is None
        else "the fewest servers for the load, then the most tokens,"
    )
    note = f"{chosen} within the objective of {found.choice.tried:,} layouts and batches"
    if found.pools is not None:
        note = f"of separate pools, replicas of the decode pool: the most of {found.pools.split.tried:,} splits and rates"
    beside = ""
    if found.pools is None:
        ratio = ledger.value(f"{key}.model_error_ratio")[:1]
        beside = runner_up_lines(ledger, key, found.choice, ratio, inputs)
    for name, label, value in (
        ("replica_gpus", "GPUs of a replica", layout.replica_ranks),
        ("attention_gpus", "GPUs that share a sequence's attention", layout.attention_ranks),
        ("batch_sequences", "Sequences decoded at once by a replica", point.batch_sequences),
    ):
        function = best_replicas if found.pools is None else best_pools
        said = f"{note}; {beside}" if beside and name == "replica_gpus" else note
        ledger.compute(f"{key}.{name}", label, "1", value, function=function, inputs=inputs, note=said)
    at = operating_point if found.pools is None else pools_point
    rate = ledger.compute(
        f"{key}.output_tokens_per_s_per_gpu", "Output tokens of a GPU", "tokens/s",
        point.output_tokens_per_s_per_gpu, function=at, inputs=inputs, note=note,
    )  # fmt: skip
    ledger.derive(
        f"{key}.output_tokens_per_s",
        "Output tokens of the cluster",
        "tokens/s",
        rate * ledger["cluster.gpus"] * ledger[f"workload.{found.workload.id}.scheduled_fraction"],
    )
    latency = point.latency
    for name, label, value in (
        ("ttft_mean_s", "Time to first token, mean", latency.first_token_mean_s),
        ("ttft_p99_s", "Time to first token, 99th percentile", latency.first_token_p99_s),
        ("tpot_mean_s", "Time for each token, mean", latency.per_token_mean_s),
        ("tpot_p99_s", "Time for each token, 99th percentile", latency.per_token_p99_s),
    ):
        of, tail = name[:4], name.endswith("p99_s")
        if of not in parts:
            ledger.compute(f"{key}.{name}", label, "s", value, function=at, inputs=inputs, note=note)
            continue
        ratio_key = f"{key}.{'first_token' if of == 'ttft' else 'model'}_error_ratio"
        rests = [*(parts[of] if tail else parts[of][: 1 if of == "ttft" else 2]), ratio_key]
        said = MEANS[of]
        if tail:
            rests.append(f"assumption.tail_{'first' if of == 'ttft' else 'per'}_token_ratio")
            said += TAILS
        ledger.compute(f"{key}.{name}", label, "s", value, function=at, inputs=rests, note=said)


def _enter_waiting(ledger: Ledger, found: Served, inputs: list[Line]) -> None:
    ledger.compute(
        f"{found.key}.communication_fraction", "Share of a decode step in collectives", "fraction",
        decode_collective_share(found.server, found.layout, found.requests, found.point.batch_sequences),
        function=iteration_parts, inputs=inputs, note="not overlapped in decode",
    )  # fmt: skip


def _enter_use(ledger: Ledger, found: Served, inputs: list[Line]) -> None:
    flop = serving_flop_per_output_token(
        found.server.shape, prompt_tokens=found.requests.prompt_tokens,
        output_tokens=found.requests.output_tokens,
        found_tokens=found.requests.prompt_tokens - found.requests.computed_tokens,
    )  # fmt: skip
    ledger.compute(
        f"{found.key}.mfu_fraction", "Model FLOP utilisation while serving", "fraction",
        found.point.output_tokens_per_s_per_gpu * flop / mean_peak_flop_per_s(found.placed),
        function=serving_flop_per_output_token, inputs=inputs, note="of dense peak, prompts included",
    )  # fmt: skip
