"""One server of a kind as the models take it, away from any scenario: for measured runs of other machines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from planner.catalog.llm import Model
from planner.catalog.schema import Accelerator, FabricBehaviour, Nic, ScaleUp, Server, Switch
from planner.catalog.store import Catalog, Entry
from planner.choices import Precision
from planner.design.cluster import Cluster, draw_cluster
from planner.design.inventory import enter_design
from planner.ledger import Ledger
from planner.performance.assumed import Assumed, family
from planner.performance.collectives import Link
from planner.performance.corrections import TrainingConstants
from planner.performance.domain import scale_up_domain
from planner.performance.hardware import Hardware, chip_rates, hardware
from planner.performance.links import Links, NetworkRatios
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
HOST_GPUS = 8
"""Accelerators of a bare host: what servers of cards hold."""
HOST_LINK = "pcie-5-x16"
"""Between cards that no link of their own joins."""


@dataclass(frozen=True, slots=True)
class Node:
    """Accelerators that share a host, as the models take them.

    Attributes:
        name: Server of the catalog, or the accelerator with the words for a bare host.
        accelerator: What computes.
        assumed: For further figures of the catalog.
        hardware: Chip and links; outside the scale-up domain there is nothing yet, see `with_network`.
        constants: Corrections of a present-day stack.
        node_gpus: Accelerators of a node: a server, or a tray of a rack.
    """

    name: str
    accelerator: Entry[Accelerator]
    assumed: Assumed
    hardware: Hardware
    constants: TrainingConstants
    node_gpus: int


@dataclass(frozen=True, slots=True)
class Machine(Node):
    """One server of the catalog.

    Attributes:
        server: Item of the catalog.
        nic_gbit_per_s: Rate of the server's own NICs for each accelerator.
    """

    server: Entry[Server]
    nic_gbit_per_s: float


class Machines:
    """Machines by server and precision, each drawn once."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._known: dict[tuple[str, Precision], Machine] = {}
        self._bare: dict[tuple[str, Precision, bool], Node] = {}

    def get(self, server: Entry[Server], precision: Precision) -> Machine:
        """The machine of a server.

        Raises:
            DesignError: The accelerator has no such arithmetic.
        """
        key = (server.item.id, precision)
        if key not in self._known:
            self._known[key] = self._draw(server, precision)
        return self._known[key]

    def bare(self, chip: Entry[Accelerator], precision: Precision, *, ranks: int) -> Node:
        """Accelerators on a host that the catalog doesn't know; see `bare_hardware`.

        Raises:
            DesignError: The accelerator has no such arithmetic.
        """
        most = self.catalog.get(ScaleUp, chip.item.scaleup).domain_gpus_max if chip.item.scaleup else None
        key = (chip.item.id, precision, most is not None and ranks > most)
        if key not in self._bare:
            assumed = Assumed(Ledger(months=1), self.catalog)
            found = bare_hardware(assumed, chip, precision, ranks=ranks)
            self._bare[key] = Node(
                f"bare host of {chip.item.id}", chip, assumed, found,
                training_constants(assumed, chip, found, precision), HOST_GPUS,
            )  # fmt: skip
        return self._bare[key]

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
        return Machine(
            item.id, own, assumed, machine, training_constants(assumed, own, machine, precision),
            item.gpus // (item.trays or 1), server, own_nic_gbit_per_s(self.catalog, item),
        )  # fmt: skip


def own_nic_gbit_per_s(catalog: Catalog, server: Server) -> float:
    """Rate of a server's compute NICs for each of its accelerators, one direction."""
    nic = catalog.get(Nic, server.compute_nics.nic)
    return nic.port_rate_gbit_per_s.value * nic.ports * server.compute_nics.count / server.gpus


def bare_hardware(
    assumed: Assumed, chip: Entry[Accelerator], precision: Precision, *, ranks: int
) -> Hardware:
    """Chip and links of accelerators on a host that the catalog doesn't know, with no network.

    Args:
        assumed: Takes the lines.
        chip: Accelerator.
        precision: Arithmetic of the narrowest products.
        ranks: Accelerators that talk to each other; more than the accelerator's own link joins talk over the host's
            slots.

    Raises:
        DesignError: The accelerator has no such arithmetic.
    """
    catalog, one, joined = assumed.catalog, np.ones(1), chip
    link = catalog.entry(ScaleUp, chip.item.scaleup) if chip.item.scaleup else None
    most = link.item.domain_gpus_max if link is not None else None
    if link is None or (most is not None and ranks > most):
        link = catalog.entry(ScaleUp, HOST_LINK)
        unbridged = {"scaleup": link.item.id, "scaleup_gbyte_per_s": None}
        joined = replace(chip, item=chip.item.model_copy(update=unbridged))
    size = max(HOST_GPUS, link.item.domain_gpus_max or 0)
    domain = scale_up_domain(assumed, joined, link, domain_ranks=size)
    nothing = Link(one * np.inf, np.zeros(1), np.zeros(1), np.zeros(1))
    links = Links(
        domain.curves, domain.time_ratio, nothing, nothing, one * size, one * size, np.zeros(1),
        assumed("hierarchical_pipeline_fill_s"), one, NetworkRatios(),
    )  # fmt: skip
    rates = chip_rates(assumed, chip, precision)
    return Hardware(family(chip.item.generation), rates, links, domain, one, one)


def with_network(
    machine: Node, *, nodes: float, nic_gbit_per_s: float, behaviour: str, node_gpus: int
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


def power_ratios(machine: Node, *, form: str, limit_w: float | None = None) -> tuple[float, float]:
    """Power limit over that of the part on which rates were found: of the format, and of 16-bit products.

    Args:
        machine: The machine.
        form: Format of the matrix products: ``16bit``, ``fp8`` or ``nvfp4``.
        limit_w: Limit of a variant; the catalog's by default.
    """
    catalog = machine.assumed.catalog
    own = machine.accelerator.item
    if own.tdp_w is None:
        return 1.0, 1.0
    wide = (limit_w or own.tdp_w.value) / own.tdp_w.value * _cooler(catalog, own, machine.hardware.generation)
    reference = catalog.get(Accelerator, REFERENCE_BLACKWELL).tdp_w
    if machine.hardware.generation != "blackwell" or form == "16bit" or reference is None:
        return wide, wide
    return wide * own.tdp_w.value / reference.value, wide


REFERENCE_PARTS = {"ampere": "a100-sxm4-80gb", "hopper": "h100-sxm5-80gb"}
"""Parts on which the rates of a generation were found."""


def _cooler(catalog: Catalog, own: Accelerator, generation: str) -> float:
    """Power for each FLOP of peak over that of the generation's reference part, where a card has less of it.

    >>> from planner.resources import shipped
    >>> catalog = Catalog([shipped("catalog")])
    >>> [round(_cooler(catalog, catalog.get(Accelerator, one), "hopper"), 2)
    ...     for one in ("h100-pcie-80gb", "h200-sxm-141gb")]
    [0.65, 1.0]
    """
    if generation not in REFERENCE_PARTS:
        return 1.0
    return power_per_flop_ratio(own, catalog.get(Accelerator, REFERENCE_PARTS[generation]))


def power_per_flop_ratio(own: Accelerator, reference: Accelerator) -> float:
    """Power limit for each FLOP of peak over that of a reference part, at most 1; 1 where either states no limit.

    >>> from planner.resources import shipped
    >>> catalog = Catalog([shipped("catalog")])
    >>> cards = [catalog.get(Accelerator, one) for one in ("h100-pcie-80gb", "h100-sxm5-80gb")]
    >>> round(power_per_flop_ratio(*cards), 2)
    0.65
    """
    if own.tdp_w is None or reference.tdp_w is None:
        return 1.0
    each = own.tdp_w.value / own.bf16_tflop_per_s.value
    return min(1.0, each * reference.bf16_tflop_per_s.value / reference.tdp_w.value)
