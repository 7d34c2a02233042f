"""Works out a few lines of a ledger of many members, some rows at a time, and keeps only what was asked for.

A series of 10,000 members over ten years of months takes 10 MB, and a ledger has hundreds: solved a few
hundred members at a time they stay in the processor's cache and are gone as soon as nothing reads them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping

import numpy as np

from planner.arrays import Floats
from planner.ledger.lines import Ledger
from planner.ledger.solve import in_order, quietly, work_out

ROWS = 512
"""Members worked out together: a series over ten years of months takes 500 kB; more rows save no time."""


def solve_in_rows(ledger: Ledger, keys: Iterable[str], *, rows: int = ROWS) -> None:
    """Fill in the values of the keys, of nothing else that wasn't there; what they rest on is worked out on the way.

    The same values as `Ledger.value` gives, bit for bit.

    Args:
        ledger: Lines with the values of all that is given or computed.
        keys: Lines wanted.
        rows: Members worked out together.

    Raises:
        KeyError: A formula reads a line that does not exist.
        ValueError: A circle without `prev`.

    >>> from planner.sourced import Source
    >>> ledger = Ledger(months=2, draws={"price": np.array([1.0, 2.0, 3.0])})
    >>> price = ledger.given("price", "Price", "USD", 1.0, Source("x"))
    >>> _ = ledger.derive("cost", "Cost", "USD", price * 10)
    >>> solve_in_rows(ledger, ["cost"], rows=2)
    >>> ledger.value("cost")
    array([10., 20., 30.])
    """
    wanted = [key for key in dict.fromkeys(keys) if key not in ledger.values]
    order = in_order(ledger, wanted)
    done_with = _last_readers(ledger, order, frozenset(wanted))
    parts = [
        _solved(ledger, order, done_with, slice(at, min(at + rows, ledger.n)), wanted)
        for at in range(0, ledger.n, rows)
    ]
    for key in wanted:
        pieces = [part[key] for part in parts]
        ledger.values[key] = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _last_readers(ledger: Ledger, order: list[list[str]], kept: frozenset[str]) -> list[tuple[str, ...]]:
    """For each group, the formulas that nothing after it reads."""
    last: dict[str, int] = {}
    for at, group in enumerate(order):
        for key in group:
            last[key] = at
            for read in ledger.inputs_of(key):
                if read in last:
                    last[read] = at
    gone: list[list[str]] = [[] for _ in order]
    for key, at in last.items():
        if key not in kept:
            gone[at].append(key)
    return [tuple(keys) for keys in gone]


def _solved(
    ledger: Ledger, order: list[list[str]], done_with: list[tuple[str, ...]], rows: slice, wanted: list[str]
) -> Mapping[str, Floats]:
    part = copy.copy(ledger)
    part.n = rows.stop - rows.start
    part.values = {key: array[rows] for key, array in ledger.values.items()}
    with quietly():
        for group, gone in zip(order, done_with, strict=True):
            work_out(part, group)
            for key in gone:
                del part.values[key]
    return {key: part.values[key] for key in wanted}
