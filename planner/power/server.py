"""Draws of a catalog server, or of one the catalog lacks, from its parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.catalog.conversion import ConversionKind, PowerConversion
from planner.catalog.schema import Accelerator, Nic, NicSlot, ScaleUp, Server
from planner.catalog.store import Catalog, Entry
from planner.power.figures import Figures
from planner.power.psu import Curve
from planner.power.states import (
    Activity,
    ChipDraw,
    HostDraw,
    Supply,
    behind_supplies_w,
    chip_draw,
    scale_up_switch_w,
    server_w,
    working_w,
)  # fmt: skip
from planner.scenario.givens import figure_line
from planner.units import KILO

PSU, RACK_PSU = "psu-titanium", "rectifier-shelf"


@dataclass(frozen=True, slots=True)
class ServerDraw:
    """A server's parts, ready to say what it draws in any activity.

    Attributes:
        gpus: Accelerators in it.
        chip: Draw of one of them.
        supply: Its power supplies.
        most_w: Nameplate, which no draw exceeds.
    """

    gpus: Floats
    chip: ChipDraw
    host: HostDraw
    supply: Supply
    most_w: Floats

    def idle_w(self) -> Floats:
        """At the inlet, without any program."""
        return self._at_inlet(self.gpus * self.chip.idle_w, self.host.idle_w)

    def working_w(self, activity: Activity) -> Floats:
        """At the inlet, the mean over an activity's shares of time."""
        return self._at_inlet(self.gpus * working_w(self.chip, activity), self.host.busy_w)

    def peak_w(self) -> Floats:
        """At the inlet, with every accelerator at its limit and CPUs at theirs."""
        return self._at_inlet(self.gpus * self.chip.limit_w, self.host.peak_w)

    def behind_supplies_w(self, activity: Activity) -> Floats:
        """Like `working_w`, measured behind the supplies."""
        accelerators = self.gpus * working_w(self.chip, activity)
        return behind_supplies_w(accelerators_w=accelerators, parts_w=self.host.busy_w, host=self.host)

    def _at_inlet(self, accelerators_w: Floats, parts_w: Floats) -> Floats:
        drawn = server_w(accelerators_w=accelerators_w, parts_w=parts_w, host=self.host, supply=self.supply)
        return np.minimum(drawn, self.most_w)


def server_draw(
    figures: Figures,
    server: Entry[Server],
    accelerator: Entry[Accelerator],
    scaleup: Entry[ScaleUp] | None,
    *,
    cap_fraction: Floats,
) -> ServerDraw:
    """Parts of a catalog server; the accelerator has a power limit."""
    item = server.item
    gpus = np.array([float(item.gpus)])
    links = _adapters_w(figures, item) + _switches_w(figures, accelerator, scaleup, gpus)
    most = _figure(figures, server, "power_max_w", "Nameplate", "W")
    air = 1.0 if item.liquid_fraction is None else 1.0 - _figure(
        figures, server, "liquid_fraction", "Share of heat in liquid", "fraction"
    )  # fmt: skip
    return ServerDraw(
        gpus=gpus,
        chip=_chip(figures, accelerator, cap_fraction),
        host=_host(figures, server, links, np.asarray(air)),
        supply=_supply(figures, most, item.psu or (RACK_PSU if item.is_rack else PSU)),
        most_w=most,
    )


def built_draw(
    figures: Figures, accelerator: Entry[Accelerator], *, gpus: int, cap_fraction: Floats
) -> ServerDraw:
    """A server of so many accelerators that the catalog lacks: two CPUs for eight of them, air-cooled.

    The supplies are taken as for a nameplate of its own peak over the efficiency of a supply.
    """
    count, chip = np.array([float(gpus)]), _chip(figures, accelerator, cap_fraction)
    sockets = float(_sockets(gpus))
    cpu, memory = figures("cpu_limit_w"), figures("host_memory_tb") * sockets / 2.0
    host = _host_of(figures, sockets, cpu, memory, np.zeros(1), np.ones(1))
    peak = behind_supplies_w(accelerators_w=count * chip.limit_w, parts_w=host.peak_w, host=host)
    supply = _supply(figures, peak, PSU)
    return ServerDraw(count, chip, host, supply, np.array([np.inf]))


def _chip(figures: Figures, accelerator: Entry[Accelerator], cap: Floats) -> ChipDraw:
    limit = _figure(figures, accelerator, "tdp_w", "Power limit", "W")
    if accelerator.item.idle_w is None:
        idle = limit * figures("accelerator_idle_share_of_limit_fraction")
    else:
        idle = _figure(figures, accelerator, "idle_w", "Idle draw", "W")
    rate = _figure(figures, accelerator, "memory_bandwidth_gbyte_per_s", "Memory bandwidth", "GB/s")
    return chip_draw(
        limit_w=limit,
        idle_w=idle,
        memory_tbyte_per_s=rate / KILO,
        arithmetic_share=figures("accelerator_arithmetic_share_of_limit_fraction"),
        ready_share=figures("accelerator_ready_share_of_limit_fraction"),
        memory_w_per_tbyte_per_s=figures("accelerator_memory_w_per_tbyte_per_s"),
        memory_least_share=figures("accelerator_memory_least_share_of_limit_fraction"),
        waiting_share=figures("accelerator_waiting_share_of_range_fraction"),
        cap_fraction=cap,
    )


def _sockets(gpus: int) -> int:
    return -(-gpus // 4)


def _host(figures: Figures, server: Entry[Server], links_w: Floats, air: Floats) -> HostDraw:
    item = server.item
    sockets = float(item.cpu_sockets or _sockets(item.gpus))
    cpu = figures("cpu_limit_w") if item.cpu_tdp_w is None else _figure(
        figures, server, "cpu_tdp_w", "Power limit of a CPU", "W"
    )  # fmt: skip
    if item.memory_tb is None:
        memory = figures("host_memory_tb") * sockets / 2.0
    else:
        memory = _figure(figures, server, "memory_tb", "Host memory", "TB")
    return _host_of(figures, sockets, cpu, memory, links_w, air)


def _host_of(
    figures: Figures, sockets: float, cpu_w: Floats, memory_tb: Floats, links_w: Floats, air: Floats
) -> HostDraw:
    memory, boards = memory_tb * figures("host_memory_w_per_tb"), sockets * figures("host_board_w_per_cpu")
    busy, idle = (
        sockets * cpu_w * figures(f"cpu_{state}_share_of_limit_fraction") for state in ("busy", "idle")
    )
    fans = figures("fan_share_of_air_heat_fraction") * air
    return HostDraw(
        busy_w=busy + memory + boards,
        # memory that is only refreshed draws about half
        idle_w=idle + memory / 2.0 + boards,
        peak_w=sockets * cpu_w + memory + boards,
        links_w=links_w,
        fan_fraction=fans,
    )


def _adapters_w(figures: Figures, item: Server) -> Floats:
    """Adapters in the server's own slots, whether its price includes them or not; others are added apart."""
    total = np.zeros(1)
    slots: list[NicSlot] = [one for one in (item.compute_nics, item.frontend_nics) if one is not None]
    for slot in slots:
        nic = figures.catalog.entry(Nic, slot.nic)
        if nic.item.power_w is not None:
            line = figure_line(
                figures.ledger, f"watts.{slot.nic}.typical_w", f"Draw of {nic.item.name}", "W", nic, "power_w"
            )
            total = total + slot.count * figures.use(line)
    return total


def _switches_w(
    figures: Figures, accelerator: Entry[Accelerator], scaleup: Entry[ScaleUp] | None, gpus: Floats
) -> Floats:
    if scaleup is None or not scaleup.item.switched or accelerator.item.scaleup_gbyte_per_s is None:
        return np.zeros(1)
    rate = _figure(
        figures, accelerator, "scaleup_gbyte_per_s", "Scale-up rate of a link, one direction", "GB/s"
    )
    return scale_up_switch_w(gpus=gpus, gbyte_per_s=rate, pj_per_bit=figures("scaleup_switch_pj_per_bit"))


def _supply(figures: Figures, most_w: Floats, psu: str) -> Supply:
    rating = most_w * figures("psu_capacity_over_maximum_ratio")
    return Supply(rating, curve_of(figures, psu, ConversionKind.PSU))


def curve_of(figures: Figures, item_id: str, kind: ConversionKind) -> Curve:
    """Efficiency curve of a catalog item as ledger lines ``conversion.<id>.…``."""
    entry = figures.catalog.entry(PowerConversion, item_id)
    assert entry.item.kind is kind, f"{item_id} is no {kind}"
    return [
        (
            load,
            figures.use(
                figure_line(
                    figures.ledger, f"conversion.{item_id}.efficiency_at_{load:.0%}".rstrip("%") + "_percent_fraction",
                    f"Efficiency of {entry.item.name} at {load:.0%} load", "fraction", entry,
                    f"efficiency_at_{round(load * 100)}_percent_fraction",
                )
            ),
        )
        for load, _ in entry.item.curve
    ]  # fmt: skip


def _figure(
    figures: Figures, entry: Entry[Server] | Entry[Accelerator], field: str, label: str, unit: str
) -> Floats:
    """A figure of an item as the ledger line that other models use for it, or its own."""
    item = entry.item
    family = "accelerator" if isinstance(item, Accelerator) else "watts"
    key = f"{family}.{item.id}.{field.removeprefix('power_')}"
    line = figure_line(figures.ledger, key, f"{label} of {item.name}", unit, entry, field)
    return figures.use(line)


def catalog_server(
    catalog: Catalog, server: Entry[Server]
) -> tuple[Entry[Accelerator], Entry[ScaleUp] | None]:
    """Accelerator and scale-up link of a server."""
    accelerator = catalog.entry(Accelerator, server.item.accelerator)
    name = accelerator.item.scaleup
    return accelerator, None if name is None else catalog.entry(ScaleUp, name)
