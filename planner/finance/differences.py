"""Differences of sums that come to nothing, whatever order a program adds in."""

from __future__ import annotations

from planner.ledger.nodes import Expr, Operand, flag, node


def apart(left: Operand, right: Operand) -> Expr:
    """Left less right, and exactly zero where both agree but for rounding.

    What is written off in full leaves 1e-9 dollars or so in one program and none in another.

    >>> from planner.ledger import Ledger
    >>> from planner.sourced import Source
    >>> ledger = Ledger(months=1)
    >>> paid = ledger.given("paid", "Paid", "USD", 0.3, Source("scenario.yaml:1"))
    >>> gone = ledger.given("gone", "Gone", "USD", 0.1 + 0.2, Source("scenario.yaml:2"))
    >>> ledger.scalar(ledger.derive("left", "Left", "USD", apart(paid, gone))) == 0.0
    True
    """
    first, second = node(left), node(right)
    return (first - second) * (1 - flag(first, "=", second))
