"""Figures of the features that a workload uses, read from the catalog and from measured profiles."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.catalog.profiles import Profile
from planner.catalog.store import Entry
from planner.choices import ContextKind, Routing, Schedule
from planner.design.cluster import Cluster
from planner.performance.assumed import Assumed
from planner.performance.features import Features
from planner.performance.hardware import PCIE_GBIT_PER_S, Hardware
from planner.scenario.givens import assume
from planner.scenario.schema import PlanChoice, Workload
from planner.sourced import Basis, Source
from planner.units import BITS_PER_BYTE, GIGA

HOST_LINK = {"d2h": "to the host", "h2d": "from the host"}
NEWEST_GENERATION = 5
"""Of the host link where a server's adapter names none."""


def features_of(assumed: Assumed, cluster: Cluster, machine: Hardware, workload: Workload) -> Features:
    """Figures of what a workload uses; nothing is read for what it doesn't, so nothing else moves.

    Args:
        assumed: Takes the ledger lines.
        cluster: Of the scenario; its host link where something is offloaded.
        machine: Hardware with its profiles.
        workload: With its routing and its own plan, if it has one.
    """
    found: dict[str, Floats] = {}
    if workload.routing is Routing.SKEWED:
        found["expert_load_ratio"] = assumed("training_expert_load_ratio")
    if workload.routing is Routing.CAPACITY:
        found["expert_capacity_ratio"] = assumed("training_expert_capacity_ratio")
    plan = workload.plan
    if isinstance(plan, PlanChoice):
        found |= _of_plan(assumed, plan)
        if plan.offload:
            found |= _of_host_link(assumed, cluster, machine)
    return Features(**found)


def _of_plan(assumed: Assumed, plan: PlanChoice) -> dict[str, Floats]:
    found: dict[str, Floats] = {}
    if plan.schedule is Schedule.ZERO_BUBBLE:
        found["zero_bubble_ratio"] = assumed("training_zero_bubble_ratio")
    if plan.context > 1 and plan.context_kind is ContextKind.ALL_GATHER:
        found["context_gather_exposed_fraction"] = assumed("training_context_gather_exposed_fraction")
    if plan.gradient_compression_ratio > 1.0:
        found["compression_bytes_per_parameter"] = assumed("training_compression_bytes_per_parameter")
    if plan.local_steps > 1 or plan.asynchronous:
        found["local_state_bytes_per_parameter"] = assumed("training_local_state_bytes_per_parameter")
    return found


def _of_host_link(assumed: Assumed, cluster: Cluster, machine: Hardware) -> dict[str, Floats]:
    return {
        "to_host_bytes_per_s": _host_rate(assumed, cluster, machine, "d2h"),
        "from_host_bytes_per_s": _host_rate(assumed, cluster, machine, "h2d"),
        "host_link_hidden_fraction": assumed("training_host_link_hidden_fraction"),
        "activation_factor": assumed("training_activation_factor"),
    }


def _host_rate(assumed: Assumed, cluster: Cluster, machine: Hardware, direction: str) -> Floats:
    """Bytes a second between an accelerator and its host's pinned memory: as measured on it, else by its slot."""
    key, label = f"calibration.{direction}_gbyte_per_s", f"Host link, {HOST_LINK[direction]}"
    if key in assumed.ledger:
        return assumed.use(assumed.ledger[key]) * GIGA
    for entry in machine.domain.shelf.own:
        fits = [one for one in entry.item.memory if one.family == direction and one.pinned]
        if fits:
            # all accelerators of a host at work, as a step has them
            fit = max(fits, key=lambda one: one.gpus_active)
            spread = fit.rate_gbyte_per_s * max(fit.errors.median_fraction, 0.01)
            line = assumed.ledger.given(
                key, label, "GB/s", fit.rate_gbyte_per_s, _measured(entry, fit.gpus_active),
                low=fit.rate_gbyte_per_s - spread, high=fit.rate_gbyte_per_s + spread,
            )  # fmt: skip
            return assumed.use(line) * GIGA
    generation = cluster.parts.groups[0].nic.item.pcie_gen or NEWEST_GENERATION
    name = PCIE_GBIT_PER_S.get(generation, PCIE_GBIT_PER_S[NEWEST_GENERATION])
    slot, usable = (
        assumed.use(assume(assumed.ledger, assumed.catalog, "network", one, said, unit))
        for one, said, unit in (
            (f"{name}_gbit_per_s", f"Host link of generation {generation}, 16 lanes", "Gbit/s"),
            ("pcie_usable_fraction", "Usable share of a host link", "fraction"),
        )
    )
    return np.asarray(slot * usable * GIGA / BITS_PER_BYTE)


def _measured(entry: Entry[Profile], active: int) -> Source:
    return Source(
        where=f"{entry.document.path}:1", source=entry.item.source or "", basis=Basis.MEASURED,
        as_of=entry.item.as_of, note=f"pinned memory, {active} accelerators at once",
    )  # fmt: skip
