"""Ledger lines of what hardware costs beyond its price: freight, insurance, duty, tax; and of contingency."""

from __future__ import annotations

from dataclasses import dataclass

from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Expr, added
from planner.scenario.givens import wish_line
from planner.scenario.money import ContingencyBase
from planner.scenario.parts import Parts


@dataclass(frozen=True, slots=True)
class Landed:
    """Lines of the stack, in its order, and their sum as a share of the price."""

    lines: tuple[Line, ...]
    fraction: Expr


def landed(ledger: Ledger, parts: Parts, hardware: Expr) -> Landed | None:
    """Enter freight, insurance in transit, duty on all three (CIF), and tax on the duty-paid value.

    Args:
        hardware: What the parts cost.
    """
    terms = parts.loaded.scenario.money.landed
    if terms is None:
        return None
    freight, insured, duty, tax, recovered = (
        wish_line(ledger, parts.loaded, f"money.landed.{field}", label, "fraction", getattr(terms, field),
                  "money", "landed", field)
        for field, label in (
            ("freight_fraction", "Freight, share of the price"),
            ("insurance_fraction", "Insurance in transit, share of the price"),
            ("duty_fraction", "Duty, share of goods, freight and insurance"),
            ("tax_fraction", "Sales tax or VAT, share of the duty-paid value"),
            ("recovered_fraction", "Share of that tax that comes back"),
        )
    )  # fmt: skip
    lines = [
        _cost(ledger, "freight", "Freight", hardware * freight),
        _cost(ledger, "transit_insurance", "Insurance in transit", hardware * insured),
    ]
    shipped = hardware + lines[0] + lines[1]
    lines.append(_cost(ledger, "duty", "Duty", shipped * duty))
    lines.append(
        _cost(
            ledger,
            "sales_tax",
            "Sales tax that isn't recovered",
            (shipped + lines[2]) * tax * (1 - recovered),
        )
    )
    fraction = ledger.derive(
        "money.landed.fraction", "Landed cost beyond the price", "fraction",
        (1 + freight + insured) * (1 + duty) * (1 + tax * (1 - recovered)) - 1,
    )  # fmt: skip
    return Landed(tuple(lines), fraction)


@dataclass(frozen=True, slots=True)
class Contingency:
    """Contingency: what it is a share of, the share spent, and its lines once the purchase stands."""

    base: ContingencyBase
    fraction: Line
    spent: Line

    def base_of(self, hardware: Expr, landed: Expr, purchase: Expr) -> Expr:
        """What it is a share of, of one class of the purchase."""
        return {
            ContingencyBase.HARDWARE: hardware,
            ContingencyBase.LANDED: landed,
            ContingencyBase.PURCHASE: purchase,
        }[self.base]

    def spent_of(self, base: Expr) -> Expr:
        """The part of it that is spent, and so is paid and depreciated."""
        return base * (self.fraction * self.spent)


def contingency(ledger: Ledger, parts: Parts) -> Contingency | None:
    """Enter its terms."""
    terms = parts.loaded.scenario.money.contingency
    if terms is None:
        return None
    fraction, spent = (
        wish_line(ledger, parts.loaded, f"money.contingency.{field}", label, "fraction", getattr(terms, field),
                  "money", "contingency", field)
        for field, label in (
            ("fraction", f"Contingency, share of the {terms.base.value}"),
            ("spent_fraction", "Share of it that is expected to be spent"),
        )
    )  # fmt: skip
    return Contingency(terms.base, fraction, spent)


def budget(ledger: Ledger, terms: Contingency, base: Expr, total: Line) -> None:
    """Enter what has to be approved: the purchase and the contingency that isn't expected to be spent.

    That reserve is neither paid nor depreciated until it is spent.
    """
    held = ledger.derive(
        "capex.contingency_held_usd", "Contingency held back", "USD",
        base * (terms.fraction * (1 - terms.spent)), sign=Sign.COST,
        note="in the budget, and neither paid nor depreciated",
    )  # fmt: skip
    ledger.derive("capex.budget_usd", "Budget", "USD", added([total, held]), sign=Sign.COST)


def _cost(ledger: Ledger, name: str, label: str, cost: Expr) -> Line:
    return ledger.derive(f"capex.{name}_usd", label, "USD", cost, sign=Sign.COST)
