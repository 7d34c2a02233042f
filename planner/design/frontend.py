"""The networks beside the GPUs' own: in-band and storage on pairs of switches, and 1G out-of-band."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

from planner.design.clos import Clos, LeafSplit, leaf_split
from planner.design.clos_search import three_tiers
from planner.design.ports import SwitchPorts, fan_out, refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRequest:
    """A network that every host joins with its ports spread over two switches.

    Args:
        id: Name of the network in messages: inband or storage.
        hosts: Servers on it that all have `ports_per_host`: GPU nodes and management servers.
        ports_per_host: Ports of a host, an even number: half to each switch of a pair.
        port_rate_gbit_per_s: Rate of one port, one direction.
        leaf: Ports of a leaf; `spine` is the same kind where it is left out.
        peer_links: Links between the switches of a lone pair.
        oversubscription: Leaf ports down to ports up at most, where there are spines (two or more).
        extra_ports: Ports of all further equipment together (storage, out-of-band uplinks), half to each switch.
    """

    id: str
    hosts: int
    port_rate_gbit_per_s: float
    leaf: SwitchPorts
    spine: SwitchPorts | None = None
    ports_per_host: int = 2
    peer_links: int = 2
    oversubscription: float = 3.0
    extra_ports: int = 0

    @property
    def key(self) -> str:
        """Field of the scenario that names the switch."""
        return "network.storage.switch" if self.id == "storage" else f"network.{self.id}"


@dataclass(frozen=True, slots=True)
class PairedNetwork:
    """Switches and links of a paired network; cables equal links.

    Attributes:
        leaves: Switches that hosts join, two to a pair.
        spines: Switches that join pairs; at least two where there are any.
        cores: Switches that join pods of spines, where one layer of spines isn't enough.
        host_links: Links of the hosts.
        extra_links: Links of further equipment.
        peer_links: Links between the switches of a lone pair.
        leaf_spine_links: Links between leaves and spines.
        spine_core_links: Links between spines and cores.
        oversubscription: Leaf ports down over ports up, as built.
        shape: Tiers and pods; None for a lone pair.
        rate_gbit_per_s: Rate of a link, one direction.
        ports_down: Most ports of a leaf that hosts and further equipment may take.
    """

    id: str
    leaves: int
    spines: int
    host_links: int
    extra_links: int
    peer_links: int
    leaf_spine_links: int
    oversubscription: float
    why: str
    cores: int = 0
    spine_core_links: int = 0
    shape: Clos | None = None
    rate_gbit_per_s: float = 0.0
    ports_down: int = 0

    @property
    def switches(self) -> int:
        """Leaves, spines and cores."""
        return self.leaves + self.spines + self.cores

    @property
    def cables(self) -> int:
        """Every link as a cable of its own."""
        joined = self.peer_links + self.leaf_spine_links + self.spine_core_links
        return self.host_links + self.extra_links + joined


@dataclass(frozen=True, slots=True)
class OutOfBandNetwork:
    """Management switches, the copper to them, and their uplinks."""

    switches: int
    cables: int
    uplinks: int
    why: str


def design_paired(request: PairedRequest) -> PairedNetwork:
    """Leaves by pairs; spines only where one pair isn't enough, cores where spines of one layer aren't.

    127 nodes with two 200G ports each on 64 x 800G switches broken out fourfold (256 ports):

    >>> built = design_paired(PairedRequest(id="storage", hosts=127, port_rate_gbit_per_s=200.0,
    ...     leaf=SwitchPorts("64x800G", 64, 800.0, 4)))
    >>> built.leaves, built.spines, built.host_links
    (2, 0, 254)

    Raises:
        DesignError: A host has an odd number of ports, or three layers of switches don't hold the ports.
    """
    if request.ports_per_host % 2:
        raise refusal(
            f"{request.id}: an even number of ports on a host is needed, it has {request.ports_per_host}",
            "two ports on each host",
            key=request.key,
        )
    links, extra = request.hosts * request.ports_per_host, request.extra_ports
    rate = request.port_rate_gbit_per_s
    if links + extra == 0:
        return PairedNetwork(request.id, 0, 0, 0, 0, 0, 0, 1.0, "Nothing joins this network.")
    radix = request.leaf.radix(rate)
    per_switch = ceil((links + extra) / 2)
    if per_switch + request.peer_links <= radix:
        why = f"{per_switch:,} ports on each of two switches of {radix:,}: one pair is enough."
        return PairedNetwork(
            request.id, 2, 0, links, extra, request.peer_links, 0, 1.0, why,
            rate_gbit_per_s=rate, ports_down=radix - request.peer_links,
        )  # fmt: skip
    return _paired_with_spines(request, links=links, radix=radix)


def _paired_with_spines(request: PairedRequest, *, links: int, radix: int) -> PairedNetwork:
    split = leaf_split(radix=radix, oversubscription=request.oversubscription)
    ports = links + request.extra_ports
    pairs = ceil(ports / (2 * max(1, split.down)))
    spine = (request.spine or request.leaf).radix(request.port_rate_gbit_per_s)
    shape = _shape(pairs, split, spine)
    if shape is None:
        raise refusal(
            f"{request.id}: {ports:,} ports need {pairs:,} pairs of switches, and three layers of "
            f"{spine:,} ports don't join so many",
            "a switch with more ports",
            "a higher oversubscription",
            "a network of its own for each group of hosts",
            key=request.key,
        )
    above = f" and {shape.cores:,} cores" if shape.cores else ""
    why = f"{ports:,} ports fill {pairs:,} pairs, joined by {shape.spines:,} spines{above}."
    return PairedNetwork(
        request.id, shape.leaves, shape.spines, links, request.extra_ports, 0, shape.leaf_spine_links,
        split.down / shape.uplinks_per_leaf, why, shape.cores, shape.spine_core_links, shape,
        request.port_rate_gbit_per_s, split.down,
    )  # fmt: skip


def _shape(pairs: int, split: LeafSplit, spine: int) -> Clos | None:
    """Two layers with two spines at least, so that one may fail; three where that is too small."""
    spread = fan_out(
        lowers=[(2 * pairs, split.up_wanted)], uplinks_max=split.up_max, upper_ports=spine, uppers_min=2
    )
    if spread is not None:
        return Clos(2, (pairs,), 2, spread.uppers, spread.links_each[0], 0, ())
    return three_tiers(groups=pairs, leaves_per_group=2, split=split, spine_radix=spine, core_radix=spine)


def design_out_of_band(
    *,
    cables: int,
    ports_per_switch: int,
    uplinks_per_switch: int = 2,
    spare_fraction: float = 0.1,
    switches_least: int = 0,
) -> OutOfBandNetwork:
    """1G switches for so many management ports (BMCs, switches' consoles, power strips).

    A tenth of the ports stays free by default; that choice gives 1 and 2 switches of 48 ports for the 29
    and 45 cables of the 4- and 8-node reference pods.

    >>> design_out_of_band(cables=45, ports_per_switch=48).switches
    2
    """
    usable = floor(ports_per_switch * (1.0 - spare_fraction) + 1e-9)
    if cables and usable < 1:
        raise refusal(
            f"{cables:,} management ports need a switch with ports to use, it has {usable}",
            "a switch with more ports",
            key="network.oob",
        )
    needed = -(-cables // usable) if cables else 0
    switches = max(needed, switches_least) if cables else 0
    why = f"{cables:,} management ports at {usable:,} of {ports_per_switch:,} used in each switch."
    if switches > needed:
        why += f" {switches - needed:,} more, since copper doesn't reach from hall to hall."
    return OutOfBandNetwork(switches, cables, switches * uplinks_per_switch, why)
