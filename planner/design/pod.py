"""The networks beside a fabric that stands alone: in-band pair, management servers, 1G copper, as a bill counts them."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.schema import Nic, Switch
from planner.catalog.store import Catalog, Entry
from planner.design.beside import class_rate_key, console_ports, switch_ports
from planner.design.fabric_parts import FabricDesign
from planner.design.frontend import (
    OutOfBandNetwork,
    PairedNetwork,
    PairedRequest,
    design_out_of_band,
    design_paired,
)
from planner.design.management import Management, consoles, design_management

TWIN = 2
"""Links of a twin-port cage."""


@dataclass(frozen=True, slots=True)
class Pod:
    """A fabric and what is billed beside it: no storage, and no strips of racks, since neither is known.

    Attributes:
        host_links: In-band links of a node or of a management server.
    """

    fabric: FabricDesign
    fabric_switch: str
    inband: PairedNetwork
    inband_switch: str
    oob: OutOfBandNetwork
    oob_switch: str
    management: Management
    host_links: int

    def to_json(self) -> dict[str, int]:
        """Counts under the names of the published reference tables, switches under their models'.

        A printed fibre of the table is a twin cage at a node, which carries two links.
        """
        rate = f"{self.inband.rate_gbit_per_s:g}g"
        switches: dict[str, int] = {}
        for name, count in (
            (self.fabric_switch, self.fabric.switches),
            (self.inband_switch, self.inband.switches),
            (self.oob_switch, self.oob.switches),
        ):
            switches[f"{name}_count"] = switches.get(f"{name}_count", 0) + count
        return {
            **switches,
            **self._twin_cages(),
            "cat6_count": self.oob.cables,
            f"aoc_{rate}_inband_count": self.fabric.nodes * self.host_links,
            "inband_isl_count": self.inband.peer_links,
            "inband_leaf_spine_links_count": self.inband.leaf_spine_links,
            "aoc_100g_oob_uplink_count": self.oob.uplinks,
            "mgmt_servers_count": self.management.servers,
            f"aoc_{rate}_mgmt_count": self.management.servers * self.host_links,
            "fabric_managers_count": self.management.managers,
        }

    def _twin_cages(self) -> dict[str, int]:
        """Cages of a fabric of two switches with twin-port cages; empty of any other, whose bill isn't printed so."""
        ports = self.fabric.request.leaf
        if not self.fabric.request.paired or ports.ports_per_cage != TWIN:
            return {}
        cages = -(-self.fabric.node_leaf_links // TWIN)
        return {
            "ndr_fibre_printed_count": cages,
            "node_twin_transceivers_count": cages,
            "switch_twin_transceivers_count": cages,
            "isl_twin_dac_count": self.fabric.lateral_cables,
        }


def design_pod(
    catalog: Catalog, *, fabric: FabricDesign, inband: Entry[Switch], oob: Entry[Switch], nic: Nic
) -> Pod:
    """What is billed beside a fabric: two in-band links a node, management servers, copper to every box.

    The published pod of four eight-GPU nodes:

    >>> from planner.catalog.store import open_catalog
    >>> from planner.design.fabric import FabricRequest, design_fabric
    >>> catalog = open_catalog()
    >>> leaf, inband, oob = (catalog.entry(Switch, name) for name in ("qm9700", "sn4600c", "sn2201"))
    >>> fabric = design_fabric(FabricRequest(gpus=32, gpus_per_node=8, nics_per_node=8,
    ...     nic_rate_gbit_per_s=400.0, leaf=switch_ports(leaf), paired=True))
    >>> pod = design_pod(catalog, fabric=fabric, inband=inband, oob=oob, nic=catalog.get(Nic, "connectx-7-400g"))
    >>> pod.oob.cables, pod.oob.switches, pod.inband.switches, pod.management.servers
    (29, 1, 2, 5)

    Args:
        catalog: Where practices are looked up: links to a node, management servers, free ports.
        fabric: The compute fabric.
        inband: Switch of the in-band network.
        oob: Switch of the out-of-band network.
        nic: Adapter of the fabric, whose generation says how fast the front-end links are.

    Raises:
        DesignError: The in-band switch has too few ports.
    """

    def figure(key: str) -> float:
        return catalog.figure("network", key)[0].value

    each, nodes = int(figure("north_south_links_per_node_count")), fabric.nodes
    management = design_management(
        nodes=nodes, inband=True, servers_wanted=int(figure("management_servers_count")),
        managers_per_fabric=int(figure("ufm_appliances_per_fabric_count")), fabrics=fabric.planes,
        fabric_links=fabric.reserved_links,
    )  # fmt: skip
    pair, copper = None, design_out_of_band(cables=0, ports_per_switch=oob.item.cages)
    while pair is None or pair.extra_links != copper.uplinks:
        pair = design_paired(
            PairedRequest(
                id="inband", hosts=nodes + management.servers, leaf=switch_ports(inband), ports_per_host=each,
                port_rate_gbit_per_s=min(figure(class_rate_key(nic)), inband.item.cage_rate_gbit_per_s),
                peer_links=int(figure("inband_peer_links_count")),
                oversubscription=figure("inband_oversubscription_ratio"), extra_ports=copper.uplinks,
            )
        )  # fmt: skip
        reached = consoles(
            console_ports(catalog), nodes=nodes, management=management,
            switches=(("leaf", fabric.switches), ("inband", pair.switches)),
        )  # fmt: skip
        copper = design_out_of_band(
            cables=sum(one.ports for one in reached), ports_per_switch=oob.item.cages,
            uplinks_per_switch=int(figure("oob_uplinks_per_switch_count")),
            spare_fraction=figure("oob_spare_ports_fraction"),
        )  # fmt: skip
    return Pod(fabric, fabric.request.leaf.id, pair, inband.item.id, copper, oob.item.id, management, each)
