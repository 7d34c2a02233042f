"""What a catalog says of switches, modules and cables. Rates are one direction."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from planner.catalog.figure import Figure, Id
from planner.catalog.item import Item
from planner.catalog.place import Cooling


class Fabric(StrEnum):
    """Link protocol of NICs and switches."""

    INFINIBAND = "infiniband"
    ETHERNET = "ethernet"


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
    cages: int = Field(ge=1, le=100_000)
    """Front-panel cages, or optical ports of a co-packaged switch."""
    cage_rate_gbit_per_s: float = Field(ge=0.1, le=1e6)
    links_per_cage_max: int = Field(ge=1, le=1_000)
    ports_per_cage: int = Field(default=1, ge=1)
    """Connectors of a module in a cage: 2 in a twin-port cage, where each link has its own cable."""
    lane_rate_gbit_per_s: float = Field(ge=0.1, le=1e6)
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
    linear: bool = False
    """Without a signal processor of its own: the host's chip equalises, so the pair has to be qualified (LPO)."""
    reach_m: Figure
    fibres: int = Field(ge=1)
    """Fibres at its connectors, both directions and all links together."""
    wavelengths: int = Field(default=1, ge=1)
    """Colours on each fibre."""
    coherent: bool = False
    """Receives by interference (ZR), so that the far end has to be of the same kind."""
    power_w: Figure
    price_usd: Figure | None = None
    afr_fraction: Figure | None = None
    """Annual failure rate."""
    lead_time_weeks: Figure | None = None


class CableKind(StrEnum):
    """Passive copper, redriven copper, retimed copper, active optical, fibre, trunks between panels."""

    DAC = "dac"
    ACC = "acc"
    AEC = "aec"
    AOC = "aoc"
    FIBRE = "fibre"
    TRUNK = "trunk"


class Cable(Item):
    """A cable with its ends (copper, AOC), or fibre between modules."""

    family: ClassVar[str] = "cables"

    kind: CableKind
    rate_gbit_per_s: Figure | None = None
    lane_rate_gbit_per_s: float | None = Field(default=None, gt=0)
    links: int = Field(default=1, ge=1)
    """Links of an assembly's larger end; fibre cables that a trunk takes the place of."""
    medium: Medium | None = None
    trunk: Id | None = None
    """Trunk that takes the place of so many of this fibre between patch panels."""
    reach_m: Figure
    power_per_end_w: Figure | None = None
    price_usd: Figure | None = None
    price_usd_per_m: Figure | None = None
    afr_fraction: Figure | None = None
    lead_time_weeks: Figure | None = None


class PatchPanel(Item):
    """A patch panel one unit high, with the adapters in it."""

    family: ClassVar[str] = "panels"

    ports: int = Field(ge=1)
    """Connectors at its front, each joined to one behind it."""
    price_usd: Figure | None = None


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
