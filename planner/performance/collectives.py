"""Times of collective operations, and the rates that go by their name.

Sizes follow nccl-tests: the buffer of an all-reduce or a broadcast, the gathered whole of an all-gather, the
whole before a reduce-scatter, what one rank sends (its own part included) in an all-to-all. All rates are per
rank and one direction, in bytes per second.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from planner.arrays import Floats


class Collective(StrEnum):
    """Operations by their nccl-tests names."""

    ALL_REDUCE = "all_reduce"
    ALL_GATHER = "all_gather"
    REDUCE_SCATTER = "reduce_scatter"
    ALL_TO_ALL = "all_to_all"
    BROADCAST = "broadcast"
    SEND_RECEIVE = "send_receive"


class AllReduce(StrEnum):
    """How an all-reduce runs inside one tier."""

    RING = "ring"
    TREE = "tree"
    IN_NETWORK = "in_network"


@dataclass(frozen=True, slots=True)
class Link:
    """What one rank gets from one tier of the network; fields broadcast to shape (n,).

    Attributes:
        bytes_per_s: Rate that an endless message reaches.
        start_s: Time of a call that moves nothing, once.
        hop_s: Further time of each step.
        half_rate_bytes: Message size at which half the rate is reached.
    """

    bytes_per_s: Floats
    start_s: Floats
    hop_s: Floats
    half_rate_bytes: Floats


def bus_factor(operation: Collective, *, ranks: Floats) -> Floats:
    """Bus bandwidth over algorithm bandwidth.

    Args:
        operation: The collective.
        ranks: Ranks that take part, 1 or more.

    Returns:
        Shape (n,); zero for a collective of one rank, which moves nothing.

    Source:
        nccl-tests-performance (factors of its performance page).

    >>> bus_factor(Collective.ALL_REDUCE, ranks=np.array([1.0, 8.0]))
    array([0.  , 1.75])
    """
    ring = (ranks - 1.0) / ranks
    if operation is Collective.ALL_REDUCE:
        return np.asarray(2.0 * ring)
    if operation in (Collective.BROADCAST, Collective.SEND_RECEIVE):
        return np.where(ranks > 1.0, 1.0, 0.0)
    return np.asarray(ring)


def algorithm_bytes_per_s(*, message_bytes: Floats, time_s: Floats) -> Floats:
    """Message size over time, the rate nccl-tests prints as algbw.

    >>> algorithm_bytes_per_s(message_bytes=np.array([1e9]), time_s=np.array([0.01]))
    array([1.e+11])
    """
    return np.asarray(message_bytes / time_s)


def bus_bytes_per_s(operation: Collective, *, message_bytes: Floats, time_s: Floats, ranks: Floats) -> Floats:
    """What nccl-tests prints as busbw: comparable with a link's rate, whatever the ranks.

    >>> bus_bytes_per_s(Collective.ALL_REDUCE, message_bytes=np.array([1e9]), time_s=np.array([0.01]),
    ...     ranks=np.array([8.0]))
    array([1.75e+11])
    """
    rate = algorithm_bytes_per_s(message_bytes=message_bytes, time_s=time_s)
    return rate * bus_factor(operation, ranks=ranks)


def transfer_time_s(*, wire_bytes: Floats, message_bytes: Floats, steps: Floats, link: Link) -> Floats:
    """Time to move `wire_bytes` through a link that is slower for small messages.

    The rate at size B is the endless one over 1 + sqrt(half / B). A plain latency plus size / rate reads large
    sizes too slow once it fits the middle ones; this form follows the measured bend over five decades.

    Args:
        wire_bytes: Bytes that the busiest rank sends.
        message_bytes: Size of the message, which sets the efficiency.
        steps: Latency steps, 0 for nothing at all.
        link: The tier.

    Returns:
        Shape (n,), or whatever the arguments broadcast to. Zero where there are no steps.

    Source:
        planner-training-notes, section 3 (one-node NCCL tables); form chosen on those tables.

    >>> link = Link(np.array([1e9]), np.array([1e-5]), np.array([1e-6]), np.array([1e6]))
    >>> transfer_time_s(wire_bytes=np.array([1e6]), message_bytes=np.array([1e6]), steps=np.array([2.0]), link=link)
    array([0.002012])
    """
    bend = np.sqrt(link.half_rate_bytes / np.maximum(message_bytes, 1.0))
    moving = wire_bytes * (1.0 + bend) / link.bytes_per_s
    return np.where(steps > 0.0, link.start_s + steps * link.hop_s + moving, 0.0)


def ring_time_s(operation: Collective, *, message_bytes: Floats, ranks: Floats, link: Link) -> Floats:
    """Time of a collective whose ranks stand in a ring (or send pairwise), one tier.

    Args:
        operation: The collective. A broadcast is pipelined through the ring.
        message_bytes: Size, in the convention of this module.
        ranks: Ranks that take part.
        link: The tier.

    Returns:
        Shape (n,), or whatever the arguments broadcast to. Zero where there is one rank.

    Source:
        nccl-tests-performance.

    >>> link = Link(np.array([100e9]), np.array([0.0]), np.array([1e-6]), np.array([0.0]))
    >>> ring_time_s(Collective.ALL_REDUCE, message_bytes=np.array([8e9]), ranks=np.array([8.0]), link=link)
    array([0.140014])
    """
    steps = (2.0 if operation is Collective.ALL_REDUCE else 1.0) * (ranks - 1.0)
    if operation is Collective.SEND_RECEIVE:
        steps = np.where(ranks > 1.0, 1.0, 0.0)
    wire = bus_factor(operation, ranks=ranks) * message_bytes
    return transfer_time_s(wire_bytes=wire, message_bytes=message_bytes, steps=steps, link=link)


def tree_all_reduce_time_s(*, message_bytes: Floats, ranks: Floats, link: Link) -> Floats:
    """Time of an all-reduce over a double binary tree: up and down in 2 log2(r) steps.

    Args:
        message_bytes: Buffer on each rank.
        ranks: Ranks that take part.
        link: The tier.

    Returns:
        Shape (n,), or whatever the arguments broadcast to. Zero where there is one rank.

    Source:
        Counted: inner ranks send each half of the buffer up once and down once in each of two trees.

    >>> link = Link(np.array([100e9]), np.array([0.0]), np.array([1e-6]), np.array([0.0]))
    >>> tree_all_reduce_time_s(message_bytes=np.array([8e9]), ranks=np.array([8.0]), link=link)
    array([0.160006])
    """
    steps = 2.0 * np.ceil(np.log2(ranks))
    return transfer_time_s(
        wire_bytes=2.0 * message_bytes, message_bytes=message_bytes, steps=steps, link=link
    )


def in_network_all_reduce_time_s(
    *, message_bytes: Floats, ranks: Floats, link: Link, gain_ratio: Floats
) -> Floats:
    """Time of an all-reduce that the switches add up (NVLink SHARP, SHARP on InfiniBand).

    The gain is in the wire's bytes alone: what a small message loses stays, and so do 4 log2(r) latency steps,
    which follows one-node tables of 8 ranks.

    Args:
        message_bytes: Buffer on each rank.
        ranks: Ranks that take part.
        link: The tier.
        gain_ratio: Bus bandwidth against a ring's on the same link, at large sizes.

    Returns:
        Shape (n,), or whatever the arguments broadcast to. Zero where there is one rank.

    Source:
        planner-network-notes (in-network reduction: an ideal factor of 2 on the endpoints' traffic).

    >>> link = Link(np.array([100e9]), np.array([1e-5]), np.array([1e-6]), np.array([0.0]))
    >>> in_network_all_reduce_time_s(message_bytes=np.array([8e9]), ranks=np.array([8.0]), link=link,
    ...     gain_ratio=np.array([1.4]))
    array([0.100022])
    """
    wire = bus_factor(Collective.ALL_REDUCE, ranks=ranks) * message_bytes / gain_ratio
    steps = 4.0 * np.ceil(np.log2(ranks))
    slow_start = link.half_rate_bytes * gain_ratio * gain_ratio
    bent = Link(link.bytes_per_s, link.start_s, link.hop_s, slow_start)
    return transfer_time_s(wire_bytes=wire, message_bytes=message_bytes, steps=steps, link=bent)


def all_reduce_time_s(
    *,
    message_bytes: Floats,
    ranks: Floats,
    link: Link,
    algorithm: AllReduce = AllReduce.RING,
    gain_ratio: Floats | None = None,
) -> Floats:
    """Time of one all-reduce inside one tier, by the named algorithm.

    Args:
        message_bytes: Buffer on each rank.
        ranks: Ranks that take part, 1 or more.
        link: The tier.
        algorithm: Ring, tree or in-network.
        gain_ratio: For the in-network one, see `in_network_all_reduce_time_s`; 1 if left out.

    Returns:
        Shape (n,), or whatever the arguments broadcast to. Zero where there is one rank.

    Source:
        nccl-tests-performance (bus bandwidth factor 2(n-1)/n).

    >>> link = Link(np.array([400e9]), np.array([0.0]), np.array([0.0]), np.array([0.0]))
    >>> all_reduce_time_s(message_bytes=np.array([1e9]), ranks=np.array([8.0]), link=link).round(6)
    array([0.004375])
    """
    if algorithm is AllReduce.TREE:
        return tree_all_reduce_time_s(message_bytes=message_bytes, ranks=ranks, link=link)
    if algorithm is AllReduce.IN_NETWORK:
        gain = np.ones(1) if gain_ratio is None else gain_ratio
        return in_network_all_reduce_time_s(
            message_bytes=message_bytes, ranks=ranks, link=link, gain_ratio=gain
        )
    return ring_time_s(Collective.ALL_REDUCE, message_bytes=message_bytes, ranks=ranks, link=link)


def hierarchical_time_s(
    operation: Collective,
    *,
    message_bytes: Floats,
    ranks: Floats,
    ranks_per_domain: Floats,
    inside_s: Floats,
    outside: Link,
    pipeline_fill_s: Floats,
    reduction_gain_ratio: Floats,
) -> Floats:
    """Time of a collective that spans scale-up domains, each rank with its own rail outwards.

    Inside a domain every rank collects its share, the shares cross on the rails side by side, and the domain
    spreads them again. Chunks of a message overlap the two parts: of the shorter one, x / (1 + x / fill) is left.

    Args:
        operation: The collective; an all-to-all has its own function.
        message_bytes: Size, in the convention of this module.
        ranks: Ranks that take part.
        ranks_per_domain: Of these, the ranks inside one domain.
        inside_s: Time of the operation on the same message among the ranks inside one domain.
        outside: Link of a rank outwards.
        pipeline_fill_s: What at most is left of the shorter part.
        reduction_gain_ratio: Gain of switches that add up, on all-reduce and reduce-scatter; 1 without.

    Returns:
        Shape (n,), or whatever the arguments broadcast to. Zero where there is one rank.

    Source:
        planner-measured-collectives (2 and 4 nodes of H100, A100 and B200); per-rail share busbw (k-1)/(n-1) of the
        measured rows' README.

    >>> free = np.array([0.0])
    >>> hierarchical_time_s(Collective.ALL_REDUCE, message_bytes=np.array([8e9]), ranks=np.array([16.0]),
    ...     ranks_per_domain=np.array([8.0]), inside_s=np.array([0.035]), outside=Link(np.array([50e9]), free, free, free),
    ...     pipeline_fill_s=np.array([5e-4]), reduction_gain_ratio=np.array([1.0])).round(6)
    array([0.035488])
    """
    near = np.maximum(np.minimum(ranks, ranks_per_domain), 1.0)
    domains = np.ceil(ranks / near)
    sums = operation in (Collective.ALL_REDUCE, Collective.REDUCE_SCATTER)
    gain = reduction_gain_ratio if sums else np.ones(1)
    share = message_bytes / near
    outside_s = transfer_time_s(
        wire_bytes=bus_factor(operation, ranks=domains) * share / gain,
        message_bytes=share,
        steps=across_steps(operation, domains=domains),
        link=outside,
    )
    longer, shorter = np.maximum(inside_s, outside_s), np.minimum(inside_s, outside_s)
    together = longer + shorter / (1.0 + shorter / pipeline_fill_s)
    return np.where(domains > 1.0, together, inside_s)


def across_steps(operation: Collective, *, domains: Floats) -> Floats:
    """Steps over the network of a collective: up and down a tree of domains, or one send.

    >>> across_steps(Collective.ALL_REDUCE, domains=np.array([1.0, 2.0, 16.0]))
    array([0., 2., 8.])
    """
    if operation is Collective.SEND_RECEIVE:
        return np.where(domains > 1.0, 1.0, 0.0)
    return np.where(domains > 1.0, 2.0 * np.ceil(np.log2(np.maximum(domains, 1.0))), 0.0)


def all_to_all_time_s(
    *,
    message_bytes: Floats,
    ranks: Floats,
    ranks_per_domain: Floats,
    inside_s: Floats,
    outside: Link,
    rail_only_overhead_fraction: Floats,
    outside_bytes_ratio: Floats,
) -> Floats:
    """Time of an all-to-all over one or several scale-up domains.

    What stays in the domain and what leaves it move side by side, so the slower one sets the time. Without a
    spine, traffic between rails goes through the domain first, which costs a stated share more.

    Args:
        message_bytes: What each rank sends in all, its own part included.
        ranks: Ranks that take part.
        ranks_per_domain: Of these, the ranks inside one domain.
        inside_s: Time of the part that stays in the domain, see `near_exchange_bytes`.
        outside: Link of a rank outwards.
        rail_only_overhead_fraction: Extra on the outside part in a fabric of rails alone; 0 with a spine.
        outside_bytes_ratio: Bytes that leave the domain against a plain exchange; below 1 where copies for
            several ranks of one domain cross once.

    Returns:
        Shape (n,), or whatever the arguments broadcast to. Zero where there is one rank.

    Source:
        arxiv-2307.12169v5 (8.2 to 11.2 % more for rail-only).

    >>> free = np.array([0.0])
    >>> all_to_all_time_s(message_bytes=np.array([16e9]), ranks=np.array([16.0]), ranks_per_domain=np.array([8.0]),
    ...     inside_s=np.array([0.02]), outside=Link(np.array([50e9]), free, free, free),
    ...     rail_only_overhead_fraction=np.array([0.1]), outside_bytes_ratio=np.array([1.0])).round(9)
    array([0.176])
    """
    near = np.minimum(ranks, ranks_per_domain)
    far_bytes = message_bytes * (ranks - near) / ranks * outside_bytes_ratio
    far_time = transfer_time_s(
        wire_bytes=far_bytes,
        message_bytes=message_bytes,
        steps=np.where(ranks > near, 1.0, 0.0),
        link=outside,
    )
    return np.maximum(inside_s, far_time * (1.0 + rail_only_overhead_fraction))


def near_exchange_bytes(*, message_bytes: Floats, ranks: Floats, ranks_per_domain: Floats) -> Floats:
    """Message of the all-to-all among the ranks of one domain that is a part of a larger one.

    >>> near_exchange_bytes(message_bytes=np.array([16e9]), ranks=np.array([16.0]), ranks_per_domain=np.array([8.0]))
    array([8.e+09])
    """
    return np.asarray(message_bytes * np.minimum(ranks, ranks_per_domain) / np.maximum(ranks, 1.0))


def once_per_domain_ratio(*, ranks: Floats, ranks_per_domain: Floats, copies: Floats) -> Floats:
    """Bytes that leave a domain when a token crosses once per domain, against once per copy.

    Args:
        ranks: Ranks of the all-to-all.
        ranks_per_domain: Of these, the ranks inside one domain.
        copies: Ranks that a token goes to, drawn evenly.

    Returns:
        Shape (n,), or whatever the arguments broadcast to; 1 for one copy.

    Source:
        Counted: k draws meet d (1 - (1 - 1/d)^k) of d domains in the mean.

    >>> once_per_domain_ratio(ranks=np.array([16.0]), ranks_per_domain=np.array([8.0]), copies=np.array([2.0]))
    array([0.75])
    """
    domains = np.maximum(ranks / ranks_per_domain, 1.0)
    draws = np.maximum(copies, 1.0)
    return np.asarray(domains * (1.0 - (1.0 - 1.0 / domains) ** draws) / draws)
