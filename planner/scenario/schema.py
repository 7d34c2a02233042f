"""The scenario: what a user may ask.

Every field's docstring is its help text in editors, in the TUI and in ``planner init``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from planner.choices import Topology
from planner.scenario.fields import (
    BIDI,
    AnchorPath,
    Count,
    Day,
    Fraction,
    Id,
    Month,
    Name,
    NotNegative,
    Positive,
    Strict,
)
from planner.scenario.workload import PlanChoice, Slo, TokenBudget, Workload, WorkloadKind

LONGEST_BUILD_MONTHS = 180


class Group(Strict):
    """Servers of one kind."""

    id: Id
    """Short name of the group."""
    server: Id
    """Server or rack, an item of the catalog."""
    gpus: Count
    """GPUs in the group; a whole number of servers."""
    phase: Id | None = None
    """Purchase phase; the first one by default."""


class Cluster(Strict):
    """The compute."""

    groups: tuple[Group, ...] = Field(min_length=1, max_length=32)
    """Groups of servers; the first one runs the workloads' plans."""
    spare_fraction: Fraction | None = None
    """Spare servers bought and kept, share of those in service, in whole servers; 0.02 by default, and none
    where a server is a whole rack."""


class Tier(Strict):
    """One tier of the fabric."""

    switch: Id | None = None
    """Switch of this tier, an item of the catalog; the tier below's by default."""
    optic: Id | None = None
    """Optical module on its ports; the cheapest that fits and reaches by default."""


class LeafTier(Tier):
    """The first tier, the only one that may be oversubscribed."""

    oversubscription: Annotated[float, Field(ge=1, le=64, allow_inf_nan=False, strict=True)] = 1.0
    """Bandwidth down over bandwidth up: 1 is non-blocking."""


class StorageWish(Strict):
    """Storage for datasets and checkpoints."""

    system: Id
    """Storage building block, an item of the catalog."""
    count: Count = 1
    """Building blocks."""


class Network(Strict):
    """The scale-out fabric."""

    topology: Topology = Topology.RAIL_OPTIMISED
    """rail-optimised (a leaf set for each rail, joined by spines), rail-only (no spine), single-switch (refused
    where one doesn't reach) or none (one server)."""
    planes: Annotated[int, Field(ge=1, le=8, strict=True)] = 1
    """Independent copies of the fabric that each NIC is split over."""
    reserved_ports: Annotated[int, Field(ge=0, le=64, strict=True)] | None = None
    """Endpoint ports kept for a subnet manager; 4 on InfiniBand by default, 0 on Ethernet."""
    behaviour: Id | None = None
    """How the fabric balances load, an item of fabrics; by link protocol by default."""
    nic: Id | None = None
    """Network adapter; the server's own by default."""
    endpoint_optic: Id | None = None
    """Optical module on the NIC's port; the cheapest that fits by default."""
    copper: Annotated[bool, Field(strict=True)] = True
    """Use copper where it reaches."""
    leaf: LeafTier = LeafTier()
    """First tier, where NICs connect."""
    spine: Tier = Tier()
    """Second tier."""
    core: Tier = Tier()
    """Third tier."""
    storage: StorageWish | None = None
    """Storage systems; none by default."""
    inband: Id | None = "sn4700"
    """Switch of the storage and in-band network."""
    oob: Id | None = "sn2201"
    """Switch of the out-of-band network."""


class Housing(StrEnum):
    """Who owns the building."""

    COLOCATION = "colocation"
    OWN = "own"


class SiteWish(Strict):
    """Where it stands."""

    location: Id
    """Place, an item of sites."""
    cooling: Id = "air"
    """Cooling method, an item of cooling."""
    housing: Housing = Housing.COLOCATION
    """colocation pays rent for each kW; own pays for the construction."""
    pue: Annotated[float, Field(ge=1, le=3, allow_inf_nan=False, strict=True)] | None = None
    """Facility energy over IT energy, yearly average; by cooling method by default."""
    electricity_usd_per_kwh: Positive | None = None
    """Price of energy; the location's by default."""
    colocation_usd_per_kw_month: Positive | None = None
    """Rent for a kW of IT power; the location's by default."""
    limit_mw: Positive | None = None
    """Power the utility can deliver, MW at the meter; the peak is judged by it, and by limits.site_mw if that is lower."""
    rack_limit_kw: Annotated[float, Field(gt=0, le=10_000, allow_inf_nan=False, strict=True)] | None = None
    """Power one rack may draw; by cooling method by default."""
    row_racks: Annotated[int, Field(ge=2, le=60, strict=True)] = 12
    """Racks in a row."""


class Depreciation(Strict):
    """Book lives, straight line."""

    server_years: Positive | None = None
    """Life of servers and storage; the catalog's default otherwise."""
    network_years: Positive | None = None
    """Life of switches, cables and optics."""
    facility_years: Positive | None = None
    """Life of construction."""
    residual_fraction: Fraction | None = None
    """Resale value of servers at the horizon's end, share of their price."""


class Money(Strict):
    """Terms of the calculation."""

    currency: Literal["USD"] = "USD"
    """Reporting currency."""
    horizon_months: Annotated[int, Field(ge=12, le=180, strict=True)] = 60
    """Months of operation from the first in-service date."""
    discount_rate_fraction: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False, strict=True)] | None = (
        None
    )
    """Yearly discount rate; the catalog's default otherwise."""
    utilisation_fraction: Annotated[float, Field(ge=0.001, le=1, allow_inf_nan=False, strict=True)] = 0.85
    """Share of available GPU-hours that workloads are scheduled on."""
    deposit_fraction: Fraction = 0.3
    """Share of a purchase paid with the order; the rest is paid at the in-service date."""
    depreciation: Depreciation = Depreciation()
    """Book lives."""
    rental: Id | None = None
    """Rental offer to compare with, an item of rentals."""
    sell_usd_per_gpu_hour: Positive | None = None
    """Price at which GPU-hours are sold; none for own use."""
    staff_fte: NotNegative | None = None
    """Full-time staff; by size by default."""
    software_usd_per_gpu_year: NotNegative = 0.0
    """Software licences for each GPU."""


class Limits(Strict):
    """What the plan must meet; a missed limit makes the exit code 1."""

    days: Positive | None = None
    """Latest training time, days."""
    site_mw: Positive | None = None
    """Highest power the plan may take, MW at the meter; the peak is judged by it, and by site.limit_mw if that is lower."""
    capex_usd: Positive | None = None
    """Highest purchase."""
    ttft_p99_s: Positive | None = None
    """Highest 99th percentile of the time to first token."""
    tpot_p99_s: Positive | None = None
    """Highest 99th percentile of the time for each output token."""
    usd_per_gpu_hour: Positive | None = None
    """Highest cost of an installed GPU-hour."""
    usd_per_mtoken_output: Positive | None = None
    """Highest cost of a million output tokens."""


class Phase(Strict):
    """One purchase with its dates."""

    id: Id
    """Short name of the phase."""
    order: Day
    """Date of the order, YYYY-MM or YYYY-MM-DD."""
    in_service: Day
    """Date from which it works."""
    groups: tuple[Id, ...] = ()
    """Groups bought in it; a group may name its phase instead."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.in_service[:7] < self.order[:7]:
            raise ValueError(f"phase '{self.id}' is in service before it is ordered")
        return self


class OverrideWish(Strict):
    """A value typed over a given or computed ledger line."""

    value: Annotated[float, Field(allow_inf_nan=False, strict=True)]
    """The value."""
    unit: str
    """Unit of the line, as a check."""
    reason: Annotated[str, StringConstraints(min_length=3)]
    """Why it replaces what the planner would say."""


class Scenario(Strict):
    """A plan to be evaluated."""

    schema_version: Literal[1] = 1
    """Version of this layout."""
    name: Name
    """Title of the plan, a line of text."""
    as_of: Day | None = None
    """Date against which prices are stale and parts orderable; the catalog's release date by default."""
    extends: str | None = None
    """Scenario this one changes: a file beside it, or the name of a shipped one."""
    workloads: tuple[Workload, ...] = Field(min_length=1, max_length=16)
    """What runs on the cluster."""
    cluster: Cluster
    """Servers."""
    network: Network = Network()
    """Fabric and storage."""
    site: SiteWish
    """Place, power and cooling."""
    money: Money = Money()
    """Terms."""
    limits: Limits = Limits()
    """Limits to be met."""
    phases: tuple[Phase, ...] = Field(default=(), max_length=32)
    """Purchases; one, ordered on as_of, by default."""
    calibration: tuple[Id, ...] = Field(default=(), max_length=32)
    """Calibration profiles that go before the shipped ones, by id; see planner calibrate."""
    anchors: tuple[AnchorPath, ...] = Field(default=(), max_length=32)
    """Files of measured runs that correct the predicted training step, relative to this file; see planner bench anchor."""
    overrides: dict[str, OverrideWish] = Field(default_factory=dict, max_length=500)
    """Ledger lines replaced by typed values."""

    @model_validator(mode="after")
    def _names_agree(self) -> Self:
        for what, ids in (
            ("workload", [workload.id for workload in self.workloads]),
            ("group", [group.id for group in self.cluster.groups]),
            ("phase", [phase.id for phase in self.phases]),
        ):
            twice = {one for one in ids if ids.count(one) > 1}
            if twice:
                raise ValueError(f"{what} id '{sorted(twice)[0]}' is used twice")
        shares = sum(workload.share_fraction for workload in self.workloads)
        if shares > 1 + 1e-9:
            raise ValueError(
                f"workloads' share_fraction add up to {shares:g}, and at most 1 can be given out"
            )
        self._check_phases()
        return self

    def _check_phases(self) -> None:
        if self.phases:
            first = min(phase.order for phase in self.phases)
            last = max(phase.in_service for phase in self.phases)
            months = (int(last[:4]) - int(first[:4])) * 12 + int(last[5:7]) - int(first[5:7])
            if months > LONGEST_BUILD_MONTHS:
                raise ValueError(
                    f"phases span {months} months, and at most {LONGEST_BUILD_MONTHS} are planned"
                )
        known = {phase.id for phase in self.phases}
        groups = {group.id: group.phase for group in self.cluster.groups}
        for group, phase in groups.items():
            if phase is not None and phase not in known:
                raise ValueError(f"group '{group}' is in phase '{phase}', which is not among phases")
        claimed: dict[str, str] = {}
        for one in self.phases:
            for group in one.groups:
                if group not in groups:
                    raise ValueError(
                        f"phase '{one.id}' names group '{group}', which is not among cluster.groups"
                    )
                other = claimed.get(group) or groups[group]
                if other not in (None, one.id):
                    raise ValueError(f"group '{group}' is in two phases, '{other}' and '{one.id}'")
                claimed[group] = one.id

    def phase_of(self, group: Group) -> Phase | None:
        """Phase a group is bought in; None where the scenario has none."""
        for phase in self.phases:
            if group.phase == phase.id or group.id in phase.groups:
                return phase
        return self.phases[0] if self.phases else None


__all__ = [
    "BIDI",
    "LONGEST_BUILD_MONTHS",
    "AnchorPath",
    "Cluster",
    "Count",
    "Day",
    "Depreciation",
    "Fraction",
    "Group",
    "Housing",
    "Id",
    "LeafTier",
    "Limits",
    "Money",
    "Month",
    "Name",
    "Network",
    "NotNegative",
    "OverrideWish",
    "Phase",
    "PlanChoice",
    "Positive",
    "Scenario",
    "SiteWish",
    "Slo",
    "StorageWish",
    "Strict",
    "Tier",
    "TokenBudget",
    "Workload",
    "WorkloadKind",
]  # the parts stand in two more modules
