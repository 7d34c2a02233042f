"""Looks up the parts that a scenario names, and keeps every failure with the place that names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from planner.catalog.item import Item
from planner.catalog.schema import Accelerator, Nic, ScaleUp, Server, Switch, SwitchAsic
from planner.catalog.store import Catalog, Entry
from planner.errors import CatalogError, Place, Problem, Remedy
from planner.scenario.load import Loaded
from planner.scenario.schema import Group, Tier

T = TypeVar("T", bound=Item)


@dataclass(frozen=True, slots=True)
class GroupParts:
    """One group of servers with all that is inside."""

    wish: Group
    server: Entry[Server]
    accelerator: Entry[Accelerator]
    scaleup: Entry[ScaleUp] | None
    nic: Entry[Nic]

    @property
    def servers(self) -> int:
        """Servers, or racks bought as one, in service."""
        return self.wish.gpus // self.server.item.gpus

    @property
    def machine(self) -> tuple[str, int, str]:
        """What a workload sees of it, alike for servers that differ in box and price alone: accelerator, GPUs of a
        scale-up domain, and adapter."""
        return self.accelerator.item.id, self.server.item.scaleup_domain_gpus, self.nic.item.id


@dataclass(frozen=True, slots=True)
class TierParts:
    """One tier's wish and its switch."""

    wish: Tier
    switch: Entry[Switch]
    asic: Entry[SwitchAsic]


LEFT_OUT: tuple[tuple[str, Any], ...] = (("remove it", None),)
"""What cures a field that has no place here."""


class Finder:
    """Looks parts up and keeps what is wrong, so that all of it is said at once."""

    def __init__(self, loaded: Loaded, catalog: Catalog) -> None:
        self.loaded, self.catalog = loaded, catalog
        self.problems: list[Problem] = []

    def find(self, kind: type[T], item_id: str, *path: str | int) -> Entry[T] | None:
        """Look an item up; a failure is kept with the place that names it."""
        try:
            return self.catalog.entry(kind, item_id)
        except CatalogError as error:
            place = self.loaded.document.place(path)
            named = ".".join(str(part) for part in path)
            for problem in error.problems:
                own = problem.place is not None
                self.problems.append(
                    problem if own else Problem(problem.message, place, named, problem.remedy)
                )
            return None

    def refuse(
        self, message: str, *path: str | int, remedy: str = "", values: tuple[tuple[str, Any], ...] = ()
    ) -> None:
        """Keep a problem of one field.

        Args:
            values: Values of the field that put it right, each with its words; None leaves it out.
        """
        place: Place = self.loaded.document.place(path)
        named = ".".join(str(part) for part in path)
        fixes = tuple(Remedy(words, path, value) for words, value in values)
        self.problems.append(Problem(message, place, named, remedy, fixes))


def check_orderable(finder: Finder, entry: Entry[T], as_of: str, *path: str | int) -> None:
    """Refuse a part that can't be ordered on the plan's date."""
    item = entry.item
    if not item.orderable:
        finder.refuse(
            f"'{item.id}' can't be ordered: {item.why_not_orderable or 'it is a roadmap part'}", *path,
            remedy="choose a part that can be, see planner catalog list",
        )  # fmt: skip
    elif item.available is not None and item.available > as_of[: len(item.available)]:
        finder.refuse(
            f"'{item.id}' can be ordered from {item.available}, and the plan is of {as_of}", *path,
            remedy="move as_of, or choose a part that can be ordered then",
        )  # fmt: skip
