"""Edits that may bring a plan within a limit it misses. Whether they do is for an evaluation to say.

Each function takes the evaluation and the limit over the value (below 1), and gives edits in the order in
which they are worth trying.
"""

from __future__ import annotations

from math import ceil, floor, log2

from planner.choices import Precision
from planner.design.misfits import LEAST_CAP
from planner.errors import Remedy
from planner.evaluate import Evaluation
from planner.scenario.alternatives import beside, coolings, switches
from planner.scenario.parts import Parts
from planner.scenario.remedies import to_cooling, to_gpus, to_oversubscription, to_power_cap, to_switch
from planner.scenario.schema import Housing, WorkloadKind
from planner.units import KILO

MOST = 3
"""Parts of one kind that are proposed."""


def less_power(evaluation: Evaluation, share: float) -> list[Remedy]:
    """Better cooling, a power cap, fewer GPUs."""
    parts = evaluation.parts
    site = parts.loaded.scenario.site
    found = _cooler(parts)
    if site.pue is not None:
        found.append(Remedy("PUE by the cooling method", ("site", "pue"), None))
    # what isn't an accelerator draws the same under a cap, so the cap has to go below the share
    caps = dict.fromkeys(
        floor(site.power_cap_fraction * factor * 100) / 100 for factor in (share, share**1.5)
    )
    found += [to_power_cap(cap) for cap in caps if cap >= LEAST_CAP]
    return [*found, _fewer(parts, share)]


def less_capex(evaluation: Evaluation, share: float) -> list[Remedy]:
    """A cheaper network, no spare servers, fewer GPUs."""
    return [
        *_cheaper_network(evaluation.parts),
        *_no_spares(evaluation.parts),
        _fewer(evaluation.parts, share),
    ]


def sooner(evaluation: Evaluation, share: float) -> list[Remedy]:
    """A plan that was searched, narrower arithmetic, full bandwidth, full power, more GPUs."""
    parts = evaluation.parts
    scenario, found = parts.loaded.scenario, []
    index = _first(parts, WorkloadKind.TRAINING)
    if index is not None and scenario.workloads[index].plan != "auto":
        found.append(Remedy("plan: auto, the fastest that fits", ("workloads", index, "plan"), "auto"))
    found += _narrower(parts, index)
    if scenario.network.leaf.oversubscription > 1:
        found.append(
            Remedy("a non-blocking network", ("network", "leaf", "oversubscription"), 1.0,
                   ((("network", "spine", "oversubscription"), 1.0),))
        )  # fmt: skip
    if scenario.site.power_cap_fraction < 1:
        found.append(Remedy("no power cap", ("site", "power_cap_fraction"), 1.0))
    # a number that divides the batch well may be faster than a smaller one that is near enough by count
    quarter, doubled = ceil(4 / share) * parts.gpus // 4, 2 ** ceil(log2(1 / share)) * parts.gpus
    wanted = dict.fromkeys((ceil(parts.gpus / share), quarter, doubled))
    return [*found, *(to_gpus(gpus, "") for gpus in wanted)]


def first_token(evaluation: Evaluation, share: float) -> list[Remedy]:
    """The limit as the workload's objective, by which batches are chosen; narrower arithmetic."""
    return _latency(evaluation, "ttft_p99_s", share)


def each_token(evaluation: Evaluation, share: float) -> list[Remedy]:
    """The limit as the workload's objective, by which batches are chosen; narrower arithmetic."""
    return _latency(evaluation, "tpot_p99_s", share)


def more_replicas(evaluation: Evaluation, share: float) -> list[Remedy]:
    """As many GPUs as the loads need at the objective, narrower arithmetic of the fullest workload, a wider objective."""
    parts, ledger = evaluation.parts, evaluation.ledger
    assert evaluation.built is not None
    loaded = [one for one in evaluation.built.performance.served if one.workload.load is not None]
    fullest = min(loaded, key=lambda one: ledger.scalar(f"{one.key}.load.covered_fraction")).workload
    index = parts.loaded.scenario.workloads.index(fullest)
    # rounding of the ratio must not ask for one more than the load does
    found = [to_gpus(ceil(parts.gpus / share - 1e-6), "for the load"), *_narrower(parts, index)]
    for field in ("tpot_p99_s", "ttft_p99_s"):
        now, stated = getattr(fullest.slo, field), getattr(parts.loaded.scenario.limits, field)
        if stated is None or stated >= 2 * now:
            path = ("workloads", index, "slo", field)
            found.append(Remedy(f"the objective {field} up to {2 * now:g} s", path, 2 * now))
    return found


def cheaper_hours(evaluation: Evaluation, share: float) -> list[Remedy]:
    """A cheaper network, better cooling, no spare servers, another housing."""
    parts = evaluation.parts
    other = Housing.OWN if parts.loaded.scenario.site.housing is Housing.COLOCATION else Housing.COLOCATION
    house = Remedy(f"housing {other.value}", ("site", "housing"), other.value)
    return [*_cheaper_network(parts), *_no_spares(parts), *_cooler(parts), house]


def cheaper_tokens(evaluation: Evaluation, share: float) -> list[Remedy]:
    """Narrower arithmetic, a wider objective, and what makes GPU-hours cheaper."""
    parts = evaluation.parts
    index = _first(parts, WorkloadKind.SERVING)
    found = _narrower(parts, index)
    if index is not None:
        limits, slo = parts.loaded.scenario.limits, parts.loaded.scenario.workloads[index].slo
        for field, now in (("tpot_p99_s", slo.tpot_p99_s), ("ttft_p99_s", slo.ttft_p99_s)):
            stated = getattr(limits, field)
            if stated is None or stated >= 2 * now:
                path = ("workloads", index, "slo", field)
                found.append(Remedy(f"the objective {field} up to {2 * now:g} s", path, 2 * now))
    return [*found, *cheaper_hours(evaluation, share)]


def _latency(evaluation: Evaluation, field: str, share: float) -> list[Remedy]:
    parts = evaluation.parts
    index = _first(parts, WorkloadKind.SERVING)
    if index is None:
        return []
    stated = getattr(parts.loaded.scenario.limits, field)
    now = getattr(parts.loaded.scenario.workloads[index].slo, field)
    wanted = now * share if stated is None or stated >= now else stated
    path = ("workloads", index, "slo", field)
    return [
        Remedy(f"the limit as the workload's objective, {wanted:g} s", path, wanted),
        *_narrower(parts, index),
    ]


def _first(parts: Parts, kind: WorkloadKind) -> int | None:
    """Place of the first workload of a kind, of which limits speak."""
    return next((i for i, one in enumerate(parts.loaded.scenario.workloads) if one.kind is kind), None)


def _fewer(parts: Parts, share: float) -> Remedy:
    return to_gpus(floor(parts.gpus * share))


def _cooler(parts: Parts) -> list[Remedy]:
    """Cooling methods of a lower PUE that take the racks and the parts, the lowest first."""
    servers = [group.server.item for group in parts.groups]
    liquid = any(one.cooling.value == "liquid" for one in servers)
    kw = max(one.power_max_w.value for one in servers) / KILO
    found = [
        one
        for one in coolings(beside(parts.catalog), parts, kw=kw, liquid=liquid)
        if one.pue.value < parts.cooling.item.pue.value
    ]
    return [to_cooling(one.id) for one in sorted(found, key=lambda one: one.pue.value)[:MOST]]


def _narrower(parts: Parts, index: int | None) -> list[Remedy]:
    """The next narrower arithmetic that the accelerator has."""
    if index is None:
        return []
    now, order = parts.loaded.scenario.workloads[index].precision, list(Precision)
    has = [
        one
        for one in order[order.index(now) + 1 :]
        if all(
            getattr(kind.accelerator.item, f"{one.value}_tflop_per_s") is not None for kind in parts.machines
        )
    ]
    return [Remedy(f"precision {one.value}", ("workloads", index, "precision"), one.value) for one in has[:1]]


def _cheaper_network(parts: Parts) -> list[Remedy]:
    """Switches of a lower price for a port, the lowest first; oversubscribed leaves."""
    if not parts.tiers:
        return []
    now = parts.tiers[0].switch.item
    price = now.price_usd.value / now.cages if now.price_usd is not None else 0.0
    cheaper = [
        (one.price_usd.value / one.cages, one.id)
        for one in switches(beside(parts.catalog), parts, more_ports=False)
        if one.price_usd is not None and one.cage_rate_gbit_per_s == now.cage_rate_gbit_per_s
    ]
    found = [to_switch(name, parts) for usd, name in sorted(cheaper)[:MOST] if usd < price]
    if parts.loaded.scenario.network.leaf.oversubscription < 2:
        found.append(to_oversubscription(2))
    return found


def _no_spares(parts: Parts) -> list[Remedy]:
    if not parts.spare_fraction:
        return []
    return [Remedy("no spare servers", ("cluster", "spare_fraction"), 0.0)]
