"""The design in JSON: topology, cable schedule, racks, power chain; folded, so that it is small at any size."""

from __future__ import annotations

from typing import Any

from planner.evaluate import Built, Evaluation

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
