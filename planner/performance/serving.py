"""How a replica does at a batch, and which replica size and batch serve most under given limits."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

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
    weight_bytes_per_rank,
)
from planner.performance.models import ModelShape
from planner.performance.queueing import Arrivals, Latency, Tails, arrival_rate_per_s, open_loop_latency
from planner.performance.roofline import ChipRates
from planner.performance.serving_costs import StepCosts
from planner.performance.serving_loops import Asked, step_and_prompt_s
from planner.performance.serving_speculation import NO_SPECULATION, Speculation
from planner.performance.serving_step import step_costs

BATCH_STEPS_PER_DOUBLING = 4
GROUP_ROUNDS = 3
"""Rounds until prompts in a step and the rate agree; a fourth changes the rate by less than 1 %."""
SIZES = (1, 2, 4, 8, 16, 32, 64)
"""GPUs of a replica that are tried."""
ATTENTION_MOST = 8


@dataclass(frozen=True, slots=True)
class Requests:
    """What is asked; fields broadcast to shape (n,).

    Attributes:
        prompt_tokens, output_tokens: Mean lengths.
        step_tokens: Prompt tokens that an attention group takes into one step at most.
        batch_sequences: Sequences that an attention group decodes at once at most.
        prompt_variation, output_variation: Standard deviation of the lengths over their means.
    """

    prompt_tokens: Floats
    output_tokens: Floats
    step_tokens: Floats
    batch_sequences: Floats
    prompt_variation: Floats = field(default_factory=lambda: np.zeros(1))
    output_variation: Floats = field(default_factory=lambda: np.zeros(1))


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
    speculation: Speculation = NO_SPECULATION

    def costs(self, layout: Layout) -> StepCosts:
        """Costs of the steps of replicas with a layout."""
        return step_costs(
            shape=self.shape, chip=self.chip, link=self.link, constants=self.constants, form=self.form,
            layout=layout, speculation=self.speculation,
        )  # fmt: skip


def largest_batch(server: Server, *, requests: Requests, layout: Layout) -> Floats:
    """Sequences that memory and engine allow at once, caches half grown in the mean, shape (n,)."""
    fitting = batch_limit(
        server.shape,
        form=server.form,
        layout=layout,
        memory_bytes=server.chip.memory_bytes,
        sequence_tokens=mean_context_tokens(requests),
        constants=server.constants,
    )
    return np.minimum(fitting, requests.batch_sequences * attention_groups(layout))


def mean_context_tokens(requests: Requests) -> Floats:
    """Tokens that a decoding request holds in the mean; longer answers stay longer, so they count by their length.

    >>> one = np.ones(1)
    >>> mean_context_tokens(Requests(100.0 * one, 40.0 * one, one, one, 0.0 * one, one))
    array([140.])
    """
    return requests.prompt_tokens + requests.output_tokens / 2.0 * (1.0 + requests.output_variation**2)


def asked_of(requests: Requests) -> Asked:
    """Requests as loops take them, with the answers that a step meets."""
    met = requests.output_tokens * (1.0 + requests.output_variation**2)
    return Asked(requests.prompt_tokens, met, requests.step_tokens, requests.prompt_variation)


def _loaded(
    costs: StepCosts, constants: ServingConstants, asked: Asked, *, batch: Floats, seen: Floats, steps: Floats
) -> tuple[Floats, Floats, Floats]:
    """A decode step, the marginal time of a prompt, and the rate, of a replica with a mean batch.

    Attention groups wait for each other, so a prompt costs least where all of them fill one in at a time. How many do
    follows from the rate: of a Poisson number of arrivals in a step, its mean where there is any.
    """
    prompts = np.ones(1)
    for _ in range(GROUP_ROUNDS if np.any(costs.groups > 1.0) else 1):
        decode, prefill = step_and_prompt_s(
            costs, constants, asked=asked, decode_sequences=seen, prompts=prompts
        )
        rate = arrival_rate_per_s(
            batch_sequences=batch, decode_s=decode, prefill_s=prefill, output_tokens=steps
        )
        coming = np.maximum(rate * decode / (1.0 - np.minimum(rate * prefill, 0.999)), 1e-6)
        prompts = coming / -np.expm1(-coming)
    return decode, prefill, rate


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
    costs, asked = server.costs(layout), asked_of(requests)
    yields = costs.tokens_per_step
    most = np.maximum(largest_batch(server, requests=requests, layout=layout), 1.0)
    # A request finds the mean batch and adds itself, but never more than there is room for.
    found = np.minimum(batch_sequences + 1.0, np.maximum(most, batch_sequences))
    steps = np.maximum(requests.output_tokens - 1.0, 1.0) / yields

    def loaded(batch: Floats, seen: Floats) -> tuple[Floats, Floats, Floats]:
        return _loaded(costs, server.constants, asked, batch=batch, seen=seen, steps=steps)

    decode, prefill, arrivals = loaded(batch_sequences, found)
    load = arrivals / loaded(most, most)[2]
    constants, groups = server.constants, attention_groups(layout)
    budget = np.maximum(requests.step_tokens * groups - batch_sequences, 1.0)
    latency = open_loop_latency(
        Arrivals(
            rate_per_s=arrivals, decode_s=decode, prefill_s=prefill, output_tokens=steps,
            step_share=requests.prompt_tokens / budget, prompt_variation=requests.prompt_variation,
            output_variation=requests.output_variation,
        ),
        first_token_fixed_s=constants.first_token_fixed_s,
        first_token_decode_steps=constants.first_token_decode_steps,
        tokens_per_step=yields,
        tails=server.tails,
    )  # fmt: skip
    tokens = arrivals * requests.output_tokens
    return OperatingPoint(
        batch_sequences=batch_sequences + np.zeros_like(arrivals),
        rate_per_s=arrivals,
        output_tokens_per_s=tokens,
        output_tokens_per_s_per_gpu=tokens / layout.gpus,
        load_fraction=load,
        prefill_share_fraction=arrivals * prefill,
        latency=latency,
        decode_s=decode / yields,
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


def replica_layouts(domain_gpus: int) -> Layout:
    """Replicas inside a scale-up domain, and in each the sizes of its attention groups."""
    sizes = [float(size) for size in SIZES if size <= domain_gpus]
    return serving_layouts(
        sizes=np.array(sizes), attention_sizes=np.array([size for size in sizes if size <= ATTENTION_MOST])
    )
