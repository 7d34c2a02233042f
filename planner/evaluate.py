"""One evaluation: design, power, performance, finance. This page reads like the method."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.design.bom import BomRow, bill_of_materials
from planner.design.cluster import Cluster, draw_cluster
from planner.design.inventory import Inventory, enter_design, take_inventory
from planner.design.lead_times import priced_by_quotes
from planner.design.misfits import every_problem, refuse_misfits
from planner.design.orderable import refuse_unorderable
from planner.design.phases import FabricPhase, Phase, fabric_phases
from planner.design.phasing import upper_tiers_line
from planner.errors import DesignError, Place, Problem, Remedy, ScenarioError
from planner.finance.capex import Capex, capex
from planner.finance.cashflow import CashFlow, cash_flow
from planner.finance.depreciation import Depreciation, depreciation
from planner.finance.erosion_lines import erosion
from planner.finance.kind_shares import kind_shares
from planner.finance.network_share import network_share
from planner.finance.opex import Opex, opex
from planner.finance.three_views import returns_and_accounts
from planner.finance.timeline import PhaseDates, Timeline, months_needed, phase_dates, timeline
from planner.finance.uncertainty import Uncertainty
from planner.finance.unit_costs import hours, unit_costs
from planner.ledger import Ledger, Override
from planner.ledger.in_rows import solve_in_rows
from planner.performance.predict import Performance, predict
from planner.performance.train import run_energy
from planner.power.chain import electrical_chain
from planner.power.facility import facility, loss_lines
from planner.power.it_load import Load, it_load
from planner.power.stages import stage_losses
from planner.power.utility import utility
from planner.scenario.load import Loaded
from planner.scenario.parts import Parts, resolve
from planner.scenario.shares import enter_shares


@dataclass(frozen=True, slots=True)
class Built:
    """Everything about a cluster that can be built."""

    cluster: Cluster
    inventory: Inventory
    bom: tuple[BomRow, ...]
    loads: tuple[Load, ...]
    performance: Performance
    phases: tuple[PhaseDates, ...]
    time: Timeline
    capex: Capex
    opex: Opex
    depreciation: Depreciation
    cash: CashFlow
    fabric_phases: tuple[FabricPhase, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """P10, P50 and P90 of a line over draws of its inputs, and the draws, in a fixed order."""

    p10: float
    p50: float
    p90: float
    draws: Floats

    def odds_at_most(self, limit: float) -> float:
        """Share of draws that stay within a limit."""
        return float((self.draws <= limit).mean())


@dataclass(frozen=True, slots=True)
class Tried:
    """A remedy that was applied to a copy of the scenario and evaluated.

    Attributes:
        problem: What it is to cure.
        remedy: Its words and edits.
        builds: Whether the plan can be built with it; where it can't, something else is in the way besides.
        values: Outcomes with it, by ledger key; empty where it can't be built.
        changes: The same less those of the plan as it stands; empty where that can't be built.
        breaks: Fields of limits that the plan would miss with it, besides those it misses already.
        first: Whether it is the cheapest cure of its problem.
    """

    problem: Problem
    remedy: Remedy
    builds: bool
    values: Mapping[str, float]
    changes: Mapping[str, float]
    breaks: tuple[str, ...] = ()
    first: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What the planner says about a scenario.

    Attributes:
        ledger: Every number, by key; empty of results where the cluster can't be built.
        built: The design and its costs; None where it can't be built.
        refusal: Why it can't be built; None where it can.
        ranges: Ranges of results by key, where they were asked for (see `planner.study.bands`).
        tried: Remedies of a plan that can't be built or misses a limit, where they were asked for (see
            `planner.study.remedies`), the cheapest of each problem first.
        risk: What moves one of the results, where it was asked for (see `planner.study.risk`).
    """

    loaded: Loaded
    parts: Parts
    ledger: Ledger
    built: Built | None
    refusal: DesignError | None
    ranges: Mapping[str, Range] = field(default_factory=dict)
    tried: tuple[Tried, ...] = ()
    risk: Uncertainty | None = None

    @property
    def feasible(self) -> bool:
        """Whether the cluster can be built and the workloads fit."""
        return self.built is not None


def evaluate(
    loaded: Loaded,
    catalog: Catalog,
    *,
    draws: Mapping[str, Floats] | None = None,
    keys: Collection[str] | None = None,
    like: Built | None = None,
) -> Evaluation:
    """Evaluate one scenario, or with draws many that share its structure.

    Args:
        loaded: The scenario.
        catalog: Where its parts are looked up.
        draws: Arrays of shape (n,) that replace given lines, by key.
        keys: Formulas to work out, with those they rest on; all by default, which many draws have no memory for.
        like: What an earlier evaluation of the same scenario and catalog has built. Draws keep its design and its
            plans of execution, which are then not looked for again.

    Raises:
        ScenarioError: Parts that are missing or don't belong together.
    """
    parts = resolve(loaded, catalog) if like is None else like.cluster.parts
    phases = phase_dates(loaded, parts.as_of)
    ledger = Ledger(
        months=months_needed(loaded, phases, parts.as_of), overrides=_overrides(loaded), draws=draws
    )
    try:
        refuse_misfits(parts)
        built = _build(ledger, parts, phases, like)
    except DesignError as refusal:
        return Evaluation(loaded, parts, ledger, None, every_problem(refusal, parts))
    ledger.refuse_unused_overrides()
    unknown = [key for key in ledger.draws if key not in ledger]
    assert not unknown, f"draws of lines that are not there: {unknown}"
    if keys is None:
        ledger.solve()
    else:
        solve_in_rows(ledger, [key for key in keys if key in ledger])
    _refuse_nonsense(ledger, loaded)
    return Evaluation(loaded, parts, ledger, built, None)


def _refuse_nonsense(ledger: Ledger, loaded: Loaded) -> None:
    """An outcome that is no number is a refusal, never a report.

    Raises:
        ScenarioError: Names the outcomes.
    """
    keys = ("outcome.", "capex.total", "tco.", "unit.", "power.facility", "performance.training.days")
    odd = [
        line.key
        for line in ledger
        if line.key.startswith(keys)
        and line.key in ledger.values
        and not np.all(np.isfinite(ledger.value(line)))
    ]
    if odd:
        raise ScenarioError(
            Problem(
                f"{', '.join(odd[:3])} would be no number",
                Place(loaded.document.path),
                remedy="look for a value of the scenario that is far too large or too small",
            )
        )


def _build(ledger: Ledger, parts: Parts, phases: tuple[PhaseDates, ...], like: Built | None) -> Built:
    cluster = draw_cluster(parts) if like is None else like.cluster
    enter_design(ledger, cluster)
    enter_shares(ledger, parts)
    inventory = take_inventory(ledger, cluster)
    refuse_unorderable(ledger, parts, inventory.demands)
    bom = bill_of_materials(ledger, inventory.demands, priced_by_quotes(ledger, parts, inventory.demands))
    fabric = _fabric_by_phase(cluster, phases)
    performance = predict(ledger, cluster, like.performance if like is not None else None)
    loads = it_load(ledger, cluster, inventory.consumers)
    kinds = kind_shares(ledger, parts, bom, [phase.id for phase in phases])
    upper = upper_tiers_line(ledger, bom, len(phases))
    time = timeline(ledger, parts.loaded, phases, upper, parts.as_of, kinds)
    eroded, time = erosion(ledger, parts, bom, time)
    hours(ledger, parts, time)
    electrical_chain(ledger, cluster, loads)
    facility(ledger, parts)
    utility(ledger, cluster)
    loss_lines(ledger, parts)
    stage_losses(ledger)
    run_energy(ledger, performance.trained)
    bought = capex(ledger, parts, bom, time, eroded)
    running = opex(ledger, parts, bom, bought, time)
    written_off = depreciation(ledger, parts, bought, time)
    cash = cash_flow(ledger, parts, bought, running, time)
    unit_costs(ledger, parts, time, cash)
    returns_and_accounts(ledger, parts, bought, running, written_off, cash, time)
    network_share(ledger, cluster, bom, loads)
    return Built(
        cluster, inventory, bom, loads, performance, phases, time, bought, running, written_off, cash, fabric
    )


def _fabric_by_phase(cluster: Cluster, phases: tuple[PhaseDates, ...]) -> tuple[FabricPhase, ...]:
    """Switches and links that come with each of several purchases."""
    dates = {
        phase.id: date.fromisoformat(f"{phase.in_service[:7]}-01")
        for phase in cluster.parts.loaded.scenario.phases
    }
    if len(phases) < 2 or not cluster.fabric.leaves:
        return ()
    return fabric_phases(cluster.fabric, [Phase(phase.id, dates[phase.id], phase.gpus) for phase in phases])


DESIGNED = (
    "cluster.gpus", "network.nic_rate", "network.leaf", "phase.", "timing.", "design.", "bom.", "model.", "nic.",
    *(
        f"assumption.{word}"
        for word in (
            "checkpoint_interval", "checkpoint_write_share", "checkpoints_kept", "dataset_", "management_servers",
            "model_load", "north_south", "oob_", "storage_gbyte", "ufm_",
        )
    ),
)  # fmt: skip
"""Beginnings of keys that the design rests on or sets: another value is another design."""
RATES = (
    "share_of_peak",
    "efficiency",
    "memory_share",
    "bytes_per_s",
    "utilisation",
    "availability",
    "scheduled",
)
"""Words in keys of shares that something is divided by."""
POSITIVE = ("price.", "accelerator.", "scaleup.", "network.", "watts.")


NEVER_ZERO = ("s", "us", "h", "byte/s", "GB/s", "Gbit/s", "TFLOP/s", "MiB", "W", "years", "tokens", "Mtokens")
"""Units in which zero means that nothing is there or nothing moves."""


def _out_of_bounds(key: str, value: float, unit: str) -> str:
    """What is wrong with an override's value; empty where nothing is."""
    if key == "power.pue" and not 1 <= value <= 3:
        return "must be between 1 and 3"
    if key.endswith("_ratio") and not 0.1 <= value <= 10:
        return "must be between 0.1 and 10"
    if unit.startswith("fraction") and not 0 <= value <= 1:
        return "must be between 0 and 1"
    if unit.startswith("fraction") and value == 0 and any(word in key for word in RATES):
        return "must be more than 0"
    if value == 0 and (key.startswith(POSITIVE) or unit in NEVER_ZERO):
        return "must be more than 0"
    return "must not be negative, nor over 1e15" if not 0 <= value <= 1e15 else ""


def _overrides(loaded: Loaded) -> dict[str, Override]:
    """Overrides of the scenario.

    Raises:
        ScenarioError: Values that no line can have, or lines that only the scenario's own fields change.
    """
    problems = []
    for key, wish in loaded.scenario.overrides.items():
        place = loaded.document.place(("overrides", key, "value"))
        if key.startswith(DESIGNED):
            problems.append(
                Problem(
                    f"'{key}' belongs to the design", place, f"overrides.{key}",
                    "change the scenario's cluster, network or phases, and the design follows",
                )
            )  # fmt: skip
        said = _out_of_bounds(key, wish.value, wish.unit)
        if said:
            problems.append(
                Problem(f"is {wish.value:g} {wish.unit}, and {said}", place, f"overrides.{key}.value")
            )
    if problems:
        raise ScenarioError(problems)
    return {
        key: Override(wish.value, wish.unit, wish.reason, loaded.source("overrides", key).where)
        for key, wish in loaded.scenario.overrides.items()
    }
