"""What a catalog item may say, one class for each family of parts.

The folder is the family, the file's name is the id, and the unit stands in the field's name.
Rates are one direction; arithmetic is dense (no structured sparsity).
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Self

from pydantic import Field, model_validator

from planner.catalog.figure import Figure, Frozen, Id
from planner.catalog.item import Item
from planner.catalog.llm import Model
from planner.catalog.profiles import Profile


class Fabric(StrEnum):
    """Link protocol of NICs and switches."""

    INFINIBAND = "infiniband"
    ETHERNET = "ethernet"


class Cooling(StrEnum):
    """How heat leaves a part."""

    AIR = "air"
    LIQUID = "liquid"


class Accelerator(Item):
    """A GPU or other accelerator, as the software sees one device."""

    family: ClassVar[str] = "accelerators"

    generation: str
    """Architecture such as ``hopper``; calibrations and efficiencies are looked up by it."""
    form_factor: str = ""
    fp64_tflop_per_s: Figure | None = None
    fp32_tflop_per_s: Figure | None = None
    tf32_tflop_per_s: Figure | None = None
    bf16_tflop_per_s: Figure
    fp8_tflop_per_s: Figure | None = None
    fp4_tflop_per_s: Figure | None = None
    int8_tflop_per_s: Figure | None = None
    memory_mib: Figure
    memory_bandwidth_gbyte_per_s: Figure
    scaleup: Id | None = None
    """Scale-up link, an item of ``scaleup``."""
    scaleup_gbyte_per_s: Figure | None = None
    tdp_w: Figure | None = None
    idle_w: Figure | None = None
    gemm_bf16_share_of_peak_fraction: Figure | None = None
    """Best measured GEMM rate over the datasheet's dense peak."""
    gemm_fp8_share_of_peak_fraction: Figure | None = None
    price_usd: Figure | None = None
    """Price of a loose accelerator, for orientation; plans buy servers."""


class ScaleUp(Item):
    """A link generation inside the scale-up domain: NVLink, Infinity Fabric, UALink, ICI."""

    family: ClassVar[str] = "scaleup"

    gbyte_per_s: Figure | None = None
    """Per accelerator and direction."""
    pair_gbyte_per_s: Figure | None = None
    """Between two accelerators: the full rate behind a switch, one link on a mesh."""
    switched: bool = True
    in_network_reduction: bool = False
    domain_gpus_max: int | None = Field(default=None, ge=1)
    link_efficiency_fraction: Figure | None = None
    """Measured large-message bus bandwidth over the link rate."""
    reduction_busbw_gbyte_per_s: Figure | None = None
    latency_us: Figure | None = None
    switch_power_w: Figure | None = None


class NicSlot(Frozen):
    """NICs a server brings."""

    nic: Id
    count: int = Field(ge=1)
    included: bool = True
    """Whether the server's price and power include them."""


class Server(Item):
    """A server, or a rack that is bought as one (NVL72)."""

    family: ClassVar[str] = "servers"

    accelerator: Id
    gpus: int = Field(ge=1)
    scaleup_domain_gpus: int = Field(ge=1)
    """GPUs that reach each other at scale-up rate: 8 in an HGX server, 72 in an NVL72 rack."""
    is_rack: bool = False
    trays: int | None = Field(default=None, ge=1)
    """Compute trays of a rack; its fabric nodes."""
    compute_nics: NicSlot
    frontend_nics: NicSlot | None = None
    rack_units: Figure | None = None
    weight_kg: Figure | None = None
    power_max_w: Figure
    """Highest electrical draw of the whole box (nameplate): what circuits are sized for."""
    power_typical_w: Figure
    """Draw while training, including CPUs, fans and included NICs."""
    power_idle_w: Figure
    power_transient_ratio: Figure | None = None
    cooling: Cooling
    liquid_fraction: Figure | None = None
    """Share of heat that leaves in liquid."""
    cpu: str = ""
    memory_tb: Figure | None = None
    nvme_tb: Figure | None = None
    price_usd: Figure | None = None
    """For one server or rack with its accelerators; a bill of materials needs it."""
    support_fraction_per_year: Figure | None = None
    """Hardware support, share of price a year."""
    lead_time_weeks: Figure | None = None

    @model_validator(mode="after")
    def _domain_fits(self) -> Self:
        if self.gpus % self.scaleup_domain_gpus:
            raise ValueError(
                f"a domain of {self.scaleup_domain_gpus} GPUs doesn't divide the {self.gpus} of a server"
            )
        if self.power_typical_w.value <= 0 or self.power_max_w.value <= 0:
            raise ValueError("a server draws power")
        return self


class Nic(Item):
    """A network adapter."""

    family: ClassVar[str] = "nics"

    fabrics: tuple[Fabric, ...]
    port_rate_gbit_per_s: Figure
    ports: int = Field(ge=1)
    lane_rate_gbit_per_s: float = Field(gt=0)
    cage: str = ""
    modules: tuple[Id, ...] = ()
    """Transceivers its port takes, of which a plan chooses the cheapest that reaches."""
    ethernet_ports: int | None = Field(default=None, ge=1)
    """Ethernet ports over which the full rate is spread, where that differs from ``ports``."""
    ethernet_lane_rate_gbit_per_s: float | None = Field(default=None, gt=0)
    """Lane rate as Ethernet, where that differs."""
    pcie_gen: int | None = None
    pcie_lanes: int | None = None
    power_w: Figure | None = None
    price_usd: Figure | None = None
    lead_time_weeks: Figure | None = None


class SwitchAsic(Item):
    """Switch silicon: lanes x lane rate = capacity, one way."""

    family: ClassVar[str] = "switch_asics"

    capacity_gbit_per_s: Figure
    lanes: int = Field(ge=1)
    lane_rate_gbit_per_s: float = Field(gt=0)
    fabric: Fabric
    power_w: Figure | None = None
    buffer_mb: Figure | None = None
    latency_ns: Figure | None = None
    price_usd: Figure | None = None


class Switch(Item):
    """A switch system that can be bought."""

    family: ClassVar[str] = "switches"

    asic: Id
    asics: int = Field(default=1, ge=1)
    fabric: Fabric
    cages: int = Field(ge=1)
    """Front-panel cages, or optical ports of a co-packaged switch."""
    cage_rate_gbit_per_s: float = Field(gt=0)
    links_per_cage_max: int = Field(ge=1)
    ports_per_cage: int = Field(default=1, ge=1)
    """Connectors of a module in a cage: 2 in a twin-port cage, where each link has its own cable."""
    lane_rate_gbit_per_s: float = Field(gt=0)
    cage: str = ""
    modules: tuple[Id, ...] = ()
    """Transceivers its cages take, of which a plan chooses the cheapest that reaches."""
    cables: tuple[Id, ...] = ()
    """Copper and active optical cables its cages take."""
    optics: Id | None = None
    """Co-packaged engine, an item of ``optical_engines``; no switch-side module is bought then."""
    engines: int = Field(default=0, ge=0)
    laser_modules: int = Field(default=0, ge=0)
    uplinks: int = Field(default=0, ge=0)
    """Faster cages beside the others, on an out-of-band switch."""
    uplink_rate_gbit_per_s: float | None = Field(default=None, gt=0)
    rack_units: float = Field(gt=0)
    weight_kg: Figure | None = None
    cooling: Cooling = Cooling.AIR
    power_typical_w: Figure | None = None
    """Without pluggable modules; with the optics of a co-packaged switch."""
    power_max_w: Figure | None = None
    latency_ns: Figure | None = None
    price_usd: Figure | None = None
    lead_time_weeks: Figure | None = None


class Medium(StrEnum):
    """Fibre a module drives."""

    MULTIMODE = "multimode"
    SINGLEMODE = "singlemode"


class Transceiver(Item):
    """A pluggable optical module; one is needed at each end of an optical link."""

    family: ClassVar[str] = "transceivers"

    rate_gbit_per_s: Figure
    links: int = Field(ge=1)
    """Link ports in the cage: 2 for a twin-port module."""
    lane_rate_gbit_per_s: float = Field(gt=0)
    cage: str = ""
    medium: Medium
    reach_m: Figure
    fibres: int = Field(ge=1)
    power_w: Figure
    price_usd: Figure | None = None
    afr_fraction: Figure | None = None
    """Annual failure rate."""
    lead_time_weeks: Figure | None = None


class CableKind(StrEnum):
    """Passive copper, redriven copper, retimed copper, active optical, fibre."""

    DAC = "dac"
    ACC = "acc"
    AEC = "aec"
    AOC = "aoc"
    FIBRE = "fibre"


class Cable(Item):
    """A cable with its ends (copper, AOC), or fibre between modules."""

    family: ClassVar[str] = "cables"

    kind: CableKind
    rate_gbit_per_s: Figure | None = None
    lane_rate_gbit_per_s: float | None = Field(default=None, gt=0)
    links: int = Field(default=1, ge=1)
    medium: Medium | None = None
    reach_m: Figure
    power_per_end_w: Figure | None = None
    price_usd: Figure | None = None
    price_usd_per_m: Figure | None = None
    afr_fraction: Figure | None = None
    lead_time_weeks: Figure | None = None


class OpticalEngine(Item):
    """Co-packaged or near-packaged optics, external lasers, photonic interposers."""

    family: ClassVar[str] = "optical_engines"

    rate_gbit_per_s: Figure | None = None
    power_w: Figure | None = None
    energy_pj_per_bit: Figure | None = None
    reach_m: Figure | None = None
    laser_module_price_usd: Figure | None = None
    laser_module_afr_fraction: Figure | None = None
    afr_fraction: Figure | None = None
    price_usd: Figure | None = None


class FabricBehaviour(Item):
    """How much of a link a fabric delivers, and how long a hop takes."""

    family: ClassVar[str] = "fabrics"

    fabric: Fabric
    bandwidth_efficiency_fraction: Figure
    """Large collectives across tiers, share of the link rate."""
    same_leaf_efficiency_fraction: Figure | None = None
    hop_latency_us: Figure
    in_network_reduction_gain: Figure | None = None
    needs_nics: tuple[Id, ...] = ()
    needs_asics: tuple[Id, ...] = ()


class Storage(Item):
    """A storage system for checkpoints and datasets."""

    family: ClassVar[str] = "storage"

    capacity_tb: Figure
    read_gbyte_per_s: Figure
    write_gbyte_per_s: Figure
    power_w: Figure
    rack_units: float = Field(gt=0)
    price_usd: Figure | None = None
    lead_time_weeks: Figure | None = None


class Site(Item):
    """A place: energy, carbon, water, space."""

    family: ClassVar[str] = "sites"

    country: str
    electricity_usd_per_kwh: Figure
    carbon_kg_per_kwh: Figure | None = None
    colocation_usd_per_kw_month: Figure | None = None
    construction_usd_per_w: Figure | None = None
    demand_charge_usd_per_kw_month: Figure | None = None
    water_l_per_kwh: Figure | None = None


class CoolingType(Item):
    """A cooling method with its PUE and limits."""

    family: ClassVar[str] = "cooling"

    pue: Figure
    rack_limit_kw: Figure | None = None
    liquid: bool = False
    water_l_per_kwh: Figure | None = None
    price_usd_per_kw: Figure | None = None


class Rental(Item):
    """A rental offer: one provider, accelerator, term and date."""

    family: ClassVar[str] = "rentals"

    provider: str
    accelerator: Id
    term_months: int = Field(ge=0)
    """0 is on demand."""
    usd_per_gpu_hour: Figure


class DepreciationLife(Item):
    """A book life that an operator states."""

    family: ClassVar[str] = "depreciation"

    life_years: Figure


class Assumptions(Item):
    """Named factors and practices that belong to no part, each with a range and a source."""

    family: ClassVar[str] = "assumptions"

    figures: dict[str, Figure]


FAMILIES: dict[str, type[Item]] = {
    kind.family: kind
    for kind in (
        Accelerator, ScaleUp, Server, Nic, SwitchAsic, Switch, Transceiver, Cable, OpticalEngine,
        FabricBehaviour, Storage, Site, CoolingType, Rental, DepreciationLife, Model, Assumptions, Profile,
    )
}  # fmt: skip
