"""Chip and links of a cluster as the models take them, from catalog figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.catalog.schema import Accelerator, ScaleUp
from planner.catalog.store import Entry
from planner.choices import Precision, Topology
from planner.design.cluster import Cluster
from planner.errors import DesignError, Problem
from planner.ledger import Ledger, Line
from planner.performance.assumed import Assumed, family
from planner.performance.collectives import Link
from planner.performance.layers import Links
from planner.performance.paths import (
    ring_crossing_fraction,
    scale_out_bytes_per_s,
    uniform_crossing_fraction,
)  # fmt: skip
from planner.performance.roofline import ChipRates, power_scaled_share_fraction
from planner.scenario.givens import figure_line
from planner.units import BITS_PER_BYTE, GIGA, MIB, TERA

PCIE_GBIT_PER_S = {3: "pcie_gen3_x16", 4: "pcie_gen4_x16", 5: "pcie_gen5_x16", 6: "pcie_gen6_x16"}
FORMAT = {Precision.BF16: "16bit", Precision.FP8: "fp8", Precision.FP4: "nvfp4"}


@dataclass(frozen=True, slots=True)
class Hardware:
    """What the models need to know of the machine.

    Attributes:
        generation: ``ampere``, ``hopper``, ``blackwell`` or ``other``.
    """

    generation: str
    chip: ChipRates
    links: Links


def chip_rates(assumed: Assumed, accelerator: Entry[Accelerator], precision: Precision) -> ChipRates:
    """Peaks and memory of an accelerator.

    Raises:
        DesignError: It has no such arithmetic.
    """
    ledger, item = assumed.ledger, accelerator.item
    field = f"{precision.value}_tflop_per_s"
    figure = getattr(item, field)
    if figure is None or figure.value <= 0:
        has = [one.value for one in Precision if getattr(item, f"{one.value}_tflop_per_s", None) is not None]
        raise DesignError(
            Problem(
                f"{item.name} has no {precision.value} arithmetic",
                key="workloads.precision",
                remedy=f"choose {' or '.join(has)}, or another accelerator",
            )
        )
    peak = _line(ledger, accelerator, field, f"Dense {precision.value} peak", "TFLOP/s")
    wide = _line(ledger, accelerator, "bf16_tflop_per_s", "Dense bf16 peak", "TFLOP/s")
    memory = _line(ledger, accelerator, "memory_mib", "Memory as the device reports it", "MiB")
    rate = _line(ledger, accelerator, "memory_bandwidth_gbyte_per_s", "Memory bandwidth", "GB/s")
    return ChipRates(
        peak_flop_per_s=assumed.use(peak) * TERA,
        peak_16bit_flop_per_s=assumed.use(wide) * TERA,
        memory_bytes_per_s=assumed.use(rate) * GIGA,
        memory_bytes=assumed.use(memory) * MIB,
    )


def _line(ledger: Ledger, entry: Entry[Accelerator], field: str, label: str, unit: str) -> Line:
    return figure_line(
        ledger, f"accelerator.{entry.item.id}.{field}", f"{label} of {entry.item.name}", unit, entry, field
    )


def hardware(assumed: Assumed, cluster: Cluster, precision: Precision) -> Hardware:
    """Chip and links of a cluster for one arithmetic."""
    group = cluster.parts.groups[0]
    generation = family(group.accelerator.item.generation)
    inside = _inside(assumed, group.accelerator, group.scaleup)
    links = _links(assumed, cluster, inside)
    return Hardware(generation, chip_rates(assumed, group.accelerator, precision), links)


def engine_link(assumed: Assumed, machine: Hardware) -> Link:
    """Link of the serving engines' own all-reduce inside the domain, quicker to start than NCCL's."""
    return Link(
        machine.links.inside.bytes_per_s,
        assumed("serving_all_reduce_start_s"),
        assumed("serving_all_reduce_hop_s"),
        assumed("serving_all_reduce_half_rate_bytes"),
    )


def _inside(assumed: Assumed, accelerator: Entry[Accelerator], scaleup: Entry[ScaleUp] | None) -> Link:
    """Sustained rate in the scale-up domain: measured curves where there are any, else a share of the link."""
    link = scaleup.item.id.replace("-", "") if scaleup is not None else "none"
    measured = link in ("nvlink3", "nvlink4", "nvlink5")
    timing = link if measured else "nvlink4"
    if measured:
        rate = assumed(f"scale_up_bytes_per_s_{link}")
    else:
        rate = _share_of_link(assumed, accelerator, scaleup)
    return Link(
        rate,
        assumed(f"scale_up_start_s_{timing}"),
        assumed(f"scale_up_hop_s_{timing}"),
        assumed(f"scale_up_half_rate_bytes_{timing}"),
    )


def _share_of_link(
    assumed: Assumed, accelerator: Entry[Accelerator], scaleup: Entry[ScaleUp] | None
) -> Floats:
    if accelerator.item.scaleup_gbyte_per_s is not None:
        line = _line(assumed.ledger, accelerator, "scaleup_gbyte_per_s", "Scale-up rate, one way", "GB/s")
        rate = assumed.use(line) * GIGA
    elif scaleup is not None and scaleup.item.gbyte_per_s is not None:
        line = figure_line(
            assumed.ledger, f"scaleup.{scaleup.item.id}.gbyte_per_s", f"Rate of {scaleup.item.name}, one way",
            "GB/s", scaleup, "gbyte_per_s",
        )  # fmt: skip
        rate = assumed.use(line) * GIGA
    else:
        return assumed.ledger.value("network.nic_rate_gbit_per_s") * GIGA / BITS_PER_BYTE
    if scaleup is not None and scaleup.item.link_efficiency_fraction is not None:
        share = figure_line(
            assumed.ledger, f"scaleup.{scaleup.item.id}.link_efficiency_fraction",
            f"Sustained share of {scaleup.item.name}", "fraction", scaleup, "link_efficiency_fraction",
        )  # fmt: skip
        return np.asarray(rate * assumed.use(share))
    return np.asarray(rate * assumed("scale_up_share_of_link_fraction"))


def _links(assumed: Assumed, cluster: Cluster, inside: Link) -> Links:
    ledger, parts, fabric = assumed.ledger, cluster.parts, cluster.fabric
    server = parts.groups[0].server.item
    one = np.ones(1)
    rail_only = fabric.topology is Topology.RAIL_ONLY
    overhead = assumed("rail_only_overhead_fraction") if rail_only else np.zeros(1)
    domain, per_node = one * server.scaleup_domain_gpus, one * (parts.gpus / cluster.nodes)
    if not fabric.leaves or parts.behaviour is None:
        return Links(inside, inside, inside, domain, per_node, np.zeros(1))
    behaviour = parts.behaviour
    efficiency = figure_line(
        ledger, "network.bandwidth_efficiency_fraction", f"Share of uplinks that {behaviour.item.name} delivers",
        "fraction", behaviour, "bandwidth_efficiency_fraction",
    )  # fmt: skip
    hop = figure_line(
        ledger,
        "network.hop_latency_us",
        f"Switch hop of {behaviour.item.name}",
        "us",
        behaviour,
        "hop_latency_us",
    )
    nic = assumed.use(ledger["network.nic_rate_gbit_per_s"]) * GIGA / BITS_PER_BYTE
    per_gpu = nic * (fabric.request.nics_per_node * cluster.nodes / parts.gpus)
    oversubscription = assumed.use(ledger["network.leaf.oversubscription"])
    leaf_nodes = one * max(1, fabric.nodes_per_leaf_group)
    nodes = one * cluster.nodes
    host = _host_bytes_per_s(assumed, cluster)
    reference = assumed("spine_efficiency_fraction_adaptive_infiniband")
    spine_free = fabric.topology in (Topology.RAIL_ONLY, Topology.SINGLE_SWITCH)

    def outside(crossing: Floats) -> Link:
        return Link(
            scale_out_bytes_per_s(
                nic_bytes_per_s=per_gpu,
                host_bytes_per_s=host,
                nic_efficiency_fraction=assumed("nic_efficiency_fraction"),
                spine_efficiency_fraction=assumed.use(efficiency) / reference,
                oversubscription=oversubscription,
                crossing_fraction=np.zeros(1) if spine_free else crossing,
            ),
            assumed("scale_out_start_s_infiniband"),
            assumed("scale_out_hop_s") + assumed.use(hop) * 1e-6,
            assumed("scale_out_half_rate_bytes"),
        )

    return Links(
        inside,
        outside(ring_crossing_fraction(nodes=nodes, nodes_per_leaf=leaf_nodes)),
        outside(uniform_crossing_fraction(nodes=nodes, nodes_per_leaf=leaf_nodes)),
        domain,
        per_node,
        overhead,
    )


def _host_bytes_per_s(assumed: Assumed, cluster: Cluster) -> Floats:
    """Ceiling of the slot a NIC sits in; no ceiling where the catalog doesn't say which slot."""
    nic = cluster.parts.groups[0].nic.item
    name = PCIE_GBIT_PER_S.get(nic.pcie_gen or 0)
    if name is None:
        return np.array([np.inf])
    slot, _ = assumed.catalog.figure("network", f"{name}_gbit_per_s")
    usable, _ = assumed.catalog.figure("network", "pcie_usable_fraction")
    lanes = (nic.pcie_lanes or 16) / 16.0
    return np.array([slot.value * usable.value * max(1.0, lanes) * GIGA / BITS_PER_BYTE])


def gemm_share(assumed: Assumed, cluster: Cluster, generation: str, precision: Precision) -> Floats:
    """Sustained share of peak of large matrix products.

    Blackwell's narrow formats follow the power limit against B200's, on which they were found.
    """
    form = FORMAT[precision]
    share = assumed.first_of(
        f"gemm_share_of_peak_{generation}_{form}_fraction",
        f"gemm_share_of_peak_other_{'16bit' if form == '16bit' else 'fp8'}_fraction",
    )
    accelerator = cluster.parts.groups[0].accelerator
    if generation != "blackwell" or precision is Precision.BF16 or accelerator.item.tdp_w is None:
        return share
    reference = assumed.catalog.entry(Accelerator, "b200-sxm-180gb")
    assert reference.item.tdp_w is not None
    own = _line(assumed.ledger, accelerator, "tdp_w", "Power limit", "W")
    base = _line(assumed.ledger, reference, "tdp_w", "Power limit", "W")
    return power_scaled_share_fraction(
        share_of_peak_fraction=share,
        power_w=assumed.use(own),
        reference_power_w=assumed.use(base),
        exponent=assumed("power_exponent"),
    )
