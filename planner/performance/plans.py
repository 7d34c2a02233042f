"""What divides what: degrees of pipelines, of interleaving and of data ranks; and picking plans from a batch."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from planner.performance.parallelism import Plan


def divisors(number: int) -> list[int]:
    """Divisors in rising order.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return small + [number // d for d in reversed(small) if d * d != number]


def pipeline_degrees(*, layers: int, limit: int) -> list[int]:
    """Stage counts that split the layers, or the layers and two slots for embedding and head.

    >>> pipeline_degrees(layers=126, limit=16)
    [1, 2, 3, 4, 6, 7, 8, 9, 14, 16]
    """
    found = set(divisors(layers)) | set(divisors(layers + 2))
    return sorted(degree for degree in found if degree <= min(limit, layers))


def interleavings(*, layers: int, stages: int) -> list[int]:
    """No interleaving, and about two layers a chunk where a stage has more.

    >>> interleavings(layers=80, stages=4), interleavings(layers=80, stages=1)
    ([1, 10], [1])
    """
    per_stage = layers // stages if layers % stages == 0 else (layers + 2) // stages
    chunks = [d for d in divisors(per_stage) if per_stage // d >= 2]
    return [1] if stages == 1 or chunks[-1:] in ([], [1]) else [1, chunks[-1]]


def taken(plan: Plan, rows: NDArray[np.intp]) -> Plan:
    """The plans at the given rows; fields of one value hold for all of them."""
    values = (getattr(plan, field.name) for field in fields(plan))
    return Plan(*(value[rows] if value.size > 1 else value for value in values))


def plan_table(plan: Plan, places: NDArray[np.intp]) -> NDArray[np.float64]:
    """Plans at places of the flattened batch, one a row, columns in the order of the fields.

    >>> from planner.performance.parallelism import Plan
    >>> one = np.ones(1)
    >>> wide = Plan(*[one] * 6, np.array([1.0, 2.0]), np.array([[1.0], [4.0]]), *[one] * 5)
    >>> plan_table(wide, np.array([3]))[0, 6:8]
    array([2., 4.])
    """
    values = np.broadcast_arrays(*(getattr(plan, one.name) for one in fields(plan)))
    where = np.unravel_index(places, values[0].shape)
    return np.stack([value[where] for value in values], axis=1)


def whole_table(plan: Plan) -> NDArray[np.float64]:
    """All plans of a batch, one a row."""
    values = [getattr(plan, one.name) for one in fields(plan)]
    table = np.empty((*np.broadcast(*values).shape, len(values)))
    for column, value in enumerate(values):
        table[..., column] = value
    return table.reshape(-1, len(values))


def plans_of(table: NDArray[np.float64]) -> Plan:
    """Rows of `plan_table` as a batch."""
    return Plan(*table.T)
