"""Months, purchase phases and hours."""

from __future__ import annotations

from dataclasses import dataclass

from planner.ledger import Axis, Ledger, Line
from planner.ledger.nodes import Expr, added, flag, ref
from planner.scenario.load import Loaded
from planner.sourced import Basis, Source
from planner.units import HOURS_PER_MONTH


@dataclass(frozen=True, slots=True)
class PhaseDates:
    """A purchase: months counted from the first order."""

    id: str
    order_month: int
    service_month: int
    gpus: int


@dataclass(frozen=True, slots=True)
class PhaseLines:
    """Ledger lines of one phase."""

    id: str
    gpus: Line
    paid: Line
    working: Line
    server_share: Line
    network_share: Line


@dataclass(frozen=True, slots=True)
class Timeline:
    """Ledger lines of time, shared by all money lines.

    Attributes:
        month: 0, 1, 2 ... to the horizon.
        phases: Purchases in order; dates are their months.
        share: Share of all GPUs in service in a month.
        hours: GPU-hours installed in a month.
        first_month: First month of operation.
    """

    month: Line
    phases: tuple[PhaseLines, ...]
    dates: tuple[PhaseDates, ...]
    share: Line
    hours: Line
    first_month: int


def phase_dates(loaded: Loaded, as_of: str) -> tuple[PhaseDates, ...]:
    """Phases with months counted from the first order, in order of their in-service dates.

    The first to work brings the spines, as `planner.design.phases.fabric_phases` has it.

    A scenario without phases buys everything on ``as_of`` and works from month 0.
    """
    scenario = loaded.scenario
    if not scenario.phases:
        total = sum(group.gpus for group in scenario.cluster.groups)
        return (PhaseDates("all", 0, 0, total),)
    start = min(_months(phase.order) for phase in scenario.phases)
    found = []
    for phase in sorted(scenario.phases, key=lambda one: (one.in_service, one.order, one.id)):
        gpus = sum(group.gpus for group in scenario.cluster.groups if scenario.phase_of(group) is phase)
        found.append(
            PhaseDates(phase.id, _months(phase.order) - start, _months(phase.in_service) - start, gpus)
        )
    return tuple(found)


def _months(day: str) -> int:
    year, month = day.split("-")[:2]
    return int(year) * 12 + int(month) - 1


def months_needed(loaded: Loaded, phases: tuple[PhaseDates, ...]) -> int:
    """Length of the time axis: build, then the horizon, month 0 included."""
    first = min(phase.service_month for phase in phases)
    last = max(phase.service_month for phase in phases)
    return max(first + loaded.scenario.money.horizon_months, last + 1) + 1


def timeline(
    ledger: Ledger, loaded: Loaded, phases: tuple[PhaseDates, ...], upper_tiers: Line | None
) -> Timeline:
    """Enter the lines of time.

    Args:
        ledger: Where they go.
        loaded: The scenario, for sources.
        phases: Purchases.
        upper_tiers: Share of the network's cost that comes with the first phase whatever its size.
    """
    fact = Source("planner", "planner-defaults", Basis.PUBLISHED, note="counts months from the first payment")
    month = ledger.given("timing.month", "Month", "month", list(range(ledger.months)), fact, axis=Axis.MONTH)
    deposit = ledger.given(
        "money.deposit_fraction", "Paid with the order", "fraction",
        loaded.scenario.money.deposit_fraction, loaded.source("money", "deposit_fraction"),
    )  # fmt: skip
    lines = [
        _phase(ledger, loaded, phase, month, deposit, upper_tiers, first=index == 0)
        for index, phase in enumerate(phases)
    ]
    total = ledger["cluster.gpus"]
    in_service = added(line.gpus * line.working for line in lines)
    gpus = ledger.derive("timing.gpus_in_service", "GPUs in service", "1", in_service)
    share = ledger.derive("timing.share_in_service_fraction", "Share in service", "fraction", gpus / total)
    per_month = ledger.given(
        "timing.hours_per_month", "Hours in a month", "h", HOURS_PER_MONTH,
        Source("planner", "planner-defaults", Basis.PUBLISHED, note="8,760 hours over 12 months"),
    )  # fmt: skip
    hours = ledger.derive("timing.gpu_hours", "GPU-hours installed", "GPU-h", gpus * per_month)
    first = min(phase.service_month for phase in phases) + 1
    return Timeline(month, tuple(lines), phases, share, hours, first)


def _phase(
    ledger: Ledger,
    loaded: Loaded,
    phase: PhaseDates,
    month: Line,
    deposit: Line,
    upper_tiers: Line | None,
    *,
    first: bool,
) -> PhaseLines:
    key, name = f"phase.{phase.id}", f"phase {phase.id}"
    source = _phase_source(loaded, phase.id)
    gpus = ledger.given(f"{key}.gpus", f"GPUs of {name}", "1", phase.gpus, source)
    order = ledger.given(f"{key}.order_month", f"Order of {name}", "month", phase.order_month, source)
    service = ledger.given(
        f"{key}.service_month", f"In service from, {name}", "month", phase.service_month, source
    )
    paid = ledger.derive(
        f"{key}.paid_fraction", f"Paid, {name}", "fraction",
        deposit * flag(month, "=", order) + (1 - deposit) * flag(month, "=", service),
    )  # fmt: skip
    working = ledger.derive(f"{key}.working", f"Working, {name}", "flag", flag(month, ">", service))
    server_share = ledger.derive(
        f"{key}.server_share_fraction", f"Share of servers, {name}", "fraction", gpus / ledger["cluster.gpus"]
    )
    of_network: Expr = ref(server_share)
    if upper_tiers is not None:
        of_network = server_share * (1 - upper_tiers) + (upper_tiers if first else 0)
    share = ledger.derive(
        f"{key}.network_share_fraction", f"Share of the network, {name}", "fraction", of_network,
        note="switches above the leaves come with the first phase, leaves and links with their servers",
    )  # fmt: skip
    return PhaseLines(phase.id, gpus, paid, working, server_share, share)


def _phase_source(loaded: Loaded, phase_id: str) -> Source:
    for index, phase in enumerate(loaded.scenario.phases):
        if phase.id == phase_id:
            return loaded.source("phases", index)
    return loaded.source("phases", note="one purchase, in service at once")
