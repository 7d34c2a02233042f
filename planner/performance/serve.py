"""A serving workload of a scenario: replicas, batch, throughput and tails, as ledger lines."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from planner.arrays import Floats
from planner.choices import Precision
from planner.design.cluster import Cluster
from planner.errors import DesignError, Problem
from planner.ledger import Ledger, Line
from planner.performance.assumed import Assumed, prior, rows
from planner.performance.hardware import FORMAT, Hardware, engine_link, hardware
from planner.performance.inference import (
    Layout,
    ServingConstants,
    ServingFormat,
    iteration_parts,
    iteration_s,
    serving_flop_per_output_token,
)  # fmt: skip
from planner.performance.queueing import Tails
from planner.performance.serving import (
    OperatingPoint,
    Requests,
    Server,
    ServingChoice,
    best_serving,
    operating_point,
    serving_layouts,
)  # fmt: skip
from planner.performance.shapes import shape_of
from planner.scenario.givens import wish_line
from planner.scenario.schema import Workload

STEP_TOKENS = 8192.0
BATCH_SEQUENCES = 512.0
WEIGHT_BYTES = {Precision.BF16: 2.0, Precision.FP8: 1.0, Precision.FP4: 0.5625}


@dataclass(frozen=True, slots=True)
class Served:
    """A serving workload's prediction."""

    workload: Workload
    key: str
    server: Server
    requests: Requests
    layout: Layout
    point: OperatingPoint
    choice: ServingChoice


def serve(ledger: Ledger, cluster: Cluster, workload: Workload, index: int, key: str) -> Served:
    """Enter throughput and latency of a serving workload at the fastest point within its objective.

    Raises:
        DesignError: No replica holds the weights, or nothing meets the objective.
    """
    assumed = Assumed(ledger, cluster.parts.catalog)
    machine = hardware(assumed, cluster, workload.precision)
    server = Server(
        shape_of(cluster.parts.models[workload.model].item), machine.chip, engine_link(assumed, machine),
        serving_constants(assumed, machine, workload.precision), _format(workload.precision), _tails(assumed),
    )  # fmt: skip
    wishes, requests = _requests(ledger, cluster, workload, index, key)
    choice = best_serving(
        Server(
            server.shape, rows(server.chip, 1), rows(server.link, 1), rows(server.constants, 1), server.form,
            rows(server.tails, 1),
        ),
        requests=rows(requests, 1),
        layouts=_layouts(cluster),
        first_token_p99_limit_s=np.array([workload.slo.ttft_p99_s]),
        per_token_p99_limit_s=np.array([workload.slo.tpot_p99_s]),
    )  # fmt: skip
    if not choice.feasible or choice.layout is None or choice.point is None:
        raise DesignError(_cannot(workload, index, cluster, choice))
    point = operating_point(
        server, requests=requests, layout=choice.layout, batch_sequences=choice.point.batch_sequences
    )
    ratios = _error_ratios(assumed, key)
    point = slower(point, assumed.use(ratios[0]), assumed.use(ratios[1]))
    found = Served(workload, key, server, requests, choice.layout, point, choice)
    _enter(ledger, found, [*assumed.lines, *wishes])
    return found


def _error_ratios(assumed: Assumed, key: str) -> tuple[Line, Line]:
    """Measured over predicted time for each token, and to the first one: 1, with the bands of like runs."""
    found = []
    for name, band, label in (
        ("model_error_ratio", "serving_band_throughput_fraction", "Measured over predicted time for each token"),
        (
            "first_token_error_ratio", "serving_band_first_token_fraction",
            "Measured over predicted time to first token",
        ),
    ):  # fmt: skip
        figure, source = assumed.catalog.figure("performance", band)
        found.append(
            assumed.ledger.given(
                f"{key}.{name}",
                label,
                "1",
                1.0,
                prior(source),
                low=1.0 - figure.value,
                high=1.0 + figure.value,
            )
        )
    return found[0], found[1]


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
            first_token_mean_s=latency.first_token_mean_s * first,
            first_token_p99_s=latency.first_token_p99_s * first,
            per_token_mean_s=latency.per_token_mean_s * token,
            per_token_p99_s=latency.per_token_p99_s * token,
        ),
    )


def serving_constants(assumed: Assumed, machine: Hardware, precision: Precision) -> ServingConstants:
    """Corrections for vLLM on this generation and precision."""
    generation, form = machine.generation, FORMAT[precision]
    known = generation if generation in ("hopper", "blackwell") else "hopper"
    special = {
        "memory_share_fraction": assumed.first_of(
            f"serving_memory_share_{generation}_fraction", "serving_memory_share_other_fraction"
        ),
        "gemm_share_of_peak_fraction": machine.gemm_ratio
        * assumed(f"serving_gemm_share_of_peak_{known}_{form}_fraction"),
        "head_gemm_share_of_peak_fraction": assumed(f"serving_gemm_share_of_peak_{known}_16bit_fraction"),
        "gemm_fixed_s": assumed(f"serving_gemm_fixed_s_{known}_{form}"),
        "prefill_attention_share_of_peak_fraction": assumed(
            f"serving_prefill_attention_share_{known}_fraction"
        ),
        "all_reduce_gain_ratio": np.ones(1),
        **{
            name: assumed(f"serving_{name}_vllm")
            for name in ("step_fixed_s", "sequence_fixed_s", "request_host_s", "first_token_fixed_s")
        },
    }
    plain = {
        field.name: assumed(f"serving_{field.name}")
        for field in fields(ServingConstants)
        if field.name not in special
    }
    return ServingConstants(**special, **plain)


def _format(precision: Precision) -> ServingFormat:
    cache = 2.0 if precision is Precision.BF16 else 1.0
    return ServingFormat(np.array([WEIGHT_BYTES[precision]]), np.array([cache]))


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
    domain = cluster.parts.groups[0].server.item.scaleup_domain_gpus
    sizes = [float(size) for size in (1, 2, 4, 8, 16, 32, 64) if size <= min(domain, cluster.parts.gpus)]
    attention = [size for size in sizes if size <= 8]
    return serving_layouts(sizes=np.array(sizes), attention_sizes=np.array(attention))


def _cannot(workload: Workload, index: int, cluster: Cluster, choice: ServingChoice) -> Problem:
    name = cluster.parts.groups[0].accelerator.item.name
    if choice.point is None:
        remedies = "accelerators with more memory, a larger scale-up domain, or fewer bytes a weight (fp8)"
    else:
        remedies = "a wider objective, shorter requests, faster accelerators, or fewer bytes a weight (fp8)"
    return Problem(
        f"'{workload.model}' can't be served within its objective on {name}: {choice.why_not}",
        cluster.parts.loaded.document.place(("workloads", index, "model")),
        f"workloads.{workload.id}",
        remedies,
    )


def _collective_share(found: Served) -> Floats:
    """Share of a decode iteration that waits for collectives."""
    parts = iteration_parts(
        shape=found.server.shape, chip=found.server.chip, link=found.server.link,
        constants=found.server.constants, form=found.server.form, layout=found.layout,
        decode_sequences=found.point.batch_sequences,
        context_tokens=found.requests.prompt_tokens + found.requests.output_tokens / 2.0,
        prefill_tokens=np.zeros(1), prompt_tokens=found.requests.prompt_tokens,
    )  # fmt: skip
    return np.asarray(parts.collectives_s / iteration_s(parts))


def _enter(ledger: Ledger, found: Served, inputs: list[Line]) -> None:
    key, point, layout = found.key, found.point, found.layout
    note = f"the most tokens within the objective of {found.choice.tried:,} layouts and batches"
    for name, label, value in (
        ("replica_gpus", "GPUs of a replica", layout.replica_ranks),
        ("attention_gpus", "GPUs that share a sequence's attention", layout.attention_ranks),
        ("batch_sequences", "Sequences decoded at once by a replica", point.batch_sequences),
    ):
        ledger.compute(f"{key}.{name}", label, "1", value, function=best_serving, inputs=inputs, note=note)
    rate = ledger.compute(
        f"{key}.output_tokens_per_s_per_gpu", "Output tokens of a GPU", "tokens/s",
        point.output_tokens_per_s_per_gpu, function=operating_point, inputs=inputs, note=note,
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
        ledger.compute(f"{key}.{name}", label, "s", value, function=operating_point, inputs=inputs, note=note)
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
