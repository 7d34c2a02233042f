"""The scenario: what a user may ask.

Every field's docstring is its help text in editors, in the TUI and in ``planner init``.
"""

from __future__ import annotations

import unicodedata
from datetime import date
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from planner.choices import (
    ContextKind,
    Gradients,
    Offload,
    OptimiserStates,
    Precision,
    Recompute,
    Routing,
    Scaling,
    Schedule,
    Sharding,
    Software,
    Topology,
)

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)]


def _printable(text: str) -> str:
    """A line that a terminal, a page and a sheet show as it is.

    Raises:
        ValueError: Nothing to see, or characters that steer what shows them.
    """
    if not text.strip():
        raise ValueError("is blank, and a title is needed")
    odd = [one for one in text if unicodedata.category(one) in ("Cc", "Zl", "Zp", "Cs", "Cn") or one in BIDI]
    if odd:
        raise ValueError(f"holds the control character U+{ord(odd[0]):04X}; write plain text on one line")
    return text


def _day(text: str) -> str:
    """A month or day of this century.

    Raises:
        ValueError: No such day, or outside 2000 to 2100.
    """
    try:
        found = date.fromisoformat(text if len(text) == 10 else f"{text}-01")
    except ValueError as error:
        raise ValueError(f"'{text}' is no month or day; write YYYY-MM or YYYY-MM-DD") from error
    if not 2000 <= found.year <= 2100:
        raise ValueError(f"'{text}' is outside 2000 to 2100")
    return text


BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
Name = Annotated[str, StringConstraints(max_length=120), AfterValidator(_printable)]
Day = Annotated[str, AfterValidator(_day)]
Month = Annotated[str, StringConstraints(pattern=r"^20\d\d-(0[1-9]|1[0-2])$")]
AnchorPath = Annotated[str, StringConstraints(min_length=1, max_length=400), AfterValidator(_printable)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
Positive = Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False, strict=True)]
NotNegative = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False, strict=True)]
Count = Annotated[int, Field(ge=1, le=10_000_000, strict=True)]


LONGEST_BUILD_MONTHS = 180


class Strict(BaseModel):
    """Immutable; an unknown field is an error."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=False, use_attribute_docstrings=True, defer_build=True
    )


class WorkloadKind(StrEnum):
    """What the GPUs do."""

    TRAINING = "training"
    SERVING = "serving"


class TokenBudget(StrEnum):
    """A rule for the number of training tokens."""

    OPTIMAL = "optimal"


class PlanChoice(Strict):
    """A parallel execution plan; data parallelism fills what the other axes leave, unless data says less."""

    tensor: Count = 1
    """Tensor-parallel ranks."""
    sequence_parallel: Annotated[bool, Field(strict=True)] | None = None
    """Tensor ranks also share out norms and residuals; as the software has it by default."""
    async_tensor: Annotated[bool, Field(strict=True)] = False
    """Tensor-parallel communication runs in pieces beside the matrix products."""
    pipeline: Count = 1
    """Pipeline stages."""
    schedule: Schedule | None = None
    """Order of a pipeline's passes: 1f1b, interleaved (with virtual_stages above 1) or zero-bubble; 1f1b or
    interleaved by virtual_stages by default."""
    microbatch: Count = 1
    """Sequences in one microbatch of one rank."""
    virtual_stages: Count = 1
    """Interleaved chunks of layers on each pipeline stage."""
    context: Count = 1
    """Context-parallel ranks, which split each sequence."""
    context_kind: ContextKind = ContextKind.RING
    """How context ranks see each other's keys and values: ring or all-gather."""
    expert: Count = 1
    """Expert-parallel ranks."""
    expert_tensor: Count = 1
    """Ranks that split one expert."""
    data: Count | None = None
    """Data-parallel ranks; as many as the GPUs allow by default. Fewer leave GPUs idle."""
    recompute: Recompute = Recompute.NONE
    """Activations computed again in the backward pass: none, selective (attention), operators (every second matrix
    product and all element-wise work) or full."""
    recompute_layers_fraction: Fraction | None = None
    """Share of layers computed again whole, where recompute is full for some only; selective and operators then hold
    for the others."""
    sharding: Sharding = Sharding.ZERO1
    """What data-parallel ranks share out: none, zero1 (optimiser states), zero2 (gradients too), fsdp (weights too)
    or hybrid (all of them inside shard groups, which are replicas of each other)."""
    shard_ranks: Count | None = None
    """Data and context ranks of a shard group of hybrid sharding; those of one scale-up domain by default."""
    offload: tuple[Offload, ...] = Field(default=(), max_length=3)
    """What rests in the host's memory: optimiser, activations, weights, or several of them."""
    gradient_compression_ratio: Annotated[float, Field(ge=1, le=1000, allow_inf_nan=False, strict=True)] = 1.0
    """Bytes of a gradient before over after compression; what it does to learning isn't judged."""
    local_steps: Annotated[int, Field(ge=1, le=100_000, strict=True)] = 1
    """Optimiser steps between two exchanges of replicas (local SGD), a what-if: the tokens to train are taken as they
    are. Needs sharding none or hybrid."""
    asynchronous: Annotated[bool, Field(strict=True)] = False
    """Replicas go on while they exchange, a what-if like local_steps, with the same needs."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        """Fields that contradict each other.

        Raises:
            ValueError: The first contradiction.
        """
        chunks, schedule = self.virtual_stages, self.schedule
        if schedule is Schedule.INTERLEAVED and chunks == 1:
            raise ValueError("schedule interleaved needs virtual_stages of 2 or more")
        if schedule in (Schedule.ONE_F_ONE_B, Schedule.ZERO_BUBBLE) and chunks > 1:
            raise ValueError(f"schedule {schedule} has virtual_stages 1; interleaved takes {chunks}")
        if schedule not in (None, Schedule.ONE_F_ONE_B) and self.pipeline == 1:
            raise ValueError(f"schedule {schedule} needs pipeline of 2 or more")
        if self.recompute is Recompute.NONE and self.recompute_layers_fraction:
            raise ValueError("recompute_layers_fraction needs recompute: full, selective or operators")
        replicas = self.sharding in (Sharding.NONE, Sharding.HYBRID)
        if (self.local_steps > 1 or self.asynchronous) and not replicas:
            raise ValueError(
                "local_steps and asynchronous need replicas that hold all states: sharding none or hybrid"
            )
        if self.shard_ranks is not None and self.sharding is not Sharding.HYBRID:
            raise ValueError("shard_ranks is for sharding: hybrid")
        if len(set(self.offload)) < len(self.offload):
            raise ValueError("offload names something twice")
        return self


class Slo(Strict):
    """Service-level objective of an inference workload."""

    ttft_p99_s: Positive = 2.0
    """Time to first token that 99 of 100 requests meet, in seconds."""
    tpot_p99_s: Positive = 0.05
    """Time between output tokens that 99 of 100 requests meet, in seconds."""


class Workload(Strict):
    """Something that runs on the cluster."""

    id: Id
    """Short name, used in keys such as workload.<id>."""
    kind: WorkloadKind
    """training or serving."""
    model: Id
    """Model architecture, an item of the catalog."""
    share_fraction: Annotated[float, Field(ge=0.001, le=1, allow_inf_nan=False, strict=True)] = 1.0
    """Share of the scheduled GPU-hours this workload gets; what is not given out stands idle."""
    precision: Precision = Precision.BF16
    """Arithmetic of the large matrix products: bf16, fp8 or fp4."""
    scaling: Scaling | None = None
    """Scaling of fp8 and fp4 in training: tensor, row or fine (blocks or MX); tensor by default."""
    software: Software | None = None
    """Training software: its kind decides kernels, what is hidden and how well steps are known; a present-day
    Megatron of unknown kind by default."""
    release: Month | None = None
    """Release of the software, YYYY-MM; mixtures of experts train faster on late ones. 2025 by default."""
    optimiser_states: OptimiserStates = OptimiserStates.FP32
    """Master weights and moments of training: fp32, bf16-moments, 8bit-moments or bf16 (without master weights)."""
    gradients: Gradients | None = None
    """Format in which gradients are added up and reduced: fp32 or bf16; by software by default."""
    routing: Routing = Routing.BALANCED
    """How tokens spread over experts in training: balanced (as in benchmarks), skewed (as routers of real runs do) or
    capacity (padded to a capacity factor)."""
    tokens_trillion: Positive | TokenBudget | None = None
    """Training tokens, in 10^12, or optimal for 20 a parameter; the model's published count by default."""
    sequence_tokens: Count = 8192
    """Tokens in one training sequence."""
    batch_sequences: Count | None = None
    """Sequences in one optimiser step; about 16 million tokens by default."""
    plan: Literal["auto"] | PlanChoice = "auto"
    """Parallel plan, or auto to search for the fastest that fits memory."""
    input_tokens: Count = 2048
    """Prompt length of a request."""
    output_tokens: Count = 512
    """Answer length of a request."""
    slo: Slo = Slo()
    """Latency limits the serving throughput is found under."""

    @model_validator(mode="after")
    def _scaling_of_a_narrow_format(self) -> Self:
        if self.scaling is not None and self.precision is Precision.BF16:
            raise ValueError("scaling is for precision fp8 or fp4")
        return self

    @field_validator("tokens_trillion", mode="before")
    @classmethod
    def _number_or_rule(cls, given: object) -> object:
        """One message for what is neither a number of tokens nor a rule.

        Raises:
            ValueError: It is neither.
        """
        number = isinstance(given, (int, float)) and not isinstance(given, bool) and 0 < given <= 1e12
        if number or given in (None, *TokenBudget):
            return given
        raise ValueError(f"is {given}, and must be more than 0, at most 1e12, or the word optimal")


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
