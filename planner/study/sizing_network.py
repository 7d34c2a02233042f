"""What the network does to a serving fleet's tails and price: the scale-up domain, the NIC, and moving a cache.

A replica inside one scale-up domain doesn't use the NIC. The NIC decides where a replica spans domains, whose
all-reduces then cross it, and where prompts are computed on other servers than their answers, whose caches do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.evaluate import Evaluation
from planner.performance.collectives import Collective
from planner.performance.engine_reduce import EngineReduce
from planner.performance.inference import Layout
from planner.performance.links import Links, group_time_s
from planner.performance.models import kv_cache_bytes
from planner.performance.serving import serving_layouts
from planner.performance.serving_points import Objective, Points, meets
from planner.study.sizing import Candidate
from planner.units import MEGA, SECONDS_PER_HOUR

NIC_RATES: Final = (0.5, 1.0, 2.0)
"""NIC rates that are tried, over the plan's."""


@dataclass(frozen=True, slots=True)
class SpanningReduce(EngineReduce):
    """All-reduces of replicas that span scale-up domains: the engine's inside one, the network's beyond.

    Attributes:
        links: The network.
        domain_ranks: Accelerators of a domain.
        nic_ratio: Rate of the NICs over the plan's.
    """

    links: Links
    domain_ranks: float
    nic_ratio: float

    def time_s(self, *, message_bytes: Floats, ranks: Floats) -> Floats:
        """Time of one all-reduce; see `EngineReduce.time_s`."""
        inside = EngineReduce.time_s(
            self, message_bytes=message_bytes, ranks=np.minimum(ranks, self.domain_ranks)
        )
        outside = replace(self.links.outside, bytes_per_s=self.links.outside.bytes_per_s * self.nic_ratio)
        across = group_time_s(
            replace(self.links, outside=outside), Collective.ALL_REDUCE, message_bytes=message_bytes, ranks=ranks,
            ranks_per_domain=np.minimum(ranks, self.domain_ranks),
        )  # fmt: skip
        return np.where(ranks > self.domain_ranks, across, inside)


@dataclass(frozen=True, slots=True)
class NetworkEffect:
    """A replica size and the network it runs on.

    Attributes:
        replica_gpus: The largest replica that is tried.
        nic_gbit_per_s: NIC rate of one accelerator that its all-reduces cross; None inside one domain.
        least_per_token_p99_s: Lowest tail of any batch within the limit of the first token; infinite where nothing
            keeps it.
        output_tokens_per_s_per_gpu: The most within the objective; zero where nothing keeps it.
        usd_per_mtoken_output: At that throughput and the plan's cost of a GPU-hour; infinite where it is zero.
    """

    replica_gpus: int
    nic_gbit_per_s: float | None
    least_per_token_p99_s: float
    output_tokens_per_s_per_gpu: float
    usd_per_mtoken_output: float


@dataclass(frozen=True, slots=True)
class HandOver:
    """Moving one prompt's cache to another server.

    Attributes:
        cache_bytes: Of one prompt.
        nic_gbit_per_s: Of one accelerator.
        seconds: Over the NICs of the GPUs that hold a sequence's cache, at their sustained rate and without overlap:
            what it adds to the first token where prompts are computed elsewhere.
    """

    cache_bytes: float
    nic_gbit_per_s: float
    seconds: float


def domain_effects(
    candidate: Candidate, objective: Objective, *, usd_per_gpu_hour: float
) -> list[NetworkEffect]:
    """Tails and price with replicas of at most 1, 2, 4 GPUs and so on up to the scale-up domain.

    Args:
        candidate: Server and precision.
        objective: Limits.
        usd_per_gpu_hour: Cost of an installed GPU-hour.
    """
    points = candidate.points()
    sizes = np.unique(points.layouts.gpus)
    return [
        _effect(points, points.layouts.gpus[:, 0] <= size, objective, int(size), None, usd_per_gpu_hour)
        for size in sizes
    ]


def spanning_effects(
    candidate: Candidate, objective: Objective, evaluation: Evaluation, *, usd_per_gpu_hour: float
) -> list[NetworkEffect]:
    """Tails and price of replicas over two domains, at half, once and twice the plan's NIC rate.

    The price of another NIC isn't in it: that is a comparison of plans.

    Returns:
        Nothing where the plan has no network, or no engine's all-reduce is measured in this domain.
    """
    built = evaluation.built
    assert built is not None
    link, links = candidate.server.link, built.performance.links
    if not isinstance(link, EngineReduce) or not np.isfinite(links.outside.bytes_per_s).all():
        return []
    domain = evaluation.parts.groups[0].server.item.scaleup_domain_gpus
    own = nic_gbit_per_s_per_gpu(evaluation)
    layouts = serving_layouts(
        sizes=np.array([2.0 * domain]), attention_sizes=np.array([1.0, float(domain), 2.0 * domain])
    )
    found = []
    for ratio in NIC_RATES:
        across = SpanningReduce(link.kernel, link.library, link.ratio, links, float(domain), ratio)
        spanned = replace(candidate, server=replace(candidate.server, link=across), layouts=layouts)
        points = spanned.points()
        every = np.ones(points.layouts.gpus.size, dtype=np.bool_)
        found.append(_effect(points, every, objective, 2 * domain, own * ratio, usd_per_gpu_hour))
    return found


def _effect(
    points: Points,
    rows: NDArray[np.bool_],
    objective: Objective,
    size: int,
    nic: float | None,
    usd_per_gpu_hour: float,
) -> NetworkEffect:
    chosen = rows.reshape(-1, 1)
    latency, rate = points.point.latency, points.point.output_tokens_per_s_per_gpu
    prompt = points.fits & chosen & (latency.first_token_p99_s <= objective.first_token_p99_s)
    least = np.where(prompt, latency.per_token_p99_s, np.inf).min()
    most = float(np.where(meets(points, objective) & chosen, rate, 0.0).max())
    price = usd_per_gpu_hour * MEGA / (most * SECONDS_PER_HOUR) if most > 0.0 else float("inf")
    return NetworkEffect(size, nic, float(least), most, price)


def nic_gbit_per_s_per_gpu(evaluation: Evaluation) -> float:
    """NIC rate of one accelerator, as the plan has it."""
    built = evaluation.built
    assert built is not None
    fabric = built.cluster.fabric.request
    rate = evaluation.ledger.scalar("network.nic_rate_gbit_per_s")
    return rate * fabric.nics_per_node * built.cluster.nodes / evaluation.parts.gpus


def hand_over(candidate: Candidate, layout: Layout, evaluation: Evaluation) -> HandOver | None:
    """Time to move a prompt's cache between servers; None where the plan has no network."""
    built = evaluation.built
    assert built is not None
    rate = built.performance.links.outside.bytes_per_s
    if not np.isfinite(rate).all():
        return None
    size = kv_cache_bytes(
        candidate.server.shape, context_tokens=candidate.requests.prompt_tokens,
        value_bytes=candidate.server.form.kv_bytes, tensor_ranks=np.ones(1),
    )  # fmt: skip
    moved = size / (rate * layout.attention_ranks)
    return HandOver(float(size[0]), nic_gbit_per_s_per_gpu(evaluation), float(moved[0]))
