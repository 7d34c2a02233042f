"""Which catalog parts can join two cages: module pairs with fibre, copper, active optical cables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from planner.catalog.figure import Figure
from planner.catalog.schema import Cable, CableKind, Nic, Switch, Transceiver
from planner.catalog.schema import Medium as Fibre
from planner.catalog.store import Catalog, Entry
from planner.design.medium import Cage, Medium, MediumEnd, MediumKind, Price

KINDS = {
    CableKind.DAC: MediumKind.DAC,
    CableKind.ACC: MediumKind.ACC,
    CableKind.AEC: MediumKind.AEC,
    CableKind.AOC: MediumKind.AOC,
}


@dataclass(frozen=True, slots=True)
class End:
    """A NIC's or a switch's side of a link.

    Attributes:
        part: The NIC or the switch.
        cage: Its cage.
        modules: Transceivers it takes; empty for co-packaged ports.
        cables: Ids of assemblies it takes; None for a NIC, which takes what the switch takes.
    """

    part: Entry[Any]
    cage: Cage
    modules: tuple[Entry[Transceiver], ...]
    cables: tuple[str, ...] | None
    lane_rate_gbit_per_s: float


@dataclass(frozen=True, slots=True)
class Bought:
    """Catalog items behind a medium: the modules at its ends, and the cable or fibre between."""

    lower: Entry[Transceiver] | None
    upper: Entry[Transceiver] | None
    cable: Entry[Cable]


def nic_end(catalog: Catalog, nic: Entry[Nic], links: int, optic: str | None) -> End:
    """A NIC's port; ``links`` of the fabric share it where there are several planes."""
    names = (optic,) if optic is not None else nic.item.modules
    rate = nic.item.port_rate_gbit_per_s.value
    return End(
        nic,
        Cage(rate, links),
        tuple(catalog.entry(Transceiver, name) for name in names),
        None,
        nic.item.lane_rate_gbit_per_s,
    )


def switch_end(
    catalog: Catalog, switch: Entry[Switch], link_rate_gbit_per_s: float, optic: str | None
) -> End:
    """A switch's cage."""
    item = switch.item
    names = (optic,) if optic is not None else item.modules
    per_cage = min(item.links_per_cage_max, max(1, int(item.cage_rate_gbit_per_s // link_rate_gbit_per_s)))
    modules = () if item.optics else tuple(catalog.entry(Transceiver, name) for name in names)
    return End(
        switch,
        Cage(item.cage_rate_gbit_per_s, per_cage, pluggable=item.optics is None),
        modules,
        item.cables,
        item.lane_rate_gbit_per_s,
    )


def candidates(
    catalog: Catalog, lower: End, upper: End, *, copper: bool
) -> tuple[tuple[Medium, ...], dict[str, Bought]]:
    """Every way to join two ends that the catalog's compatibility lists allow."""
    found: dict[str, tuple[Medium, Bought]] = {}
    for medium, bought in (
        *_optical(catalog, lower, upper),
        *(_assemblies(catalog, lower, upper) if copper else ()),
    ):
        found[medium.id] = (medium, bought)
    return tuple(medium for medium, _ in found.values()), {key: b for key, (_, b) in found.items()}


def _optical(catalog: Catalog, lower: End, upper: End) -> Iterable[tuple[Medium, Bought]]:
    lowers: Sequence[Entry[Transceiver] | None] = lower.modules if lower.cage.pluggable else (None,)
    uppers: Sequence[Entry[Transceiver] | None] = upper.modules if upper.cage.pluggable else (None,)
    for below in lowers:
        for above in uppers:
            made = [one for one in (below, above) if one is not None]
            if below is not above and below in uppers and above in lowers:
                continue  # where both ends take either module, both get the same one
            if len({_alike(one.item) for one in made}) > 1:
                continue
            if made and len({one.item.fibres // one.item.links for one in made}) > 1:
                continue
            fixed = [end for end in (lower, upper) if not end.cage.pluggable]
            if not all(_meets(one.item, end) for one in made for end in fixed):
                continue
            fibre = catalog.entry(Cable, _fibre(made, fixed))
            reach = min([one.item.reach_m.value for one in made] or [fibre.item.reach_m.value])
            name = " + ".join(one.item.id for one in made) or f"co-packaged + {fibre.item.id}"
            yield (
                Medium(
                    name,
                    MediumKind.TRANSCEIVER_PAIR,
                    reach,
                    _module_end(below, lower.cage),
                    _module_end(above, upper.cage),
                    _price(fibre.item.price_usd),
                    fibre.item.price_usd_per_m.value if fibre.item.price_usd_per_m else 0.0,
                    *_light(below, above, lower, upper),
                ),
                Bought(below, above, fibre),
            )


def _alike(module: Transceiver) -> tuple[object, ...]:
    """What the modules at both ends have to have in common."""
    return module.medium, module.lane_rate_gbit_per_s, module.wavelengths, module.coherent


DUPLEX = "LC"
"""Plug of co-packaged ports that put four colours on a pair of fibres, as FR4 modules do."""
COLOURS = 4


def _optical_lane(module: Transceiver) -> float:
    """Rate of one colour on one fibre, Gbit/s."""
    return module.rate_gbit_per_s.value / (module.fibres / 2 * module.wavelengths)


def _meets(module: Transceiver, end: End) -> bool:
    """Whether a module understands the light of a co-packaged end: single mode, its colours and its lanes."""
    colours = COLOURS if end.part.item.cage == DUPLEX else 1
    same = module.wavelengths == colours and module.medium is Fibre.SINGLEMODE
    return same and abs(_optical_lane(module) - end.lane_rate_gbit_per_s) < 1e-6


def _light(
    below: Entry[Transceiver] | None, above: Entry[Transceiver] | None, lower: End, upper: End
) -> tuple[int, int, str]:
    """Fibres of a link, colours on each, and the class of the optics; modules at both ends are of one class."""
    module, cage = (below, lower.cage) if below is not None else (above, upper.cage)
    if module is None:
        colours = COLOURS if upper.part.item.cage == DUPLEX else 1
        rate = upper.cage.rate_gbit_per_s / upper.cage.links
        return 2 * max(1, round(rate / upper.lane_rate_gbit_per_s / colours)), colours, "CPO"
    fibres = max(1, module.item.fibres // max(module.item.links, cage.links))
    mixed = below is None or above is None
    said = f"CPO to {optics_class(module.item)}" if mixed else optics_class(module.item)
    return fibres, module.item.wavelengths, said


def optics_class(module: Transceiver) -> str:
    """Class of a module's optics by its id: SR, DR, FR, LR or ZR, with the word linear where it has no DSP.

    >>> from planner.catalog.store import open_catalog
    >>> optics_class(open_catalog().get(Transceiver, "osfp-800g-2xfr4"))
    'FR'
    """
    found = re.search(r"(?:^|-|x)([sdflz]r)\d*(?:-|$)", module.id)
    name = found.group(1).upper() if found else "optical"
    return f"{name}, linear" if module.linear else name


def _fibre(modules: Sequence[Entry[Transceiver]], fixed: Sequence[End]) -> str:
    if not modules:
        return "fibre-lc-os2" if fixed[0].part.item.cage == DUPLEX else "fibre-mpo-os2"
    one = modules[0].item
    plug = "lc" if one.fibres // one.links <= 2 else "mpo"
    return f"fibre-{plug}-{'om4' if one.medium is Fibre.MULTIMODE else 'os2'}"


def _module_end(module: Entry[Transceiver] | None, cage: Cage) -> MediumEnd:
    if module is None:
        return MediumEnd(cage.rate_gbit_per_s, 0.0)
    item = module.item
    return MediumEnd(item.rate_gbit_per_s.value, item.power_w.value, _price(item.price_usd), item.id)


def _price(figure: Figure | None) -> Price | None:
    if figure is None:
        return None
    low = figure.value if figure.low is None else figure.low
    high = figure.value if figure.high is None else figure.high
    return Price(low, figure.value, high)


def _assemblies(catalog: Catalog, lower: End, upper: End) -> Iterable[tuple[Medium, Bought]]:
    """Assemblies that the upper end takes; a splitter's lower ends have the lower cages' rate."""
    if not (lower.cage.pluggable and upper.cage.pluggable):
        return
    allowed = upper.cables or ()
    if lower.cables is not None:
        allowed = tuple(name for name in allowed if name in lower.cables)
    if lower.lane_rate_gbit_per_s != upper.lane_rate_gbit_per_s:
        return
    for name in allowed:
        cable = catalog.entry(Cable, name)
        item = cable.item
        kind = KINDS.get(item.kind)
        if kind is None:
            continue
        watts = item.power_per_end_w.value if item.power_per_end_w else 0.0
        rate = item.rate_gbit_per_s.value if item.rate_gbit_per_s else upper.cage.rate_gbit_per_s
        split = rate == upper.cage.rate_gbit_per_s
        yield (
            Medium(
                item.id,
                kind,
                item.reach_m.value,
                MediumEnd(lower.cage.rate_gbit_per_s if split else rate, watts),
                MediumEnd(rate, watts),
                _price(item.price_usd),
            ),
            Bought(None, None, cable),
        )
