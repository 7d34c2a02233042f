"""How a replica does at a batch, and which replica size and batch serve most under given limits."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

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
from planner.performance.queueing import Latency, Tails, arrival_rate_per_s, open_loop_latency
from planner.performance.queueing_steps import Arrivals, step_moments
from planner.performance.roofline import ChipRates
from planner.performance.serving_costs import StepCosts
from planner.performance.serving_loops import Asked, Mixed, StepCurve, computed_tokens
from planner.performance.serving_speculation import NO_SPECULATION, Speculation, tokens_per_step
from planner.performance.serving_step import step_costs

BATCH_STEPS_PER_DOUBLING = 4
SPARSE = 2.0 ** np.arange(-6.0, 0.0)
"""Mean batches of a replica that is idle in between."""
SHARING_ROUNDS = 3
"""Rounds until prompts that share a step and the rate agree; a fourth changes the rate by less than 1 %."""
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
        hit_fraction: Share of every prompt's tokens whose keys and values are in a cache when it comes, below 1. They cost no
            prefill but what the others attend to them; memory holds every request's whole prompt, as if none were shared.
    """

    prompt_tokens: Floats
    output_tokens: Floats
    step_tokens: Floats
    batch_sequences: Floats
    prompt_variation: Floats = field(default_factory=lambda: np.zeros(1))
    output_variation: Floats = field(default_factory=lambda: np.zeros(1))
    hit_fraction: Floats = field(default_factory=lambda: np.zeros(1))

    @property
    def computed_tokens(self) -> Floats:
        """Prompt tokens that have to be computed."""
        return computed_tokens(self.prompt_tokens, self.hit_fraction)


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
    return Asked(
        requests.prompt_tokens, met, requests.step_tokens, requests.prompt_variation, requests.hit_fraction
    )


def full_batch(server: Server, *, requests: Requests, layout: Layout) -> Floats:
    """Sequences at once at a replica's capacity, shape (n,): `largest_batch`, or less where prompts fill every step first.

    Whoever decodes leaves after an answer's steps, so a batch lasts only while steps have room for as many prompts. As if
    one sequence fitted where none does.
    """
    most = np.maximum(largest_batch(server, requests=requests, layout=layout), 1.0)
    steps = _answer_steps(server, requests)
    held = steps * requests.step_tokens * attention_groups(layout) / (requests.computed_tokens + steps)
    return np.minimum(most, held)


def _answer_steps(server: Server, requests: Requests) -> Floats:
    """Steps of an answer after its first token."""
    draft = server.speculation
    yields = tokens_per_step(draft_tokens=draft.draft_tokens, acceptance_fraction=draft.acceptance_fraction)
    return np.asarray(np.maximum(requests.output_tokens - 1.0, 1.0) / yields)


def _arrivals(
    server: Server, costs: StepCosts, requests: Requests, layout: Layout, *, batch: Floats, seen: Floats
) -> tuple[Arrivals, StepCurve]:
    """What a mean batch says about arrivals: their rate, and what they cost where so many share a step.

    Args:
        batch: Mean sequences in decode.
        seen: Those that a request meets, itself among them.
    """
    steps = _answer_steps(server, requests)
    budget = np.maximum(requests.step_tokens * attention_groups(layout) - batch, 1.0)
    share = requests.computed_tokens / budget
    mixed = Mixed(
        costs, server.constants, asked=asked_of(requests), decode_sequences=seen, most_prompts=1.0 / share
    )
    alone = 1.0 + requests.prompt_variation**2
    together: Floats = alone
    for turn in range(SHARING_ROUNDS):
        curve = mixed.at(together, attention=turn + 1 == SHARING_ROUNDS)
        rate = arrival_rate_per_s(
            batch_sequences=batch, decode_s=curve.decode_s, prefill_s=curve.prefill_s, output_tokens=steps
        )
        found = Arrivals(
            rate_per_s=rate, batch_sequences=batch, decode_s=curve.decode_s, decode_more_s=curve.decode_more_s,
            prefill_s=curve.prefill_s, prefill_more_s=curve.prefill_more_s, linear_fraction=curve.linear_fraction,
            output_tokens=steps, step_share=share, prompt_variation=requests.prompt_variation,
            output_variation=requests.output_variation,
        )  # fmt: skip
        if turn + 1 < SHARING_ROUNDS:
            together = alone + rate * step_moments(found).found_s
    return found, curve


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
    costs = server.costs(layout)
    yields = costs.tokens_per_step
    most = np.maximum(largest_batch(server, requests=requests, layout=layout), 1.0)
    # A request finds the mean batch and adds itself, but never more than there is room for.
    met = np.minimum(batch_sequences + 1.0, np.maximum(most, batch_sequences))
    found, curve = _arrivals(server, costs, requests, layout, batch=batch_sequences, seen=met)
    full = full_batch(server, requests=requests, layout=layout)
    capacity, _ = _arrivals(server, costs, requests, layout, batch=full, seen=full)
    constants, rate = server.constants, found.rate_per_s
    latency = open_loop_latency(
        found,
        first_token_fixed_s=constants.first_token_fixed_s,
        first_token_decode_steps=constants.first_token_decode_steps,
        tokens_per_step=yields,
        tails=server.tails,
    )
    latency = _without_later_tokens(latency, requests.output_tokens <= 1.0, curve.decode_s / yields)
    tokens = rate * requests.output_tokens
    return OperatingPoint(
        batch_sequences=batch_sequences + np.zeros_like(rate),
        rate_per_s=rate,
        output_tokens_per_s=tokens,
        output_tokens_per_s_per_gpu=tokens / layout.gpus,
        load_fraction=rate / capacity.rate_per_s,
        prefill_share_fraction=rate * curve.prefill_s,
        latency=latency,
        decode_s=curve.decode_s / yields,
        prefill_s=curve.prefill_s,
    )


def _without_later_tokens(latency: Latency, none: NDArray[np.bool_], decode_s: Floats) -> Latency:
    """Answers of one token have no time between tokens that others' prompts could stall: a decode step stands for it."""
    if not np.any(none):
        return latency
    names = [one.name for one in fields(Latency) if one.name.startswith("per_token")]
    return replace(latency, **{name: np.where(none, decode_s, getattr(latency, name)) for name in names})


@dataclass(frozen=True, slots=True)
class ServingChoice:
    """What a search found: the layout of a replica and its operating point, each of shape (1,).

    `why_not` names the limit that nothing meets; `point` and `layout` then show the nearest miss, or are
    None where no replica holds the weights. `next_layout` and `next_point` are the best of the other layouts.
    """

    feasible: bool
    why_not: str
    tried: int
    layout: Layout | None
    point: OperatingPoint | None
    needed_bytes: float
    available_bytes: float
    next_layout: Layout | None = None
    next_point: OperatingPoint | None = None


def _row(point: OperatingPoint, row: int) -> OperatingPoint:
    """One point of many, as shape (1,)."""
    latency = Latency(*(getattr(point.latency, part.name)[[row]] for part in fields(point.latency)))
    others = {f.name: getattr(point, f.name)[[row]] for f in fields(point) if f.name != "latency"}
    return replace(point, latency=latency, **others)


def _grid(most: Floats, layouts: Layout) -> tuple[Layout, Floats]:
    """Pairs of layout and batch, batches in equal ratios up to each layout's largest; below one where answers are short."""
    rows, batches = [], []
    for row, top in enumerate(most):
        if top < 1.0:
            continue
        count = int(np.ceil(np.log2(top) * BATCH_STEPS_PER_DOUBLING)) + 1
        steps = np.concatenate([SPARSE, np.unique(np.floor(np.geomspace(1.0, top, count)))])
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
    full = full_batch(server, requests=requests, layout=layouts)
    layout, batches = _grid(np.where(most >= 1.0, np.maximum(full, 1.0), 0.0), layouts)
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
