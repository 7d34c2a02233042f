"""What vendors claim of optics: who, how much, under which conditions. No result rests on any of it by default."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planner.catalog.figure import Figure
from planner.catalog.schema import Assumptions, OpticalEngine, Switch, Transceiver
from planner.catalog.store import Catalog

NO_CONDITIONS = "conditions not found"
OPTICAL_CLAIMS = ("claim_cpo_saving_of_optics_power_fraction",)
UNITS = (
    ("_gbit_per_s", "Gbit/s"), ("_pj_per_bit", "pJ/bit"), ("_w", "W"), ("_m", "m"), ("_usd", "USD"), ("_fraction", "fraction"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure that a vendor states of its own part."""

    part: str
    field: str
    value: float
    unit: str
    source: str
    as_of: str
    conditions: str
    used: bool


def vendor_claims(catalog: Catalog, *, used: bool) -> tuple[Claim, ...]:
    """Claims on modules, engines, co-packaged switches, and the saving that makers state.

    Args:
        used: Whether the saving of power was asked for and so stands behind a variant.
    """
    found = list(_items(catalog))
    entry = catalog.entry(Assumptions, "network")
    for key in OPTICAL_CLAIMS:
        figure = entry.item.figures[key]
        said = figure.note.removesuffix("; not used")
        found.append(
            _claim("co-packaged optics", key.removeprefix("claim_"), figure, used=used, conditions=said)
        )
    return tuple(found)


def _items(catalog: Catalog) -> Iterator[Claim]:
    for kind in (Transceiver, Switch, OpticalEngine):
        for name in catalog.ids(kind):
            item = catalog.get(kind, name)
            for field, value in item:
                if isinstance(value, Figure) and value.basis.value == "claim":
                    yield _claim(name, field, value, used=False, conditions=value.note)


def _claim(part: str, field: str, figure: Figure, *, used: bool, conditions: str) -> Claim:
    unit = next((unit for ending, unit in UNITS if field.endswith(ending)), "1")
    said = "" if _only_says_who(conditions) else conditions
    return Claim(
        part, field, figure.value, unit, figure.source, figure.as_of,
        f"{said}; {NO_CONDITIONS}" if said else NO_CONDITIONS, used,
    )  # fmt: skip


def _only_says_who(note: str) -> bool:
    return note.strip().rstrip(".") in ("", "stated by the maker", "not used")
