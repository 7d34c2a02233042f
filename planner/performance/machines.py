"""One server of a kind as the models take it, away from any scenario: for measured runs of other machines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from planner.catalog.llm import Model
from planner.catalog.schema import Accelerator, FabricBehaviour, Nic, Server, Switch
from planner.catalog.store import Catalog, Entry
from planner.choices import Precision
from planner.design.cluster import Cluster, draw_cluster
from planner.design.inventory import enter_design
from planner.ledger import Ledger
from planner.performance.assumed import Assumed
from planner.performance.corrections import TrainingConstants
from planner.performance.hardware import Hardware, hardware
from planner.performance.links import Links
from planner.performance.rails import Fabric, rails
from planner.performance.settings import REFERENCE_BLACKWELL, training_constants
from planner.scenario.load import load_text
from planner.scenario.parts import resolve
from planner.units import bytes_per_s

ONE_SERVER = """\
name: one measured server
workloads: [{{id: row, kind: training, model: {model}, precision: {precision}, sequence_tokens: 1}}]
cluster: {{groups: [{{id: row, server: {server}, gpus: {gpus}}}], spare_fraction: 0}}
network: {{topology: none, inband: null, oob: null}}
site: {{location: {site}, cooling: {cooling}, rack_limit_kw: 1000}}
"""
LEAF_SWITCH = "qm9700"
"""Switch whose half of ports is taken for the nodes of a leaf, which measured runs don't state."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One server of a kind, as the models take it.

    Attributes:
        assumed: For further figures of the catalog.
        hardware: Chip and links; outside the scale-up domain there is nothing yet, see `with_network`.
        constants: Corrections of a present-day stack.
        nic_gbit_per_s: Rate of the server's own NICs for each accelerator.
        node_gpus: Accelerators of a node: a server, or a tray of a rack.
    """

    server: Entry[Server]
    assumed: Assumed
    hardware: Hardware
    constants: TrainingConstants
    nic_gbit_per_s: float
    node_gpus: int


class Machines:
    """Machines by server and precision, each drawn once."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._known: dict[tuple[str, Precision], Machine] = {}

    def get(self, server: Entry[Server], precision: Precision) -> Machine:
        """The machine of a server.

        Raises:
            DesignError: The accelerator has no such arithmetic.
        """
        key = (server.item.id, precision)
        if key not in self._known:
            self._known[key] = self._draw(server, precision)
        return self._known[key]

    @cached_property
    def _any_model(self) -> str:
        return self.catalog.ids(Model)[0]

    def _draw(self, server: Entry[Server], precision: Precision) -> Machine:
        item = server.item
        text = ONE_SERVER.format(
            model=self._any_model, precision=precision.value, server=item.id, gpus=item.gpus,
            site="us-virginia", cooling="direct-liquid" if item.cooling == "liquid" else "air",
        )  # fmt: skip
        loaded = load_text(text, Path("measured-row.yaml"))
        cluster: Cluster = draw_cluster(resolve(loaded, self.catalog))
        ledger = Ledger(months=1)
        enter_design(ledger, cluster)
        assumed = Assumed(ledger, self.catalog)
        machine = hardware(assumed, cluster, precision)
        own = cluster.parts.groups[0].accelerator
        nic = self.catalog.get(Nic, item.compute_nics.nic)
        rate = nic.port_rate_gbit_per_s.value * nic.ports * item.compute_nics.count / item.gpus
        return Machine(
            server, assumed, machine, training_constants(assumed, own, machine, precision), rate,
            item.gpus // (item.trays or 1),
        )  # fmt: skip


def with_network(
    machine: Machine, *, nodes: float, nic_gbit_per_s: float, behaviour: str, node_gpus: int
) -> Links:
    """Links of a machine that stands in a network without oversubscription.

    Args:
        machine: One server.
        nodes: Nodes of the job.
        nic_gbit_per_s: Rate of one accelerator, one direction.
        behaviour: How the fabric balances load, an item of the catalog.
        node_gpus: Accelerators of a node of the job.
    """
    assumed = machine.assumed
    switch = assumed.catalog.get(Switch, LEAF_SWITCH)
    outside, outside_all_to_all = rails(
        assumed,
        Fabric(
            behaviour=assumed.catalog.entry(FabricBehaviour, behaviour),
            nic_bytes_per_s=np.array([bytes_per_s(nic_gbit_per_s)]),
            host_bytes_per_s=np.array([np.inf]),
            oversubscription=np.ones(1),
            nodes=np.array([max(nodes, 1.0)]),
            leaf_nodes=np.array([switch.cages * switch.links_per_cage_max / 2.0]),
        ),
    )
    return replace(
        machine.hardware.links,
        outside=outside,
        outside_all_to_all=outside_all_to_all,
        node_ranks=np.array([float(node_gpus)]),
    )


def power_ratios(machine: Machine, *, form: str, limit_w: float | None = None) -> tuple[float, float]:
    """Power limit over that of the part on which rates were found: of the format, and of 16-bit products.

    Args:
        machine: The machine.
        form: Format of the matrix products: ``16bit``, ``fp8`` or ``nvfp4``.
        limit_w: Limit of a variant; the catalog's by default.
    """
    catalog = machine.assumed.catalog
    own = catalog.get(Accelerator, machine.server.item.accelerator)
    if own.tdp_w is None:
        return 1.0, 1.0
    wide = (limit_w or own.tdp_w.value) / own.tdp_w.value
    reference = catalog.get(Accelerator, REFERENCE_BLACKWELL).tdp_w
    if machine.hardware.generation != "blackwell" or form == "16bit" or reference is None:
        return wide, wide
    return wide * own.tdp_w.value / reference.value, wide
