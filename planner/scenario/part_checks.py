"""Whether the parts and fields of a scenario go together; what doesn't is kept by the finder."""

from __future__ import annotations

from planner.catalog.llm import Model
from planner.catalog.schema import FabricBehaviour, Nic, OpticalEngine, Transceiver
from planner.catalog.store import Entry
from planner.scenario.part_finder import LEFT_OUT, Finder, GroupParts, TierParts, check_orderable
from planner.scenario.schema import Housing, Scenario, WorkloadKind


def nic_lanes(nic: Nic) -> int:
    """Lanes of all ports of a NIC, which planes divide over."""
    return round(nic.port_rate_gbit_per_s.value * nic.ports / nic.lane_rate_gbit_per_s)


def check_planes(finder: Finder, groups: list[GroupParts]) -> None:
    """Planes divide over the lanes of a NIC."""
    planes = finder.loaded.scenario.network.planes
    for nic in {group.nic.item.id: group.nic.item for group in groups}.values():
        lanes = nic_lanes(nic)
        if lanes % planes:
            finder.refuse(
                f"is {planes}, and '{nic.id}' has {lanes} lanes, which don't divide over so many",
                "network", "planes", remedy=f"choose from {', '.join(str(n) for n in range(1, 9) if lanes % n == 0)}",
                values=tuple((str(n), n) for n in range(1, 9) if lanes % n == 0),
            )  # fmt: skip


def check_context(finder: Finder, models: dict[str, Entry[Model]]) -> None:
    """A model is trained and asked within its context."""
    for index, workload in enumerate(finder.loaded.scenario.workloads):
        model = models.get(workload.model)
        if model is None:
            continue
        training = workload.kind is WorkloadKind.TRAINING
        tokens = workload.sequence_tokens if training else workload.input_tokens + workload.output_tokens
        if tokens > model.item.context:
            finder.refuse(
                f"is {tokens:,} tokens, and '{workload.model}' has a context of {model.item.context:,}",
                "workloads", index, "sequence_tokens" if training else "input_tokens",
                remedy=f"at most {model.item.context:,}" + ("" if training else " with the answer"),
            )  # fmt: skip


FOREIGN = {
    WorkloadKind.TRAINING: ("input_tokens", "output_tokens", "prefix_hit_fraction", "slo", "disaggregated"),
    WorkloadKind.SERVING: ("tokens_trillion", "sequence_tokens", "batch_sequences", "plan"),
}
"""Fields that a workload of this kind has no use for."""


NEEDS = {
    "days": WorkloadKind.TRAINING,
    "ttft_p99_s": WorkloadKind.SERVING,
    "tpot_p99_s": WorkloadKind.SERVING,
    "usd_per_mtoken_output": WorkloadKind.SERVING,
}
"""Limits that only a workload of this kind can meet or miss."""


ONLY_IN_OTHER: dict[Housing, tuple[tuple[str, ...], ...]] = {
    Housing.OWN: (
        ("site", "colocation_usd_per_kw_month"), ("site", "colocation_block_kw"), ("money", "colocation"),
    ),
    Housing.COLOCATION: (
        ("money", "depreciation", "facility_years"), ("money", "tax", "facility_years"), ("money", "construction"),
    ),
}  # fmt: skip
"""Fields that nothing reads in a housing, since they belong to the other one."""


def check_foreign(finder: Finder) -> None:
    """Refuse what a scenario states and nothing would act on."""
    scenario = finder.loaded.scenario
    for index, workload in enumerate(scenario.workloads):
        for name in FOREIGN[workload.kind]:
            if finder.loaded.stands(("workloads", index, name)) != "default":
                finder.refuse(
                    f"does nothing in a workload of kind {workload.kind.value}", "workloads", index, name,
                    remedy="remove it", values=LEFT_OUT,
                )  # fmt: skip
    kinds = {workload.kind for workload in scenario.workloads}
    for name, kind in NEEDS.items():
        if getattr(scenario.limits, name) is not None and kind not in kinds:
            finder.refuse(
                f"limits a workload of kind {kind.value}, and the scenario has none", "limits", name,
                remedy="remove it, or add such a workload", values=LEFT_OUT,
            )  # fmt: skip
    for path in ONLY_IN_OTHER[scenario.site.housing]:
        if _stated(scenario, path):
            finder.refuse(
                f"does nothing where housing is {scenario.site.housing.value}", *path, remedy="remove it",
                values=LEFT_OUT,
            )  # fmt: skip


def _stated(scenario: Scenario, path: tuple[str, ...]) -> bool:
    """Whether a field that is empty by default holds something."""
    found: object = scenario
    for name in path:
        found = getattr(found, name, None)
    return found is not None


def check_optics(finder: Finder, groups: list[GroupParts], tiers: list[TierParts], as_of: str) -> None:
    """Modules that the scenario names fit their cages by form and rate."""
    wishes: list[tuple[str, tuple[str, ...], str, str, float]] = []
    for tier, name in zip(tiers, ("leaf", "spine", "core"), strict=True):
        if tier.wish.optic is not None:
            item = tier.switch.item
            if item.optics is not None:
                finder.refuse(
                    f"'{item.id}' has co-packaged optics and takes no module", "network", name, "optic",
                    remedy="leave it out", values=LEFT_OUT,
                )  # fmt: skip
                continue
            wishes.append(
                (tier.wish.optic, ("network", name, "optic"), item.id, item.cage, item.cage_rate_gbit_per_s)
            )
    endpoint = finder.loaded.scenario.network.endpoint_optic
    if endpoint is not None and groups:
        nic = groups[0].nic.item
        wishes.append(
            (endpoint, ("network", "endpoint_optic"), nic.id, nic.cage, nic.port_rate_gbit_per_s.value)
        )
    for optic, path, part, cage, rate in wishes:
        if optic in finder.catalog.ids(OpticalEngine):
            engine = finder.catalog.get(OpticalEngine, optic)
            finder.refuse(
                f"'{optic}' is no pluggable module and can't be ordered: {engine.why_not_orderable or engine.note}", *path,
                remedy="choose a transceiver, or a switch with co-packaged optics",
            )  # fmt: skip
            continue
        module = finder.find(Transceiver, optic, *path)
        if module is None:
            continue
        check_orderable(finder, module, as_of, *path)
        own = module.item.rate_gbit_per_s.value
        if own != rate:
            finder.refuse(
                f"'{optic}' has {own:g} Gbit/s, and a cage of '{part}' needs {rate:g} Gbit/s", *path,
                remedy="choose a module of the cage's rate, or leave it out for the cheapest that fits",
                values=LEFT_OUT,
            )  # fmt: skip
        elif cage and module.item.cage and module.item.cage != cage:
            finder.refuse(
                f"'{optic}' is {module.item.cage}, and '{part}' takes {cage}", *path,
                remedy="choose a module of the cage's form, or leave it out for the cheapest that fits",
                values=LEFT_OUT,
            )  # fmt: skip


def check_fabric(
    finder: Finder,
    groups: list[GroupParts],
    tiers: list[TierParts],
    behaviour: Entry[FabricBehaviour] | None,
) -> None:
    """Switches, NICs and the way that load is balanced belong together."""
    fabric = tiers[0].switch.item.fabric
    for tier, name in zip(tiers[1:], ("spine", "core"), strict=True):
        if tier.switch.item.fabric is not fabric:
            finder.refuse(
                f"'{tier.switch.item.id}' speaks {tier.switch.item.fabric}, and the leaf {fabric}",
                "network", name, "switch", remedy=f"choose a switch for {fabric}",
                values=((f"{tiers[0].switch.item.id}, as the leaf", tiers[0].switch.item.id),),
            )  # fmt: skip
    for group in groups:
        if fabric not in group.nic.item.fabrics:
            speaks = ", ".join(group.nic.item.fabrics)
            finder.refuse(
                f"'{tiers[0].switch.item.id}' speaks {fabric}, and NIC '{group.nic.item.id}' of "
                f"group '{group.wish.id}' speaks {speaks}",
                "network", "leaf", "switch", remedy="set network.nic or choose another switch",
            )  # fmt: skip
    if behaviour is None:
        return
    if behaviour.item.fabric is not fabric:
        finder.refuse(
            f"'{behaviour.item.id}' is for {behaviour.item.fabric}, and the switches speak {fabric}",
            "network", "behaviour", remedy="leave it out for the usual one", values=LEFT_OUT,
        )  # fmt: skip
    nics = {group.nic.item.id for group in groups}
    asics = {tier.asic.item.id for tier in tiers}
    for needed, there, what in (
        (behaviour.item.needs_nics, nics, "NICs"),
        (behaviour.item.needs_asics, asics, "switch ASICs"),
    ):
        if needed and not there <= set(needed):
            finder.refuse(
                f"'{behaviour.item.id}' needs {what} {', '.join(needed)}, and the plan has "
                f"{', '.join(sorted(there - set(needed)))}",
                "network", "behaviour", remedy="choose parts of that stack or another behaviour",
            )  # fmt: skip
