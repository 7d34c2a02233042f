"""What a replica's latencies are made of, as ledger lines: the parts of a decode step, the way to a first token, the tails.

Everything here is the model's own word, before any correction by measured runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.arrays import Floats
from planner.ledger import Ledger, Line
from planner.ledger.nodes import added
from planner.performance.inference import Layout
from planner.performance.queueing import first_token_wait, open_loop_latency
from planner.performance.queueing_steps import step_moments
from planner.performance.serving import (
    OperatingPoint,
    Requests,
    Server,
    ServingChoice,
    largest_batch,
    mean_context_tokens,
    operating_point,
)
from planner.performance.serving_choice import best_replicas
from planner.performance.serving_costs import StepCosts
from planner.performance.serving_step import IterationParts, iteration_parts


def decode_parts(
    server: Server, requests: Requests, layout: Layout, batch_sequences: Floats
) -> tuple[IterationParts, Floats]:
    """Parts of a decode step with the batch that a request meets, itself among it, and the time to read its weights.

    Args:
        server, requests, layout: Of a replica.
        batch_sequences: Mean sequences in decode.
    """
    most = np.maximum(largest_batch(server, requests=requests, layout=layout), 1.0)
    met = np.minimum(batch_sequences + 1.0, np.maximum(most, batch_sequences))
    costs, none = server.costs(layout), np.zeros(1)
    parts = iteration_parts(
        costs, decode_sequences=met, context_tokens=mean_context_tokens(requests), prefill_tokens=none,
        seen_tokens=none, prompts=none,
    )  # fmt: skip
    return parts, _weights_read_s(costs)


def _weights_read_s(costs: StepCosts) -> Floats:
    """Time to read the weights that every token visits."""
    return np.asarray(
        costs.attention.weights_s
        + costs.feed_forward.weights_s
        + costs.shared.weights_s
        + costs.head.weights_s
    )


def anatomy_lines(
    ledger: Ledger,
    key: str,
    server: Server,
    requests: Requests,
    layout: Layout,
    point: OperatingPoint,
    inputs: Sequence[Line],
) -> dict[str, list[Line | str]]:
    """Enter the parts of the latencies of a replica.

    Args:
        ledger, key: Take the lines, beneath the workload's key.
        server, requests, layout: What serves, what is asked.
        point: Of the replica, as predicted.
        inputs: What the prediction rests on.

    Returns:
        Keys that the tails rest on: of ``ttft`` and ``tpot``.
    """
    step = _step_lines(ledger, key, server, requests, layout, point, inputs)
    return {
        "ttft": _first_token_lines(ledger, key, server, point, step, inputs),
        "tpot": _token_lines(ledger, key, server, point, step, inputs),
    }


def _step_lines(
    ledger: Ledger, key: str, server: Server, requests: Requests, layout: Layout, point: OperatingPoint,
    inputs: Sequence[Line],
) -> Line:  # fmt: skip
    """A decode step's parts and their sum."""
    parts, weights = decode_parts(server, requests, layout, point.batch_sequences)
    ledger.compute(
        f"{key}.step.weights_read_s", "Weights read in a decode step", "s", weights, function=iteration_parts,
        inputs=inputs, note="inside the matrix products: bytes on a GPU over its memory rate; no batch changes it",
    )  # fmt: skip
    lines = []
    for name, label, value, note in (
        ("products_s", "Matrix products of a decode step", parts.linear_s,
         "root of the squares of weights read and arithmetic, and the launch of each product"),
        ("head_s", "Output head of a decode step", parts.head_s, "likewise, in 16 bits"),
        ("experts_s", "Routed experts of a decode step", parts.experts_s, "those that the batch touches"),
        ("kv_s", "Caches read in a decode step", parts.kv_s, "keys and values of all sequences over their tokens"),
        ("all_reduce_s", "All-reduces of a decode step", parts.collectives_s, "two a layer between the replica's GPUs"),
        ("elementwise_s", "Traffic beside matrix products in a decode step", parts.elementwise_s, "activations"),
        ("host_s", "Fixed times of a decode step", parts.fixed_s,
         "of each layer, step and sequence: launches, norms, scheduler and host"),
        ("draft_s", "Draft of a decode step", parts.draft_s, "of speculative decoding"),
    ):  # fmt: skip
        if name in ("experts_s", "draft_s") and not value.any():
            continue
        own: list[Line | str] = [*inputs]
        if name == "products_s":
            own.append(f"{key}.step.weights_read_s")
        lines.append(
            ledger.compute(
                f"{key}.step.{name}", label, "s", value, function=iteration_parts, inputs=own, note=note
            )
        )
    return ledger.derive(
        f"{key}.step.decode_s",
        "Decode step without prompts, with the batch that a request meets",
        "s",
        added(lines),
    )


def _token_lines(
    ledger: Ledger, key: str, server: Server, point: OperatingPoint, step: Line, inputs: Sequence[Line]
) -> list[Line | str]:
    """From a step to the tail of the time for each token."""
    latency, tail = point.latency, server.tails.per_token_ratio
    shown: list[Line | str] = [step]
    for name, label, value, function, note in (
        ("prompts_ratio", "Time for each token over a step without prompts",
         latency.per_token_mean_s / ledger.value(step), step_moments,
         "prompts of others stretch the steps in between; with speculation a step yields several tokens"),
        ("spread_ratio", "Time for each token, slowest request in 100 over the mean",
         latency.per_token_p99_s / tail / latency.per_token_mean_s, open_loop_latency, "arrivals Poisson"),
    ):  # fmt: skip
        shown.append(
            ledger.compute(
                f"{key}.tpot.{name}", label, "1", value, function=function, inputs=[*inputs, step], note=note
            )
        )
    return shown


def _first_token_lines(
    ledger: Ledger, key: str, server: Server, point: OperatingPoint, step: Line, inputs: Sequence[Line]
) -> list[Line | str]:
    """The way to a first token in the mean, and from there to the tail."""
    latency, constants = point.latency, server.constants
    token = latency.per_token_mean_s * ledger.value(step) / np.maximum(point.decode_s, 1e-12)
    engine = constants.first_token_fixed_s + constants.first_token_decode_steps * token
    waited = latency.first_token_mean_s - engine - point.prefill_s - ledger.value(step)
    shown: list[Line] = []
    for name, label, value, function, note in (
        ("queue_s", "Wait before and beside one's own prompt", np.maximum(waited, 0.0), first_token_wait,
         "for the rest of the step found, for others' prompts, and for further steps where a prompt fills more than one"),
        ("prefill_s", "One's own prompt", point.prefill_s, operating_point, "its marginal time in a step with others"),
        ("engine_s", "Engine and front end before a first token", engine, open_loop_latency,
         "a fixed time and some steps"),
    ):  # fmt: skip
        shown.append(
            ledger.compute(
                f"{key}.ttft.{name}", label, "s", value, function=function, inputs=inputs, note=note
            )
        )
    whole = ledger.derive(
        f"{key}.ttft.mean_s", "Time to first token, mean, by its parts", "s", added([*shown, step]),
        note="with the decode step that carries the prompt",
    )  # fmt: skip
    ratio = ledger.compute(
        f"{key}.ttft.spread_ratio", "Time to first token, slowest request in 100 over the mean", "1",
        latency.first_token_p99_s / server.tails.first_token_ratio / ledger.value(whole), function=open_loop_latency,
        inputs=inputs, note="arrivals Poisson, lengths as stated",
    )  # fmt: skip
    return [whole, ratio]


def runner_up_lines(
    ledger: Ledger, key: str, choice: ServingChoice, ratio: Floats, inputs: Sequence[Line]
) -> str:
    """Enter the best of the other layouts, and say it in words; empty without one.

    Args:
        ledger, key: Take the lines, beneath the workload's key.
        choice: What was chosen.
        ratio: True over predicted time for each token, shape (1,).
        inputs: What the choice rests on.
    """
    layout, point = choice.next_layout, choice.next_point
    if layout is None or point is None:
        return ""
    rate = point.output_tokens_per_s_per_gpu / ratio
    for name, label, unit, value in (
        ("replica_gpus", "GPUs of a replica, next best layout", "1", layout.gpus),
        (
            "attention_gpus",
            "GPUs that share a sequence's attention, next best layout",
            "1",
            layout.attention_ranks,
        ),
        ("output_tokens_per_s_per_gpu", "Output tokens of a GPU, next best layout", "tokens/s", rate),
    ):
        ledger.compute(f"{key}.runner_up.{name}", label, unit, value, function=best_replicas, inputs=inputs)
    return (
        f"next best: replicas of {layout.gpus[0]:.0f} GPUs, attention over {layout.attention_ranks[0]:.0f}, with "
        f"{float(rate[0]):,.0f} tokens/s of a GPU"
    )
