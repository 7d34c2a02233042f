"""What goes into racks, what a rack takes, and racks with their place on the floor."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats

Ints = NDArray[np.int64]
"""Indices or counts, one for each item."""
UNIT_M = 0.04445
"""Height of a rack unit, 1.75 inch (EIA-310)."""
NODE = "node"
"""Kind of the items that a fabric joins."""
RACK = "rack"
"""Kind of the racks, where something built into them is joined to a network."""
RACK = "rack"
"""Kind of racks themselves, whose power strips have management ports."""


class NetworkPlace(StrEnum):
    """Where in a row the network racks stand."""

    MIDDLE = "middle"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class RackLimits:
    """What one rack takes; `reserved_units` are left out of `rack_units` for equipment that isn't listed."""

    rack_units: int
    power_kw: float
    weight_kg: float | None = None
    reserved_units: int = 0

    @property
    def usable_units(self) -> int:
        """Units left for equipment."""
        return self.rack_units - self.reserved_units


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLoad:
    """Servers of one kind, with peak power each.

    Args:
        id: Name used in messages and results.
        count: Servers, or rack-scale systems.
        rack_units: Height of one.
        power_kw: Peak power of one, which the rack's limit has to carry.
        weight_kg: Weight of one.
        whole_rack: One system is one rack (NVL72 class): its height and weight aren't compared.
        nodes: Nodes of the fabric in one server: 1, the trays of a rack-scale system, 0 for storage.
        kind: Kind of its items in a wiring; ``node`` where there are nodes, else the id.
    """

    id: str
    count: int
    rack_units: int
    power_kw: float
    weight_kg: float | None = None
    whole_rack: bool = False
    nodes: int = 1
    kind: str = ""

    @property
    def item_kind(self) -> str:
        """Kind of its items in a wiring, with the default filled in."""
        return self.kind or (NODE if self.nodes else self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchLoad:
    """Switches of one tier; `power_kw` of one with its optics.

    `central` ones stand mid-floor. The others are spread along the rows in their order, all tiers alike:
    so a leaf stands near its nodes, and in three tiers a pod's spines near its leaves. `panel_units` is
    the height of patch panel kept free for one switch, a part of a unit as a rule. So many of them one
    after the other as `together` says stand in one hall.
    """

    tier: str
    count: int
    rack_units: int
    power_kw: float
    weight_kg: float | None = None
    central: bool = False
    panel_units: float = 0.0
    label: str = ""
    together: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """Geometry of the floor, in metres.

    Args:
        racks_per_row: Racks in a row at most.
        rack_pitch_m: From a rack to its neighbour.
        row_pitch_m: From a row to the next, aisle included.
        tray_m: Height of the cable trays above the floor; a cable goes up to them and comes down again.
        cross_trays: Trays that join the rows, spread evenly along them from end to end.
        slack_fraction: Length added to the route of every cable.
        in_rack_m: Length of a cable that stays in its rack, beside the height between its ends.
        network_place: Where in a row network racks stand.
    """

    racks_per_row: int = 16
    rack_pitch_m: float = 0.6
    row_pitch_m: float = 3.0
    tray_m: float = 2.5
    cross_trays: int = 3
    slack_fraction: float = 0.2
    in_rack_m: float = 1.0
    network_place: NetworkPlace = NetworkPlace.MIDDLE

    def cross_x_m(self, racks_per_row: int) -> Floats:
        """Where along the rows the cross trays lie: the two ends and evenly between.

        >>> Floor(cross_trays=3).cross_x_m(11)
        array([0., 3., 6.])
        """
        return np.linspace(0.0, max(0, racks_per_row - 1) * self.rack_pitch_m, max(2, self.cross_trays))


@dataclass(frozen=True, slots=True, kw_only=True)
class HallSpace:
    """A hall: the racks it takes, and the length of the cable route from its door to the first hall's."""

    id: str
    racks: int
    distance_m: float = 0.0


@dataclass(frozen=True, slots=True)
class RackGroup:
    """Racks filled alike: `items_per_rack` is that of a full one, power that of the fullest."""

    id: str
    racks: int
    items: int
    items_per_rack: int
    power_kw_max: float


@dataclass(frozen=True, slots=True, eq=False)
class Stand:
    """Where the items of one kind stand: rack, and the lowest unit each takes, counted from 1 at the floor.

    `whole` items fill a rack each: their nodes are trays spread over its height.
    """

    kind: str
    label: str
    units: int
    rack: Ints
    unit: Ints
    whole: bool = False

    @property
    def height_m(self) -> Floats:
        """Height of the middle of every item above the rack's foot."""
        return np.asarray((self.unit - 1 + self.units / 2.0) * UNIT_M, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class RackLayout:
    """Racks with their place. Rack indices run over server racks first, then network racks.

    Attributes:
        y_m: Place across the rows, one hall behind the other as they would be drawn.
        panel_units: Units of every rack that are kept for patch panels, at its top.
        hall: Index of every rack's hall; all 0 where there is one.
        halls: The halls by index, empty where there is one and it was not named.
    """

    groups: tuple[RackGroup, ...]
    server_racks: int
    network_racks: int
    rows: int
    racks_per_row: int
    x_m: Floats
    y_m: Floats
    power_kw: Floats
    weight_kg: Floats
    panel_units: Ints
    stands: tuple[Stand, ...]
    floor: Floor
    limits: RackLimits
    hall: Ints
    halls: tuple[HallSpace, ...] = ()

    @property
    def racks(self) -> int:
        """All racks."""
        return self.server_racks + self.network_racks

    @property
    def floor_area_m2(self) -> float:
        """Rows by their pitches: racks and aisles, without rooms for power and cooling."""
        return self.rows * self.floor.row_pitch_m * self.racks_per_row * self.floor.rack_pitch_m

    @property
    def row(self) -> Ints:
        """Row of every rack, numbered over all halls."""
        return np.rint(self.y_m / self.floor.row_pitch_m).astype(np.int64)

    @property
    def door_y_m(self) -> Floats:
        """First row of every rack's hall, where its door is."""
        first = np.full(int(self.hall.max(initial=0)) + 1, np.inf)
        np.minimum.at(first, self.hall, self.y_m)
        found: Floats = first[self.hall]
        return found

    @property
    def route_m(self) -> Floats:
        """Length of the cable route from every rack's hall to the first hall, which has none to itself."""
        each: Floats = np.array([0.0, *(hall.distance_m for hall in self.halls[1:])])
        found: Floats = each[self.hall]
        return found

    def stand(self, kind: str) -> Stand:
        """Where the items of a kind stand; of several stands with one kind, all in their order.

        Items of kind ``rack`` are the racks themselves, with what is built into them.
        """
        if kind == RACK:
            foot = np.ones(self.racks, np.int64)
            return Stand(kind, kind, self.limits.rack_units, np.arange(self.racks), foot)
        if kind == RACK:
            return Stand(kind, "Power strips", 1, np.arange(self.racks), np.ones(self.racks, np.int64))
        found = [stand for stand in self.stands if stand.kind == kind]
        if not found:
            return Stand(kind, "", 1, np.zeros(0, np.int64), np.zeros(0, np.int64))
        if len(found) == 1:
            return found[0]
        return Stand(
            kind,
            found[0].label,
            found[0].units,
            np.concatenate([one.rack for one in found]),
            np.concatenate([one.unit for one in found]),
            found[0].whole,
        )

    @property
    def node_rack(self) -> Ints:
        """Rack of every node of the fabric."""
        return self.stand(NODE).rack

    def switch_rack(self, tier: str) -> Ints:
        """Rack of every switch of a tier; empty where the tier isn't there."""
        return self.stand(tier).rack
