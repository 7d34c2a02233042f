"""Whether separate pools of a serving workload go with its groups: names, sizes of replicas, and room for them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from planner.errors import nearest
from planner.scenario.part_finder import Finder, GroupParts
from planner.scenario.workload import Disaggregated

POOLS = ("prefill", "decode")


def check_pools(finder: Finder) -> None:
    """Groups of separate pools are groups of the cluster."""
    known = [one.id for one in finder.loaded.scenario.cluster.groups]
    for index, wish in _wishes(finder):
        for pool in POOLS:
            group = getattr(wish, f"{pool}_group")
            if group is not None and group not in known:
                finder.refuse(
                    f"is '{group}', which is not among cluster.groups", *_path(index, f"{pool}_group"),
                    remedy=nearest(group, known) or f"one of {', '.join(known)}",
                )  # fmt: skip


def check_pool_sizes(finder: Finder, groups: Sequence[GroupParts]) -> None:
    """Replicas of pools fit a scale-up domain evenly, and as many as are set have room in their pool."""
    for index, wish in _wishes(finder):
        taken = []
        for pool in POOLS:
            own = _groups_of(wish, pool, groups)
            if own and _size_fits(finder, index, wish, pool, own[0]):
                taken.append(_replicas_fit(finder, index, wish, pool, own))
        if groups and wish.prefill_group is None and not _go_together(taken, _rooms(finder, index, groups)):
            finder.refuse(
                f"set replicas of both pools take {sum(taken):,} GPUs, and the workload has "
                f"{_gpus(finder, index, groups):,}{_of_kinds(_rooms(finder, index, groups))}",
                "workloads", index, "disaggregated", remedy="fewer or smaller replicas of either pool",
            )  # fmt: skip


def _wishes(finder: Finder) -> list[tuple[int, Disaggregated]]:
    return [
        (index, one.disaggregated)
        for index, one in enumerate(finder.loaded.scenario.workloads)
        if isinstance(one.disaggregated, Disaggregated)
    ]


def _path(index: int, name: str) -> tuple[str | int, ...]:
    return ("workloads", index, "disaggregated", name)


def _groups_of(wish: Disaggregated, pool: str, groups: Sequence[GroupParts]) -> list[GroupParts]:
    """Groups that a pool may be on: the named one, else all."""
    named = getattr(wish, f"{pool}_group")
    return [one for one in groups if named in (None, one.wish.id)]


def _gpus(finder: Finder, index: int, groups: Sequence[GroupParts]) -> int:
    """The workload's share of the groups' GPUs."""
    share = finder.loaded.scenario.workloads[index].share_fraction
    return int(sum(one.wish.gpus for one in groups) * share + 1e-9)


def _rooms(finder: Finder, index: int, groups: Sequence[GroupParts]) -> list[int]:
    """The workload's GPUs of each kind of machine: a pool that names no group is on one kind."""
    machines = dict.fromkeys(one.machine for one in groups)
    return [_gpus(finder, index, [one for one in groups if one.machine == kind]) for kind in machines]


def _go_together(taken: Sequence[int], rooms: Sequence[int]) -> bool:
    """Whether pools of so many GPUs find room: on one kind beside each other, on several each on its own.

    >>> _go_together([300, 200], [512]), _go_together([300, 200], [256, 256]), _go_together([200, 300], [512, 256])
    (True, False, True)
    """
    if len(rooms) < 2 or len(taken) < 2:
        return sum(taken) <= max(rooms)
    return any(taken[0] <= first and taken[1] <= second for first, second in permutations(rooms, 2))


def _of_kinds(rooms: Sequence[int]) -> str:
    """What of the GPUs each kind has, where there are several."""
    if len(rooms) < 2:
        return ""
    each = " and ".join(f"{one:,}" for one in rooms)
    return f", {each} of a kind, and a pool is on one kind"


def _size_fits(finder: Finder, index: int, wish: Disaggregated, pool: str, group: GroupParts) -> bool:
    """Whether whole replicas fill a scale-up domain."""
    field = f"{pool}_replica_gpus"
    size, domain = getattr(wish, field), group.server.item.scaleup_domain_gpus
    if size is None or domain % size == 0:
        return True
    able = [one for one in range(1, domain + 1) if domain % one == 0]
    why = "a replica stays inside one" if size > domain else "replicas fill one evenly"
    finder.refuse(
        f"is {size:,}, and a scale-up domain of '{group.server.item.id}' has {domain} GPUs: {why}", *_path(index, field),
        remedy=f"choose from {', '.join(str(one) for one in able)}",
        values=tuple((str(one), one) for one in able),
    )  # fmt: skip
    return False


def _replicas_fit(
    finder: Finder, index: int, wish: Disaggregated, pool: str, groups: Sequence[GroupParts]
) -> int:
    """GPUs that the set replicas take, one replica at least; refused where the pool has fewer."""
    size, replicas = getattr(wish, f"{pool}_replica_gpus"), getattr(wish, f"{pool}_replicas")
    rooms = _rooms(finder, index, groups)
    each, count, room = size or 1, replicas or 1, max(rooms)
    if each * count <= room:
        return each * count
    where = f"group '{groups[0].wish.id}' has" if getattr(wish, f"{pool}_group") else "there are"
    if len(rooms) > 1:
        where = "the largest kind has"
    if each > room:
        finder.refuse(
            f"is {each:,}, and {where} {room:,} GPUs for the workload", *_path(index, f"{pool}_replica_gpus"),
            remedy=f"at most {room:,}, or a larger share_fraction",
        )  # fmt: skip
    else:
        most = room // each
        finder.refuse(
            f"is {count:,} of {each:,} GPU{'' if each == 1 else 's'} each, and {where} {room:,} for the workload",
            *_path(index, f"{pool}_replicas"), remedy=f"at most {most:,}", values=((f"{most:,}", most),),
        )  # fmt: skip
    return 0
