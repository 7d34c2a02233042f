"""Months, purchase phases and hours."""

from __future__ import annotations

from dataclasses import dataclass

from planner.finance.kind_shares import KindShares
from planner.ledger import Axis, Ledger, Line
from planner.ledger.nodes import Expr, added, flag, maximum, ref
from planner.scenario.givens import wish_line
from planner.scenario.load import Loaded
from planner.scenario.parts import Parts
from planner.sourced import Basis, Source
from planner.units import HOURS_PER_MONTH, MONTHS_PER_YEAR


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
        building: Payment and use of an own building with dates of its own; None where it goes with the servers.
        load_share: Share of the servers' draw in service in a month, where it isn't that of GPUs.
    """

    month: Line
    phases: tuple[PhaseLines, ...]
    dates: tuple[PhaseDates, ...]
    share: Line
    hours: Line
    first_month: int
    building: BuildingLines | None = None
    load_share: Line | None = None

    @property
    def drawing(self) -> Line:
        """Share of all draw in service in a month."""
        return self.share if self.load_share is None else self.load_share


@dataclass(frozen=True, slots=True)
class BuildingLines:
    """Ledger lines of a building with dates of its own: share paid in a month, and whether it works."""

    paid: Line
    working: Line


def start_of(loaded: Loaded, as_of: str) -> tuple[int, int]:
    """Year and month (1 to 12) of month 0: the first order, of servers or of a building."""
    months = _start(loaded, as_of)
    return months // 12, months % 12 + 1


def _start(loaded: Loaded, as_of: str) -> int:
    scenario = loaded.scenario
    orders = [phase.order for phase in scenario.phases] or [as_of]
    built = scenario.money.construction
    return min(_months(day) for day in (*orders, *(() if built is None else (built.order,))))


def phase_dates(loaded: Loaded, as_of: str) -> tuple[PhaseDates, ...]:
    """Phases with months counted from the first order, in order of their in-service dates.

    The first to work brings the spines, as `planner.design.phases.fabric_phases` has it.

    A scenario without phases buys everything on ``as_of`` and works from month 0.
    """
    scenario, start = loaded.scenario, _start(loaded, as_of)
    if not scenario.phases:
        total = sum(group.gpus for group in scenario.cluster.groups)
        at = _months(as_of) - start
        return (PhaseDates("all", at, at, total),)
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


def months_needed(loaded: Loaded, phases: tuple[PhaseDates, ...], as_of: str) -> int:
    """Length of the time axis: build, then the horizon, month 0 included."""
    first = min(phase.service_month for phase in phases)
    last = max(phase.service_month for phase in phases)
    terms = loaded.scenario.money.payment
    late = 1 if terms is None else max(1, terms.accepted_months_after_service)
    dates = loaded.scenario.money.construction
    built = 0
    if dates is not None:
        built = _months(dates.in_service) - _start(loaded, as_of)
    return max(first + loaded.scenario.money.horizon_months, last + late, built) + 1


def timeline(
    ledger: Ledger,
    loaded: Loaded,
    phases: tuple[PhaseDates, ...],
    upper_tiers: Line | None,
    as_of: str,
    kinds: KindShares | None = None,
) -> Timeline:
    """Enter the lines of time.

    Args:
        ledger: Where they go.
        loaded: The scenario, for sources.
        phases: Purchases.
        upper_tiers: Share of the network's cost that comes with the first phase whatever its size.
        as_of: Date of the plan, that a plan without phases buys on.
        kinds: Shares of purchases of several kinds of servers; by GPUs without.
    """
    fact = Source("planner", "planner-defaults", Basis.PUBLISHED, note="counts months from the first payment")
    month = ledger.given("timing.month", "Month", "month", list(range(ledger.months)), fact, axis=Axis.MONTH)
    deposit = ledger.given(
        "money.deposit_fraction", "Paid with the order", "fraction",
        loaded.scenario.money.deposit_fraction, loaded.source("money", "deposit_fraction"),
    )  # fmt: skip
    lines = [
        _phase(ledger, loaded, phase, month, deposit, upper_tiers, kinds, first=index == 0)
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
    building = _building(ledger, loaded, month, as_of)
    load = None
    if kinds is not None:
        load = ledger.derive(
            "timing.load_in_service_fraction", "Servers in service, share of their draw under load", "fraction",
            added(kinds.load[line.id] * line.working for line in lines),
            note="servers of several kinds draw differently",
        )  # fmt: skip
    return Timeline(month, tuple(lines), phases, share, hours, first, building, load)


def _phase(
    ledger: Ledger,
    loaded: Loaded,
    phase: PhaseDates,
    month: Line,
    deposit: Line,
    upper_tiers: Line | None,
    kinds: KindShares | None,
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
        _paid(ledger, loaded, key, name, month, deposit, order, service),
    )  # fmt: skip
    working = ledger.derive(f"{key}.working", f"Working, {name}", "flag", flag(month, ">", service))
    server_share = ledger.derive(
        f"{key}.server_share_fraction", f"Share of servers, {name}", "fraction",
        gpus / ledger["cluster.gpus"] if kinds is None else kinds.cost[phase.id],
        note="" if kinds is None else "by their cost, as servers of several kinds have several prices",
    )  # fmt: skip
    of_network: Expr = ref(server_share)
    if upper_tiers is not None:
        of_network = server_share * (1 - upper_tiers) + (upper_tiers if first else 0)
    share = ledger.derive(
        f"{key}.network_share_fraction", f"Share of the network, {name}", "fraction", of_network,
        note="switches above the leaves come with the first phase, leaves and links with their servers",
    )  # fmt: skip
    return PhaseLines(phase.id, gpus, paid, working, server_share, share)


def _paid(
    ledger: Ledger,
    loaded: Loaded,
    key: str,
    name: str,
    month: Line,
    deposit: Line,
    order: Line,
    service: Line,
) -> Expr:
    """Deposit with the order, a part when it ships, the rest when it is accepted."""
    terms = loaded.scenario.money.payment
    if terms is None:
        return deposit * flag(month, "=", order) + (1 - deposit) * flag(month, "=", service)
    shipped, ahead, after = (
        _once(
            ledger,
            loaded,
            f"money.payment.{field}",
            label,
            unit,
            getattr(terms, field),
            "money",
            "payment",
            field,
        )
        for field, label, unit in (
            ("shipped_fraction", "Paid when it ships", "fraction"),
            ("shipped_months_before_service", "Ships before the in-service date", "month"),
            ("accepted_months_after_service", "Rest paid after the in-service date", "month"),
        )
    )
    sent = ledger.derive(
        f"{key}.shipped_month", f"Ships, {name}", "month", maximum(order, service - ahead),
        note="never before the order",
    )  # fmt: skip
    return (
        deposit * flag(month, "=", order)
        + shipped * flag(month, "=", sent)
        + (1 - deposit - shipped) * flag(month, "=", service + after)
    )


def _once(ledger: Ledger, loaded: Loaded, key: str, label: str, unit: str, value: float, *path: str) -> Line:
    return ledger[key] if key in ledger else wish_line(ledger, loaded, key, label, unit, value, *path)


def _building(ledger: Ledger, loaded: Loaded, month: Line, as_of: str) -> BuildingLines | None:
    """Equal payments from the building's order to its in-service date, both included."""
    dates = loaded.scenario.money.construction
    if dates is None:
        return None
    start = _start(loaded, as_of)
    order, service = (
        wish_line(
            ledger, loaded, f"timing.building_{name}_month", label, "month", float(_months(day) - start),
            "money", "construction", field,
        )
        for name, label, day, field in (
            ("order", "Order of the building", dates.order, "order"),
            ("service", "In service from, building", dates.in_service, "in_service"),
        )
    )  # fmt: skip
    paid = ledger.derive(
        "timing.building_paid_fraction", "Paid, building", "fraction",
        flag(month, ">=", order) * flag(month, "<=", service) / (service - order + 1),
    )  # fmt: skip
    working = ledger.derive("timing.building_working", "Working, building", "flag", flag(month, ">", service))
    return BuildingLines(paid, working)


def calendar_month(ledger: Ledger, parts: Parts) -> Line:
    """Month of the calendar of each month of the plan, 1 for January: month 0 is that of the first order."""
    key = "timing.calendar_month"
    if key in ledger:
        return ledger[key]
    _, first = start_of(parts.loaded, parts.as_of)
    months = [float((first - 1 + at) % int(MONTHS_PER_YEAR) + 1) for at in range(ledger.months)]
    source = Source(
        "planner", "planner-defaults", Basis.PUBLISHED, note=f"month 0 is month {first} of the calendar, of the first order"
    )  # fmt: skip
    return ledger.given(key, "Month of the calendar", "month", months, source, axis=Axis.MONTH)


def _phase_source(loaded: Loaded, phase_id: str) -> Source:
    for index, phase in enumerate(loaded.scenario.phases):
        if phase.id == phase_id:
            return loaded.source("phases", index)
    return loaded.source("phases", note="one purchase, in service at once")
