"""The scenario: what a user may ask.

Every field's docstring is its help text in editors, in the TUI and in ``planner init``.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

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
from planner.scenario.money import Depreciation, Money
from planner.scenario.network import Network, RatedTier, StorageWish, Tier
from planner.scenario.site import Hall, HeatRejection, Housing, Redundancy, SiteWish
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
    """Groups of servers on one fabric. Workloads run over all of them, so they are of one kind, unless prefill and decode
    have separate pools."""
    spare_fraction: Fraction | None = None
    """Spare servers bought and kept, share of those in service, in whole servers; 0.02 by default, and none
    where a server is a whole rack."""


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
    """Files of measured runs that correct the predicted training step (YAML) or serving latencies (CSV), relative to this
    file; see planner bench anchor."""
    quotes: tuple[AnchorPath, ...] = Field(default=(), max_length=32)
    """Files of vendors' quotes, CSV or workbooks, whose prices go before the catalog's, relative to this file; see
    planner quotes."""
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
    "Hall",
    "HeatRejection",
    "Housing",
    "Id",
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
    "RatedTier",
    "Redundancy",
    "Scenario",
    "SiteWish",
    "Slo",
    "StorageWish",
    "Strict",
    "Tier",
    "TokenBudget",
    "Workload",
    "WorkloadKind",
]  # the parts stand in modules of their own
