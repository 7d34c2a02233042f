"""The catalog for a what-if: switches that stand in for another, and roadmap parts as if they could be ordered.

A roadmap part never enters an order. To say what it would be worth, it is evaluated under a price at parity with
what it replaces and, where its maker gives no power, under a saving that is an estimate of its own; both say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from planner.catalog.figure import Figure
from planner.catalog.item import Item
from planner.catalog.schema import Switch, Transceiver
from planner.catalog.store import Catalog, Entry
from planner.sourced import Basis

T = TypeVar("T", bound=Item)

PORT_GBIT_PER_S = 800.0
"""Rate of the port that the catalog's saving of co-packaged optics is stated for."""


class WhatIfShelf(Catalog):
    """A catalog in which some items read otherwise."""

    def __init__(self, base: Catalog, items: Mapping[tuple[str, str], Item]) -> None:
        super().__init__(base.folders)
        self.base, self.items = base, dict(items)

    def entry(self, kind: type[T], item_id: str) -> Entry[T]:
        """One item; where it was changed, the changed one with the file it stems from."""
        found = self.base.entry(kind, item_id)
        other = self.items.get((kind.family, item_id))
        if other is None:
            return found
        assert isinstance(other, kind)
        return replace(found, item=other)

    def used(self) -> tuple[tuple[str, str, str], ...]:
        """Family, id and content hash of every item read so far, sorted."""
        return self.base.used()


def as_printed(catalog: Catalog, switch: str) -> Switch:
    """A switch as the catalog has it, whatever a what-if says of it."""
    base = catalog.base if isinstance(catalog, WhatIfShelf) else catalog
    return base.get(Switch, switch)


def links_per_cage(switch: Switch, link_gbit_per_s: float) -> int:
    """Links of a rate that a cage carries; 0 where the cage is slower than the link."""
    return min(switch.links_per_cage_max, int(switch.cage_rate_gbit_per_s // link_gbit_per_s))


def radix(switch: Switch, link_gbit_per_s: float) -> int:
    """Ports of a switch at a link's rate."""
    return switch.cages * links_per_cage(switch, link_gbit_per_s)


def not_orderable(item: Item, day: str) -> str:
    """Why a part can't be ordered on a day; empty where it can.

    >>> from planner.catalog.store import open_catalog
    >>> shelf = open_catalog()
    >>> not_orderable(shelf.get(Switch, "q3450"), "2026-01-15"), not_orderable(shelf.get(Switch, "q3450"), "2026-11")
    ('can be ordered from 2026-06', '')
    """
    if not item.orderable:
        return item.why_not_orderable or "a roadmap part"
    if item.available is not None and item.available > day[: len(item.available)]:
        return f"can be ordered from {item.available}"
    return ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a stand-in has to be: co-packaged, linear-capable, or plain pluggable."""

    packaged: bool
    linear: bool = False

    def fits(self, catalog: Catalog, switch: Switch) -> bool:
        """Whether a switch is of that kind."""
        if self.packaged:
            return switch.optics is not None
        return switch.optics is None and (not self.linear or bool(linear_modules(catalog, switch)))


def linear_modules(catalog: Catalog, switch: Switch) -> tuple[str, ...]:
    """Modules without a signal processor that a switch takes."""
    return tuple(name for name in switch.modules if catalog.get(Transceiver, name).linear)


def sibling(
    catalog: Catalog, switch: Switch, wanted: Wanted, link_gbit_per_s: float, day: str
) -> Entry[Switch] | None:
    """The switch that stands in for another: same protocol, ports at the link's rate, and lane rate.

    Itself where it is of the wanted kind; else one that can be ordered on the day goes first, then one with a
    price, the same chip, the same maker, and the id.
    """
    if wanted.fits(catalog, switch):
        return catalog.entry(Switch, switch.id)
    ports = radix(switch, link_gbit_per_s)
    found = [
        entry
        for entry in (catalog.entry(Switch, name) for name in catalog.ids(Switch))
        if entry.item.fabric is switch.fabric
        and entry.item.lane_rate_gbit_per_s == switch.lane_rate_gbit_per_s
        and radix(entry.item, link_gbit_per_s) == ports
        and wanted.fits(catalog, entry.item)
    ]

    def rank(entry: Entry[Switch]) -> tuple[bool, bool, bool, bool, str]:
        item = entry.item
        return (
            bool(not_orderable(item, day)), item.price_usd is None, item.asic != switch.asic,
            item.vendor != switch.vendor, item.id,
        )  # fmt: skip

    return min(found, key=rank, default=None)


def cheapest_module(catalog: Catalog, switch: Switch) -> Transceiver | None:
    """The retimed module of a switch with the lowest price; none where no module has one."""
    found = [
        (module.price_usd.value, name, module)
        for name in switch.modules
        if not (module := catalog.get(Transceiver, name)).linear and module.price_usd is not None
    ]
    return min(found, default=(0.0, "", None), key=lambda one: one[:2])[2]


def as_if_orderable(catalog: Catalog, part: Switch, instead_of: Switch) -> tuple[Switch, tuple[str, ...]]:
    """A roadmap switch with what an evaluation needs, and what was assumed for it.

    Price: that of the pluggable switch and a module in each of its cages. Power: the same sum less the saving that
    the catalog has for each 800 Gbit/s of ports.
    """
    module = cheapest_module(catalog, instead_of)
    changes: dict[str, object] = {"orderable": True, "available": None}
    said = []
    if part.price_usd is None and module is not None and module.price_usd and instead_of.price_usd:
        changes["price_usd"] = _sum(
            instead_of.price_usd, module.price_usd, instead_of.cages, _parity(instead_of, module)
        )
        said.append(f"price of {part.id}: {_parity(instead_of, module)}")
    if part.power_typical_w is None and module is not None and instead_of.power_typical_w:
        saving, _ = catalog.figure("network", "cpo_power_saving_per_800g_port_w")
        ports = part.cages * part.cage_rate_gbit_per_s / PORT_GBIT_PER_S
        note = (
            f"no power of {part.id} is public; {_parity(instead_of, module)}, less {saving.value:g} W for each "
            f"800 Gbit/s port ({saving.note})"
        )
        whole = _sum(instead_of.power_typical_w, module.power_w, instead_of.cages, note)
        changes["power_typical_w"] = _less(whole, saving, ports)
        said.append(note)
    return part.model_copy(update=changes), tuple(said)


def by_claim(catalog: Catalog, part: Switch, instead_of: Switch) -> Switch:
    """A co-packaged switch that saves of its optics' power what its maker claims."""
    module = cheapest_module(catalog, instead_of)
    claim, _ = catalog.figure("network", "claim_cpo_saving_of_optics_power_fraction")
    if module is None or instead_of.power_typical_w is None:
        return part
    watts = instead_of.power_typical_w.value + instead_of.cages * module.power_w.value * (1 - claim.value)
    figure = Figure(
        value=watts, source=claim.source, basis=Basis.CLAIM, as_of=claim.as_of,
        note=f"{instead_of.id} and {1 - claim.value:.0%} of the power of its {instead_of.cages} modules ({claim.note})",
    )  # fmt: skip
    return part.model_copy(update={"power_typical_w": figure, "power_max_w": None})


def _parity(switch: Switch, module: Transceiver) -> str:
    return f"parity with {switch.id} and its {switch.cages} modules {module.id}"


def _range(figure: Figure) -> tuple[float, float]:
    low = figure.value if figure.low is None else figure.low
    return low, figure.value if figure.high is None else figure.high


def _sum(one: Figure, each: Figure, times: float, note: str) -> Figure:
    (low, high), (low_each, high_each) = _range(one), _range(each)
    return Figure(
        value=one.value + times * each.value, low=low + times * low_each, high=high + times * high_each,
        source=one.source, basis=Basis.ESTIMATE, as_of=one.as_of, verified=False, note=note,
    )  # fmt: skip


def _less(whole: Figure, each: Figure, times: float) -> Figure:
    (low, high), (low_each, high_each) = _range(whole), _range(each)
    value = max(whole.value - times * each.value, 0.0)
    return whole.model_copy(
        update={
            "value": value,
            "low": min(value, max(low - times * high_each, 0.0)),
            "high": max(value, high - times * low_each),
        }
    )
