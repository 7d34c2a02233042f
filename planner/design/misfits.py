"""What can't stand at the site or be joined, found all at once, each with edits that put it right.

These checks need no finished design: which racks are too dense, what wants liquid, whether the servers alone
draw more than the site has, and whether the fabric's ports suffice.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor

from planner.catalog.schema import Cooling
from planner.catalog.store import Catalog
from planner.design.beside_checks import wrong_switches
from planner.design.cluster import fabric_of
from planner.design.kinds import spanning_workloads, unlike_nodes
from planner.design.port_remedies import port_remedies
from planner.design.reach_remedies import beside_remedies, reach_remedies
from planner.errors import DesignError, Problem, Remedy
from planner.scenario.alternatives import beside, coolings
from planner.scenario.limits import power_limit_key, power_limit_mw
from planner.scenario.parts import Parts
from planner.scenario.remedies import settled, to_cooling, to_gpus, to_power_cap
from planner.units import KILO, MEGA

CABLES = "network.optics"
"""Key of problems that speak of a link's medium."""
BESIDE = ("network.inband", "network.storage.switch")
"""Keys of problems that speak of switches beside the fabric."""
LEAST_CAP = 0.3
"""Lowest power limit that a scenario may set, share of rated power."""


def refuse_misfits(parts: Parts) -> None:
    """Refuse racks that are too dense, liquid that isn't there, switches that don't fit, and servers of several kinds
    that nothing joins or that one workload would span.

    Raises:
        DesignError: All of them.
    """
    shelf = beside(parts.catalog)
    problems = [
        *_dense(parts, shelf), *_dry(parts, shelf), *wrong_switches(parts), *unlike_nodes(parts),
        *spanning_workloads(parts),
    ]  # fmt: skip
    if problems:
        raise DesignError(problems)


def every_problem(refusal: DesignError, parts: Parts) -> DesignError:
    """The same refusal, with everything else that is known to be in the way, and edits for what has them."""
    problems = [_with_reach(one, parts) for one in refusal.problems]
    known = {one.message for one in problems}
    ports = _ports(parts)
    problems = [next((more for more in ports if more.message == one.message), one) for one in problems]
    problems += [one for one in (*ports, *_overdrawn(parts)) if one.message not in known]
    return DesignError(_placed(one, parts) for one in problems)


def _placed(problem: Problem, parts: Parts) -> Problem:
    """A problem with the line of the scenario it speaks of, and edits of this scenario's groups."""
    place, path = problem.place, tuple(problem.key.split("."))
    if place is None and path[:1] in parts.loaded.document.places:
        # of what is nearest above, where the key itself isn't written
        place = parts.loaded.document.place(path)
    fixes = tuple(settled(one, parts) for one in problem.remedies)
    return Problem(problem.message, place, problem.key, "" if fixes else problem.remedy, fixes)


def _with_reach(problem: Problem, parts: Parts) -> Problem:
    """A problem of links or of switches beside the fabric, with the changes that cure it before what was said."""
    found = reach_remedies(parts) if problem.key == CABLES else ()
    if problem.key in BESIDE and not any(one.edits for one in problem.remedies):
        found = beside_remedies(parts, problem.key)
    if not found:
        return problem
    return Problem(problem.message, problem.place, problem.key, remedies=(*found, *problem.offered))


def rack_limit_kw(parts: Parts) -> float | None:
    """Power a rack may draw: as typed, else what the cooling method takes; None where it sets no limit."""
    typed = parts.loaded.scenario.site.rack_limit_kw
    found = parts.cooling.item.rack_limit_kw
    return typed if typed is not None else found.value if found is not None else None


def _boxes(parts: Parts) -> Iterator[tuple[str, float, Cooling]]:
    """Name, peak kW and cooling of everything that stands in a rack as a whole."""
    for group in parts.groups:
        server = group.server.item
        yield server.id, server.power_max_w.value / KILO, server.cooling
    if parts.storage is not None:
        yield parts.storage.item.id, parts.storage.item.power_w.value / KILO, Cooling.AIR
    for entry in (*(tier.switch for tier in parts.tiers), parts.inband, parts.oob):
        if entry is not None:
            watts = entry.item.power_max_w or entry.item.power_typical_w
            yield entry.item.id, watts.value / KILO if watts is not None else 0.0, entry.item.cooling


def _dense(parts: Parts, shelf: Catalog) -> list[Problem]:
    """Boxes of which not even one fits a rack's power."""
    limit = rack_limit_kw(parts)
    if limit is None:
        return []
    boxes = {name: (kw, cooling) for name, kw, cooling in _boxes(parts) if kw > limit}
    typed = parts.loaded.scenario.site.rack_limit_kw is not None
    by = "as the scenario says" if typed else f"with {parts.cooling.item.id} cooling"
    liquid = any(cooling is Cooling.LIQUID for _, _, cooling in _boxes(parts))
    found = []
    for name, (kw, _) in boxes.items():
        remedies = [
            to_cooling(one.id, limit_typed=typed) for one in coolings(shelf, parts, kw=kw, liquid=liquid)
        ]
        own = parts.cooling.item.rack_limit_kw
        if typed and (own is None or own.value >= kw):
            said = f"site.rack_limit_kw: {ceil(kw):,}, which {parts.cooling.item.id} cooling takes"
            remedies.insert(0, Remedy(said, ("site", "rack_limit_kw"), ceil(kw)))
        remedies.append(Remedy(f"a server with less than {limit:,.1f} kW"))
        found.append(
            Problem(
                f"a {name} needs {kw:,.1f} kW, a rack has {limit:,.1f} {by}",
                parts.loaded.document.place(("site", "rack_limit_kw" if typed else "cooling")),
                "site.rack_limit_kw",
                remedies=tuple(remedies),
            )
        )
    return found


def _dry(parts: Parts, shelf: Catalog) -> list[Problem]:
    """Parts that want liquid, where the cooling method brings none."""
    if parts.cooling.item.liquid:
        return []
    boxes = list(_boxes(parts))
    wanting = list(dict.fromkeys(name for name, _, cooling in boxes if cooling is Cooling.LIQUID))
    if not wanting:
        return []
    limit, typed = rack_limit_kw(parts), parts.loaded.scenario.site.rack_limit_kw is not None
    highest = max(kw for _, kw, _ in boxes)
    short = typed and limit is not None and limit < highest
    remedies = [
        to_cooling(one.id, limit_typed=short) for one in coolings(shelf, parts, kw=highest, liquid=True)
    ]
    verb = "wants" if len(wanting) == 1 else "want"
    return [
        Problem(
            f"{' and '.join(wanting)} {verb} liquid, and {parts.cooling.item.id} cooling brings none",
            parts.loaded.document.place(("site", "cooling")),
            "site.cooling",
            remedies=(*remedies, Remedy("parts that are cooled by air")),
        )
    ]


def _ports(parts: Parts) -> tuple[Problem, ...]:
    """What the fabric's ports don't suffice for, with changes under which they do."""
    try:
        fabric_of(parts)
    except DesignError as refusal:
        found = port_remedies(parts)
        return tuple(
            Problem(one.message, one.place, one.key, "" if found else one.remedy, found or one.remedies)
            for one in refusal.problems
        )
    return ()


def servers_peak_w(parts: Parts) -> float:
    """Peak power that the servers alone can't do without: nameplate, times the cap set on accelerators.

    A lower bound of the site's peak: network, storage, spares and the building come on top, and a cap holds for
    accelerators alone.
    """
    nameplate = sum(group.servers * group.server.item.power_max_w.value for group in parts.groups)
    return nameplate * parts.loaded.scenario.site.power_cap_fraction


def _overdrawn(parts: Parts) -> list[Problem]:
    """Servers that alone draw more than the site may; the whole plan is judged once it can be built."""
    scenario, peak_w = parts.loaded.scenario, servers_peak_w(parts)
    limit = power_limit_mw(scenario)
    if limit is None or peak_w <= limit * MEGA:
        return []
    share = limit * MEGA / peak_w
    key = power_limit_key(scenario)
    cap = floor(scenario.site.power_cap_fraction * share * 100) / 100
    remedies = [to_gpus(int(parts.gpus * share)), *([to_power_cap(cap)] if cap >= LEAST_CAP else [])]
    return [
        Problem(
            f"the servers alone draw {peak_w / MEGA:,.3g} MW at peak, and the site has {limit:,.3g} MW",
            parts.loaded.document.place(tuple(key.split("."))),
            key,
            remedies=tuple(remedies),
        )
    ]
