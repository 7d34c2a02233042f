"""Parts of the compute fabric that can fail: how many, how often, and what waits for their repair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import Any

import numpy as np

from planner.catalog.schema import OpticalEngine
from planner.catalog.store import Entry
from planner.design.cabling import CablingRow, MediumKind
from planner.design.cluster import TIERS
from planner.evaluate import Built
from planner.study.optics_spares import gpus_hit

NODE_SIDE = "node-leaf"
FABRIC = {"node", *TIERS}
"""Ends of links that belong to the compute fabric."""


class PartKind(StrEnum):
    """Kinds by which failures are added up."""

    MODULE = "modules"
    CABLE = "cables"
    SWITCH = "switches"
    ENGINE = "engines"
    LASER = "lasers"


ASSUMED = {
    PartKind.MODULE: ("optics_afr_fraction", "Pluggable modules that fail in a year"),
    PartKind.SWITCH: ("switch_afr_fraction", "Switches that fail in a year"),
    PartKind.ENGINE: ("cpo_engine_afr_fraction", "Co-packaged engines that fail in a year"),
    PartKind.LASER: ("laser_module_afr_fraction", "External laser modules that fail in a year"),
}
"""Rates of network.yaml for parts whose items state none."""
OWN_RATE = {PartKind.ENGINE: "afr_fraction", PartKind.LASER: "laser_module_afr_fraction"}
COPPER = ("copper_afr_fraction", "Copper cables that fail in a year")
ACTIVE = ("aoc_afr_fraction", "Active optical cables that fail in a year")


@dataclass(frozen=True, slots=True)
class Breakable:
    """A kind of part in one place of the fabric.

    Attributes:
        slug: Middle of its ledger keys.
        entry: Item whose failure rate counts, where it states one in ``rate_field``.
        assumed: Key and label of the rate otherwise.
        spare: What is kept in stock and exchanged; parts of one name share a stock. Empty where the whole
            switch around it is exchanged.
        gpus: GPUs that wait while it is repaired.
        whole_switch: Whether its repair is the exchange of a switch.
    """

    slug: str
    label: str
    kind: PartKind
    entry: Entry[Any]
    rate_field: str
    assumed: tuple[str, str]
    count: int
    spare: str
    gpus: float
    whole_switch: bool


def breakables(built: Built) -> tuple[Breakable, ...]:
    """Every kind of part of the compute fabric that fails; fibre itself is taken not to."""
    return (*_cabling(built), *_switches(built))


def _cabling(built: Built) -> Iterator[Breakable]:
    cluster = built.cluster
    for row in cluster.cabling.rows:
        if not set(row.tier.split("-")) <= FABRIC:
            continue  # in-band, storage and management networks are the same in every variant
        bought = cluster.media[(row.tier, row.medium)]
        if row.kind is MediumKind.TRANSCEIVER_PAIR:
            for entry, number, end in (
                (bought.lower, row.modules_lower, "lower"),
                (bought.upper, row.modules_upper, "upper"),
            ):
                if entry is not None and number:
                    yield _module(built, row, entry, number, end)
            continue
        item = bought.cable.item
        yield Breakable(
            f"{row.tier}.{item.id}", f"{item.name}, {row.tier}", PartKind.CABLE, bought.cable, "afr_fraction",
            COPPER if row.kind.is_copper else ACTIVE, row.cables, item.id,
            _waiting(built, row.tier, row.links / max(1, row.cables)), False,
        )  # fmt: skip


def _module(built: Built, row: CablingRow, entry: Entry[Any], number: int, end: str) -> Breakable:
    links = row.links / number
    return Breakable(
        f"{row.tier}.{end}.{_short(row.medium)}.{entry.item.id}", f"{entry.item.name}, {row.tier}", PartKind.MODULE,
        entry, "afr_fraction", ASSUMED[PartKind.MODULE], number, entry.item.id,
        _waiting(built, row.tier, links), False,
    )  # fmt: skip


def _short(medium: str) -> str:
    return medium.replace(" + ", "+").replace(" ", "-")


def _waiting(built: Built, tier: str, links: float) -> float:
    """GPUs behind node links; links between switches have others beside them, so nothing waits."""
    if tier != NODE_SIDE:
        return 0.0
    fabric = built.cluster.fabric
    return float(
        gpus_hit(
            links=np.array(links), gpus_per_node=np.array(float(fabric.request.gpus_per_node)),
            planes=np.array(float(fabric.planes)), gpus_max=np.array(float(fabric.gpus_per_leaf)),
        )
    )  # fmt: skip


def _switches(built: Built) -> Iterator[Breakable]:
    cluster = built.cluster
    for tier, part in zip(TIERS, cluster.parts.tiers, strict=False):
        count = cluster.switch_counts[tier]
        if not count:
            continue
        item, leaf = part.switch.item, tier == "leaf"
        behind = _waiting(built, NODE_SIDE, float(cluster.fabric.leaf_down_ports)) if leaf else 0.0
        yield Breakable(
            f"{tier}.{item.id}", f"{item.name}, {tier}", PartKind.SWITCH, part.switch, "", ASSUMED[PartKind.SWITCH],
            count, item.id, behind, True,
        )  # fmt: skip
        if item.optics is None:
            continue
        engine = cluster.parts.catalog.entry(OpticalEngine, item.optics)
        ports = ceil(cluster.fabric.radix / max(1, item.laser_modules)) if leaf else 0
        down = cluster.fabric.leaf_down_ports / max(1, cluster.fabric.radix)
        for kind, each, gpus, name in (
            (PartKind.ENGINE, item.engines, behind, "engines"),
            (
                PartKind.LASER,
                item.laser_modules,
                _waiting(built, NODE_SIDE, ports * down) if leaf else 0.0,
                "lasers",
            ),
        ):
            if each:
                yield Breakable(
                    f"{tier}.{engine.item.id}.{name}", f"{engine.item.name}, {name}, {tier}", kind, engine,
                    OWN_RATE[kind], ASSUMED[kind], count * each,
                    "" if kind is PartKind.ENGINE else f"{engine.item.id}.{name}", gpus, kind is PartKind.ENGINE,
                )  # fmt: skip
