"""A serving workload of a scenario: replicas, batch, throughput and tails, as ledger lines."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from planner.arrays import Floats
from planner.choices import KvCache, Precision
from planner.design.cluster import Cluster
from planner.errors import DesignError, Problem, Remedy
from planner.ledger import Ledger, Line
from planner.performance.assumed import Assumed, rows
from planner.performance.hardware import Hardware, engine_link, hardware
from planner.performance.inference import STEP_TOKENS, Layout, serving_flop_per_output_token
from planner.performance.queueing import Tails
from planner.performance.serving import (
    OperatingPoint,
    Requests,
    Server,
    ServingChoice,
    best_serving,
    operating_point,
    replica_layouts,
)  # fmt: skip
from planner.performance.serving_corrected import enter_without, error_ratio_lines
from planner.performance.serving_engines import ServingSetting, serving_constants
from planner.performance.serving_formats import formats_of
from planner.performance.serving_pool_lines import pool_lines, scenario_pools, way_of
from planner.performance.serving_pools import PoolPlan, best_pools, pools_point
from planner.performance.serving_speculation import Speculation
from planner.performance.serving_step import iteration_parts
from planner.performance.shapes import shape_of
from planner.scenario.givens import wish_line
from planner.scenario.schema import Workload

BATCH_SEQUENCES = 512.0


@dataclass(frozen=True, slots=True)
class Served:
    """A serving workload's prediction.

    Attributes:
        layout, point: Of a replica that computes prompts and answers; with separate pools of a decode replica, and rates
            as its share of all GPUs.
        choice: The best replicas of the first kind.
        pools: Separate pools, None without.
    """

    workload: Workload
    key: str
    server: Server
    requests: Requests
    layout: Layout
    point: OperatingPoint
    choice: ServingChoice
    pools: PoolPlan | None = None


def serve(ledger: Ledger, cluster: Cluster, workload: Workload, index: int, key: str) -> Served:
    """Enter throughput and latency of a serving workload at the fastest point within its objective.

    Raises:
        DesignError: No replica holds the weights, or nothing meets the objective.
    """
    assumed = Assumed(ledger, cluster.parts.catalog)
    machine = hardware(assumed, cluster, workload.precision)
    server = served_by(assumed, cluster, workload, machine)
    wishes, requests = _requests(ledger, cluster, workload, index, key)
    choice = best_serving(
        Server(
            server.shape, rows(server.chip, 1), rows(server.link, 1), rows(server.constants, 1), server.form,
            rows(server.tails, 1), server.speculation,
        ),
        requests=rows(requests, 1),
        layouts=_layouts(cluster),
        first_token_p99_limit_s=np.array([workload.slo.ttft_p99_s]),
        per_token_p99_limit_s=np.array([workload.slo.tpot_p99_s]),
    )  # fmt: skip
    pools = None
    if workload.disaggregated is not None:
        way = way_of(assumed, cluster, machine, index)
        pools = scenario_pools(ledger, cluster, workload, index, server, requests, way)
        layout = pools.decode
        point = pools_point(pools, server, server, requests=requests, way=way)
    elif not choice.feasible or choice.layout is None or choice.point is None:
        raise DesignError(_cannot(workload, index, cluster, choice))
    else:
        layout = choice.layout
        point = operating_point(
            server, requests=requests, layout=layout, batch_sequences=choice.point.batch_sequences
        )
    enter_without(assumed, cluster, workload, key, point.latency, operating_point)
    ratios = error_ratio_lines(assumed, cluster, workload, key)
    point = slower(point, assumed.use(ratios[0]), assumed.use(ratios[1]))
    found = Served(workload, key, server, requests, layout, point, choice, pools)
    _enter(ledger, found, [*assumed.lines, *wishes])
    if pools is not None:
        together = (
            None if choice.point is None or not choice.feasible else choice.point.output_tokens_per_s_per_gpu
        )
        pool_lines(ledger, key, pools, server, requests, way, together, [*assumed.lines, *wishes])
    return found


def served_by(assumed: Assumed, cluster: Cluster, workload: Workload, machine: Hardware) -> Server:
    """What a workload's replicas are made of, but their size and batch: model, machine, engine and formats."""
    model = cluster.parts.models[workload.model].item
    sparse, widened = bool(model.experts), workload.precision is Precision.BF16
    formats = formats_of(
        workload.precision, sparse=sparse, generation=machine.generation, weights=workload.weights,
        kv=workload.kv_cache or (KvCache.BF16 if widened else None),
    )  # fmt: skip
    setting = ServingSetting(workload.engine, machine.generation, formats, sparse=sparse, weight_only=widened)
    constants = serving_constants(
        assumed, setting, machine.chip,
        gemm_ratio=machine.gemm_ratio, cap_ratio=machine.cap_ratio,
    )  # fmt: skip
    draft = Speculation(
        np.array([float(workload.draft_tokens)]),
        np.array([workload.acceptance_fraction]),
        np.array([1.0 / model.layers]),
    )
    return Server(
        shape_of(model),
        machine.chip,
        engine_link(assumed, machine),
        constants,
        formats.bytes,
        _tails(assumed),
        draft,
    )


def slower(point: OperatingPoint, token: Floats, first: Floats) -> OperatingPoint:
    """An operating point whose tokens take so many times as long, and its first tokens another multiple."""
    latency = point.latency
    return replace(
        point,
        output_tokens_per_s=point.output_tokens_per_s / token,
        output_tokens_per_s_per_gpu=point.output_tokens_per_s_per_gpu / token,
        rate_per_s=point.rate_per_s / token,
        latency=replace(
            latency,
            **{
                one.name: getattr(latency, one.name) * (first if one.name.startswith("first") else token)
                for one in fields(latency)
            },
        ),
    )


def _tails(assumed: Assumed) -> Tails:
    return Tails(**{field.name: assumed(_tail_key(field.name)) for field in fields(Tails)})


def _tail_key(name: str) -> str:
    return f"tail_{name}"


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
    return [prompt, answer, first, each], requests


def _layouts(cluster: Cluster) -> Layout:
    return replica_layouts(min(cluster.parts.groups[0].server.item.scaleup_domain_gpus, cluster.parts.gpus))


def _cannot(workload: Workload, index: int, cluster: Cluster, choice: ServingChoice) -> Problem:
    name = cluster.parts.groups[0].accelerator.item.name
    remedies = _narrower(workload, index, cluster)
    if choice.point is None:
        remedies += [Remedy("accelerators with more memory"), Remedy("a larger scale-up domain")]
    else:
        wider = {"ttft_p99_s": "time to the first token", "tpot_p99_s": "time for each token"}
        remedies += [
            Remedy(
                f"twice the {said}, {2 * getattr(workload.slo, field):g} s",
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


def _collective_share(found: Served) -> Floats:
    """Share of a decode iteration that waits for collectives."""
    requests, none = found.requests, np.zeros(1)
    parts = iteration_parts(
        found.server.costs(found.layout), decode_sequences=found.point.batch_sequences,
        context_tokens=requests.prompt_tokens + requests.output_tokens / 2.0, prefill_tokens=none,
        seen_tokens=none, prompts=none,
    )  # fmt: skip
    return np.asarray(parts.collectives_s / parts.total_s)


def _enter(ledger: Ledger, found: Served, inputs: list[Line]) -> None:
    key, point, layout = found.key, found.point, found.layout
    note = f"the most tokens within the objective of {found.choice.tried:,} layouts and batches"
    if found.pools is not None:
        note = f"of separate pools, replicas of the decode pool: the most of {found.pools.split.tried:,} splits and rates"
    for name, label, value in (
        ("replica_gpus", "GPUs of a replica", layout.replica_ranks),
        ("attention_gpus", "GPUs that share a sequence's attention", layout.attention_ranks),
        ("batch_sequences", "Sequences decoded at once by a replica", point.batch_sequences),
    ):
        function = best_serving if found.pools is None else best_pools
        ledger.compute(f"{key}.{name}", label, "1", value, function=function, inputs=inputs, note=note)
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
        ledger.compute(f"{key}.{name}", label, "s", value, function=at, inputs=inputs, note=note)
    ledger.compute(
        f"{key}.communication_fraction", "Share of a decode step in collectives", "fraction",
        _collective_share(found), function=iteration_parts, inputs=inputs, note="not overlapped in decode",
    )  # fmt: skip
    flop = serving_flop_per_output_token(
        found.server.shape, prompt_tokens=found.requests.prompt_tokens,
        output_tokens=found.requests.output_tokens,
    )  # fmt: skip
    ledger.compute(
        f"{key}.mfu_fraction", "Model FLOP utilisation while serving", "fraction",
        point.output_tokens_per_s_per_gpu * flop / found.server.chip.peak_flop_per_s,
        function=serving_flop_per_output_token, inputs=inputs, note="of dense peak, prompts included",
    )  # fmt: skip
