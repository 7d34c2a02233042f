"""The catalog items a scenario names, all of them looked up and checked at once."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.llm import Model
from planner.catalog.profiles import Profile
from planner.catalog.schema import (
    Accelerator,
    CoolingType,
    Fabric,
    FabricBehaviour,
    Nic,
    Rental,
    ScaleUp,
    Server,
    Site,
    Storage,
    Switch,
    SwitchAsic,
)
from planner.catalog.store import RELEASE, Catalog, Entry
from planner.choices import Topology
from planner.errors import ScenarioError
from planner.scenario.load import Loaded
from planner.scenario.part_checks import (
    check_context,
    check_fabric,
    check_foreign,
    check_optics,
    check_planes,
    nic_lanes,
)
from planner.scenario.part_finder import LEFT_OUT, Finder, GroupParts, TierParts, check_orderable
from planner.scenario.pool_checks import check_pool_sizes, check_pools
from planner.scenario.schema import Group, Tier, Workload

BEHAVIOUR_BY_FABRIC = {Fabric.INFINIBAND: "infiniband-adaptive", Fabric.ETHERNET: "ethernet-ecmp-tuned"}


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
    storage_switch: Entry[Switch] | None = None

    @property
    def gpus(self) -> int:
        """GPUs in service, all groups together."""
        return sum(group.wish.gpus for group in self.groups)

    @property
    def kinds(self) -> tuple[GroupParts, ...]:
        """The first group of every kind of server, in the scenario's order: counts, watts and money go by it."""
        found: dict[str, GroupParts] = {}
        for group in self.groups:
            found.setdefault(group.server.item.id, group)
        return tuple(found.values())

    @property
    def machines(self) -> tuple[GroupParts, ...]:
        """The first group of every kind of machine as workloads see it, see `GroupParts.machine`."""
        found: dict[tuple[str, int, str], GroupParts] = {}
        for group in self.groups:
            found.setdefault(group.machine, group)
        return tuple(found.values())

    def servers_of(self, kind: GroupParts) -> int:
        """Servers in service of a kind, all groups of it together."""
        return sum(one.servers for one in self.groups if one.server.item.id == kind.server.item.id)

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


def resolve(loaded: Loaded, catalog: Catalog) -> Parts:
    """Look up all parts.

    Raises:
        ScenarioError: Parts that are missing, not orderable or don't belong together, all of them.
    """
    finder, scenario = Finder(loaded, catalog), loaded.scenario
    check_foreign(finder)
    check_pools(finder)
    as_of = scenario.as_of or RELEASE
    groups = [
        found
        for index, group in enumerate(scenario.cluster.groups)
        if (found := _group(finder, group, index, as_of)) is not None
    ]
    check_pool_sizes(finder, groups)
    tiers = _tiers(finder, as_of)
    network, behaviour = scenario.network, None
    if tiers:
        fabric = tiers[0].switch.item.fabric
        behaviour = finder.find(
            FabricBehaviour, network.behaviour or BEHAVIOUR_BY_FABRIC[fabric], "network", "behaviour"
        )
        check_fabric(finder, groups, tiers, behaviour)
        check_optics(finder, groups, tiers, as_of)
    elif network.topology in (Topology.TORUS, Topology.DIRECT) and groups:
        spoken = groups[0].nic.item.fabrics[0]
        named = network.behaviour or BEHAVIOUR_BY_FABRIC[spoken]
        behaviour = finder.find(FabricBehaviour, named, "network", "behaviour")
    storage = storage_switch = None
    if network.storage is not None:
        storage = finder.find(Storage, network.storage.system, "network", "storage", "system")
        if network.storage.switch is not None:
            storage_switch = finder.find(Switch, network.storage.switch, "network", "storage", "switch")
            if storage_switch is not None:
                check_orderable(finder, storage_switch, as_of, "network", "storage", "switch")
    inband = finder.find(Switch, network.inband, "network", "inband") if network.inband else None
    oob = finder.find(Switch, network.oob, "network", "oob") if network.oob else None
    for switch, name in ((inband, "inband"), (oob, "oob")):
        if switch is not None:
            check_orderable(finder, switch, as_of, "network", name)
    if storage is not None:
        check_orderable(finder, storage, as_of, "network", "storage", "system")
    site = finder.find(Site, scenario.site.location, "site", "location")
    cooling = finder.find(CoolingType, scenario.site.cooling, "site", "cooling")
    check_planes(finder, groups)
    models = {
        workload.model: model
        for index, workload in enumerate(scenario.workloads)
        if (model := finder.find(Model, workload.model, "workloads", index, "model")) is not None
    }
    check_context(finder, models)
    for index, profile in enumerate(scenario.calibration):
        finder.find(Profile, profile, "calibration", index)
    rental = None
    if scenario.money.rental is not None:
        rental = finder.find(Rental, scenario.money.rental, "money", "rental")
        owned = {group.server.item.accelerator for group in groups}
        if rental is not None and owned and owned != {rental.item.accelerator}:
            alike = "leave it out, as one offer rents GPUs of one kind" if len(owned) > 1 else (
                "choose an offer of the same accelerator (planner catalog list rentals), or leave it out"
            )  # fmt: skip
            finder.refuse(
                f"'{rental.item.id}' rents {rental.item.accelerator}, and the plan owns {', '.join(sorted(owned))}",
                "money", "rental", remedy=alike, values=LEFT_OUT,
            )  # fmt: skip
    if finder.problems:
        raise ScenarioError(finder.problems)
    assert site is not None and cooling is not None
    return Parts(
        loaded, catalog, tuple(groups), tuple(tiers), inband, oob, behaviour, storage, site, cooling,
        models, rental, as_of, storage_switch,
    )  # fmt: skip


def _group(finder: Finder, group: Group, index: int, as_of: str) -> GroupParts | None:
    path = ("cluster", "groups", index)
    server = finder.find(Server, group.server, *path, "server")
    if server is None:
        return None
    check_orderable(finder, server, as_of, *path, "server")
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
            values=tuple((f"{gpus:,}", gpus) for gpus in (above, below) if gpus),
        )  # fmt: skip
    if accelerator is None or nic is None:
        return None
    return GroupParts(group, server, accelerator, scaleup, nic)


def _tiers(finder: Finder, as_of: str) -> list[TierParts]:
    network = finder.loaded.scenario.network
    if network.topology is Topology.NONE:
        return []
    if network.topology in (Topology.TORUS, Topology.DIRECT) and network.leaf.switch is None:
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
            check_orderable(finder, switch, as_of, *path)
        asic = finder.find(SwitchAsic, switch.item.asic, *path)
        if asic is None:
            return []
        tiers.append(TierParts(wish, switch, asic))
    return tiers


__all__ = ["GroupParts", "Parts", "TierParts", "nic_lanes", "resolve"]
