"""How a replica does at a batch, and which replica size and batch serve most under given limits."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from planner.arrays import Floats
from planner.performance.collectives import Link
from planner.performance.engine_reduce import EngineReduce
from planner.performance.inference import (
    Layout,
    ServingConstants,
    ServingFormat,
    attention_groups,
    batch_limit,
    cache_bytes_per_rank,
    iteration_parts,
    iteration_s,
    weight_bytes_per_rank,
)
from planner.performance.models import ModelShape
from planner.performance.queueing import Latency, Tails, arrival_rate_per_s, open_loop_latency
from planner.performance.roofline import ChipRates

BATCH_STEPS_PER_DOUBLING = 4


@dataclass(frozen=True, slots=True)
class Requests:
    """What is asked; fields broadcast to shape (n,).

    Attributes:
        prompt_tokens, output_tokens: Mean lengths.
        step_tokens: Prompt tokens that an attention group takes into one step at most.
        batch_sequences: Sequences that an attention group decodes at once at most.
    """

    prompt_tokens: Floats
    output_tokens: Floats
    step_tokens: Floats
    batch_sequences: Floats


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A replica that runs with a batch, shape (n,).

    Attributes:
        batch_sequences: Mean sequences in decode.
        rate_per_s: Requests a second of the replica.
        output_tokens_per_s: Of the replica; per_gpu: of one of its accelerators.
        load_fraction: Rate over the largest one of this replica.
        prefill_share_fraction: Share of time in prefill.
        latency: To the first token and between tokens.
        decode_s, prefill_s: Decode iteration at the batch, marginal time of a prompt in it.
    """

    batch_sequences: Floats
    rate_per_s: Floats
    output_tokens_per_s: Floats
    output_tokens_per_s_per_gpu: Floats
    load_fraction: Floats
    prefill_share_fraction: Floats
    latency: Latency
    decode_s: Floats
    prefill_s: Floats


@dataclass(frozen=True, slots=True)
class Server:
    """All that a replica is made of but its size and batch."""

    shape: ModelShape
    chip: ChipRates
    link: Link | EngineReduce
    constants: ServingConstants
    form: ServingFormat
    tails: Tails


def largest_batch(server: Server, *, requests: Requests, layout: Layout) -> Floats:
    """Sequences that memory and engine allow at once, caches half grown in the mean, shape (n,)."""
    fitting = batch_limit(
        server.shape,
        form=server.form,
        layout=layout,
        memory_bytes=server.chip.memory_bytes,
        sequence_tokens=requests.prompt_tokens + requests.output_tokens / 2.0,
        constants=server.constants,
    )
    return np.minimum(fitting, requests.batch_sequences * attention_groups(layout))


def step_times_s(
    server: Server, *, requests: Requests, layout: Layout, batch_sequences: Floats
) -> tuple[Floats, Floats]:
    """A decode iteration at the batch, and the marginal time of one prompt in a mixed one.

    A prompt above the step's token limit takes several steps, each with its share of the prompt.

    Args:
        server, requests: What serves and what is asked.
        layout: Accelerators of a replica and of an attention group.
        batch_sequences: Sequences in decode.

    Returns:
        Two arrays of the shape that the arguments broadcast to.

    Source:
        planner-inference-notes, section 2 (closed form).
    """
    chunks = np.ceil(requests.prompt_tokens / requests.step_tokens)

    def one(prefill_tokens: Floats) -> Floats:
        return iteration_s(
            iteration_parts(
                shape=server.shape,
                chip=server.chip,
                link=server.link,
                constants=server.constants,
                form=server.form,
                layout=layout,
                decode_sequences=batch_sequences,
                context_tokens=requests.prompt_tokens + requests.output_tokens / 2.0,
                prefill_tokens=prefill_tokens,
                prompt_tokens=requests.prompt_tokens,
            )
        )

    decode = one(np.zeros(1))
    # Enough prompts to fill a step share its fixed part.
    prompts = np.maximum(np.floor(requests.step_tokens / requests.prompt_tokens), 1.0)
    filled = one(requests.prompt_tokens * prompts / chunks)
    prefill = np.maximum(filled - decode, 0.0) * chunks / prompts
    return decode, prefill + server.constants.request_host_s


def operating_point(
    server: Server, *, requests: Requests, layout: Layout, batch_sequences: Floats
) -> OperatingPoint:
    """Rates and latencies of a replica that runs with a mean batch.

    Args:
        server, requests: What serves and what is asked.
        layout: Accelerators of a replica and of an attention group.
        batch_sequences: Mean sequences in decode, above zero.

    Returns:
        Arrays of the shape that the arguments broadcast to.

    Source:
        planner-inference-notes, section 2.
    """
    decode, prefill = step_times_s(server, requests=requests, layout=layout, batch_sequences=batch_sequences)
    most = np.maximum(largest_batch(server, requests=requests, layout=layout), 1.0)
    full_decode, full_prefill = step_times_s(server, requests=requests, layout=layout, batch_sequences=most)

    def rate(batch: Floats, decode_s: Floats, prefill_s: Floats) -> Floats:
        return arrival_rate_per_s(
            batch_sequences=batch,
            decode_s=decode_s,
            prefill_s=prefill_s,
            output_tokens=requests.output_tokens,
        )

    arrivals = rate(batch_sequences, decode, prefill)
    load = arrivals / rate(most, full_decode, full_prefill)
    constants = server.constants
    latency = open_loop_latency(
        rate_per_s=arrivals,
        decode_s=decode,
        prefill_s=prefill,
        prefill_chunks=np.ceil(requests.prompt_tokens / requests.step_tokens),
        first_token_fixed_s=constants.first_token_fixed_s + constants.first_token_decode_steps * decode,
        load_fraction=load,
        tails=server.tails,
    )
    tokens = arrivals * requests.output_tokens
    return OperatingPoint(
        batch_sequences=batch_sequences + np.zeros_like(arrivals),
        rate_per_s=arrivals,
        output_tokens_per_s=tokens,
        output_tokens_per_s_per_gpu=tokens / layout.replica_ranks,
        load_fraction=load,
        prefill_share_fraction=arrivals * prefill,
        latency=latency,
        decode_s=decode,
        prefill_s=prefill,
    )


@dataclass(frozen=True, slots=True)
class ServingChoice:
    """What a search found: the layout of a replica and its operating point, each of shape (1,).

    `why_not` names the limit that nothing meets; `point` and `layout` then show the nearest miss, or are
    None where no replica holds the weights.
    """

    feasible: bool
    why_not: str
    tried: int
    layout: Layout | None
    point: OperatingPoint | None
    needed_bytes: float
    available_bytes: float


def _row(point: OperatingPoint, row: int) -> OperatingPoint:
    """One point of many, as shape (1,)."""
    latency = Latency(*(getattr(point.latency, part.name)[[row]] for part in fields(point.latency)))
    others = {f.name: getattr(point, f.name)[[row]] for f in fields(point) if f.name != "latency"}
    return replace(point, latency=latency, **others)


def _grid(most: Floats, layouts: Layout) -> tuple[Layout, Floats]:
    """Pairs of layout and batch, batches in equal ratios up to each layout's largest."""
    rows, batches = [], []
    for row, top in enumerate(most):
        if top < 1.0:
            continue
        count = int(np.ceil(np.log2(top) * BATCH_STEPS_PER_DOUBLING)) + 1
        steps = np.unique(np.floor(np.geomspace(1.0, top, count)))
        rows.append(np.full(steps.size, row))
        batches.append(steps)
    chosen = np.concatenate(rows)
    return Layout(layouts.replica_ranks[chosen], layouts.attention_ranks[chosen]), np.concatenate(batches)


def best_serving(
    server: Server,
    *,
    requests: Requests,
    layouts: Layout,
    first_token_p99_limit_s: Floats,
    per_token_p99_limit_s: Floats,
) -> ServingChoice:
    """Layout and batch with most output tokens per second and GPU within both limits.

    One scenario: everything but `layouts` is of shape (1,). Equal throughputs go to the earlier layout, then the
    smaller batch. No batch runs above the engine's or the memory's limit.

    Args:
        server, requests: What serves and what is asked.
        layouts: Replicas to try, shape (layouts,), all within one domain, since they share one link.
        first_token_p99_limit_s, per_token_p99_limit_s: Limits; infinite for none.

    Returns:
        See `ServingChoice`.
    """
    most = largest_batch(server, requests=requests, layout=layouts)
    weights = weight_bytes_per_rank(server.shape, form=server.form, layout=layouts)
    free = cache_bytes_per_rank(
        server.shape,
        form=server.form,
        layout=layouts,
        memory_bytes=server.chip.memory_bytes,
        constants=server.constants,
    )
    best = int(np.argmax(free))
    needed, available = float(weights[best]), float((weights + free)[best])
    if not np.any(most >= 1.0):
        why = (
            f"memory: weights take {needed / 1e9:.1f} GB on each of {layouts.replica_ranks[best]:.0f} GPUs, and"
            f" {max(available, 0.0) / 1e9:.1f} GB are there for them and one sequence's cache"
        )
        return ServingChoice(False, why, 0, None, None, needed, available)
    layout, batches = _grid(most, layouts)
    point = operating_point(server, requests=requests, layout=layout, batch_sequences=batches)
    first, token = point.latency.first_token_p99_s, point.latency.per_token_p99_s
    over = np.maximum(first / first_token_p99_limit_s, token / per_token_p99_limit_s)
    meets = over <= 1.0
    feasible = bool(np.any(meets))
    row = int(np.argmax(np.where(meets, point.output_tokens_per_s_per_gpu, -over)))
    late = "TTFT" if first[row] / first_token_p99_limit_s[0] >= over[row] else "TPOT"
    why = f"{late} p99: the nearest of {batches.size} points is {over[row]:.2f} times its limit"
    chosen = Layout(layout.replica_ranks[[row]], layout.attention_ranks[[row]])
    return ServingChoice(
        feasible, "" if feasible else why, batches.size, chosen, _row(point, row), needed, available
    )


def serving_layouts(*, sizes: Floats, attention_sizes: Floats) -> Layout:
    """Every pair in which the attention group divides the replica, in rising order.

    >>> serving_layouts(sizes=np.array([1.0, 4.0]), attention_sizes=np.array([1.0, 4.0])).attention_ranks
    array([1., 1., 4.])
    """
    replica, attention = (grid.ravel() for grid in np.meshgrid(sizes, attention_sizes, indexing="ij"))
    fits = np.mod(replica, attention) == 0.0
    return Layout(replica[fits], attention[fits])
