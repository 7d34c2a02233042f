"""What a catalog item may say, one class for each family of parts; those of networks and places have modules of their own.

The folder is the family, the file's name is the id, and the unit stands in the field's name.
Rates are one direction; arithmetic is dense (no structured sparsity).
"""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import Field, model_validator

from planner.catalog.conversion import PowerConversion
from planner.catalog.depreciation import DepreciationLife
from planner.catalog.figure import Figure, Frozen, Id
from planner.catalog.item import Item
from planner.catalog.llm import Model
from planner.catalog.network import (
    Cable,
    CableKind,
    Fabric,
    FabricBehaviour,
    Medium,
    OpticalEngine,
    PatchPanel,
    Switch,
    SwitchAsic,
    Transceiver,
)
from planner.catalog.place import Cooling, CoolingType, Site
from planner.catalog.profiles import Profile


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
    backplane_cables_count: Figure | None = None
    """Copper cables of the scale-up link built into a rack, which nobody installs on site."""
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
    """Highest short draw over the steady one, while a job's accelerators start and stop together."""
    psu: Id | None = None
    """Supply inside, an item of ``power_conversion``; Titanium by default, a shelf of rectifiers in a rack."""
    cpu_sockets: int | None = Field(default=None, ge=1)
    """CPUs; one for every four accelerators by default."""
    cpu_tdp_w: Figure | None = None
    """Power limit of one CPU, with its memory where that is on its module."""
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
    lane_rate_gbit_per_s: float = Field(ge=1)
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


class Appliance(Item):
    """A server that runs the cluster and no workload: fabric manager, head node, scheduler."""

    family: ClassVar[str] = "appliances"

    fabric_ports: int = Field(default=0, ge=0)
    """Ports on the fabric it manages."""
    inband_ports: int = Field(default=0, ge=0)
    """Ports on the in-band network, an even number: half to each switch of a pair."""
    rack_units: Figure
    weight_kg: Figure | None = None
    power_typical_w: Figure
    power_max_w: Figure
    price_usd: Figure | None = None
    lead_time_weeks: Figure | None = None


class Rental(Item):
    """A rental offer: one provider, accelerator, term and date."""

    family: ClassVar[str] = "rentals"

    provider: str
    accelerator: Id
    term_months: int = Field(ge=0)
    """0 is on demand."""
    usd_per_gpu_hour: Figure


class ApiPrice(Item):
    """What a provider asks for tokens of a model: one provider, model and date."""

    family: ClassVar[str] = "api_prices"

    provider: str
    model: Id
    """Item of ``models`` whose tokens are sold."""
    usd_per_mtoken_input: Figure
    """Million input tokens, without discounts for cached ones."""
    usd_per_mtoken_output: Figure
    """Million output tokens."""


class Assumptions(Item):
    """Named factors and practices that belong to no part, each with a range and a source."""

    family: ClassVar[str] = "assumptions"

    figures: dict[str, Figure]


FAMILIES: dict[str, type[Item]] = {
    kind.family: kind
    for kind in (
        Accelerator, ScaleUp, Server, Nic, SwitchAsic, Switch, Transceiver, Cable, PatchPanel, OpticalEngine,
        FabricBehaviour, Storage, Appliance, Site, CoolingType, PowerConversion, Rental, DepreciationLife, Model, Assumptions,
        ApiPrice, Profile,
    )
}  # fmt: skip

__all__ = [
    "FAMILIES",
    "Accelerator",
    "ApiPrice",
    "Appliance",
    "Assumptions",
    "Cable",
    "CableKind",
    "Cooling",
    "CoolingType",
    "DepreciationLife",
    "Fabric",
    "FabricBehaviour",
    "Medium",
    "Model",
    "Nic",
    "NicSlot",
    "OpticalEngine",
    "PatchPanel",
    "PowerConversion",
    "Profile",
    "Rental",
    "ScaleUp",
    "Server",
    "Site",
    "Storage",
    "Switch",
    "SwitchAsic",
    "Transceiver",
]
