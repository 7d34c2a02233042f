"""Predicted time of one collective on a named system, with its band, its rung and what limits it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.catalog.schema import Accelerator, FabricBehaviour, ScaleUp
from planner.catalog.store import Catalog, Entry
from planner.ledger import Ledger
from planner.performance.assumed import Assumed
from planner.performance.collectives import (
    Collective,
    Link,
    across_steps,
    bus_factor,
    near_exchange_bytes,
)  # fmt: skip
from planner.performance.domain import ScaleUpDomain, scale_up_domain
from planner.performance.group_curves import GroupCurve, Rung
from planner.performance.ladder import NARROW
from planner.performance.links import Links, NetworkRatios, exchange_time_s, group_time_s
from planner.performance.measured_network import network_ratios
from planner.performance.rails import Fabric, rails


@dataclass(frozen=True, slots=True)
class Network:
    """What joins the boxes of a system.

    Attributes:
        nic_bytes_per_s: Line rate of one accelerator's share of the NICs, one direction.
        host_bytes_per_s: Ceiling of the slot they sit in.
        leaf_nodes: Boxes that one leaf of a rail connects.
        reduction_gain_ratio: Gain of switches that add up; 1 where none do or nobody asked for it.
    """

    behaviour: Entry[FabricBehaviour]
    nic_bytes_per_s: float
    host_bytes_per_s: float
    leaf_nodes: float
    oversubscription: float = 1.0
    spineless: bool = False
    reduction_gain_ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class System:
    """Boxes of accelerators and the network between them.

    Attributes:
        domain_ranks: Accelerators that reach each other over the scale-up link.
        node_ranks: Accelerators of a box.
        network: None where boxes aren't joined.
        profiles: Profiles that go before all others.
        staged: Whether peer-to-peer is off inside a box.
    """

    catalog: Catalog
    accelerator: Entry[Accelerator]
    scaleup: Entry[ScaleUp] | None
    domain_ranks: int
    node_ranks: int
    network: Network | None = None
    profiles: tuple[str, ...] = ()
    staged: bool = False


@dataclass(frozen=True, slots=True)
class Prediction:
    """Times of one collective over message sizes, arrays of the sizes' shape.

    Attributes:
        time_s, low_s, high_s: Median guess, P10 and P90.
        algbw_bytes_per_s, busbw_bytes_per_s: Rates by nccl-tests' definitions.
        extrapolated: Whether the size or the group lies outside what was measured.
        limited_by: For each size: latency, scale-up link, host memory, NIC, host slot or uplinks.
        rung, profile, how: Of the weakest part.
    """

    time_s: Floats
    low_s: Floats
    high_s: Floats
    algbw_bytes_per_s: Floats
    busbw_bytes_per_s: Floats
    extrapolated: np.ndarray
    limited_by: tuple[str, ...]
    algorithm: str
    rung: Rung
    profile: str
    how: str


class CollectiveModel:
    """A system's collectives; built once, asked often."""

    def __init__(self, system: System, *, dtype: str = "bf16") -> None:
        self.system = system
        self.assumed = Assumed(Ledger(months=1), system.catalog)
        self.domain: ScaleUpDomain = scale_up_domain(
            self.assumed, system.accelerator, system.scaleup, domain_ranks=system.domain_ranks,
            named=system.profiles, narrow=dtype in NARROW, staged=system.staged,
        )  # fmt: skip

    def links(self, nodes: int, ranks: int | None = None) -> Links:
        """The network as one rank of a job on so many boxes sees it; a measured group of these ranks goes first."""
        one, assumed, system = np.ones(1), self.assumed, self.system
        outside = outside_all_to_all = Link(one * np.inf, np.zeros(1), np.zeros(1), np.zeros(1))
        gain, overhead = one, np.zeros(1)
        if system.network is not None:
            net = system.network
            outside, outside_all_to_all = rails(
                assumed,
                Fabric(
                    behaviour=net.behaviour, nic_bytes_per_s=one * net.nic_bytes_per_s,
                    host_bytes_per_s=one * net.host_bytes_per_s, oversubscription=one * net.oversubscription,
                    nodes=one * nodes, leaf_nodes=one * net.leaf_nodes, spineless=net.spineless,
                ),
            )  # fmt: skip
            gain = one * net.reduction_gain_ratio
            overhead = assumed("rail_only_overhead_fraction") if net.spineless else overhead
        bare = Links(
            self.domain.curves, one, outside, outside_all_to_all, one * system.domain_ranks,
            one * system.node_ranks, overhead, assumed("hierarchical_pipeline_fill_s"), gain, NetworkRatios(),
        )  # fmt: skip
        return network_ratios(self.domain.shelf, bare, None if ranks is None else (ranks, nodes))

    def predict(
        self, operation: Collective, *, message_bytes: Floats, ranks: int, nodes: int = 1,
        in_network: bool | None = None,
    ) -> Prediction:  # fmt: skip
        """Predict one operation over message sizes.

        Args:
            operation: The collective.
            message_bytes: Sizes in nccl-tests' convention, shape (n,).
            ranks: Ranks of the group, 2 or more.
            nodes: Boxes they stand in, evenly; more than one needs a network.
            in_network: False keeps sums out of the switches of the box.

        >>> from planner.catalog.store import open_catalog
        >>> shelf = open_catalog()
        >>> h100 = shelf.entry(Accelerator, "h100-sxm5-80gb")
        >>> box = System(shelf, h100, shelf.entry(ScaleUp, "nvlink-4"), 8, 8)
        >>> found = CollectiveModel(box).predict(
        ...     Collective.ALL_REDUCE, message_bytes=np.array([2.0**28]), ranks=8)
        >>> found.rung.value, bool(4.0e11 < found.busbw_bytes_per_s[0] < 4.6e11)
        ('measured', True)
        """
        near = max(1, ranks // nodes)
        links = self.links(nodes, ranks)
        time = self._time_s(links, operation, message_bytes, ranks, near, in_network)
        group = self.domain.curves.group(operation, near) if near > 1 else None
        rung, width, profile, how = self._standing(operation, group, ranks, nodes, links, in_network)
        spans = nodes > 1
        band = 1.0 + width + self._beyond(links, operation, group, message_bytes, nodes)
        rate = message_bytes / time
        factor = bus_factor(operation, ranks=np.array([float(ranks)]))
        return Prediction(
            time_s=time, low_s=time / band, high_s=time * band, algbw_bytes_per_s=rate,
            busbw_bytes_per_s=rate * factor, extrapolated=_extrapolated(links, operation, group, message_bytes, ranks, nodes),
            limited_by=self._limits(links, operation, message_bytes, ranks, near, time),
            algorithm=self._algorithm(operation, group, spans, in_network), rung=rung, profile=profile, how=how,
        )  # fmt: skip

    def _beyond(
        self, links: Links, operation: Collective, group: GroupCurve | None, message_bytes: Floats, nodes: int
    ) -> Floats:
        """How much wider the band is for each size beyond those measured: by the doubling."""
        least, most = 0.0, np.inf
        if nodes > 1 and operation in links.measured.spans_bytes:
            least, most = links.measured.spans_bytes[operation]
        elif nodes == 1 and group is not None and group.max_bytes > 0:
            least, most = float(group.min_bytes), float(group.max_bytes)
        outside = np.maximum(message_bytes / most, least / np.maximum(message_bytes, 1.0))
        return self._width("doubling") * np.log2(np.maximum(outside, 1.0))

    def _time_s(
        self, links: Links, operation: Collective, message_bytes: Floats, ranks: int, near: int,
        in_network: bool | None,
    ) -> Floats:  # fmt: skip
        count, per_domain = np.array([float(ranks)]), np.array([float(near)])
        if operation is Collective.ALL_TO_ALL:
            return exchange_time_s(
                links, message_bytes=message_bytes, ranks=count, ranks_per_domain=per_domain,
                outside_bytes_ratio=np.ones(1),
            )  # fmt: skip
        if operation is Collective.ALL_REDUCE and in_network is False:
            halves = [
                group_time_s(
                    links, half, message_bytes=message_bytes, ranks=count, ranks_per_domain=per_domain
                )
                for half in (Collective.REDUCE_SCATTER, Collective.ALL_GATHER)
            ]
            start = self.domain.curves.time_s(
                Collective.ALL_GATHER, message_bytes=np.zeros(1), ranks=per_domain
            )
            return halves[0] + halves[1] - start
        return group_time_s(
            links, operation, message_bytes=message_bytes, ranks=count, ranks_per_domain=per_domain
        )

    def _standing(
        self, operation: Collective, group: GroupCurve | None, ranks: int, nodes: int, links: Links,
        in_network: bool | None,
    ) -> tuple[Rung, float, str, str]:  # fmt: skip
        """Rung, half width, profile and words of the weakest part of a prediction."""
        widths = {rung: self._width(rung.value) for rung in Rung}
        if nodes == 1:
            assert group is not None
            exact = group.ranks == ranks
            ring = in_network is False and operation is Collective.ALL_REDUCE
            rung = _weaker(group.rung, Rung.SCALED) if ring or not exact else group.rung
            how = group.how if exact else f"between measured groups; {group.how}"
            if ring:
                how = f"reduce-scatter, then all-gather, no sums in the switch; {how}"
            return rung, max(group.half_width_fraction, widths[rung]), group.profile, how
        inside = f"inside {group.rung.value} ({group.how})" if group is not None else "one rank a box"
        measured = links.measured.groups.get(operation)
        if measured is not None:
            same = measured == (ranks, nodes)
            rung = Rung.MEASURED if same else Rung.SCALED
            said = "measured between these boxes" if same else "scaled from a measured group of boxes"
            return rung, widths[rung], links.measured.profiles[operation], said
        width = max(self._width("network"), group.half_width_fraction if group is not None else 0.0)
        profile = group.profile if group is not None else ""
        return Rung.PHYSICS, width, profile, f"two levels: {inside}; outside from NIC rate and efficiency"

    def _width(self, kind: str) -> float:
        figure, _ = self.system.catalog.figure("performance", f"collective_band_{kind}_fraction")
        return figure.value

    def _limits(
        self, links: Links, operation: Collective, message_bytes: Floats, ranks: int, near: int, time: Floats
    ) -> tuple[str, ...]:
        """What takes most of the time, for each size."""
        nothing = np.zeros(1)
        start = self._time_s(links, operation, nothing, ranks, near, None)
        link = "host memory" if self.system.staged else "scale-up link"
        if ranks == near:
            return tuple(
                "latency" if one > 0.5 else link for one in np.broadcast_to(start / time, message_bytes.shape)
            )
        count, per_domain = np.array([float(ranks)]), np.array([float(near)])
        exchange = operation is Collective.ALL_TO_ALL
        stays = (
            near_exchange_bytes(message_bytes=message_bytes, ranks=count, ranks_per_domain=per_domain)
            if exchange
            else message_bytes
        )
        inside = self.domain.curves.time_s(operation, message_bytes=stays, ranks=per_domain)
        if operation is Collective.SEND_RECEIVE:
            inside = np.zeros(1)  # the slowest pair sends over the network alone
        steps = across_steps(operation, domains=count / per_domain) * links.outside.hop_s
        outward = self._outward_limit(links.outside_all_to_all if exchange else links.outside)
        return tuple(
            "latency" if first > 0.5 else link if within > 0.6 else outward
            for first, within in zip(
                np.broadcast_to(np.maximum(start, steps) / time, message_bytes.shape),
                np.broadcast_to(inside / time, message_bytes.shape),
                strict=True,
            )
        )

    def _outward_limit(self, outside: Link) -> str:
        net = self.system.network
        if net is None:
            return "no network"
        nic = net.nic_bytes_per_s * self.assumed("nic_efficiency_fraction")[0]
        if outside.bytes_per_s[0] < (1.0 - 1e-9) * min(nic, net.host_bytes_per_s):
            return "uplinks"
        return "host slot" if net.host_bytes_per_s <= nic else "NIC"

    def _algorithm(
        self, operation: Collective, group: GroupCurve | None, spans: bool, in_network: bool | None
    ) -> str:
        if spans:
            return "two levels: inside the box, then rails side by side"
        assert group is not None
        if in_network is False and operation is Collective.ALL_REDUCE:
            return "ring"
        if group.rung is Rung.PHYSICS:
            return "sum in the switch" if "switch" in group.how else "ring"
        return "the library's own choice" + (", as measured" if group.rung is Rung.MEASURED else "")


def _extrapolated(
    links: Links,
    operation: Collective,
    group: GroupCurve | None,
    message_bytes: Floats,
    ranks: int,
    nodes: int,
) -> np.ndarray:
    """For each size whether it, or the group, lies beyond what was measured."""
    if nodes > 1 and operation in links.measured.groups:
        (least, most), measured = links.measured.spans_bytes[operation], links.measured.groups[operation]
        beyond = ranks > measured[0] or nodes > measured[1]
    elif group is not None and group.max_bytes > 0:
        least, most, beyond = float(group.min_bytes), float(group.max_bytes), group.beyond_groups
    else:
        return np.zeros(message_bytes.shape, dtype=bool)
    return np.asarray((message_bytes < least) | (message_bytes > most) | beyond)


def _weaker(first: Rung, second: Rung) -> Rung:
    return first if first.place >= second.place else second


__all__ = ["CollectiveModel", "Network", "Prediction", "System"]
