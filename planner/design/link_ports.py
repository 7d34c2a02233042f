"""Which port of its item every link takes, on networks whose design doesn't say.

An item's links take its ports tier by tier in the order of the wiring.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from planner.design.lateral_wiring import PortPairs
from planner.design.rack_parts import Ints
from planner.design.wiring import TierWiring


def numbered(wirings: Sequence[TierWiring]) -> list[PortPairs]:
    """Every link of the wirings with its ports, counted from 0 on each item.

    Two leaves with three links each to one spine:

    >>> pair = TierWiring("leaf-spine", "leaf", "spine", np.array([0, 1]), np.array([0, 0]), np.array([3, 3]))
    >>> made = numbered([pair])[0]
    >>> made.lower_port, made.upper_port
    (array([0, 1, 2, 0, 1, 2]), array([0, 1, 2, 3, 4, 5]))
    """
    taken: dict[str, Ints] = defaultdict(lambda: np.zeros(0, np.int64))
    made = []
    for one in wirings:
        lower, upper = np.repeat(one.lower, one.links), np.repeat(one.upper, one.links)
        low = _next_ports(taken, str(one.lower_kind), lower)
        made.append(PortPairs(lower, low, upper, _next_ports(taken, str(one.upper_kind), upper)))
    return made


def _next_ports(taken: dict[str, Ints], kind: str, items: Ints) -> Ints:
    """Ports of a kind's next links, which are taken from then on."""
    count = int(items.max(initial=-1)) + 1
    before = taken[kind]
    before = np.pad(before, (0, max(0, count - len(before))))
    taken[kind] = before + np.bincount(items, minlength=len(before))
    found: Ints = before[items] + rank(items)
    return found


def rank(items: Ints) -> Ints:
    """How many earlier links have the same item, link by link.

    >>> rank(np.array([4, 7, 4, 4, 7]))
    array([0, 0, 1, 2, 1])
    """
    order = np.argsort(items, kind="stable")
    ordered = items[order]
    new = np.flatnonzero(np.diff(ordered, prepend=-1))
    first = np.repeat(new, np.diff(np.append(new, len(items))))
    found = np.empty(len(items), np.int64)
    found[order] = np.arange(len(items)) - first
    return found
