"""Other parts of the catalog that could be bought in place of one: second sources and ways out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from planner.catalog.item import Item
from planner.catalog.schema import Cable, CableKind, Nic, Server, Switch, Transceiver
from planner.catalog.store import Catalog
from planner.errors import CatalogError

MOST_NAMED: Final = 3


def _server(item: Any) -> tuple[Any, ...]:
    return item.accelerator, item.gpus, item.scaleup_domain_gpus, item.cooling


def _nic(item: Any) -> tuple[Any, ...]:
    return item.port_rate_gbit_per_s.value, item.ports, item.cage


def _switch(item: Any) -> tuple[Any, ...]:
    return item.fabric, item.cages, item.cage_rate_gbit_per_s, item.ports_per_cage, item.optics is None


def _module(item: Any) -> tuple[Any, ...]:
    return (
        item.rate_gbit_per_s.value, item.links, item.cage, item.medium, item.fibres, item.wavelengths, item.linear,
        item.coherent,
    )  # fmt: skip


def _cable(item: Any) -> tuple[Any, ...]:
    rate = None if item.rate_gbit_per_s is None else item.rate_gbit_per_s.value
    # fibre of one connector doesn't stand in for another's, and the catalog tells them apart by id alone
    plug = item.id if item.kind in (CableKind.FIBRE, CableKind.TRUNK) else ""
    return item.kind, rate, item.links, item.medium, plug


_FORMS: Final[dict[type[Item], Callable[[Any], tuple[Any, ...]]]] = {
    Server: _server, Nic: _nic, Switch: _switch, Transceiver: _module, Cable: _cable,
}  # fmt: skip
"""What has to agree for one part to stand in another's place: rate and form."""


def orderable(item: Item, on: str) -> bool:
    """Whether an order can be placed on a day.

    >>> orderable(Item(id="a", name="A", available="2027-03"), "2027-02-28")
    False
    """
    return item.orderable and (item.available is None or item.available <= on[: len(item.available)])


def _reach(item: Any) -> float:
    """Metres that a module or cable spans; none for other parts."""
    reach = getattr(item, "reach_m", None)
    return 0.0 if reach is None else float(reach.value)


def alternatives(item_id: str, catalog: Catalog, on: str) -> tuple[str, ...]:
    """Parts of the same rate and form that can be ordered on a day and have a price, cheapest first.

    >>> from planner.catalog.store import open_catalog
    >>> alternatives("osfp-800g-2xdr4-100m", open_catalog(), "2026-11-30")[-1]
    'osfp-800g-2xdr4'
    """
    shelf = _beside(catalog)
    kind = next((one for one in _FORMS if item_id in shelf.ids(one)), None)
    if kind is None:
        return ()
    form = _FORMS[kind]
    own = shelf.get(kind, item_id)
    found: list[tuple[float, str]] = []
    for other in shelf.ids(kind):
        item: Any = _readable(shelf, kind, other)
        if item is None or other == item_id or form(item) != form(own) or _reach(item) < _reach(own):
            continue
        if item.price_usd is not None and orderable(item, on):
            found.append((item.price_usd.value, other))
    return tuple(other for _, other in sorted(found))


def alternatives_in_words(item_id: str, catalog: Catalog, on: str) -> str:
    """The cheapest few of them as a remedy; empty where there are none.

    >>> from planner.catalog.store import open_catalog
    >>> alternatives_in_words("flash-parallel-500tb", open_catalog(), "2026-11-30")
    ''
    """
    found = alternatives(item_id, catalog, on)[:MOST_NAMED]
    return f"another part that can be ordered then: {', '.join(found)}" if found else ""


def _readable(shelf: Catalog, kind: type[Item], item_id: str) -> Item | None:
    """An item, unless its file is wrong, which is said where the part is used."""
    try:
        return shelf.get(kind, item_id)
    except CatalogError:
        return None


@lru_cache(maxsize=4)
def _beside(catalog: Catalog) -> Catalog:
    """The same folders read apart: a result depends on the parts it uses, and not on those it looked at."""
    return Catalog(catalog.folders)
