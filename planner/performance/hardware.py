"""Chip and links of a cluster as the models take them, from catalog figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.arrays import Floats
from planner.catalog.schema import Accelerator, Nic
from planner.catalog.store import Catalog, Entry
from planner.choices import Precision, Topology
from planner.design.cluster import Cluster
from planner.errors import DesignError, Problem, Remedy
from planner.performance.assumed import Assumed, family
from planner.performance.capped import capped
from planner.performance.collectives import Collective, Link
from planner.performance.domain import RATIO_KEY, ScaleUpDomain, accelerator_line, scale_up_domain
from planner.performance.engine_reduce import EngineReduce, engine_reduce
from planner.performance.kernel_ratios import gemm_ratio, memory_ratio
from planner.performance.links import Links, NetworkRatios
from planner.performance.measured_network import network_ratios
from planner.performance.rails import Fabric, rails
from planner.performance.roofline import ChipRates
from planner.performance.spread import spread
from planner.scenario.parts import GroupParts
from planner.units import BITS_PER_BYTE, GIGA, MIB, TERA

PCIE_GBIT_PER_S = {3: "pcie_gen3_x16", 4: "pcie_gen4_x16", 5: "pcie_gen5_x16", 6: "pcie_gen6_x16"}
SPINELESS = (Topology.RAIL_ONLY, Topology.SINGLE_SWITCH, Topology.TORUS, Topology.DIRECT)
"""Topologies in which traffic meets no uplink of a leaf."""
FORMAT = {Precision.BF16: "16bit", Precision.FP8: "fp8", Precision.FP4: "nvfp4"}


@dataclass(frozen=True, slots=True)
class Hardware:
    """What the models need to know of the machine.

    Attributes:
        generation: ``ampere``, ``hopper``, ``blackwell`` or ``other``.
        domain: The scale-up domain with what its curves rest on.
        gemm_ratio: Matrix products of this machine against the one the models know, 1 without a run of its own;
            lower under a power limit.
        cap_ratio: What a power limit set on the accelerators leaves of the rate of their arithmetic, 1 without one.
    """

    generation: str
    chip: ChipRates
    links: Links
    domain: ScaleUpDomain
    gemm_ratio: Floats
    cap_ratio: Floats


def _to_precision(precision: str, workloads: Sequence[int]) -> Remedy:
    """Another arithmetic for every workload that asks for one the accelerator hasn't."""
    edits = [(("workloads", index, "precision"), precision) for index in workloads]
    words = f"precision {precision}"
    return Remedy(words, *edits[0], tuple(edits[1:])) if edits else Remedy(words)


def chip_rates(
    assumed: Assumed,
    accelerator: Entry[Accelerator],
    precision: Precision,
    *,
    workloads: Sequence[int] = (),
) -> ChipRates:
    """Peaks and memory of an accelerator.

    Args:
        workloads: Places of the workloads that ask for the precision, which a remedy would change.

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
                key=f"workloads.{workloads[0]}.precision" if workloads else "workloads.precision",
                remedies=(*(_to_precision(one, workloads) for one in has), Remedy("another accelerator")),
            )
        )
    peak = accelerator_line(ledger, accelerator, field, f"Dense {precision.value} peak", "TFLOP/s")
    wide = accelerator_line(ledger, accelerator, "bf16_tflop_per_s", "Dense bf16 peak", "TFLOP/s")
    memory = accelerator_line(ledger, accelerator, "memory_mib", "Memory as the device reports it", "MiB")
    rate = accelerator_line(ledger, accelerator, "memory_bandwidth_gbyte_per_s", "Memory bandwidth", "GB/s")
    return ChipRates(
        peak_flop_per_s=assumed.use(peak) * TERA,
        peak_16bit_flop_per_s=assumed.use(wide) * TERA,
        memory_bytes_per_s=assumed.use(rate) * GIGA,
        memory_bytes=assumed.use(memory) * MIB,
    )


def hardware(
    assumed: Assumed, cluster: Cluster, precision: Precision, group: GroupParts | None = None
) -> Hardware:
    """Chip and links of a cluster for one arithmetic.

    Args:
        assumed: Takes the lines.
        cluster: What is built.
        precision: Of the matrix products.
        group: Whose machine; the first by default, which is that of all where the plan has servers of one kind.

    Raises:
        DesignError: The accelerator has no such arithmetic.
    """
    group = group or cluster.parts.groups[0]
    generation = family(group.accelerator.item.generation)
    domain = cluster_domain(assumed, cluster, group)
    links = cluster_links(assumed, cluster, domain, group)
    asked = [
        index
        for index, one in enumerate(cluster.parts.loaded.scenario.workloads)
        if one.precision is precision
    ]
    chip = chip_rates(assumed, group.accelerator, precision, workloads=asked)
    limited, own = capped(assumed, cluster, group), second_kind(cluster, group)
    memory = memory_ratio(assumed, domain.shelf, own=own) * limited.memory
    chip = replace(chip, memory_bytes_per_s=chip.memory_bytes_per_s * memory)
    gemm = gemm_ratio(assumed, domain.shelf, precision, own=own) * limited.arithmetic
    return Hardware(generation, chip, links, domain, gemm, limited.arithmetic)


def second_kind(cluster: Cluster, group: GroupParts) -> str:
    """Middle of keys that each kind of accelerator has of its own; empty for that of the first group."""
    own = group.accelerator.item.id
    return "" if own == cluster.parts.groups[0].accelerator.item.id else f"{own}."


def cluster_domain(assumed: Assumed, cluster: Cluster, group: GroupParts | None = None) -> ScaleUpDomain:
    """Scale-up domain of a group's servers, the first by default, with the profiles that the scenario names."""
    group = group or cluster.parts.groups[0]
    family_key, name = RATIO_KEY.rsplit(".", 1)
    return scale_up_domain(
        assumed, group.accelerator, group.scaleup,
        domain_ranks=group.server.item.scaleup_domain_gpus, named=cluster.parts.loaded.scenario.calibration,
        ratio_key=f"{family_key}.{second_kind(cluster, group)}{name}",
    )  # fmt: skip


ENGINES = ("vllm", "sglang", "trtllm")
"""Engines whose all-reduce kernels profiles hold; they take each other's."""


def engine_link(assumed: Assumed, machine: Hardware) -> Link | EngineReduce:
    """All-reduce of serving engines inside the domain: measured, or quicker to start than NCCL's by figures."""
    measured = engine_reduce(machine.domain, *ENGINES)
    if measured is not None:
        return measured
    inside = machine.links.inside
    rate = inside.endless_bytes_per_s(Collective.ALL_GATHER, ranks=np.array([float(inside.sizes[-1])]))
    return Link(
        rate / machine.links.inside_ratio,
        assumed("serving_all_reduce_start_s"),
        assumed("serving_all_reduce_hop_s"),
        assumed("serving_all_reduce_half_rate_bytes"),
    )


def cluster_links(
    assumed: Assumed, cluster: Cluster, scale_up: ScaleUpDomain, group: GroupParts | None = None
) -> Links:
    """The network as one rank of a group, the first by default, sees it."""
    ledger, parts, fabric = assumed.ledger, cluster.parts, cluster.fabric
    group = group or parts.groups[0]
    server = group.server.item
    one = np.ones(1)
    rail_only = fabric.topology is Topology.RAIL_ONLY
    overhead = assumed("rail_only_overhead_fraction") if rail_only else np.zeros(1)
    domain, per_node = one * server.scaleup_domain_gpus, one * (parts.gpus / cluster.nodes)
    inside, ratio, pipeline = scale_up.curves, scale_up.time_ratio, assumed("hierarchical_pipeline_fill_s")
    if not fabric.links or parts.behaviour is None:
        nothing = Link(one * np.inf, np.zeros(1), np.zeros(1), np.zeros(1))
        return Links(
            inside, ratio, nothing, nothing, domain, per_node, np.zeros(1), pipeline, one, NetworkRatios()
        )  # fmt: skip
    nic = assumed.use(ledger["network.nic_rate_gbit_per_s"]) * GIGA / BITS_PER_BYTE
    switchless = spread(fabric)
    pods = fabric.shape is not None and len(fabric.shape.pods) > 1
    dragonfly = pods and fabric.topology is Topology.DRAGONFLY
    outside, outside_all_to_all = rails(
        assumed,
        Fabric(
            behaviour=parts.behaviour,
            nic_bytes_per_s=nic * (fabric.request.nics_per_node * cluster.nodes / parts.gpus),
            host_bytes_per_s=one * host_slot_bytes_per_s(assumed.catalog, group.nic.item),
            oversubscription=assumed.use(ledger["network.leaf.oversubscription"]) if fabric.leaves else one,
            nodes=one * cluster.nodes,
            leaf_nodes=one * max(1, fabric.nodes_per_leaf_group),
            spineless=fabric.topology in SPINELESS,
            pod_nodes=one * fabric.nodes_per_pod if pods else None,
            spine_oversubscription=assumed.use(ledger["design.fabric.spine_oversubscription"])
            if pods
            else one,
            detours_ratio=1.0 / assumed("dragonfly_adversarial_fraction") if dragonfly else one,
            spread=switchless,
            crossing_s=_crossing_s(assumed),
        ),
    )
    bare = Links(
        inside, ratio, outside, outside_all_to_all, domain, per_node, overhead, pipeline, one, NetworkRatios(),
        neighbour_fraction=1.0 if switchless is None else switchless.neighbour_fraction / switchless.ring_fraction,
    )  # fmt: skip
    return network_ratios(scale_up.shelf, bare)


def _crossing_s(assumed: Assumed) -> Floats:
    """Time between halls over the farthest path; the step of a collective waits for its slowest pair."""
    key = "design.floor.crossing_latency_us"
    return assumed.use(assumed.ledger[key]) * 1e-6 if key in assumed.ledger else np.zeros(1)


def host_slot_bytes_per_s(catalog: Catalog, nic: Nic) -> float:
    """Ceiling of the slot a NIC sits in; no ceiling where the catalog doesn't say which slot."""
    name = PCIE_GBIT_PER_S.get(nic.pcie_gen or 0)
    if name is None:
        return float("inf")
    slot, _ = catalog.figure("network", f"{name}_gbit_per_s")
    usable, _ = catalog.figure("network", "pcie_usable_fraction")
    lanes = (nic.pcie_lanes or 16) / 16.0
    return slot.value * usable.value * max(1.0, lanes) * GIGA / BITS_PER_BYTE
