"""Wait for optics, or buy what can be ordered now: a dated comparison with every assumption."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from planner.catalog.schema import OpticalEngine, Switch
from planner.evaluate import Evaluation
from planner.ledger import Ledger
from planner.sourced import Source
from planner.study.optics_even import usd_per_watt
from planner.study.optics_lines import HourValue
from planner.study.optics_shelf import not_orderable
from planner.units import MONTHS_PER_YEAR

STEP_MONTHS = 0.25


@dataclass(frozen=True, slots=True)
class Assumed:
    """A number that the comparison rests on."""

    label: str
    value: float
    unit: str
    source: Source


@dataclass(frozen=True, slots=True)
class Terms:
    """What a month of waiting costs and what it makes cheaper.

    Attributes:
        hours_per_month: GPU-hours scheduled in a month.
        hour_usd: Worth of each.
        opex_usd_per_month: Running costs that are not paid while nothing runs.
        capex_usd: Purchase that is paid later.
        monthly_rate: Discount rate a month.
        optics_usd: Optics of the plan that can be bought now.
        optics_decline: Fall of their price, share a year.
        servers_usd: Servers of the plan.
        servers_decline: Fall of theirs.
        horizon_months: Months of operation.
    """

    hours_per_month: float
    hour_usd: float
    opex_usd_per_month: float
    capex_usd: float
    monthly_rate: float
    optics_usd: float
    optics_decline: float
    servers_usd: float
    servers_decline: float
    horizon_months: float

    def delay_usd(self, months: float) -> float:
        """Worth of the work that comes late, less running costs and interest that are saved meanwhile."""
        margin = self.hours_per_month * self.hour_usd - self.opex_usd_per_month
        return months * margin - self.capex_usd * (1 - math.pow(1 + self.monthly_rate, -months))

    def cheaper_optics_usd(self, months: float) -> float:
        """What optics cost less by then."""
        return self.optics_usd * (1 - math.pow(1 - self.optics_decline, months / MONTHS_PER_YEAR))

    def cheaper_servers_usd(self, months: float) -> float:
        """What servers cost less by then, with any network."""
        return self.servers_usd * (1 - math.pow(1 - self.servers_decline, months / MONTHS_PER_YEAR))

    def net_usd(self, gain_usd: float, months: float) -> float:
        """What waiting brings: the part's own gain and cheaper optics, less the delay."""
        return gain_usd + self.cheaper_optics_usd(months) - self.delay_usd(months)

    def longest_wait_months(self, gain_usd: float) -> float | None:
        """Longest wait that still pays; none where none does, and at most the horizon.

        >>> terms = Terms(hours_per_month=100.0, hour_usd=2.0, opex_usd_per_month=100.0, capex_usd=0.0,
        ...     monthly_rate=0.0, optics_usd=0.0, optics_decline=0.0, servers_usd=0.0, servers_decline=0.0,
        ...     horizon_months=60.0)
        >>> terms.longest_wait_months(250.0), terms.longest_wait_months(0.0)
        (2.5, None)
        """
        steps = int(self.horizon_months / STEP_MONTHS)
        paying = [
            step * STEP_MONTHS
            for step in range(1, steps + 1)
            if self.net_usd(gain_usd, step * STEP_MONTHS) >= 0
        ]
        low = max(paying, default=0.0)
        if low == 0.0 and gain_usd <= 0:
            return None
        high = min(low + STEP_MONTHS, self.horizon_months)
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self.net_usd(gain_usd, middle) >= 0 else (low, middle)
        return round(low, 6)


def speed_up_needed(*, months: float, horizon_months: float) -> float | None:
    """How much more work an hour has to give after a wait to make up for it within the same end date.

    >>> speed_up_needed(months=12.0, horizon_months=60.0)
    0.25
    >>> speed_up_needed(months=60.0, horizon_months=60.0) is None
    True
    """
    return months / (horizon_months - months) if months < horizon_months else None


@dataclass(frozen=True, slots=True)
class Awaited:
    """A part that can't be ordered yet, and what waiting for it would do.

    Attributes:
        date: First date it is said to be orderable; empty where none is known.
        why_not: Why it is no order today.
        gain_usd: What it saves over the horizon, present value, before any delay.
        bound: Whether that is only an upper bound: all optics free and without power.
        months: Months from the order date; None without a date.
        net_usd: What waiting brings by that date; None without a date.
        net_with_servers_usd: The same if servers get cheaper too, whatever the network.
        longest_months: Longest wait that pays; None where none does.
        latest: Date of that.
        speed_up: Share by which work would have to go faster for the wait to pay; None without a date.
    """

    id: str
    name: str
    date: str
    why_not: str
    gain_usd: float
    bound: bool
    months: float | None
    net_usd: float | None
    net_with_servers_usd: float | None
    longest_months: float | None
    latest: str
    speed_up: float | None

    @property
    def pays(self) -> bool | None:
        """Whether waiting pays; None where no date is known."""
        return None if self.net_usd is None else self.net_usd > 0


@dataclass(frozen=True, slots=True)
class WaitOrBuy:
    """Buy now against waiting, for every part that may be waited for."""

    day: str
    buy: str
    scale_up: str
    terms: Terms
    assumed: tuple[Assumed, ...]
    awaited: tuple[Awaited, ...]


def wait_or_buy(
    now: Evaluation,
    name: str,
    *,
    day: str,
    hour: HourValue,
    gains: dict[str, float],
    until: str | None = None,
) -> WaitOrBuy:
    """Weigh waiting for each roadmap part against buying a variant now.

    Args:
        now: The variant that would be bought.
        name: What it is called.
        day: Order date.
        hour: Worth of a GPU-hour.
        gains: Present value that evaluated roadmap switches save against it, by id.
        until: Date to take for parts that state none.
    """
    terms, assumed = _terms(now, hour)
    bound = _bound_usd(now.ledger)
    rows = []
    for part in _roadmap(now, day, gains):
        date = (
            part.available
            if part.available is not None and part.available > day[: len(part.available)]
            else until
        )
        gain, is_bound = (gains[part.id], False) if part.id in gains else (bound, True)
        rows.append(_awaited(part, date or "", day, gain, is_bound, terms))
    links = dict.fromkeys(
        one.scaleup.item.name if one.scaleup is not None else "no scale-up link" for one in now.parts.kinds
    )
    group, link = now.parts.groups[0], " and ".join(links)
    return WaitOrBuy(
        day,
        name,
        f"{link}, domains of {group.server.item.scaleup_domain_gpus} GPUs",
        terms,
        assumed,
        tuple(rows),
    )


def _awaited(
    part: Switch | OpticalEngine, date: str, day: str, gain: float, is_bound: bool, terms: Terms
) -> Awaited:
    months = months_between(day, date) if date else None
    longest = terms.longest_wait_months(gain)
    net = terms.net_usd(gain, months) if months is not None else None
    return Awaited(
        part.id, part.name, date, not_orderable(part, day), gain, is_bound, months, net,
        None if net is None or months is None else net + terms.cheaper_servers_usd(months),
        longest, "" if longest is None else month_after(day, longest),
        None if months is None else speed_up_needed(months=months, horizon_months=terms.horizon_months),
    )  # fmt: skip


def _roadmap(now: Evaluation, day: str, gains: dict[str, float]) -> Iterator[Switch | OpticalEngine]:
    """Switches that were evaluated, then engines that this plan could hope for.

    Left out: engines that a switch for sale carries, those whose switches speak another protocol, and those whose
    date has passed without a switch that carries them.
    """
    catalog, fabric = now.parts.catalog, now.parts.tiers[0].switch.item.fabric
    carried: dict[str, list[Switch]] = {}
    for name in catalog.ids(Switch):
        switch = catalog.get(Switch, name)
        if switch.optics is not None:
            carried.setdefault(switch.optics, []).append(switch)
        if name in gains:
            yield switch
    for name in catalog.ids(OpticalEngine):
        engine, switches = catalog.get(OpticalEngine, name), carried.get(name, [])
        sold = any(not not_orderable(switch, day) for switch in switches)
        foreign = bool(switches) and all(switch.fabric is not fabric for switch in switches)
        past = not switches and engine.available is not None and engine.available <= day
        evaluated = any(switch.id in gains for switch in switches)
        if engine.vendor and not_orderable(engine, day) and not (sold or foreign or past or evaluated):
            yield engine


def _bound_usd(ledger: Ledger) -> float:
    """What optics could save at most: their purchase, and the energy of every module."""
    optics = ledger.scalar("capex.optics_usd") if "capex.optics_usd" in ledger else 0.0
    installed = optics * (1 + ledger.scalar("assumption.installation_fraction"))
    return installed + ledger.scalar("optics.modules_w") * usd_per_watt(ledger)


def _terms(now: Evaluation, hour: HourValue) -> tuple[Terms, tuple[Assumed, ...]]:
    ledger, catalog = now.ledger, now.parts.catalog
    decline, decline_source = catalog.figure("network", "optics_price_decline_fraction_per_year")
    erosion, erosion_source = catalog.figure("finance", "price_erosion_fraction_per_year")
    here = Source(f"{now.loaded.document.path}, this plan")
    optics = ledger.scalar("capex.optics_usd") if "capex.optics_usd" in ledger else 0.0
    terms = Terms(
        hours_per_month=ledger.scalar("outcome.scheduled_gpu_hours_per_year") / MONTHS_PER_YEAR,
        hour_usd=hour.usd,
        opex_usd_per_month=ledger.scalar("opex.year1_usd") / MONTHS_PER_YEAR,
        capex_usd=ledger.scalar("capex.total_usd"),
        monthly_rate=ledger.scalar("money.discount_rate_monthly"),
        optics_usd=optics,
        optics_decline=decline.value,
        servers_usd=ledger.scalar("capex.servers_usd"),
        servers_decline=erosion.value,
        horizon_months=float(now.loaded.scenario.money.horizon_months),
    )
    return terms, (
        Assumed("GPU-hours scheduled in a month", terms.hours_per_month, "GPU-h", here),
        Assumed(f"Worth of a GPU-hour, {hour.said}", hour.usd, "USD/GPU-h", hour.source),
        Assumed("Running costs saved in a month of waiting", terms.opex_usd_per_month, "USD", here),
        Assumed("Purchase that is paid later", terms.capex_usd, "USD", here),
        Assumed("Discount rate a month", terms.monthly_rate, "fraction", here),
        Assumed("Optics of the plan", optics, "USD", here),
        Assumed("Price of optics falls in a year", decline.value, "fraction", decline_source),
        Assumed("Price of servers falls in a year, shown apart", erosion.value, "fraction", erosion_source),
        Assumed("Months of operation", terms.horizon_months, "month", here),
    )


def months_between(day: str, date: str) -> float:
    """Whole months from one date to another; a date without a month is its January.

    >>> months_between("2026-11-30", "2028-01"), months_between("2026-11", "2028")
    (14.0, 14.0)
    """
    return float(_month(date) - _month(day))


def _month(date: str) -> int:
    parts = [int(part) for part in date.split("-")]
    return parts[0] * 12 + (parts[1] if len(parts) > 1 else 1) - 1


def month_after(day: str, months: float) -> str:
    """Month that lies so many whole months after a date.

    >>> month_after("2026-11-30", 2.5)
    '2027-01'
    """
    year, month = divmod(_month(day) + int(months), 12)
    return f"{year:04d}-{month + 1:02d}"
