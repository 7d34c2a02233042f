"""What the choice of optics costs to run, as ledger lines: watts, failures, repair, spares, liquid cooling."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from planner.catalog.schema import Cooling
from planner.design.cluster import TIERS
from planner.design.inventory import State
from planner.evaluate import Built, Evaluation
from planner.finance.spares import poisson_quantile
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Expr, added, maximum, node
from planner.power.facility import facility_power_w
from planner.scenario.givens import assume, figure_line
from planner.sourced import Source
from planner.study.optics_parts import Breakable, PartKind, breakables
from planner.study.optics_shelf import as_printed
from planner.study.optics_spares import gpus_hit
from planner.units import DAYS_PER_YEAR, HOURS_PER_YEAR, KILO, SECONDS_PER_HOUR

WEEKS_PER_YEAR = DAYS_PER_YEAR / 7
NETWORK = ("network", "optics")
"""Categories of consumers that are the network."""


@dataclass(frozen=True, slots=True)
class HourValue:
    """What a GPU-hour that is not delivered is worth, and where that stands."""

    usd: float
    source: Source
    said: str


def enter_optics(evaluation: Evaluation, value: HourValue) -> None:
    """Enter every ``optics.`` line into a built evaluation's ledger."""
    built, ledger = evaluation.built, evaluation.ledger
    assert built is not None
    hour = ledger.given(
        "optics.gpu_hour_usd", f"Worth of a GPU-hour, {value.said}", "USD/GPU-h", value.usd, value.source
    )
    _watts(ledger, built)
    parts = breakables(built)
    failures = _failures(ledger, built, parts)
    _lost(ledger, built, parts, failures, hour)
    _spares(ledger, built, parts, failures)
    _liquid(ledger, built)
    _lead_time(ledger, built)
    _worth(ledger)


def _sum(lines: Iterable[Expr]) -> Expr:
    found = list(lines)
    return added(found) if found else node(0.0)


def _watts(ledger: Ledger, built: Built) -> None:
    optics = ledger.derive(
        "optics.modules_w", "Draw of modules and active cables", "W",
        _sum(load.watts[State.TYPICAL] for load in built.loads if load.consumer.category == "optics"),
    )  # fmt: skip
    boxes = ledger.derive(
        "optics.switches_w", "Draw of switches, with optics inside them", "W",
        _sum(load.watts[State.TYPICAL] for load in built.loads if load.consumer.category == "network"),
    )  # fmt: skip
    network = ledger.derive("optics.network_w", "Draw of the network", "W", optics + boxes)
    meter = ledger.derive(
        "optics.network_facility_w",
        "Draw of the network at the meter",
        "W",
        facility_power_w(ledger, network),
    )
    energy = ledger.derive(
        "optics.energy_kwh_per_year",
        "Energy of the network in a year",
        "kWh/year",
        meter * (HOURS_PER_YEAR / KILO),
    )
    ledger.derive(
        "optics.energy_usd_per_year", "Energy of the network in a year, cost", "USD/year",
        energy * ledger["site.electricity_usd_per_kwh"], sign=Sign.COST,
    )  # fmt: skip


def _failures(ledger: Ledger, built: Built, parts: tuple[Breakable, ...]) -> dict[str, Line]:
    """Enter count x rate of every kind of part, and the sums; failures by slug come back."""
    catalog = built.cluster.parts.catalog
    found: dict[str, Line] = {}
    by_kind: dict[PartKind, list[Line]] = defaultdict(list)
    for part in parts:
        count = ledger.compute(
            f"optics.{part.slug}.count", f"{part.label}, in service", "1", part.count, function=breakables,
            inputs=["design.fabric.links"],
        )  # fmt: skip
        if part.rate_field and getattr(part.entry.item, part.rate_field) is not None:
            rate = figure_line(
                ledger, f"afr.{part.entry.item.id}.{part.rate_field}", f"Share of {part.entry.item.name} that fails in a year",
                "fraction/year", part.entry, part.rate_field,
            )  # fmt: skip
        else:
            key, label = part.assumed
            rate = assume(ledger, catalog, "network", key, label, "fraction/year")
        line = ledger.derive(
            f"optics.{part.slug}.failures_per_year", f"{part.label}, failures", "1/year", count * rate
        )
        found[part.slug] = line
        by_kind[part.kind].append(line)
    sums = [
        ledger.derive(
            f"optics.failures.{kind}_per_year", f"Failures of {kind}", "1/year", _sum(by_kind[kind])
        )
        for kind in PartKind
    ]
    ledger.derive("optics.failures_per_year", "Failures of the compute fabric", "1/year", added(sums))
    return found


def _lost(
    ledger: Ledger, built: Built, parts: tuple[Breakable, ...], failures: dict[str, Line], hour: Line
) -> None:
    """Enter the GPU-hours that wait for repairs and that restarts of a training job take."""
    catalog = built.cluster.parts.catalog
    swap = assume(
        ledger, catalog, "network", "link_repair_hours", "Exchange of a module, laser or cable", "h"
    )
    box = assume(ledger, catalog, "network", "switch_repair_hours", "Exchange of a whole switch", "h")
    waiting: list[Expr] = []
    stops: list[Line] = []
    for part in parts:
        if not part.gpus:
            continue
        gpus = ledger.compute(
            f"optics.{part.slug}.gpus", f"GPUs that wait while {part.label} is repaired", "1", part.gpus,
            function=gpus_hit, inputs=["design.fabric.links"],
        )  # fmt: skip
        stops.append(failures[part.slug])
        waiting.append(failures[part.slug] * gpus * (box if part.whole_switch else swap))
    repair = ledger.derive(
        "optics.repair_gpu_hours_per_year", "GPU-hours that wait for repairs", "GPU-h/year", _sum(waiting),
        note="as if no spare node took over",
    )  # fmt: skip
    stopping = ledger.derive("optics.stops_per_year", "Failures that stop a job", "1/year", _sum(stops))
    again: Expr = node(0.0)
    if "performance.training.checkpoint_interval_s" in ledger:
        restart = assume(ledger, catalog, "performance", "restart_s", "From a failure to work again", "s")
        each = (ledger["performance.training.checkpoint_interval_s"] / 2 + restart) / SECONDS_PER_HOUR
        again = stopping * each * ledger["cluster.gpus"]
    restarts = ledger.derive(
        "optics.restart_gpu_hours_per_year", "GPU-hours lost with a job that stops", "GPU-h/year", again,
        note="half a checkpoint interval and the restart, on all GPUs",
    )  # fmt: skip
    lost = ledger.derive("optics.lost_gpu_hours_per_year", "GPU-hours lost", "GPU-h/year", repair + restarts)
    ledger.derive(
        "optics.lost_usd_per_year", "Worth of the GPU-hours lost", "USD/year", lost * hour, sign=Sign.COST
    )


def _spares(ledger: Ledger, built: Built, parts: tuple[Breakable, ...], failures: dict[str, Line]) -> None:
    """Enter the stock of each part: a Poisson quantile over the resupply time."""
    catalog = built.cluster.parts.catalog
    level = assume(
        ledger,
        catalog,
        "network",
        "spare_service_level_fraction",
        "Chance that the stock is enough",
        "fraction",
    )
    weeks = assume(
        ledger, catalog, "network", "spare_resupply_weeks", "Time until a spare is replaced", "weeks"
    )
    stocks: dict[str, list[Breakable]] = defaultdict(list)
    for part in parts:
        if part.spare:
            stocks[part.spare].append(part)
        elif part.whole_switch:
            # an engine is no field part: its failure takes a switch from the stock
            box = next(
                one
                for one in parts
                if one.kind is PartKind.SWITCH and one.slug.split(".")[0] == part.slug.split(".")[0]
            )
            stocks[box.spare].append(part)
    counts: list[Line] = []
    costs: list[Expr] = []
    for name, members in stocks.items():
        mean = ledger.derive(
            f"optics.spares.{name}.failures", f"Failures of {name} until resupply", "1",
            _sum(failures[one.slug] for one in members) * weeks / WEEKS_PER_YEAR,
        )  # fmt: skip
        count = ledger.compute(
            f"optics.spares.{name}.count", f"Spares of {name}", "1",
            poisson_quantile(mean=ledger.value(mean), level=ledger.value(level)),
            function=poisson_quantile, inputs=[mean, level],
        )  # fmt: skip
        counts.append(count)
        if f"price.{name}.price_usd" in ledger:
            costs.append(count * ledger[f"price.{name}.price_usd"])
    ledger.derive("optics.spares_count", "Spares on site", "1", _sum(counts))
    ledger.derive(
        "optics.spares_usd", "Spares on site, cost", "USD", _sum(costs), sign=Sign.COST,
        note="laser modules have no public price and are counted alone",
    )  # fmt: skip


def _liquid(ledger: Ledger, built: Built) -> None:
    """Enter what liquid-cooled switches bring: loops, a share of a CDU, a busbar, pumps."""
    parts = built.cluster.parts
    boxes: list[Expr] = []
    watts: list[Expr] = []
    for tier, part in zip(TIERS, parts.tiers, strict=False):
        count = built.cluster.switch_counts[tier]
        load = next(
            (one for one in built.loads if one.consumer.slug == f"{tier}-{part.switch.item.id}"), None
        )
        printed = as_printed(parts.catalog, part.switch.item.id)
        if count and printed.cooling is Cooling.LIQUID and load is not None:
            boxes.append(node(load.consumer.count))
            watts.append(load.watts[State.PEAK])
    heat = ledger.derive("optics.liquid_w", "Heat of switches that leaves in liquid, peak", "W", _sum(watts))
    count_line = ledger.derive("optics.liquid_switches", "Liquid-cooled switches", "1", _sum(boxes))
    loop = assume(ledger, parts.catalog, "optics", "switch_liquid_loop_usd", "Liquid loop of a switch", "USD")
    bar = assume(
        ledger, parts.catalog, "optics", "busbar_usd_per_kw", "48 V shelf and busbar for a kW", "USD/kW"
    )
    each: Expr = node(bar)
    pumps: Expr = node(0.0)
    if not parts.cooling.item.liquid:
        # a liquid hall has distribution units in its cost and their pumps in its PUE
        each = bar + assume(
            ledger, parts.catalog, "facility", "cdu_price_usd_per_kw",
            "Coolant distribution units, for a kW of capacity", "USD/kW",
        )  # fmt: skip
        pumps = heat * assume(
            ledger, parts.catalog, "facility", "cdu_power_fraction", "Pump power over heat moved", "fraction"
        )
    ledger.derive(
        "optics.liquid_usd", "Liquid loops and busbar of switches", "USD",
        count_line * loop + heat / KILO * each, sign=Sign.COST,
        note="a comparison with an air-cooled switch has to include them",
    )  # fmt: skip
    ledger.derive("optics.pumps_w", "Pumps for switches in a hall without liquid", "W", pumps)


def _lead_time(ledger: Ledger, built: Built) -> None:
    """Enter the longest lead time of the fabric's parts."""
    catalog = built.cluster.parts.catalog
    usual = assume(ledger, catalog, "network", "lead_time_weeks", "Lead time of network parts", "weeks")
    stated: list[Line] = []
    for row in built.bom:
        entry = row.demand.entry
        if row.demand.asset_class.is_network and getattr(entry.item, "lead_time_weeks", None) is not None:
            key = f"lead_time.{entry.item.id}_weeks"
            stated.append(
                figure_line(ledger, key, f"Lead time of {entry.item.name}", "weeks", entry, "lead_time_weeks")
            )
    longest: Expr = maximum(usual, *stated)
    if any(getattr(row.demand.entry.item, "linear", False) for row in built.bom):
        longest = longest + assume(
            ledger, catalog, "optics", "linear_qualification_weeks",
            "Qualifying a pair of switch and linear module", "weeks",
        )  # fmt: skip
    ledger.derive("optics.lead_time_weeks", "Longest lead time of network parts, qualified", "weeks", longest)


def _worth(ledger: Ledger) -> None:
    """Enter present values: ownership with the liquid side, energy alone, lost work."""
    years = ledger.derive(
        "optics.worth_of_a_year_years", "Years of operation, discounted", "years",
        ledger["unit.pv_gpu_hours_installed"] / (ledger["cluster.gpus"] * HOURS_PER_YEAR),
    )  # fmt: skip
    price = ledger["site.electricity_usd_per_kwh"]
    pumps = ledger.derive(
        "optics.pumps_npv_usd", "Energy of those pumps, present value", "USD",
        facility_power_w(ledger, ledger["optics.pumps_w"]) * (HOURS_PER_YEAR / KILO) * price * years, sign=Sign.COST,
    )  # fmt: skip
    total = ledger.derive(
        "optics.npv_usd", "Cost of ownership with liquid loops and busbar, present value", "USD",
        ledger["tco.npv_usd"] + ledger["optics.liquid_usd"] + pumps, sign=Sign.COST,
    )  # fmt: skip
    energy = ledger.derive(
        "optics.energy_npv_usd", "Energy of the plan, present value", "USD", ledger["tco.opex_energy_npv_usd"] + pumps,
        sign=Sign.COST,
    )  # fmt: skip
    ledger.derive(
        "optics.npv_kwh", "Energy of the plan, discounted", "kWh", energy / price,
        note="what a USD/kWh more would add to the present value",
    )  # fmt: skip
    lost = ledger.derive(
        "optics.lost_npv_usd", "Worth of the GPU-hours lost, present value", "USD",
        ledger["optics.lost_usd_per_year"] * years, sign=Sign.COST,
    )  # fmt: skip
    ledger.derive(
        "optics.npv_with_lost_work_usd",
        "All of it with the lost work, present value",
        "USD",
        total + lost,
        sign=Sign.COST,
    )
