"""Spreads racks over halls, so that no link between a node and its leaf leaves a hall.

Nodes that share leaves are a block, and blocks are never divided. Halls are filled in their order, each
with as many blocks as its racks take, leaves and further switches near the nodes included. Central
switches (the top tier), storage and other servers without nodes stand in the first hall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.design.ports import refusal
from planner.design.rack_parts import (
    NODE,
    Floor,
    HallSpace,
    Ints,
    RackLayout,
    RackLimits,
    ServerLoad,
    SwitchLoad,
)
from planner.design.racks import design_racks, merged
from planner.design.wiring import TierWiring
from planner.errors import DesignError, Remedy


def place_racks(
    *,
    servers: Sequence[ServerLoad],
    switches: Sequence[SwitchLoad],
    limits: RackLimits,
    floor_plan: Floor,
    halls: Sequence[HallSpace] = (),
    wirings: Sequence[TierWiring] = (),
) -> RackLayout:
    """Racks in one hall, or spread over several.

    Args:
        halls: Halls in the order they are filled; one that takes everything where there are none.
        wirings: What is joined to what: nodes on one leaf stay together.

    Raises:
        DesignError: An item is more than a rack takes, or the halls take fewer racks than there are.
    """
    whole = design_racks(servers=servers, switches=switches, limits=limits, floor_plan=floor_plan)
    if not halls:
        return whole
    if whole.racks <= halls[0].racks:
        return replace(whole, halls=tuple(halls))
    spread = _Spread(servers, switches, limits, floor_plan, tuple(halls), _blocks(servers, wirings))
    homes = _homes(spread, wirings)
    cuts = _fill(spread, homes)
    parts = [
        (index, spread.layout(homes, first, last, hall=index)) for index, (first, last) in enumerate(cuts)
    ]
    built = [(index, *part) for index, part in parts if part[0].racks]
    return merged(built, tuple(halls))


@dataclass(frozen=True, slots=True, eq=False)
class _Spread:
    """What is to be spread. `blocks` is the block of every server that holds nodes, rising from 0."""

    servers: Sequence[ServerLoad]
    switches: Sequence[SwitchLoad]
    limits: RackLimits
    floor_plan: Floor
    halls: tuple[HallSpace, ...]
    blocks: Ints

    @property
    def count(self) -> int:
        """Blocks in all."""
        return int(self.blocks.max(initial=-1)) + 1

    def layout(
        self, homes: dict[str, Ints], first: int, last: int, *, hall: int
    ) -> tuple[RackLayout, dict[str, Ints]]:
        """Racks of the blocks from `first` up to `last`, and the numbers of the items in them by kind."""
        items: dict[str, list[Ints]] = {}
        servers: list[ServerLoad] = []
        at, node = 0, 0
        for load in self.servers:
            if load.nodes:
                own = self.blocks[at : at + load.count]
                mine = np.flatnonzero((own >= first) & (own < last))
                each = (mine[:, None] * load.nodes + np.arange(load.nodes)).ravel() + node
                at, node = at + load.count, node + load.count * load.nodes
            else:
                mine = each = np.arange(load.count if hall == 0 else 0)
            items.setdefault(load.item_kind, []).append(each)
            servers.append(replace(load, count=len(mine)))
        switches: list[SwitchLoad] = []
        for switch in self.switches:
            home = homes[switch.tier]
            mine = np.flatnonzero((home >= first) & (home < last) if not switch.central else home == hall)
            items.setdefault(switch.tier, []).append(mine)
            switches.append(replace(switch, count=len(mine)))
        made = design_racks(
            servers=[load for load in servers if load.count],
            switches=[load for load in switches if load.count],
            limits=self.limits,
            floor_plan=self.floor_plan,
        )
        return made, {kind: np.concatenate(parts) for kind, parts in items.items()}


def _blocks(servers: Sequence[ServerLoad], wirings: Sequence[TierWiring]) -> Ints:
    """Block of every server that holds nodes: servers whose nodes share a leaf, directly or in a chain."""
    each = np.concatenate(
        [np.full(load.count, load.nodes) for load in servers if load.nodes] or [np.zeros(1, np.int64)]
    )
    server_of = np.repeat(np.arange(len(each)), each)
    tied = np.zeros(len(each) + 1, np.int64)
    for one in wirings:
        if one.tier != "node-leaf" or not len(one.lower):
            continue
        leaves = int(one.upper.max()) + 1
        low, high = np.full(leaves, len(each)), np.zeros(leaves, np.int64)
        np.minimum.at(low, one.upper, server_of[one.lower])
        np.maximum.at(high, one.upper, server_of[one.lower])
        used = low < len(each)
        # a leaf ties each of its servers but the first to the one before
        np.add.at(tied, low[used] + 1, 1)
        np.add.at(tied, high[used] + 1, -1)
    free = np.cumsum(tied)[: len(each)] == 0
    return np.cumsum(free) - 1


def _homes(spread: _Spread, wirings: Sequence[TierWiring]) -> dict[str, Ints]:
    """Block of every switch near the servers: that of the middle one of what it joins; the hall of central ones.

    A switch of a network without a wiring follows its share of the blocks; so does one that joins nothing yet.
    """
    each = np.concatenate(
        [np.full(load.count, load.nodes) for load in spread.servers if load.nodes] or [np.zeros(1, np.int64)]
    )
    known: dict[str, Ints] = {NODE: np.repeat(spread.blocks, each)}
    sizes = {load.tier: load.count for load in spread.switches}
    for one in wirings:
        kind, size = str(one.upper_kind), sizes.get(str(one.upper_kind), 0)
        below = known.get(str(one.lower_kind))
        if below is None or not size or kind in known:
            continue
        home = _shares(size, spread.count)
        order = np.lexsort((below[one.lower], one.upper))
        item, start, count = np.unique(one.upper[order], return_index=True, return_counts=True)
        home[item] = below[one.lower][order][start + (count - 1) // 2]
        known[kind] = home
    found = {}
    for load in spread.switches:
        near = known.get(load.tier, _shares(load.count, spread.count, load.together))
        found[load.tier] = np.zeros(load.count, np.int64) if load.central else near
    return found


def _shares(items: int, blocks: int, together: int = 1) -> Ints:
    """Block of every item, in equal shares; items that stay together have that of the first of them.

    >>> _shares(6, 4).tolist(), _shares(6, 4, 2).tolist()
    ([0, 0, 1, 2, 2, 3], [0, 0, 1, 1, 2, 2])
    """
    return np.arange(items) // together * together * max(1, blocks) // max(1, items)


def _fill(spread: _Spread, homes: dict[str, Ints]) -> list[tuple[int, int]]:
    """First block and the one after the last of every hall."""
    cuts: list[tuple[int, int]] = []
    at = 0
    for index, hall in enumerate(spread.halls):
        low, high = at, spread.count
        if spread.layout(homes, at, at, hall=index)[0].racks > hall.racks:
            raise _crowded(spread, homes, index)
        while low < high:
            middle = (low + high + 1) // 2
            fits = spread.layout(homes, at, middle, hall=index)[0].racks <= hall.racks
            low, high = (middle, high) if fits else (low, middle - 1)
        cuts.append((at, low))
        at = low
    if at < spread.count:
        raise _too_small(spread, homes, at)
    return cuts


def _crowded(spread: _Spread, homes: dict[str, Ints], index: int) -> DesignError:
    needed = spread.layout(homes, 0, 0, hall=index)[0].racks
    hall = spread.halls[index]
    return refusal(
        f"hall '{hall.id}' takes {hall.racks:,} racks, and central switches and storage need {needed:,}",
        Remedy(f"a first hall of {needed:,} racks or more", ("site", "halls", index, "racks"), needed),
        key="site.halls",
    )


def _too_small(spread: _Spread, homes: dict[str, Ints], at: int) -> DesignError:
    """The halls are full; says how many racks are left, or that one block is more than any hall takes."""
    left = spread.layout(homes, at, spread.count, hall=-1)[0].racks
    block = spread.layout(homes, at, at + 1, hall=-1)[0].racks
    last = len(spread.halls) - 1
    largest = max(range(last + 1), key=lambda index: spread.halls[index].racks)
    room = sum(hall.racks for hall in spread.halls)
    if block > spread.halls[largest].racks:
        return refusal(
            f"nodes that share leaves take {block:,} racks with their switches, the largest hall "
            f"('{spread.halls[largest].id}') {spread.halls[largest].racks:,}, and links between nodes and "
            "leaves stay in a hall",
            Remedy(f"a hall of {block:,} racks", ("site", "halls", largest, "racks"), block),
            Remedy("one hall that takes everything", ("site", "halls"), []),
            key="site.halls",
        )
    wanted = spread.halls[last].racks + left
    return refusal(
        f"the halls take {room:,} racks, and {left:,} more are needed, since nodes that share leaves stay "
        "together",
        Remedy(f"{wanted:,} racks in '{spread.halls[last].id}'", ("site", "halls", last, "racks"), wanted),
        Remedy("one hall that takes everything", ("site", "halls"), []),
        key="site.halls",
    )
