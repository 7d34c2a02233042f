"""The scale-up domain of an accelerator as ledger lines and curves: what it rests on, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.arrays import Floats
from planner.catalog.figure import Figure
from planner.catalog.schema import Accelerator, ScaleUp
from planner.catalog.store import Entry
from planner.ledger import Ledger, Line
from planner.performance.assumed import Assumed
from planner.performance.collectives import Collective
from planner.performance.group_curves import Bands, DomainCurves, GroupCurve, LinkRates, Rung
from planner.performance.ladder import domain_curves
from planner.performance.shelf import Shelf, shelf_for
from planner.scenario.givens import figure_line
from planner.sourced import Basis, Source
from planner.units import GIGA

RATIO_KEY = "calibration.scale_up_time_ratio"


@dataclass(frozen=True, slots=True)
class ScaleUpDomain:
    """Curves of a domain with their evidence.

    Attributes:
        time_ratio: Time over the curves' time: 1, and in draws the band of the rung.
        speaking: The group that speaks for the domain: the all-reduce of all its ranks.
    """

    curves: DomainCurves
    shelf: Shelf
    time_ratio: Floats
    speaking: GroupCurve


def accelerator_line(ledger: Ledger, entry: Entry[Accelerator], field: str, label: str, unit: str) -> Line:
    """A figure of an accelerator as a ledger line."""
    return figure_line(
        ledger, f"accelerator.{entry.item.id}.{field}", f"{label} of {entry.item.name}", unit, entry, field
    )


def scale_up_domain(
    assumed: Assumed,
    accelerator: Entry[Accelerator],
    scaleup: Entry[ScaleUp] | None,
    *,
    domain_ranks: int,
    named: Sequence[str] = (),
    narrow: bool = False,
    staged: bool = False,
    ratio_key: str = RATIO_KEY,
) -> ScaleUpDomain:
    """Curves for a domain, from the firmest rung that carries each.

    Args:
        assumed: Reads catalog figures into the ledger.
        accelerator, scaleup: The parts; none of the latter where cards talk over PCIe alone.
        domain_ranks: Accelerators of the domain.
        named: Profiles that go before all others.
        narrow, staged: See `ladder.domain_curves`.
        ratio_key: Line of the band of its curves; another one for a second kind of accelerator.

    Raises:
        CatalogError: A named profile doesn't exist.
    """
    shelf = shelf_for(assumed.catalog, accelerator.item, named)
    bands = Bands(*(_fraction(assumed, f"collective_band_{name}_fraction") for name in (*Rung, "doubling")))
    rates = link_rates(assumed, accelerator, scaleup)
    curves = domain_curves(shelf, rates, domain_ranks=domain_ranks, bands=bands, narrow=narrow, staged=staged)
    speaking = curves.group(Collective.ALL_REDUCE, curves.sizes[-1])
    return ScaleUpDomain(
        curves, shelf, _time_ratio(assumed, speaking, shelf, ratio_key, accelerator.item.name), speaking
    )


def _fraction(assumed: Assumed, key: str) -> float:
    figure, _ = assumed.catalog.figure("performance", key)
    return figure.value


def _time_ratio(assumed: Assumed, speaking: GroupCurve, shelf: Shelf, key: str, name: str) -> Floats:
    if key in assumed.ledger:
        return assumed.use(assumed.ledger[key])
    width, of = speaking.half_width_fraction, "" if key == RATIO_KEY else f", {name}"
    line = assumed.ledger.given(
        key, f"Scale-up collectives, time over the curves{of}", "1", 1.0, evidence(speaking, shelf),
        low=1.0 / (1.0 + width), high=1.0 + width,
    )  # fmt: skip
    return assumed.use(line)


def evidence(group: GroupCurve, shelf: Shelf) -> Source:
    """Where a curve comes from, as every number says it."""
    for entry in (*shelf.own, *shelf.siblings):
        if entry.item.id == group.profile:
            profile = entry.item
            measured = group.rung is Rung.MEASURED
            return Source(
                where=f"{entry.document.path}:1", source=profile.source or "",
                basis=Basis.MEASURED if measured else Basis.ESTIMATE, as_of=profile.as_of, verified=True,
                note=f"{group.rung.value}: {group.how}",
            )  # fmt: skip
    return Source(
        where="catalog/assumptions/performance.yaml", source="planner-nccl-tables", basis=Basis.ESTIMATE,
        verified=False, note=f"physics: {group.how}",
    )  # fmt: skip


def link_rates(
    assumed: Assumed, accelerator: Entry[Accelerator], scaleup: Entry[ScaleUp] | None
) -> LinkRates:
    """What the catalog says of a link, for groups that no profile covers."""
    raw = _raw_rate(assumed, accelerator, scaleup)
    share = _share(assumed, scaleup)
    pair, hop = raw, float(assumed("scale_up_hop_s")[0])
    gain, ceiling, sums = 1.0, raw * share, 0.0
    if scaleup is not None:
        item = scaleup.item
        pair = item.pair_gbyte_per_s.value * GIGA if item.pair_gbyte_per_s is not None else raw
        hop = item.latency_us.value * 1e-6 if item.latency_us is not None else hop
        gain = float(assumed("in_network_gain_ratio_nvlink")[0]) if item.in_network_reduction else 1.0
        ceiling = raw * _highest(item.link_efficiency_fraction, share)
        own = raw / (item.gbyte_per_s.value * GIGA) if item.gbyte_per_s is not None else 1.0
        sums = own * GIGA * _highest(item.reduction_busbw_gbyte_per_s, 0.0)
    return LinkRates(
        bytes_per_s=raw * share, pair_bytes_per_s=min(pair, raw) * share,
        start_s=float(assumed("scale_up_start_s")[0]), hop_s=hop,
        half_rate_bytes=float(assumed("scale_up_half_rate_s")[0]) * raw * share, reduction_gain_ratio=gain,
        raw_bytes_per_s=raw, ceiling_bytes_per_s=ceiling, reduction_ceiling_bytes_per_s=max(sums, ceiling),
    )  # fmt: skip


def _highest(figure: Figure | None, otherwise: float) -> float:
    """High end of a figure."""
    if figure is None:
        return otherwise
    return figure.value if figure.high is None else figure.high


def _raw_rate(assumed: Assumed, accelerator: Entry[Accelerator], scaleup: Entry[ScaleUp] | None) -> float:
    if accelerator.item.scaleup_gbyte_per_s is not None:
        line = accelerator_line(
            assumed.ledger, accelerator, "scaleup_gbyte_per_s", "Scale-up rate, one way", "GB/s"
        )
    elif scaleup is not None and scaleup.item.gbyte_per_s is not None:
        line = figure_line(
            assumed.ledger, f"scaleup.{scaleup.item.id}.gbyte_per_s", f"Rate of {scaleup.item.name}, one way",
            "GB/s", scaleup, "gbyte_per_s",
        )  # fmt: skip
    else:
        figure, _ = assumed.catalog.figure("network", "pcie_gen4_x16_gbit_per_s")
        return figure.value * GIGA / 8.0
    return float(assumed.use(line)[0]) * GIGA


def _share(assumed: Assumed, scaleup: Entry[ScaleUp] | None) -> float:
    if scaleup is None or scaleup.item.link_efficiency_fraction is None:
        return float(assumed("scale_up_share_of_link_fraction")[0])
    line = figure_line(
        assumed.ledger, f"scaleup.{scaleup.item.id}.link_efficiency_fraction",
        f"Sustained share of {scaleup.item.name}", "fraction", scaleup, "link_efficiency_fraction",
    )  # fmt: skip
    return float(assumed.use(line)[0])


__all__ = ["RATIO_KEY", "ScaleUpDomain", "accelerator_line", "evidence", "link_rates", "scale_up_domain"]
