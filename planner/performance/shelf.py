"""Which calibration profiles speak for an accelerator: its own, those of the same link, those of other links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from planner.catalog.profiles import Profile
from planner.catalog.schema import Accelerator
from planner.catalog.store import Catalog, Entry
from planner.units import GIGA


@dataclass(frozen=True)
class Shelf:
    """Profiles in the order in which they are asked.

    Attributes:
        catalog: Where the profiles of other links are read, when they are asked for.
        own: Of this very accelerator; those the user names first, then the user's folder, then the newest.
        siblings: Of accelerators on the same generation of scale-up link.
        other_ids: Of accelerators on other links.
        refused: Profiles the user named that can't speak for this accelerator, and why.
        link_bytes_per_s: Datasheet rate of the scale-up link of every accelerator in `own` and `siblings`.
    """

    catalog: Catalog
    own: tuple[Entry[Profile], ...]
    siblings: tuple[Entry[Profile], ...]
    other_ids: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    link_bytes_per_s: dict[str, float] = field(default_factory=dict)

    @property
    def digests(self) -> tuple[str, ...]:
        """Content of the profiles in their order, and which there are of other links: what curves hang on."""
        return (
            *(one.digest for one in self.own),
            "",
            *(one.digest for one in self.siblings),
            *self.other_ids,
        )

    @cached_property
    def others(self) -> tuple[Entry[Profile], ...]:
        """Profiles of other links, for the shape of their curves alone."""
        return tuple(_in_order(self.catalog, self.other_ids))


def shelf_for(catalog: Catalog, accelerator: Accelerator, named: Sequence[str] = ()) -> Shelf:
    """Profiles for an accelerator.

    A shipped profile's file name starts with the id of its accelerator and a point, so that only those needed are
    read.

    Args:
        catalog: Where profiles are looked up; the user's folder stands in it.
        accelerator: The accelerator.
        named: Ids of profiles that go before all others.

    Raises:
        CatalogError: A named profile doesn't exist, or a file is wrong.
    """
    known = set(catalog.ids(Accelerator))
    sorted_ids: dict[str, list[str]] = {"own": [], "siblings": [], "others": []}
    for profile_id in catalog.ids(Profile):
        if profile_id not in named:
            sorted_ids[_shelf_of(catalog, profile_id, accelerator, known)].append(profile_id)
    first: list[Entry[Profile]] = []
    beside: list[Entry[Profile]] = []
    refused: list[str] = []
    for profile_id in dict.fromkeys(named):
        entry = catalog.entry(Profile, profile_id)
        place = _shelf_of(catalog, profile_id, accelerator, known)
        if place == "others":
            refused.append(f"{profile_id}: of {entry.item.accelerator}, and this is {accelerator.id}")
        else:
            (first if place == "own" else beside).append(entry)
    own = (*first, *_in_order(catalog, sorted_ids["own"]))
    siblings = (*beside, *_in_order(catalog, sorted_ids["siblings"]))
    rates = {one.item.accelerator: _link_rate(catalog, one.item.accelerator) for one in (*own, *siblings)}
    return Shelf(catalog, own, siblings, tuple(sorted_ids["others"]), tuple(refused), rates)


def _shelf_of(catalog: Catalog, profile_id: str, accelerator: Accelerator, known: set[str]) -> str:
    """Where a profile stands: of this accelerator, of its link, or of another link."""
    of = profile_id.split(".", 1)[0]
    if of not in known:
        of = catalog.get(Profile, profile_id).accelerator
    if of == accelerator.id:
        return "own"
    link = accelerator.scaleup
    return "siblings" if link is not None and catalog.get(Accelerator, of).scaleup == link else "others"


def _in_order(catalog: Catalog, ids: Sequence[str]) -> list[Entry[Profile]]:
    """The user's folders before what ships, then the newest first."""
    entries = [catalog.entry(Profile, one) for one in ids]
    return sorted(
        entries,
        key=lambda one: (catalog.layer_of(Profile, one.item.id), one.item.as_of, one.item.id),
        reverse=True,
    )


def _link_rate(catalog: Catalog, accelerator_id: str) -> float:
    figure = catalog.get(Accelerator, accelerator_id).scaleup_gbyte_per_s
    return figure.value * GIGA if figure is not None else 0.0
