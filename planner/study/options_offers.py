"""Rental offers that a plan can be compared with: its accelerator, by provider, term and date."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.schema import Rental
from planner.catalog.store import Catalog, Entry
from planner.scenario.parts import Parts
from planner.sourced import Basis
from planner.units import MONTHS_PER_YEAR

INDEX = "idx-"
"""Ids of price indices over several providers start with it; nobody can rent at one."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A rental offer.

    Attributes:
        term_months: 0 on demand.
        as_of: Date of the price.
        list_usd_per_gpu_hour: The provider's price on demand of the newest date, where the catalog has one; for a
            committed term, what the discount is taken from.
    """

    entry: Entry[Rental]
    provider: str
    term_months: int
    as_of: str
    usd_per_gpu_hour: float
    list_usd_per_gpu_hour: float

    @property
    def id(self) -> str:
        """Id of the catalog item."""
        return self.entry.item.id

    @property
    def stated(self) -> bool:
        """Whether the price was published or quoted, not estimated."""
        return self.entry.item.usd_per_gpu_hour.basis is not Basis.ESTIMATE

    @property
    def term(self) -> str:
        """The term in words."""
        if not self.term_months:
            return "on demand"
        years, rest = divmod(self.term_months, int(MONTHS_PER_YEAR))
        if rest:
            return f"{self.term_months} months"
        return "1 year" if years == 1 else f"{years} years"


def offers(parts: Parts) -> tuple[list[Offer], list[tuple[str, str]]]:
    """The newest offer of each provider and term for the plan's accelerator, and why others are left out.

    The offer that the scenario names is always among them, as are indices if it names one. An offer of a date after
    the plan's is none yet.
    """
    kinds = sorted({one.accelerator.item.id for one in parts.groups})
    if len(kinds) > 1:
        said = f"the plan has {' and '.join(kinds)}, and an offer rents one kind: compare each in a plan of its own"
        return [], [("renting", said)]
    [accelerator] = kinds
    named = parts.rental.item.id if parts.rental is not None else ""
    shelf = Catalog(parts.catalog.folders)  # read apart: looking offers over is not resting on them
    every = [
        item for name in shelf.ids(Rental) if (item := shelf.get(Rental, name)).accelerator == accelerator
    ]
    if not every:
        return [], [("renting", f"the catalog has no offer of {accelerator}")]
    fitting = [
        one
        for one in every
        if one.id == named or (not one.id.startswith(INDEX) and not _is_later(_date(one), parts.as_of))
    ]
    newest: dict[tuple[str, int], Rental] = {}
    for item in sorted(fitting, key=lambda one: (_date(one), one.id)):
        newest[item.provider, item.term_months] = item
    chosen = {item.id: item for item in newest.values()}
    left_out = [
        (one.id, _why_left_out(one, newest, parts.as_of))
        for one in every
        if one.id not in chosen and one.id != named
    ]
    if named:
        chosen[named] = next(one for one in every if one.id == named)
    listed = {provider: item.usd_per_gpu_hour.value for (provider, term), item in newest.items() if term == 0}
    found = [
        Offer(
            parts.catalog.entry(Rental, item.id), item.provider, item.term_months, _date(item),
            item.usd_per_gpu_hour.value, listed.get(item.provider, item.usd_per_gpu_hour.value),
        )
        for item in sorted(chosen.values(), key=lambda one: (one.term_months, one.provider, one.id))
    ]  # fmt: skip
    return found, left_out


def _why_left_out(item: Rental, newest: dict[tuple[str, int], Rental], as_of: str) -> str:
    if item.id.startswith(INDEX):
        return "a price index"
    if _is_later(_date(item), as_of):
        return f"of {_date(item)}, after the plan's date"
    return f"older than {newest[item.provider, item.term_months].id}"


def _is_later(date: str, as_of: str) -> bool:
    """Whether a date, a month or a year lies wholly after a day."""
    length = min(len(date), len(as_of))
    return date[:length] > as_of[:length]


def _date(item: Rental) -> str:
    return str(item.usd_per_gpu_hour.as_of)
