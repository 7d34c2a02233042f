"""Where one way of joining switches becomes cheaper than another: by energy price, by length, by rate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planner.catalog.schema import Cable, CableKind, Medium, Transceiver
from planner.catalog.store import Catalog
from planner.ledger import Ledger
from planner.units import HOURS_PER_YEAR, KILO

COPPER = (CableKind.DAC, CableKind.ACC, CableKind.AEC)


def break_even_usd_per_kwh(
    *, price: float, npv_usd: float, kwh: float, other_npv_usd: float, other_kwh: float
) -> float | None:
    """Energy price at which two plans cost the same; none where no price above zero does it.

    A present value is linear in the energy price, so this is where two straight lines cross.

    Args:
        price: USD/kWh at which both present values hold.
        npv_usd, other_npv_usd: Present values of the costs.
        kwh, other_kwh: Discounted energy, the slopes.

    >>> break_even_usd_per_kwh(price=0.25, npv_usd=100.0, kwh=48.0, other_npv_usd=104.0, other_kwh=32.0)
    0.5
    """
    if kwh == other_kwh:
        return None
    found = price + (other_npv_usd - npv_usd) / (kwh - other_kwh)
    return found if found > 0 else None


@dataclass(frozen=True, slots=True)
class CopperEven:
    """A copper cable against modules and fibre of its rate, over the horizon.

    Attributes:
        copper_usd: Cable and its energy, present value.
        optics_fixed_usd, optics_usd_per_m: Two modules, fibre and their energy, and the fibre's length.
        from_m: Length from which the cable costs less; it is short copper's length where that is always.
        to_m: Length to which it does, its reach; 0 where it never does.
        even_module_usd: Price of a module at which optics would draw even at the cable's reach.
    """

    cable: Cable
    module: Transceiver
    rate_gbit_per_s: float
    lane_rate_gbit_per_s: float
    reach_m: float
    copper_usd: float
    optics_fixed_usd: float
    optics_usd_per_m: float
    from_m: float
    to_m: float
    even_module_usd: float

    @property
    def optics_usd(self) -> float:
        """Modules and fibre of the cable's reach, with their energy."""
        return self.optics_fixed_usd + self.optics_usd_per_m * self.reach_m


def usd_per_watt(ledger: Ledger) -> float:
    """Present value of the energy of one IT watt that is drawn over the whole horizon, at the meter."""
    return (
        ledger.scalar("power.pue") * HOURS_PER_YEAR / KILO * ledger.scalar("site.electricity_usd_per_kwh")
        * ledger.scalar("optics.worth_of_a_year_years")
    )  # fmt: skip


def break_even_lengths(catalog: Catalog, ledger: Ledger) -> tuple[CopperEven, ...]:
    """Every copper cable of the catalog against the cheapest module of its rate and lane rate."""
    watt = usd_per_watt(ledger)
    found = [row for cable in _coppers(catalog) if (row := _against(catalog, cable, watt)) is not None]
    return tuple(
        sorted(
            found, key=lambda row: (row.lane_rate_gbit_per_s, row.rate_gbit_per_s, row.reach_m, row.cable.id)
        )
    )


def _coppers(catalog: Catalog) -> Iterator[Cable]:
    for name in catalog.ids(Cable):
        item = catalog.get(Cable, name)
        if (
            item.kind in COPPER
            and item.rate_gbit_per_s is not None
            and item.lane_rate_gbit_per_s
            and item.price_usd
        ):
            yield item


def _against(catalog: Catalog, cable: Cable, watt: float) -> CopperEven | None:
    assert cable.rate_gbit_per_s is not None and cable.lane_rate_gbit_per_s and cable.price_usd is not None
    rate, reach = cable.rate_gbit_per_s.value, cable.reach_m.value
    options = []
    for name in catalog.ids(Transceiver):
        module = catalog.get(Transceiver, name)
        like = (module.rate_gbit_per_s.value, module.lane_rate_gbit_per_s) == (
            rate,
            cable.lane_rate_gbit_per_s,
        )
        if not like or module.linear or module.price_usd is None or module.reach_m.value < reach:
            continue
        fibre = catalog.get(Cable, _fibre(module))
        each = fibre.price_usd.value if fibre.price_usd else 0.0
        fixed = 2 * (module.price_usd.value + watt * module.power_w.value) + each * module.links
        metre = (fibre.price_usd_per_m.value if fibre.price_usd_per_m else 0.0) * module.links
        options.append((fixed + metre * reach, module.id, module, fixed, metre))
    if not options:
        return None
    total, _, module, fixed, metre = min(options, key=lambda one: one[:2])
    ends = cable.power_per_end_w.value if cable.power_per_end_w else 0.0
    copper = cable.price_usd.value + 2 * watt * ends
    start = 0.0 if copper <= fixed else (copper - fixed) / metre if metre else float("inf")
    assert module.price_usd is not None
    return CopperEven(
        cable, module, rate, cable.lane_rate_gbit_per_s, reach, copper, fixed, metre,
        min(start, reach), reach if start <= reach else 0.0, module.price_usd.value - (total - copper) / 2,
    )  # fmt: skip


def _fibre(module: Transceiver) -> str:
    plug = "lc" if module.fibres // module.links <= 2 else "mpo"
    return f"fibre-{plug}-{'om4' if module.medium is Medium.MULTIMODE else 'os2'}"
