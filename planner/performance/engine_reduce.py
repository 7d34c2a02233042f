"""All-reduce of a serving engine inside a domain: its own measured kernel, or the library's where that is faster."""

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

KERNEL = "custom_all_reduce"


class KernelCurves:
    """Measured curves of one engine's kernel by group size. No dataclass: a cut of draws leaves it whole."""

    __slots__ = ("curves", "fits", "profile", "sizes")

    def __init__(self, profile: str, fits: Sequence[CollectiveFit]) -> None:
        self.profile, self.fits = profile, tuple(fits)
        self.sizes = np.array([float(one.ranks) for one in fits])
        self.curves: Curves = stack_curves([regimes_of(one) for one in fits])

    def time_s(self, *, message_bytes: Floats, ranks: Floats) -> Floats:
        """Time of the kernel; of a group between two sizes that of the larger, infinite beyond the largest."""
        place = np.searchsorted(self.sizes, ranks)
        known = place < len(self.sizes)
        at = np.minimum(place, len(self.sizes) - 1)
        return np.where(known, curve_time_s(self.curves, curve=at, message_bytes=message_bytes), np.inf)


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


def engine_reduce(domain: ScaleUpDomain, engine: str) -> EngineReduce | None:
    """The all-reduce of an engine, by the newest release measured on this accelerator or one of its link.

    None where no profile holds its kernel.
    """
    for entry in (*domain.shelf.own, *domain.shelf.siblings):
        fits = _kernels(entry, engine)
        if fits:
            return EngineReduce(KernelCurves(entry.item.id, fits), domain.curves, domain.time_ratio)
    return None


def _kernels(entry: Entry[Profile], engine: str) -> list[CollectiveFit]:
    """One fit a group size, captured in a graph, as engines run them."""
    mine = sorted(
        (fit for fit in entry.item.collectives
         if fit.op == KERNEL and fit.mode is Mode.DEVICE and fit.implementation.split(" ", 1)[0] == engine),
        key=lambda fit: (fit.ranks, fit.implementation),
    )  # fmt: skip
    return [list(same)[-1] for _, same in groupby(mine, key=lambda fit: fit.ranks)]
