"""The design in JSON: topology, cable schedule, racks, power chain; folded, so that it is small at any size."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from planner.evaluate import Built, Evaluation


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Network(_Strict):
    """The scale-out network in counts; links are port pairs at the endpoint's rate, all planes together."""

    topology: str
    """Topology as built."""
    tiers: int
    """Switch tiers; 0 without switches."""
    planes: int
    """Networks side by side."""
    nodes: int
    """Servers, or trays of rack-scale systems."""
    link_rate_gbit_per_s: float
    """Rate of a link, one direction."""
    oversubscription: float
    """Bandwidth down over bandwidth up of a leaf."""
    switches: dict[str, int]
    """Switches by tier."""
    links: dict[str, int]
    """Links by the tiers they join, those of none left out."""
    ports_free: dict[str, int]
    """Ports with nothing in them, by tier."""


class CableClass(_Strict):
    """Links of one pair of tiers that are ordered in one length."""

    between: str
    """Tiers the links join."""
    parts: str
    """Modules, cable or assembly, by their ids."""
    ordered_m: float
    """Length that is ordered."""
    longest_m: float
    """Longest link among them."""
    links: int
    """Links."""


class RackKind(_Strict):
    """Racks filled alike."""

    holds: str
    """What stands in them."""
    racks: int
    """Racks."""
    items: int
    """Items in all of them."""
    items_per_rack: int
    """Items in a full one."""
    power_kw_max: float
    """Draw of the fullest at peak."""


class PowerStage(_Strict):
    """A ledger line of the chain from the utility to the parts."""

    key: str
    """Ledger key."""
    label: str
    """Name for people."""
    unit: str
    """Unit."""
    value: float
    """Value."""


class Design(_Strict):
    """What is built, folded by likeness."""

    network: Network
    """The scale-out network."""
    cabling: tuple[CableClass, ...]
    """The cable schedule."""
    racks: tuple[RackKind, ...]
    """Racks by kind."""
    power_chain: tuple[PowerStage, ...]
    """Losses and sizes from the utility to the parts, and what moves heat."""


CHAIN = (
    "power.chain.",
    "power.electrical_",
    "power.cooling.",
    "power.cooling_w",
    "power.distribution_loss_w",
)
"""Beginnings of the keys of the power chain."""


def design_output(evaluation: Evaluation) -> dict[str, Any] | None:
    """The design as plain data; None where the plan can't be built."""
    built = evaluation.built
    if built is None:
        return None
    return {
        "network": _network(built),
        "cabling": [
            {
                "between": one.tier, "parts": one.medium, "ordered_m": one.ordered_m,
                "longest_m": round(one.longest_m, 3), "links": one.links,
            }
            for one in built.cluster.cabling.classes
        ],
        "racks": [
            {
                "holds": group.id, "racks": group.racks, "items": group.items,
                "items_per_rack": group.items_per_rack, "power_kw_max": group.power_kw_max,
            }
            for group in built.cluster.layout.groups
        ],
        "power_chain": [
            {"key": line.key, "label": line.label, "unit": line.unit, "value": evaluation.ledger.scalar(line) + 0.0}
            for line in evaluation.ledger
            if line.key.startswith(CHAIN) and line.axis.value == "scalar"
        ],
    }  # fmt: skip


def _network(built: Built) -> dict[str, Any]:
    fabric = built.cluster.fabric
    links = {
        "node-leaf": fabric.node_leaf_links, "leaf-spine": fabric.leaf_spine_links,
        "spine-core": fabric.spine_core_links, "leaf-management": fabric.reserved_links,
    }  # fmt: skip
    if fabric.lateral_tier is not None:
        links[f"{fabric.lateral_tier}-{fabric.lateral_tier}"] = fabric.lateral_links
    return {
        "topology": str(fabric.topology), "tiers": fabric.tiers, "planes": fabric.planes, "nodes": fabric.nodes,
        "link_rate_gbit_per_s": fabric.request.link_rate_gbit_per_s, "oversubscription": fabric.oversubscription,
        "switches": {tier: number for tier, number in built.cluster.switch_counts.items() if number},
        "links": {pair: number for pair, number in links.items() if number},
        "ports_free": {str(one.tier): one.free for one in fabric.tier_ports},
    }  # fmt: skip
