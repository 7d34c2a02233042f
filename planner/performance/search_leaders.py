"""The best plans seen so far, in an order that never depends on how plans come."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.performance.parallelism import Plan
from planner.performance.plans import plan_table

RECOMPUTE_AXIS = 4
"""Axis of a block along which only recompute differs."""
RECOMPUTE_FIELDS = ("recomputed_layers_fraction", "recomputed_attention_fraction")
_KEPT = [place for place, one in enumerate(fields(Plan)) if one.name not in RECOMPUTE_FIELDS]
SPARE = 8
"""Rows kept for each row wanted, since plans that differ in recompute alone count as one."""


class Leaders:
    """The best plans so far by one goal, each with the recompute that suits it best.

    Equal values are ordered by the plan's fields, smaller ones first, so the order never depends on blocks.
    """

    def __init__(self, most: int) -> None:
        self.most, self.kept = most, most * SPARE
        self.values: NDArray[np.float64] = np.zeros(0)
        self.table: NDArray[np.float64] = np.zeros((0, len(fields(Plan))))

    def see(self, plan: Plan, values: Floats, fits: NDArray[np.bool_]) -> None:
        """Take in what is good enough of a block."""
        values, fits = np.broadcast_arrays(values, fits)
        bound = self.values[-1] if len(self.values) == self.kept else np.inf
        places = np.flatnonzero(fits & (values <= bound))
        if not places.size:
            return
        found = values.ravel()[places]
        if values.ndim > RECOMPUTE_AXIS:
            places, found = _first_of_each(places, found, values.shape[RECOMPUTE_AXIS])
        if places.size > self.kept:
            good = found <= np.partition(found, self.kept - 1)[self.kept - 1]
            places, found = places[good], found[good]
        table = np.concatenate([self.table, plan_table(plan, places)])
        together = np.concatenate([self.values, found])
        order = np.lexsort((*table.T[::-1], together))
        _, first = np.unique(table[order][:, _KEPT], axis=0, return_index=True)
        order = order[np.sort(first)][: self.kept]
        self.values, self.table = together[order], table[order]


def _first_of_each(
    places: NDArray[np.intp], values: NDArray[np.float64], length: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The least value of each stretch of so many places, the earliest of equals; places rise."""
    order = np.lexsort((places, values, places // length))
    stretch = (places // length)[order]
    first = order[np.flatnonzero(np.diff(stretch, prepend=-1))]
    return places[first], values[first]
