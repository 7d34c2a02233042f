"""The network as one rank sees it: curves inside its scale-up domain, rails outwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from planner.arrays import Floats
from planner.performance.collectives import (
    Collective,
    Link,
    all_to_all_time_s,
    hierarchical_time_s,
    near_exchange_bytes,
    ring_time_s,
)
from planner.performance.group_curves import DomainCurves

RATIO_SIZES_BYTES = 1024.0 * 2.0 ** np.arange(25)
"""Message sizes of the corrections' tables."""


@dataclass(frozen=True, slots=True)
class NetworkRatios:
    """Measured over predicted time of collectives between nodes, by operation and message size.

    Empty without measurements.

    Attributes:
        ratios: Shape (n, operations, sizes); each of several draws has its own predictions to correct.
        groups: Ranks and boxes of the measured group of each operation, in the order of `ratios`.
        profiles: Profile that holds it.
        spans_bytes: Smallest and largest message measured; beyond them the ratio stays as it is at the end.
    """

    ratios: Floats = field(default_factory=lambda: np.ones((1, 0, len(RATIO_SIZES_BYTES))))
    groups: Mapping[Collective, tuple[int, int]] = field(default_factory=dict)
    profiles: Mapping[Collective, str] = field(default_factory=dict)
    spans_bytes: Mapping[Collective, tuple[float, float]] = field(default_factory=dict)

    def ratio(self, operation: Collective, message_bytes: Floats) -> Floats:
        """Ratio at a size, of the shape that it and the draws broadcast to; 1 for an operation not measured."""
        if operation not in self.groups:
            return np.ones(1)
        table = np.log(self.ratios[:, list(self.groups).index(operation)])
        steps = np.log2(np.maximum(message_bytes, 1.0) / RATIO_SIZES_BYTES[0])
        draw, place = np.broadcast_arrays(np.arange(len(table)), np.clip(steps, 0.0, table.shape[1] - 1.0))
        lower = np.minimum(place.astype(np.intp), table.shape[1] - 2)
        return np.asarray(
            np.exp(table[draw, lower] + (place - lower) * (table[draw, lower + 1] - table[draw, lower]))
        )


@dataclass(frozen=True, slots=True)
class Links:
    """The network as one rank sees it; arrays broadcast to shape (n,).

    Attributes:
        inside: Curves in the scale-up domain.
        inside_ratio: Time in the domain over the curves', 1 but in draws.
        outside: Link out of it, for rings and neighbours.
        outside_all_to_all: Link out of it under all-to-all traffic, which crosses more spines.
        domain_ranks: Accelerators of a scale-up domain.
        node_ranks: Accelerators of a node (for the count of hosts that may straggle).
        rail_only_overhead_fraction: See `collectives.all_to_all_time_s`; 0 with a spine.
        pipeline_fill_s: See `collectives.hierarchical_time_s`.
        reduction_gain_ratio: Gain of switches of the network that add up; 1 without.
        measured: Corrections by measured collectives between nodes.
        neighbour_fraction: Share of the rate outwards that a send to one other node gets; 1 but where nodes or
            domains are joined without a switch.
    """

    inside: DomainCurves
    inside_ratio: Floats
    outside: Link
    outside_all_to_all: Link
    domain_ranks: Floats
    node_ranks: Floats
    rail_only_overhead_fraction: Floats
    pipeline_fill_s: Floats
    reduction_gain_ratio: Floats
    measured: NetworkRatios
    neighbour_fraction: float = 1.0

    @property
    def to_neighbour(self) -> Link:
        """Link of a send to one other node out of the domain."""
        if self.neighbour_fraction == 1.0:
            return self.outside
        return replace(self.outside, bytes_per_s=self.outside.bytes_per_s * self.neighbour_fraction)


def inside_time_s(links: Links, operation: Collective, *, message_bytes: Floats, ranks: Floats) -> Floats:
    """Time of a collective inside one domain; zero for one rank."""
    return links.inside.time_s(operation, message_bytes=message_bytes, ranks=ranks) * links.inside_ratio


def group_time_s(
    links: Links, operation: Collective, *, message_bytes: Floats, ranks: Floats, ranks_per_domain: Floats
) -> Floats:
    """Time of a collective over a group laid out over one or several domains.

    Args:
        links: The network.
        operation: Any but an all-to-all, which is `exchange_time_s`.
        message_bytes: Size, in nccl-tests' convention.
        ranks: Ranks of the group.
        ranks_per_domain: Of these, the ranks that stand in one domain.

    Returns:
        Seconds, of the shape that the arguments broadcast to. Zero for one rank.
    """
    near = np.maximum(np.minimum(ranks, ranks_per_domain), 1.0)
    if operation is Collective.SEND_RECEIVE:
        inside = inside_time_s(links, operation, message_bytes=message_bytes, ranks=near)
        outside = ring_time_s(operation, message_bytes=message_bytes, ranks=ranks, link=links.to_neighbour)
        time = np.where(ranks > near, outside * links.measured.ratio(operation, message_bytes), inside)
        return np.asarray(time)
    inside = inside_time_s(links, operation, message_bytes=message_bytes, ranks=near)
    time = hierarchical_time_s(
        operation, message_bytes=message_bytes, ranks=ranks, ranks_per_domain=near, inside_s=inside,
        outside=links.outside, pipeline_fill_s=links.pipeline_fill_s,
        reduction_gain_ratio=links.reduction_gain_ratio,
    )  # fmt: skip
    if not links.measured.groups:
        return time
    return np.where(ranks > near, time * links.measured.ratio(operation, message_bytes), time)


def exchange_time_s(
    links: Links,
    *,
    message_bytes: Floats,
    ranks: Floats,
    ranks_per_domain: Floats,
    outside_bytes_ratio: Floats,
) -> Floats:
    """Time of an all-to-all over a group laid out over one or several domains; see `all_to_all_time_s`."""
    near = np.minimum(ranks, ranks_per_domain)
    stays = near_exchange_bytes(message_bytes=message_bytes, ranks=ranks, ranks_per_domain=near)
    time = all_to_all_time_s(
        message_bytes=message_bytes, ranks=ranks, ranks_per_domain=near,
        inside_s=inside_time_s(links, Collective.ALL_TO_ALL, message_bytes=stays, ranks=near),
        outside=links.outside_all_to_all,
        rail_only_overhead_fraction=links.rail_only_overhead_fraction, outside_bytes_ratio=outside_bytes_ratio,
    )  # fmt: skip
    if not links.measured.groups:
        return time
    return np.where(ranks > near, time * links.measured.ratio(Collective.ALL_TO_ALL, message_bytes), time)
