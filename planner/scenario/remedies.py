"""Edits of a scenario that put a problem right, and the scenario with one of them made."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from planner.choices import Topology
from planner.documents import Document, Path_
from planner.errors import Place, Remedy
from planner.scenario.edit import with_value
from planner.scenario.load import Loaded, validated
from planner.scenario.parts import Parts

GPUS: Final[Path_] = ("cluster", "gpus")
"""Stands for the GPUs of all groups together until `settled` names the groups."""


def to_topology(topology: Topology) -> Remedy:
    """Another shape of the network."""
    return Remedy(f"topology {topology.value}", ("network", "topology"), topology.value)


def to_gpus(gpus: int, said: str = "or fewer") -> Remedy:
    """Another number of GPUs; `settled` spreads it over the groups."""
    return Remedy(f"{gpus:,} GPUs {said}".rstrip(), GPUS, gpus)


def to_cooling(cooling: str, *, limit_typed: bool = False) -> Remedy:
    """Another cooling method; a rack's limit that was typed gives way to the method's."""
    more: tuple[tuple[Path_, Any], ...] = ((("site", "rack_limit_kw"), None),) if limit_typed else ()
    return Remedy(f"cooling {cooling}", ("site", "cooling"), cooling, more)


def to_power_cap(fraction: float) -> Remedy:
    """A lower power limit of the accelerators."""
    return Remedy(
        f"accelerators capped at {fraction * 100:.0f} % of their power",
        ("site", "power_cap_fraction"),
        fraction,
    )


def to_planes(planes: int) -> Remedy:
    """Another number of planes."""
    return Remedy(f"{planes} planes", ("network", "planes"), planes)


def to_oversubscription(ratio: float) -> Remedy:
    """More bandwidth down than up at the leaves."""
    return Remedy(
        f"oversubscription {ratio:g} at the leaves", ("network", "leaf", "oversubscription"), float(ratio)
    )


def to_switch(switch: str, parts: Parts, *, said: str = "") -> Remedy:
    """Another switch at every tier; what was chosen for the other switch's cages is left to the planner."""
    network = parts.loaded.scenario.network
    more: list[tuple[Path_, Any]] = [
        (("network", tier, "switch"), switch)
        for tier in ("spine", "core")
        if getattr(network, tier).switch is not None
    ]
    more += [
        (("network", tier, "optic"), None)
        for tier in ("leaf", "spine", "core")
        if getattr(network, tier).optic is not None
    ]
    if network.topology is Topology.NONE:
        more.append((("network", "topology"), Topology.RAIL_OPTIMISED.value))
    words = f"switch {switch}" + (f" ({said})" if said else "")
    return Remedy(words, ("network", "leaf", "switch"), switch, tuple(more))


def to_server(server: str, parts: Parts, *, gpus: int, said: str = "") -> Remedy | None:
    """Another server in every group; None where a group's GPUs don't fill whole servers of its size."""
    if any(group.wish.gpus % gpus for group in parts.groups):
        return None
    edits = tuple((("cluster", "groups", index, "server"), server) for index in range(len(parts.groups)))
    words = f"server {server}" + (f" ({said})" if said else "")
    return Remedy(words, edits[0][0], server, edits[1:])


def settled(remedy: Remedy, parts: Parts) -> Remedy:
    """The remedy with a number of GPUs written to the groups, each keeping its share in whole servers.

    Without an edit where some group would have no server left.
    """
    if remedy.path != GPUS:
        return remedy
    shares = spread(int(remedy.value), [(one.wish.gpus, one.server.item.gpus) for one in parts.groups])
    if shares is None:
        return replace(remedy, path=(), value=None)
    edits = tuple((("cluster", "groups", index, "gpus"), gpus) for index, gpus in enumerate(shares))
    words = remedy.words.replace(f"{remedy.value:,}", f"{sum(shares):,}", 1)
    return Remedy(words, edits[0][0], edits[0][1], (*edits[1:], *remedy.more))


def spread(gpus: int, groups: Sequence[tuple[int, int]]) -> list[int] | None:
    """GPUs of each group, at most so many in all; None where a group would be empty or nothing changes.

    Args:
        gpus: Wanted.
        groups: GPUs of each group now, and GPUs of its server.

    >>> spread(1500, [(1024, 8), (1024, 8)]), spread(8, [(16, 8), (16, 8)])
    ([744, 744], None)
    """
    total = sum(now for now, _ in groups)
    if len(groups) == 1:
        size = groups[0][1]
        found = [gpus // size * size if gpus < total else -(-gpus // size) * size]
    elif gpus < total:
        found = [now * gpus // total // size * size for now, size in groups]
    else:
        found = [-(-now * gpus // (total * size)) * size for now, size in groups]
    return found if min(found) > 0 and sum(found) != total else None


def applied(loaded: Loaded, *remedies: Remedy) -> Loaded:
    """The scenario with the edits of one or several remedies; the scenario it was made from stays as it is.

    Raises:
        ScenarioError: The edited scenario contradicts itself.
    """
    data, places = loaded.document.data, dict(loaded.document.places)
    for path, value in (edit for one in remedies for edit in one.edits):
        if value is None:
            data = _without(data, path)
            places.pop(path, None)
        else:
            data = with_value(data, path, value)
            places |= {path[:size]: Place(loaded.document.path) for size in range(1, len(path) + 1)}
    return validated(Document(data, loaded.document.path, places), loaded.path, loaded.bases)


def _without(data: Any, path: Path_) -> Any:
    """Plain data without a key; as it was where there is no such key."""
    found = copy.deepcopy(data)
    here: Any = found
    for step in path[:-1]:
        if isinstance(here, list) and isinstance(step, int):
            here = here[step]
        else:
            here = here.get(step) if isinstance(here, dict) else None
    if isinstance(here, dict):
        here.pop(path[-1], None)
    return found
