"""What is known of a domain's collectives: the rung each curve stands on, its band, and times along it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from planner.arrays import Floats
from planner.curves.collective import Curves, Regime, curve_time_s, stack_curves
from planner.performance.collectives import Collective, bus_factor


class Rung(StrEnum):
    """How a prediction is known: measured on this kind of machine, scaled from a like one, or from the link."""

    MEASURED = "measured"
    SCALED = "scaled"
    PHYSICS = "physics"

    @property
    def place(self) -> int:
        """0 is the firmest."""
        return list(Rung).index(self)


@dataclass(frozen=True, slots=True)
class Bands:
    """Half widths of the P10-P90 band of each rung, as shares.

    Attributes:
        doubling_fraction: More for each doubling of a group beyond those that were measured.
    """

    measured_fraction: float
    scaled_fraction: float
    physics_fraction: float
    doubling_fraction: float


@dataclass(frozen=True, slots=True)
class LinkRates:
    """What is known of a link without a measured curve.

    Attributes:
        bytes_per_s: Sustained rate of one accelerator and direction.
        pair_bytes_per_s: The same between two; below the rate on a mesh.
        start_s, hop_s, half_rate_bytes: See `collectives.Link`.
        reduction_gain_ratio: All-reduce in the switch against a ring, 1 without.
        raw_bytes_per_s: Datasheet rate, for scaling a sibling's curve.
        ceiling_bytes_per_s: Bus rate that no collective passes, however large.
        reduction_ceiling_bytes_per_s: The same for sums in the switch.
    """

    bytes_per_s: float
    pair_bytes_per_s: float
    start_s: float
    hop_s: float
    half_rate_bytes: float
    reduction_gain_ratio: float
    raw_bytes_per_s: float
    ceiling_bytes_per_s: float
    reduction_ceiling_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class GroupCurve:
    """Curve of one operation in a group of so many ranks.

    Attributes:
        half_width_fraction: Half width of its P10-P90 band.
        min_bytes, max_bytes: Sizes that measurements cover; both 0 where there are none.
        profile: Id of the profile it rests on, empty on the rung of physics.
        how: In words, how it came about.
        beyond_groups: Whether no group so large was measured.
    """

    operation: Collective
    ranks: int
    regimes: tuple[Regime, ...]
    rung: Rung
    half_width_fraction: float
    min_bytes: int
    max_bytes: int
    profile: str
    how: str
    beyond_groups: bool = False


class DomainCurves:
    """All curves of one domain, stacked; group sizes ascend. No dataclass: a cut of draws leaves it whole."""

    __slots__ = ("curves", "groups", "order", "sizes")

    def __init__(self, sizes: tuple[int, ...], groups: Mapping[tuple[Collective, int], GroupCurve]) -> None:
        self.sizes, self.groups = sizes, dict(groups)
        self.order = {operation: place * len(sizes) for place, operation in enumerate(Collective)}
        self.curves: Curves = stack_curves([
            self.groups[operation, size].regimes for operation in Collective for size in sizes
        ])  # fmt: skip

    def time_s(self, operation: Collective, *, message_bytes: Floats, ranks: Floats) -> Floats:
        """Time inside the domain; between measured group sizes it is interpolated.

        Args:
            operation: The collective.
            message_bytes: Size, in nccl-tests' convention.
            ranks: Ranks of the group, 1 or more; above the domain's size as if it were that large.

        Returns:
            Seconds, of the shape that both broadcast to. Zero for one rank.
        """
        ranks, message_bytes = np.broadcast_arrays(ranks, message_bytes)
        ladder = np.log2(np.array(self.sizes, dtype=float))
        position = np.log2(np.clip(ranks, self.sizes[0], self.sizes[-1]))
        upper = np.clip(np.searchsorted(ladder, position - 1e-9), 0, len(ladder) - 1)
        lower = np.maximum(upper - (ladder[upper] - position > 1e-9), 0)
        base = self.order[operation]
        time = curve_time_s(self.curves, curve=base + upper, message_bytes=message_bytes)
        if np.any(lower != upper):
            below = curve_time_s(self.curves, curve=base + lower, message_bytes=message_bytes)
            span = np.where(upper > lower, ladder[upper] - ladder[lower], 1.0)
            weight = (position - ladder[lower]) / span
            time = np.where(upper > lower, below ** (1.0 - weight) * time**weight, time)
        return np.where(ranks > 1.0, time, 0.0)

    def endless_bytes_per_s(self, operation: Collective, *, ranks: Floats) -> Floats:
        """Bus rate that endless messages reach, of the shape of `ranks`; infinite for one rank."""
        large = 2.0**36
        time = self.time_s(operation, message_bytes=np.array([large]), ranks=ranks)
        less = self.time_s(operation, message_bytes=np.array([large / 2.0]), ranks=ranks)
        moved = bus_factor(operation, ranks=ranks) * large / 2.0
        return np.where(ranks > 1.0, moved / np.maximum(time - less, 1e-12), np.inf)

    def group(self, operation: Collective, ranks: int) -> GroupCurve:
        """The curve that speaks for a group: its own, or the next larger one."""
        size = next((one for one in self.sizes if one >= ranks), self.sizes[-1])
        return self.groups[operation, size]
