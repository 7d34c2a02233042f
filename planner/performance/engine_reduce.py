"""All-reduce of serving engines inside a domain: the fastest measured kernel, or the library's where that is faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from planner.arrays import Floats
from planner.catalog.profiles import CollectiveFit, Mode, Profile
from planner.catalog.store import Entry
from planner.curves.collective import Curves, curve_time_s, stack_curves
from planner.performance.collectives import Collective
from planner.performance.domain import ScaleUpDomain
from planner.performance.group_curves import DomainCurves
from planner.performance.ladder import regimes_of
from planner.performance.links import Links, group_time_s

KERNEL = "custom_all_reduce"


class KernelCurves:
    """Measured curves of one engine's kernel by group size. No dataclass: a cut of draws leaves it whole."""

    __slots__ = ("curves", "fits", "others", "profile", "sizes")

    def __init__(
        self, profile: str, fits: Sequence[CollectiveFit], others: Sequence[KernelCurves] = ()
    ) -> None:
        self.profile, self.fits, self.others = profile, tuple(fits), tuple(others)
        self.sizes = np.array([float(one.ranks) for one in fits])
        self.curves: Curves = stack_curves([regimes_of(one) for one in fits])

    def time_s(self, *, message_bytes: Floats, ranks: Floats) -> Floats:
        """Time of the fastest kernel; of a group between two sizes that of the larger, infinite beyond the largest."""
        place = np.searchsorted(self.sizes, ranks)
        known = place < len(self.sizes)
        at = np.minimum(place, len(self.sizes) - 1)
        time = np.where(known, curve_time_s(self.curves, curve=at, message_bytes=message_bytes), np.inf)
        for other in self.others:
            time = np.minimum(time, other.time_s(message_bytes=message_bytes, ranks=ranks))
        return time


@dataclass(frozen=True, slots=True)
class EngineReduce:
    """What a serving replica's all-reduces run on.

    Attributes:
        kernel: The engine's own kernel.
        library: The library's collectives in the same domain.
        ratio: Time over the curves', 1 but in draws; shape (n,).
    """

    kernel: KernelCurves
    library: DomainCurves
    ratio: Floats

    def time_s(self, *, message_bytes: Floats, ranks: Floats) -> Floats:
        """Time of one all-reduce: the faster of both, as engines switch by size.

        Args:
            message_bytes: Buffer on each rank.
            ranks: Ranks of the group, 1 or more.

        Returns:
            Seconds, of the shape that both broadcast to. Zero for one rank.
        """
        own = self.kernel.time_s(message_bytes=message_bytes, ranks=ranks)
        other = self.library.time_s(Collective.ALL_REDUCE, message_bytes=message_bytes, ranks=ranks)
        return np.where(ranks > 1.0, np.minimum(own, other) * self.ratio, 0.0)


class SpanningReduce:
    """All-reduces of replicas over several domains: inside one the engine's, beyond it the library's in two tiers."""

    __slots__ = ("domain_ranks", "inside", "links", "ratio")

    def __init__(self, inside: EngineReduce, links: Links, domain_ranks: int) -> None:
        self.inside, self.links, self.domain_ranks = inside, links, float(domain_ranks)
        self.ratio: Floats = np.ones(1)

    def time_s(self, *, message_bytes: Floats, ranks: Floats) -> Floats:
        """Time of one all-reduce, of the shape that both broadcast to; zero for one rank."""
        near = self.inside.time_s(message_bytes=message_bytes, ranks=np.minimum(ranks, self.domain_ranks))
        far = group_time_s(
            self.links, Collective.ALL_REDUCE, message_bytes=message_bytes, ranks=ranks,
            ranks_per_domain=np.full(1, self.domain_ranks),
        )  # fmt: skip
        return np.where(ranks > self.domain_ranks, far, near)


def engine_reduce(domain: ScaleUpDomain, *engines: str) -> EngineReduce | None:
    """The all-reduce of engines that take each other's kernels: at each size the fastest of their newest releases.

    Args:
        domain: With the profiles of this accelerator and of those with its link.
        engines: Names as profiles have them.

    Returns:
        None where no profile holds a kernel of theirs.
    """
    for entry in (*domain.shelf.own, *domain.shelf.siblings):
        found = [fits for engine in engines if (fits := _kernels(entry, engine))]
        if found:
            first, *rest = (KernelCurves(entry.item.id, fits) for fits in found)
            kernel = KernelCurves(first.profile, first.fits, rest)
            return EngineReduce(kernel, domain.curves, domain.time_ratio)
    return None


def _kernels(entry: Entry[Profile], engine: str) -> list[CollectiveFit]:
    """One fit a group size, captured in a graph, as engines run them."""
    mine = sorted(
        (fit for fit in entry.item.collectives
         if fit.op == KERNEL and fit.mode is Mode.DEVICE and fit.implementation.split(" ", 1)[0] == engine),
        key=lambda fit: (fit.ranks, fit.implementation),
    )  # fmt: skip
    return [list(same)[-1] for _, same in groupby(mine, key=lambda fit: fit.ranks)]
