"""The catalog items a scenario names, all of them looked up and checked at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from planner.catalog.item import Item
from planner.catalog.llm import Model
from planner.catalog.profiles import Profile
from planner.catalog.schema import (
    Accelerator,
    CoolingType,
    Fabric,
    FabricBehaviour,
    Nic,
    OpticalEngine,
    Rental,
    ScaleUp,
    Server,
    Site,
    Storage,
    Switch,
    SwitchAsic,
    Transceiver,
)  # fmt: skip
from planner.catalog.store import RELEASE, Catalog, Entry
from planner.choices import Topology
from planner.errors import CatalogError, Place, Problem, ScenarioError
from planner.scenario.load import Loaded
from planner.scenario.schema import Group, Housing, Tier, Workload, WorkloadKind

T = TypeVar("T", bound=Item)

BEHAVIOUR_BY_FABRIC = {Fabric.INFINIBAND: "infiniband-adaptive", Fabric.ETHERNET: "ethernet-ecmp-tuned"}


@dataclass(frozen=True, slots=True)
class GroupParts:
    """One group of servers with all that is inside."""

    wish: Group
    server: Entry[Server]
    accelerator: Entry[Accelerator]
    scaleup: Entry[ScaleUp] | None
    nic: Entry[Nic]

    @property
    def servers(self) -> int:
        """Servers, or racks bought as one, in service."""
        return self.wish.gpus // self.server.item.gpus


@dataclass(frozen=True, slots=True)
class TierParts:
    """One tier's wish and its switch."""

    wish: Tier
    switch: Entry[Switch]
    asic: Entry[SwitchAsic]


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything a scenario names, resolved.

    Attributes:
        tiers: Leaf, spine, core; empty where the scenario has no fabric.
        as_of: Date against which parts are orderable and prices are stale.
    """

    loaded: Loaded
    catalog: Catalog
    groups: tuple[GroupParts, ...]
    tiers: tuple[TierParts, ...]
    inband: Entry[Switch] | None
    oob: Entry[Switch] | None
    behaviour: Entry[FabricBehaviour] | None
    storage: Entry[Storage] | None
    site: Entry[Site]
    cooling: Entry[CoolingType]
    models: dict[str, Entry[Model]]
    rental: Entry[Rental] | None
    as_of: str

    @property
    def gpus(self) -> int:
        """GPUs in service, all groups together."""
        return sum(group.wish.gpus for group in self.groups)

    @property
    def spare_fraction(self) -> float:
        """Spare servers over servers in service: as wished, else 0.02, and none of whole racks."""
        wished = self.loaded.scenario.cluster.spare_fraction
        if wished is not None:
            return wished
        return 0.0 if any(group.server.item.is_rack for group in self.groups) else 0.02

    def workload(self, kind: str) -> Workload | None:
        """First workload of a kind."""
        return next((one for one in self.loaded.scenario.workloads if one.kind == kind), None)


def with_part_problems(error: ScenarioError, catalog: Catalog) -> ScenarioError:
    """The same error, with what is wrong about the parts that the readable rest of the scenario names."""
    if not isinstance(error.readable, Loaded):
        return error
    try:
        resolve(error.readable, catalog)
    except ScenarioError as more:
        known = {(problem.place, problem.message) for problem in error.problems}
        return ScenarioError(
            [*error.problems, *(one for one in more.problems if (one.place, one.message) not in known)]
        )
    return error


class _Finder:
    def __init__(self, loaded: Loaded, catalog: Catalog) -> None:
        self.loaded, self.catalog = loaded, catalog
        self.problems: list[Problem] = []

    def find(self, kind: type[T], item_id: str, *path: str | int) -> Entry[T] | None:
        """Look an item up; a failure is kept with the place that names it."""
        try:
            return self.catalog.entry(kind, item_id)
        except CatalogError as error:
            place = self.loaded.document.place(path)
            named = ".".join(str(part) for part in path)
            for problem in error.problems:
                own = problem.place is not None
                self.problems.append(
                    problem if own else Problem(problem.message, place, named, problem.remedy)
                )
            return None

    def refuse(self, message: str, *path: str | int, remedy: str = "") -> None:
        place: Place = self.loaded.document.place(path)
        self.problems.append(Problem(message, place, ".".join(str(part) for part in path), remedy))


def resolve(loaded: Loaded, catalog: Catalog) -> Parts:
    """Look up all parts.

    Raises:
        ScenarioError: Parts that are missing, not orderable or don't belong together, all of them.
    """
    finder, scenario = _Finder(loaded, catalog), loaded.scenario
    _check_foreign(finder)
    as_of = scenario.as_of or RELEASE
    groups = [
        found
        for index, group in enumerate(scenario.cluster.groups)
        if (found := _group(finder, group, index, as_of)) is not None
    ]
    tiers = _tiers(finder, as_of)
    network, behaviour = scenario.network, None
    if tiers:
        fabric = tiers[0].switch.item.fabric
        behaviour = finder.find(
            FabricBehaviour, network.behaviour or BEHAVIOUR_BY_FABRIC[fabric], "network", "behaviour"
        )
        _check_fabric(finder, groups, tiers, behaviour)
        _check_optics(finder, groups, tiers, as_of)
    storage = None
    if network.storage is not None:
        storage = finder.find(Storage, network.storage.system, "network", "storage", "system")
    inband = finder.find(Switch, network.inband, "network", "inband") if network.inband else None
    oob = finder.find(Switch, network.oob, "network", "oob") if network.oob else None
    site = finder.find(Site, scenario.site.location, "site", "location")
    cooling = finder.find(CoolingType, scenario.site.cooling, "site", "cooling")
    _check_planes(finder, groups)
    models = {
        workload.model: model
        for index, workload in enumerate(scenario.workloads)
        if (model := finder.find(Model, workload.model, "workloads", index, "model")) is not None
    }
    _check_context(finder, models)
    for index, profile in enumerate(scenario.calibration):
        finder.find(Profile, profile, "calibration", index)
    rental = None
    if scenario.money.rental is not None:
        rental = finder.find(Rental, scenario.money.rental, "money", "rental")
        owned = {group.server.item.accelerator for group in groups}
        if rental is not None and owned and rental.item.accelerator not in owned:
            finder.refuse(
                f"'{rental.item.id}' rents {rental.item.accelerator}, and the plan owns {', '.join(sorted(owned))}",
                "money", "rental", remedy="choose an offer of the same accelerator: planner catalog list rentals",
            )  # fmt: skip
    if finder.problems:
        raise ScenarioError(finder.problems)
    assert site is not None and cooling is not None
    return Parts(
        loaded, catalog, tuple(groups), tuple(tiers), inband, oob, behaviour, storage, site, cooling,
        models, rental, as_of,
    )  # fmt: skip


def _check_planes(finder: _Finder, groups: list[GroupParts]) -> None:
    planes = finder.loaded.scenario.network.planes
    for group in groups[:1]:
        nic = group.nic.item
        lanes = round(nic.port_rate_gbit_per_s.value * nic.ports / nic.lane_rate_gbit_per_s)
        if lanes % planes:
            finder.refuse(
                f"is {planes}, and '{nic.id}' has {lanes} lanes, which don't divide over so many",
                "network", "planes", remedy=f"choose from {', '.join(str(n) for n in range(1, 9) if lanes % n == 0)}",
            )  # fmt: skip


def _check_context(finder: _Finder, models: dict[str, Entry[Model]]) -> None:
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
    WorkloadKind.TRAINING: ("input_tokens", "output_tokens", "slo"),
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


def _check_foreign(finder: _Finder) -> None:
    """Refuse what a scenario states and nothing would act on."""
    scenario = finder.loaded.scenario
    for index, workload in enumerate(scenario.workloads):
        for name in FOREIGN[workload.kind]:
            if finder.loaded.stands(("workloads", index, name)) != "default":
                finder.refuse(
                    f"does nothing in a workload of kind {workload.kind.value}", "workloads", index, name,
                    remedy="remove it",
                )  # fmt: skip
    kinds = {workload.kind for workload in scenario.workloads}
    for name, kind in NEEDS.items():
        if getattr(scenario.limits, name) is not None and kind not in kinds:
            finder.refuse(
                f"limits a workload of kind {kind.value}, and the scenario has none", "limits", name,
                remedy="remove it, or add such a workload",
            )  # fmt: skip
    housing = scenario.site.housing
    if housing is Housing.OWN and scenario.site.colocation_usd_per_kw_month is not None:
        finder.refuse(
            "does nothing where housing is own", "site", "colocation_usd_per_kw_month", remedy="remove it"
        )
    if housing is Housing.COLOCATION and scenario.money.depreciation.facility_years is not None:
        finder.refuse(
            "does nothing where housing is colocation",
            "money",
            "depreciation",
            "facility_years",
            remedy="remove it",
        )


def _group(finder: _Finder, group: Group, index: int, as_of: str) -> GroupParts | None:
    path = ("cluster", "groups", index)
    server = finder.find(Server, group.server, *path, "server")
    if server is None:
        return None
    _check_orderable(finder, server, as_of, *path, "server")
    accelerator = finder.find(Accelerator, server.item.accelerator, *path, "server")
    wanted = finder.loaded.scenario.network.nic
    nic = finder.find(
        Nic, wanted or server.item.compute_nics.nic, *(("network", "nic") if wanted else (*path, "server"))
    )
    scaleup = None
    if accelerator is not None and accelerator.item.scaleup is not None:
        scaleup = finder.find(ScaleUp, accelerator.item.scaleup, *path, "server")
    size = server.item.gpus
    if group.gpus % size:
        below, above = group.gpus // size * size, -(-group.gpus // size) * size
        finder.refuse(
            f"is {group.gpus:,}, and '{group.server}' has {size} GPUs", *path, "gpus",
            remedy=f"write {above:,}" + (f" or {below:,}" if below else ""),
        )  # fmt: skip
    if accelerator is None or nic is None:
        return None
    return GroupParts(group, server, accelerator, scaleup, nic)


def _check_orderable(finder: _Finder, entry: Entry[T], as_of: str, *path: str | int) -> None:
    item = entry.item
    if not item.orderable:
        finder.refuse(
            f"'{item.id}' can't be ordered: {item.why_not_orderable or 'it is a roadmap part'}", *path,
            remedy="choose a part that can be, see planner catalog list",
        )  # fmt: skip
    elif item.available is not None and item.available > as_of[: len(item.available)]:
        finder.refuse(
            f"'{item.id}' can be ordered from {item.available}, and the plan is of {as_of}", *path,
            remedy="move as_of, or choose a part that can be ordered then",
        )  # fmt: skip


def _tiers(finder: _Finder, as_of: str) -> list[TierParts]:
    network = finder.loaded.scenario.network
    if network.topology is Topology.NONE:
        return []
    if network.leaf.switch is None:
        finder.refuse(
            "is missing", "network", "leaf", "switch",
            remedy="name a switch, or write network.topology: none for one server without a fabric",
        )  # fmt: skip
        return []
    tiers: list[TierParts] = []
    named = network.leaf.switch
    for tier in ("leaf", "spine", "core"):
        wish: Tier = getattr(network, tier)
        named = wish.switch or named
        path = ("network", tier if wish.switch else "leaf", "switch")
        switch = finder.find(Switch, named, *path)
        if switch is None:
            return []
        if wish.switch:
            _check_orderable(finder, switch, as_of, *path)
        asic = finder.find(SwitchAsic, switch.item.asic, *path)
        if asic is None:
            return []
        tiers.append(TierParts(wish, switch, asic))
    return tiers


def _check_optics(finder: _Finder, groups: list[GroupParts], tiers: list[TierParts], as_of: str) -> None:
    """Modules that the scenario names fit their cages by form and rate."""
    wishes: list[tuple[str, tuple[str, ...], str, str, float]] = []
    for tier, name in zip(tiers, ("leaf", "spine", "core"), strict=True):
        if tier.wish.optic is not None:
            item = tier.switch.item
            if item.optics is not None:
                finder.refuse(
                    f"'{item.id}' has co-packaged optics and takes no module", "network", name, "optic",
                    remedy="leave it out",
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
        _check_orderable(finder, module, as_of, *path)
        own = module.item.rate_gbit_per_s.value
        if own != rate:
            finder.refuse(
                f"'{optic}' has {own:g} Gbit/s, and a cage of '{part}' needs {rate:g} Gbit/s", *path,
                remedy="choose a module of the cage's rate, or leave it out for the cheapest that fits",
            )  # fmt: skip
        elif cage and module.item.cage and module.item.cage != cage:
            finder.refuse(
                f"'{optic}' is {module.item.cage}, and '{part}' takes {cage}", *path,
                remedy="choose a module of the cage's form, or leave it out for the cheapest that fits",
            )  # fmt: skip


def _check_fabric(
    finder: _Finder,
    groups: list[GroupParts],
    tiers: list[TierParts],
    behaviour: Entry[FabricBehaviour] | None,
) -> None:
    fabric = tiers[0].switch.item.fabric
    for tier, name in zip(tiers[1:], ("spine", "core"), strict=True):
        if tier.switch.item.fabric is not fabric:
            finder.refuse(
                f"'{tier.switch.item.id}' speaks {tier.switch.item.fabric}, and the leaf {fabric}",
                "network", name, "switch", remedy=f"choose a switch for {fabric}",
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
            "network", "behaviour",
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


__all__ = ["GroupParts", "Parts", "TierParts", "resolve"]
