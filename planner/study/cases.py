"""Named cases of a plan's inputs: all at P10, all at P90, each at its better or worse end, and some of a kind.

A case changes only inputs that need no new design; the ends are those that the sources state.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.ledger import Kind, Ledger, Line
from planner.ledger.in_rows import solve_in_rows

BASE: Final = "base"
COST, WORTH = "tco.npv_usd", "metrics.npv_usd"
REVENUE: Final = "cash.revenue_usd"
_KINDS: Final = (
    ("cheap energy", ("site.electricity_usd", "tariff."), False),
    ("dear energy", ("site.electricity_usd", "tariff."), True),
    ("cheap hardware", ("price.",), False),
    ("dear hardware", ("price.",), True),
    ("low resale", ("assumption.residual_",), False),
    ("high resale", ("assumption.residual_",), True),
)
"""Names, beginnings of keys, and whether their upper ends are taken."""


@dataclass(frozen=True, slots=True)
class Case:
    """Values of inputs that hold together.

    Attributes:
        name: What a reader selects.
        meaning: What it takes, in a sentence.
        values: By key, of every input of the plan.
    """

    name: str
    meaning: str
    values: dict[str, float]


def named_cases(ledger: Ledger, lines: Sequence[Line]) -> tuple[Case, ...]:
    """The plan itself and its cases.

    Args:
        ledger: Solved, of one member.
        lines: Given lines that may be changed without a new design.
    """
    planned = {line.key: ledger.scalar(line) for line in lines}
    low = {line.key: line.low for line in lines if line.low is not None}
    high = {line.key: line.high for line in lines if line.high is not None}
    better, worse = _by_outcome(ledger, lines)
    goal = "raises the net present value" if REVENUE in ledger else "lowers the present value of all costs"
    found = [
        Case(BASE, "The plan, with the values of Inputs.", planned),
        Case("all low", "Every input at its low end (P10), where its source states one.", planned | low),
        Case("all high", "Every input at its high end (P90), where its source states one.", planned | high),
        Case("optimistic", f"Every input at the end that {goal}.", planned | better),
        Case("pessimistic", "Every input at the other end than in optimistic.", planned | worse),
    ]
    for name, starts, upper in _KINDS:
        ends = {key: end for key, end in (high if upper else low).items() if key.startswith(starts)}
        if ends:
            end = "high end (P90)" if upper else "low end (P10)"
            found.append(Case(name, f"{len(ends)} inputs of the kind at their {end}.", planned | ends))
    return tuple(found)


def _by_outcome(ledger: Ledger, lines: Iterable[Line]) -> tuple[dict[str, float], dict[str, float]]:
    """Ends of each input that make the plan better and worse, each tried alone."""
    tried = [
        (line.key, ledger.scalar(line) if line.low is None else line.low, ledger.scalar(line) if line.high is None else line.high)
        for line in lines
        if line.low is not None or line.high is not None
    ]  # fmt: skip
    if not tried:
        return {}, {}
    goal, sign = (WORTH, 1.0) if REVENUE in ledger else (COST, -1.0)
    rows = _each_alone(ledger, [(key, end) for key, low, high in tried for end in (low, high)])
    solve_in_rows(rows, [goal])
    worth = sign * rows.value(goal)
    better, worse = {}, {}
    for index, (key, low, high) in enumerate(tried):
        rises = worth[2 * index + 1] >= worth[2 * index]
        better[key], worse[key] = (high, low) if rises else (low, high)
    return better, worse


def _each_alone(ledger: Ledger, ends: Sequence[tuple[str, float]]) -> Ledger:
    """A ledger with a member for each end, in which that input alone has another value."""
    rows = copy.copy(ledger)
    rows.n = len(ends)
    rows.values = {
        line.key: np.broadcast_to(ledger.value(line)[:1], (rows.n, *ledger.value(line).shape[1:]))
        for line in ledger
        if line.kind is not Kind.DERIVED
    }
    for index, (key, end) in enumerate(ends):
        if not rows.values[key].flags.writeable:
            rows.values[key] = rows.values[key].copy()
        rows.values[key][index] = end
    return rows
