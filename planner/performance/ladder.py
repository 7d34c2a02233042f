"""Curves of collectives inside a scale-up domain: measured, scaled from siblings, or from the link's rate.

Each group of each operation says on which rung it stands, how wide its band is, and on what it rests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import log2

import numpy as np

from planner.arrays import Floats
from planner.catalog.profiles import CollectiveFit, Mode, Path, Profile
from planner.catalog.store import Entry
from planner.curves.collective import Regime, curve_time_s, stack_curves
from planner.measure.fit.collectives import fit_curve
from planner.performance.collectives import Collective, bus_factor
from planner.performance.group_curves import Bands, DomainCurves, GroupCurve, LinkRates, Rung
from planner.performance.shelf import Shelf

WIDE = ("bf16", "fp16", "fp32")
NARROW = ("fp8", "int8", "uint8", "fp8_e5m2")
LARGE_BYTES = 16 * 2.0**20
"""From here on a message shows the rate and not the start."""
SAMPLED_BYTES = np.geomspace(512.0, 2.0**34, 26)
"""Sizes at which a curve that was made from others is fitted again."""


def domain_curves(
    shelf: Shelf, rates: LinkRates, *, domain_ranks: int, bands: Bands, narrow: bool = False,
    staged: bool = False,
) -> DomainCurves:  # fmt: skip
    """Curves of every operation for groups of 2, 4, 8, ... up to a domain.

    Args:
        shelf: Profiles that may speak.
        rates: The link, for what no profile covers.
        domain_ranks: Accelerators of the domain.
        bands: Widths of the rungs.
        narrow: Whether elements are of 8 bits, whose sums run apart.
        staged: Whether peer-to-peer is off and bytes go through host memory.
    """
    about = (*shelf.digests, rates, domain_ranks, bands, narrow, staged)
    return shelf.catalog.worked_out(
        ("domain curves", *about),
        lambda: _domain_curves(shelf, rates, domain_ranks, bands, narrow=narrow, staged=staged),
    )


def _domain_curves(
    shelf: Shelf, rates: LinkRates, domain_ranks: int, bands: Bands, *, narrow: bool, staged: bool
) -> DomainCurves:
    largest = max(domain_ranks, 2)
    sizes = tuple(sorted({2**step for step in range(1, 1 + int(log2(largest)))} | {largest}))
    builder = _Builder(
        shelf, rates, bands, NARROW if narrow else WIDE, Path.HOST_STAGED if staged else Path.SCALE_UP
    )
    return DomainCurves(
        sizes,
        {(operation, size): builder.group(operation, size) for operation in Collective for size in sizes},
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A fitted curve and the profile that holds it."""

    fit: CollectiveFit
    profile: Profile

    @property
    def regimes(self) -> tuple[Regime, ...]:
        return regimes_of(self.fit)


def regimes_of(fit: CollectiveFit) -> tuple[Regime, ...]:
    """Regimes of a profile's curve, in seconds and bytes."""
    return tuple(
        Regime(one.from_bytes, one.start_us * 1e-6, one.ramp_ns_per_sqrt_byte * 1e-9, one.ps_per_byte * 1e-12)
        for one in fit.regimes
    )


Key = tuple[str, int, Path, Mode, str]


class _Index:
    """Curves of profiles inside one box, by operation, ranks, path, mode and type."""

    def __init__(self) -> None:
        self._known: dict[str, dict[Key, CollectiveFit]] = {}

    def of(self, profile: Profile) -> dict[Key, CollectiveFit]:
        if profile.id not in self._known:
            self._known[profile.id] = {
                (fit.op, fit.ranks, fit.path, fit.mode, fit.dtype): fit
                for fit in reversed(profile.collectives)
                if fit.nodes == 1
            }
        return self._known[profile.id]


@dataclass(frozen=True, slots=True)
class _Builder:
    shelf: Shelf
    rates: LinkRates
    bands: Bands
    dtypes: tuple[str, ...]
    path: Path
    index: _Index = field(default_factory=_Index)

    def group(self, operation: Collective, ranks: int) -> GroupCurve:
        """The firmest rung that carries this group."""
        for rung in (self._measured, self._of_sibling, self._of_traffic, self._of_smaller, self._grown):
            found = rung(operation, ranks)
            if found is not None:
                return replace(found, regimes=self._below_ceiling(found))
        return self._of_link(operation, ranks)

    def _below_ceiling(self, group: GroupCurve) -> tuple[Regime, ...]:
        """The curve, beyond the sizes that were measured no faster than any collective on this link."""
        rates, sums = self.rates, group.operation is Collective.ALL_REDUCE and group.ranks > 2
        ceiling = rates.reduction_ceiling_bytes_per_s if sums else rates.ceiling_bytes_per_s
        if self.path is Path.HOST_STAGED or ceiling <= 0.0:
            return group.regimes
        slope = float(bus_factor(group.operation, ranks=np.array([float(group.ranks)]))[0]) / ceiling
        last = group.regimes[-1]
        gap = slope - last.s_per_byte
        if gap <= 0.0:
            return group.regimes
        # where start + ramp x sqrt(bytes) + s x bytes falls below slope x bytes
        root = (
            last.ramp_s_per_sqrt_byte + (last.ramp_s_per_sqrt_byte**2 + 4.0 * gap * last.start_s) ** 0.5
        ) / (2.0 * gap)
        border = max(root**2, float(group.max_bytes), last.from_bytes + 1.0)
        return (*group.regimes, Regime(border, 0.0, 0.0, slope))

    def _find(self, entries: Sequence[Entry[Profile]], operation: Collective, ranks: int) -> _Found | None:
        short: _Found | None = None
        for entry in entries:
            fits = self.index.of(entry.item)
            for dtype in (*self.dtypes, *WIDE):
                for mode in (Mode.DEVICE, Mode.EAGER):
                    fit = fits.get((operation.value, ranks, self.path, mode, dtype))
                    if fit is None:
                        continue
                    if fit.max_bytes >= LARGE_BYTES:
                        return _Found(fit, entry.item)
                    # sizes that show no rate speak where nothing else does
                    short = short or _Found(fit, entry.item)
        return short

    def _measured(self, operation: Collective, ranks: int) -> GroupCurve | None:
        found = self._find(self.shelf.own, operation, ranks)
        if found is None:
            return None
        known = [one for one in (found.fit.left_out, found.fit.errors) if one is not None and one.points >= 8]
        width = max(*(one.p90_fraction for one in known), self.bands.measured_fraction, 0.0)
        return self._made(
            operation, ranks, found.regimes, Rung.MEASURED, min(width, self.bands.scaled_fraction), found,
            f"measured on {ranks} ranks of this accelerator",
        )  # fmt: skip

    def _of_sibling(self, operation: Collective, ranks: int) -> GroupCurve | None:
        """A sibling's curve of the same group, at this accelerator's rate and start where it was measured."""
        found = self._find(self.shelf.siblings, operation, ranks)
        if found is None:
            return None
        slower, later_s, said = self._against(operation, found)
        regimes = tuple(
            Regime(one.from_bytes, max(one.start_s + later_s, 0.0), one.ramp_s_per_sqrt_byte * slower,
                   one.s_per_byte * slower)
            for one in found.regimes
        )  # fmt: skip
        return self._made(
            operation, ranks, regimes, Rung.SCALED, self.bands.scaled_fraction, found,
            f"{found.profile.accelerator} on the same link, {said}",
        )  # fmt: skip

    def _against(self, operation: Collective, sibling: _Found) -> tuple[float, float, str]:
        """This accelerator against a sibling: time of large messages as a ratio, start as a difference."""
        others = [entry for entry in self.shelf.siblings if entry.item.id == sibling.profile.id]
        for ranks in (8, 4, 2):
            mine = self._find(self.shelf.own, operation, ranks)
            theirs = self._find(others, operation, ranks)
            if mine is None or theirs is None:
                continue
            sizes = SAMPLED_BYTES[(SAMPLED_BYTES >= LARGE_BYTES) & (theirs.fit.max_bytes >= SAMPLED_BYTES)]
            if not len(sizes):
                continue
            ratio = float(np.median(_times(mine.regimes, sizes) / _times(theirs.regimes, sizes)))
            later = mine.regimes[0].start_s - theirs.regimes[0].start_s
            return ratio, later, f"at this accelerator's rate and start as measured on {ranks} ranks"
        theirs_rate = self.shelf.link_bytes_per_s.get(sibling.profile.accelerator, 0.0)
        ratio = (
            theirs_rate / self.rates.raw_bytes_per_s if theirs_rate and self.rates.raw_bytes_per_s else 1.0
        )
        said = "as it is" if abs(ratio - 1.0) < 0.01 else f"its link {1.0 / ratio:.2f} times as fast"
        return ratio, 0.0, said

    def _of_traffic(self, operation: Collective, ranks: int) -> GroupCurve | None:
        """An operation without a curve from one that moves its bytes the same way.

        A send to a neighbour is half of an all-gather of two; a broadcast goes round like an all-gather of all.
        """
        stand_in, group = (Collective.ALL_GATHER, ranks)
        if operation is Collective.SEND_RECEIVE:
            if ranks > 2:
                pair = self.group(operation, 2)
                if pair.rung is Rung.PHYSICS:
                    return None
                return replace(
                    pair, ranks=ranks, rung=Rung.SCALED, how=f"as between 2 of them ({pair.how})",
                    half_width_fraction=max(pair.half_width_fraction, self.bands.scaled_fraction),
                )  # fmt: skip
            factor = 2.0
        elif operation is Collective.BROADCAST:
            factor = ranks / (ranks - 1.0)
        else:
            return None
        base = self.group(stand_in, group)
        if base.rung is Rung.PHYSICS:
            return None
        regimes = tuple(
            Regime(
                one.from_bytes / factor,
                one.start_s,
                one.ramp_s_per_sqrt_byte * factor**0.5,
                one.s_per_byte * factor,
            )
            for one in base.regimes
        )
        return replace(
            base, operation=operation, regimes=regimes, rung=Rung.SCALED,
            half_width_fraction=max(base.half_width_fraction, self.bands.scaled_fraction),
            how=f"from its {stand_in.value.replace('_', '-')}, by what each rank moves ({base.how})",
        )  # fmt: skip

    def _of_smaller(self, operation: Collective, ranks: int) -> GroupCurve | None:
        """A smaller group of this accelerator, with the way curves grow on other switched links."""
        for entries in (self.shelf.own, self.shelf.siblings):
            for smaller in (ranks // 2, ranks // 4):
                base = self._find(entries, operation, smaller) if smaller >= 2 else None
                if base is None:
                    continue
                grown = [one for one in self._growths(operation, smaller, ranks, base) if one is not None]
                if not grown:
                    continue
                times = np.exp(np.mean(np.log(np.array([times for _, times in grown])), axis=0))
                names = ", ".join(name for name, _ in grown)
                return self._made(
                    operation, ranks, fit_curve(SAMPLED_BYTES, times), Rung.SCALED, self.bands.scaled_fraction,
                    base, f"measured on {smaller} ranks, and grown to {ranks} as on {names}",
                )  # fmt: skip
        return None

    def _growths(
        self, operation: Collective, smaller: int, ranks: int, base: _Found
    ) -> list[tuple[str, Floats] | None]:
        """Times of the larger group, once for each profile of another link that has both groups."""
        return [self._growth(entry, operation, smaller, ranks, base) for entry in self.shelf.others]

    def _growth(
        self, entry: Entry[Profile], operation: Collective, smaller: int, ranks: int, base: _Found
    ) -> tuple[str, Floats] | None:
        small, large = (self._find([entry], operation, size) for size in (smaller, ranks))
        if small is None or large is None:
            return None
        # the same place on the curve: where the start weighs as much against the rate
        aligned = SAMPLED_BYTES * _knee_bytes(small.regimes) / _knee_bytes(base.regimes)
        ratio = _times(large.regimes, aligned) / _times(small.regimes, aligned)
        return entry.item.accelerator, _times(base.regimes, SAMPLED_BYTES) * ratio

    def _grown(self, operation: Collective, ranks: int) -> GroupCurve | None:
        """Groups larger than any measured one: starts grow as they did, rates by the traffic of a ring."""
        sizes = [2**step for step in range(int(log2(ranks)), 0, -1) if 2**step < ranks]
        known = [
            one
            for size in sizes
            for one in (self._measured(operation, size), self._of_sibling(operation, size))
            if one is not None
        ]
        if not known:
            return None
        base = known[0]
        before = next((one for one in known if one.ranks < base.ranks), None)
        later_s = 0.0
        if before is not None:
            grew_s = max(base.regimes[0].start_s - before.regimes[0].start_s, 0.0)
            # trees and sums in the switch take steps by the doubling, rings by the rank
            later_s = grew_s * (
                log2(ranks / base.ranks) / log2(base.ranks / before.ranks)
                if operation is Collective.ALL_REDUCE
                else (ranks - base.ranks) / (base.ranks - before.ranks)
            )
        factor = float(
            bus_factor(operation, ranks=np.array([float(ranks)]))[0]
            / bus_factor(operation, ranks=np.array([float(base.ranks)]))[0]
        )
        regimes = tuple(
            Regime(
                one.from_bytes,
                one.start_s + later_s,
                one.ramp_s_per_sqrt_byte * factor,
                one.s_per_byte * factor,
            )
            for one in base.regimes
        )
        width = self.bands.scaled_fraction + self.bands.doubling_fraction * log2(ranks / base.ranks)
        return replace(
            base, ranks=ranks, regimes=regimes, rung=Rung.SCALED, half_width_fraction=width, beyond_groups=True,
            how=f"{base.how}; extrapolated from {base.ranks} to {ranks} ranks",
        )  # fmt: skip

    def _of_link(self, operation: Collective, ranks: int) -> GroupCurve:
        """From the link's rate: a ring, or the switch's own sum where that is faster; pairs on a mesh."""
        rates = self.rates
        pairs = rates.pair_bytes_per_s * (ranks - 1.0)
        rate = min(rates.bytes_per_s, pairs)
        if operation is Collective.SEND_RECEIVE:
            rate = min(rates.bytes_per_s, rates.pair_bytes_per_s)
        factor = float(bus_factor(operation, ranks=np.array([float(ranks)]))[0])
        steps = {Collective.ALL_REDUCE: 2.0 * (ranks - 1.0), Collective.SEND_RECEIVE: 1.0}.get(
            operation, ranks - 1.0
        )
        how = f"ring at {rate / 1e9:.0f} GB/s a rank"
        if operation is Collective.ALL_REDUCE:
            tree = 2.0 * log2(ranks)
            steps = min(steps, tree)
            if rates.reduction_gain_ratio > 1.0 and ranks > 2:
                factor, how = factor / rates.reduction_gain_ratio, how.replace("ring", "sum in the switch")
        slope = factor / rate
        bend = slope * rates.half_rate_bytes**0.5
        regime = Regime(0.0, rates.start_s + steps * rates.hop_s, bend, slope)
        return GroupCurve(
            operation, ranks, (regime,), Rung.PHYSICS, self.bands.physics_fraction, 0, 0, "",
            f"{how}, nothing measured on this link",
        )  # fmt: skip

    def _made(
        self, operation: Collective, ranks: int, regimes: tuple[Regime, ...], rung: Rung, width: float,
        found: _Found, how: str,
    ) -> GroupCurve:  # fmt: skip
        return GroupCurve(
            operation, ranks, regimes, rung, width, found.fit.min_bytes, found.fit.max_bytes, found.profile.id, how
        )  # fmt: skip


def _times(regimes: tuple[Regime, ...], sizes: Floats) -> Floats:
    return curve_time_s(stack_curves([regimes]), curve=np.zeros(1, dtype=np.intp), message_bytes=sizes)


def _knee_bytes(regimes: tuple[Regime, ...]) -> float:
    """Message whose bytes at the endless rate take as long as the start."""
    return max(regimes[0].start_s, 1e-7) / max(regimes[-1].s_per_byte, 1e-16)
