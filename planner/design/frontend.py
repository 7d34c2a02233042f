"""The networks beside the GPUs' own: in-band and storage on pairs of switches, and 1G out-of-band."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

from planner.design.clos import leaf_split
from planner.design.ports import SwitchPorts, fan_out, refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRequest:
    """A network that every host joins with its ports spread over two switches.

    Args:
        id: Name of the network in messages.
        hosts: Servers on it: GPU nodes, storage and management servers.
        ports_per_host: Ports of a host, an even number: half to each switch of a pair.
        port_rate_gbit_per_s: Rate of one port, one direction.
        leaf: Ports of a leaf; `spine` is the same kind where it is left out.
        peer_links: Links between the switches of a lone pair.
        oversubscription: Leaf ports down to ports up at most, where there are spines (two or more).
        extra_ports: Ports for further equipment (out-of-band uplinks, other hosts), all switches together.
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


@dataclass(frozen=True, slots=True)
class PairedNetwork:
    """Switches and links of a paired network; cables equal links."""

    id: str
    leaves: int
    spines: int
    host_links: int
    extra_links: int
    peer_links: int
    leaf_spine_links: int
    oversubscription: float
    why: str

    @property
    def switches(self) -> int:
        """Leaves and spines."""
        return self.leaves + self.spines

    @property
    def cables(self) -> int:
        """Every link as a cable of its own."""
        return self.host_links + self.extra_links + self.peer_links + self.leaf_spine_links


@dataclass(frozen=True, slots=True)
class OutOfBandNetwork:
    """Management switches, the copper to them, and their uplinks."""

    switches: int
    cables: int
    uplinks: int
    why: str


def design_paired(request: PairedRequest) -> PairedNetwork:
    """Leaves by pairs; spines only where one pair isn't enough.

    127 nodes with two 200G ports each on 64 x 800G switches broken out fourfold (256 ports):

    >>> built = design_paired(PairedRequest(id="storage", hosts=127, port_rate_gbit_per_s=200.0,
    ...     leaf=SwitchPorts("64x800G", 64, 800.0, 4)))
    >>> built.leaves, built.spines, built.host_links
    (2, 0, 254)
    """
    if request.ports_per_host % 2:
        raise refusal(
            f"{request.id}: an even number of ports on a host is needed, it has {request.ports_per_host}",
            "two ports on each host",
            key=f"network.{request.id}",
        )
    links, extra = request.hosts * request.ports_per_host, request.extra_ports
    if links + extra == 0:
        return PairedNetwork(request.id, 0, 0, 0, 0, 0, 0, 1.0, "Nothing joins this network.")
    radix = request.leaf.radix(request.port_rate_gbit_per_s)
    per_switch = ceil((links + extra) / 2)
    if per_switch + request.peer_links <= radix:
        why = f"{per_switch:,} ports on each of two switches of {radix:,}: one pair is enough."
        return PairedNetwork(request.id, 2, 0, links, extra, request.peer_links, 0, 1.0, why)
    return _paired_with_spines(request, links=links, radix=radix)


def _paired_with_spines(request: PairedRequest, *, links: int, radix: int) -> PairedNetwork:
    split = leaf_split(radix=radix, oversubscription=request.oversubscription)
    pairs = ceil((links + request.extra_ports) / (2 * max(1, split.down)))
    spine = (request.spine or request.leaf).radix(request.port_rate_gbit_per_s)
    spread = fan_out(
        lowers=[(2 * pairs, split.up_wanted)], uplinks_max=split.up_max, upper_ports=spine, uppers_min=2
    )
    if spread is None:
        raise refusal(
            f"{request.id}: a spine needs {2 * pairs:,} ports, has {spine:,}",
            "a switch with more ports",
            "a higher oversubscription",
            "a network of its own for each group of hosts",
            key=f"network.{request.id}",
        )
    spines = spread.uppers
    uplinks_each = spines * spread.links_each[0]
    uplinks = 2 * pairs * uplinks_each
    why = f"{links + request.extra_ports:,} ports fill {pairs:,} pairs, joined by {spines:,} spines."
    built = split.down / uplinks_each
    return PairedNetwork(request.id, 2 * pairs, spines, links, request.extra_ports, 0, uplinks, built, why)


def design_out_of_band(
    *,
    cables: int,
    ports_per_switch: int,
    uplinks_per_switch: int = 2,
    spare_fraction: float = 0.1,
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
    switches = -(-cables // usable) if cables else 0
    why = f"{cables:,} management ports at {usable:,} of {ports_per_switch:,} used in each switch."
    return OutOfBandNetwork(switches, cables, switches * uplinks_per_switch, why)
