"""Efficiency of what converts power, by load. Losses of a server's supplies lie inside its IT power."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from planner.arrays import Floats

Curve = Sequence[tuple[float, Floats]]
"""Load as a share of the rating, by rising load, and efficiency (power out over power in) at it, shape (n,)."""


def efficiency_fraction(*, load_fraction: Floats, curve: Curve) -> Floats:
    """Efficiency at a load.

    Between stated loads it runs straight. Below the lowest one the watts lost there stay, so that it falls
    towards zero with the load; above the highest one it stays.

    Args:
        load_fraction: Power out over rating.
        curve: Stated points, one or more.

    Returns:
        Shape of the load; zero where there is no load.

    >>> import numpy as np
    >>> titanium = [(0.2, np.array([0.94])), (0.5, np.array([0.96])), (1.0, np.array([0.91]))]
    >>> efficiency_fraction(load_fraction=np.array([0.05, 0.35, 0.5, 1.2]), curve=titanium).round(4)
    array([0.7966, 0.95  , 0.96  , 0.91  ])
    """
    load = np.asarray(load_fraction, dtype=np.float64)
    first, at_first = curve[0]
    lost = first * (1.0 / at_first - 1.0)
    found = load / np.maximum(load + lost, 1e-12)
    for (low, at_low), (high, at_high) in pairwise(curve):
        between = at_low + (at_high - at_low) * (load - low) / (high - low)
        found = np.where(load >= low, between, found)
    return np.asarray(np.where(load >= curve[-1][0], curve[-1][1], found))


def inlet_w(*, output_w: Floats, rating_w: Floats, curve: Curve) -> Floats:
    """Power into a converter that gives so much out: at a server's inlet for the draw behind its supplies.

    Args:
        output_w: Power out, above zero.
        rating_w: Power out of all units that share the load, at most.
        curve: Efficiency by load.

    >>> import numpy as np
    >>> inlet_w(output_w=np.array([6720.0]), rating_w=np.array([13440.0]), curve=[(0.5, np.array([0.96]))])
    array([7000.])
    """
    return np.asarray(
        output_w / efficiency_fraction(load_fraction=np.asarray(output_w / rating_w), curve=curve)
    )
