"""One vendor's offer: the bill at its prices, its worth under its terms, and when it can be in service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.design.bom import BomRow, rate_line
from planner.design.lead_times import Ready, ready_dates
from planner.design.orders import Order
from planner.design.quoted import Hindrance, Key, Quoted, choose, fitting, needs
from planner.evaluate import Evaluation
from planner.finance.payment_terms import payment_factor
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Expr, added
from planner.scenario.givens import assume
from planner.scenario.quotes import PaymentTerms, QuoteLine
from planner.units import MONTHS_PER_YEAR

DAYS_PER_WEEK = 7.0


@dataclass(frozen=True, slots=True)
class OfferRow:
    """A part of the bill at a vendor's price.

    Attributes:
        quoted: The price taken; None where the catalog's stands.
        wrong: Why the vendor's lines for it can't be taken; empty where they can, or there are none.
        price: Ledger line, USD.
        cost: Ledger line, USD.
    """

    row: BomRow
    quoted: Quoted | None
    wrong: tuple[Hindrance, ...]
    price: Line
    cost: Line


@dataclass(frozen=True, slots=True)
class Offer:
    """The bill at one vendor's prices.

    Attributes:
        slug: Middle of its keys, ``quotes.<slug>.total_usd``.
        total: Bill, USD: quoted parts, and the others at catalog prices.
        covered: Share of the bill that is quoted.
        present: Its value on the days of the orders under the terms of payment, USD.
        support: Support that is charged beside the prices, USD; None where there is none.
        ready: When each order works at the earliest, of those whose quotes state lead times.
    """

    slug: str
    vendor: str
    quotes: tuple[str, ...]
    rows: tuple[OfferRow, ...]
    total: Line
    covered: Line
    present: Line
    support: Line | None
    ready: tuple[Ready, ...]

    @property
    def missing(self) -> tuple[OfferRow, ...]:
        """Parts at catalog prices."""
        return tuple(one for one in self.rows if one.quoted is None)


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes offers for one plan; their lines go to its ledger.

    Attributes:
        bought: What each order buys of each part.
    """

    base: Evaluation
    rows: Sequence[BomRow]
    orders: tuple[Order, ...]
    bought: Mapping[Key, tuple[float, ...]]

    @property
    def ledger(self) -> Ledger:
        """Where the lines go."""
        return self.base.ledger

    def offer(self, slug: str, vendor: str, by_item: Mapping[str, Sequence[QuoteLine]]) -> Offer:
        """The bill at the prices of some lines."""
        loaded, ledger = self.base.loaded, self.ledger
        chosen: dict[Key, Quoted] = {}
        wrong: dict[Key, tuple[Hindrance, ...]] = {}
        for key, bought in self.bought.items():
            lines = fitting(by_item.get(key[0], ()), key[1])
            taken, wrong[key] = choose(lines, bought, self.orders, loaded) if lines else (None, ())
            if taken is not None:
                chosen[key] = taken
        rows = tuple(self._row(slug, row, chosen, wrong) for row in self.rows)
        total = ledger.derive(
            f"quotes.{slug}.total_usd",
            f"Bill, {vendor}",
            "USD",
            added(one.cost for one in rows),
            sign=Sign.COST,
        )
        quoted = [one.cost for one in rows if one.quoted is not None]
        covered = ledger.derive(
            f"quotes.{slug}.covered_fraction", f"Quoted share of the bill, {vendor}", "fraction",
            added(quoted) / total if quoted else total * 0,
        )  # fmt: skip
        present = ledger.derive(
            f"quotes.{slug}.present_value_usd", f"Bill on the days of its orders, {vendor}", "USD",
            added(one.cost * self._factor(slug, one) for one in rows), sign=Sign.COST,
            note="each payment discounted from its day to the day of its order",
        )  # fmt: skip
        delivered = needs(ledger, [row.demand for row in self.rows], self.orders, replaced=False)
        ready = ready_dates(ledger, self.base.parts, chosen, delivered, self.orders, under=f"quotes.{slug}")
        ids = tuple(sorted({one.line.quote_id for one in chosen.values()}))
        return Offer(
            slug, vendor, ids, rows, total, covered, present, self._support(slug, vendor, rows), ready
        )

    def _row(
        self, slug: str, row: BomRow, chosen: Mapping[Key, Quoted], wrong: Mapping[Key, tuple[Hindrance, ...]]
    ) -> OfferRow:
        demand, ledger = row.demand, self.ledger
        key = (demand.entry.item.id, demand.price_field)
        quoted = chosen.get(key)
        price: Line = row.price
        if quoted is not None:
            price = self._price(slug, key, quoted)
            if demand.instead_of is not None:
                old = (demand.instead_of.item.id, demand.price_field)
                less = (
                    self._price(slug, old, chosen[old])
                    if old in chosen
                    else ledger[f"price.{old[0]}.{old[1]}"]
                )
                price = ledger.derive(
                    f"quotes.{slug}.{demand.slug}.more_usd", f"Price of {demand.name} beyond the part it replaces",
                    "USD", price - less,
                )  # fmt: skip
        cost = ledger.derive(
            f"quotes.{slug}.{demand.slug}_usd", demand.name, "USD", row.count * price, sign=Sign.COST
        )
        return OfferRow(row, quoted, wrong.get(key, ()), price, cost)

    def _price(self, slug: str, key: Key, quoted: Quoted) -> Line:
        name = f"quotes.{slug}.{key[0]}.{key[1]}"
        if name in self.ledger:
            return self.ledger[name]
        unit = "USD/m" if quoted.line.unit == "m" else "USD"
        label = f"Price of {quoted.line.part}, {quoted.line.title}"
        if quoted.rate_source is None:
            return self.ledger.given(name, label, unit, quoted.line.price, quoted.source)
        code = quoted.line.currency
        own_unit = unit.replace("USD", code)
        own = self.ledger.given(f"{name}.{code.lower()}", label, own_unit, quoted.line.price, quoted.source)
        rate = rate_line(self.ledger, name, quoted)
        return self.ledger.derive(name, label, unit, own * rate)

    def _factor(self, slug: str, one: OfferRow) -> Expr:
        """Present value of a payment of 1 under the terms of a quote, else of the scenario."""
        ledger, line = self.ledger, None if one.quoted is None else one.quoted.line
        monthly, usual, install, burn_in = self._waits()
        stated = None if line is None else line.lead_time_weeks
        weeks = ledger.scalar(usual) if stated is None else stated
        terms = line.terms if line is not None and line.terms is not None else self._own_terms
        ship = weeks * DAYS_PER_WEEK
        accepted = ship + ledger.scalar(install) * DAYS_PER_WEEK + ledger.scalar(burn_in)
        factor = payment_factor(
            deposit_fraction=np.array([terms.deposit_fraction]), on_ship_fraction=np.array([terms.on_ship_fraction]),
            on_acceptance_fraction=np.array([terms.on_acceptance_fraction]), net_days=np.array([terms.net_days]),
            ship_days=np.array([ship]), acceptance_days=np.array([accepted]),
            rate=(1.0 + ledger.value(monthly)[:1]) ** MONTHS_PER_YEAR - 1.0,
        )  # fmt: skip
        return ledger.compute(
            f"quotes.{slug}.{one.row.demand.slug}.payment_factor", f"Value of a payment for {one.row.demand.name}", "1",
            float(factor[0]), function=payment_factor, inputs=[monthly, usual, install, burn_in],
            note=f"{in_words(terms)}; shipped after {weeks:g} weeks",
        )  # fmt: skip

    def _waits(self) -> tuple[Line, Line, Line, Line]:
        """Discount rate a month, lead time where none is stated, installation, burn-in."""
        ledger, catalog = self.ledger, self.base.parts.catalog
        return (
            ledger["money.discount_rate_monthly"],
            assume(ledger, catalog, "network", "lead_time_weeks", "Lead time where none is stated", "weeks"),
            assume(
                ledger, catalog, "procurement", "install_weeks", "From the last delivery to burn-in", "weeks"
            ),
            assume(ledger, catalog, "network", "burn_in_days", "Burn-in", "days"),
        )

    @property
    def _own_terms(self) -> PaymentTerms:
        money = self.base.loaded.scenario.money
        shipped = 0.0 if money.payment is None else money.payment.shipped_fraction
        return PaymentTerms(
            money.deposit_fraction, shipped, max(0.0, 1.0 - money.deposit_fraction - shipped), 0.0
        )

    def _support(self, slug: str, vendor: str, rows: Iterable[OfferRow]) -> Line | None:
        """Support that quotes charge beside their prices, for all its years."""
        costs: list[Expr] = []
        for one in rows:
            quoted = one.quoted
            if quoted is None or not quoted.line.support_price:
                continue
            price = self.ledger.given(
                f"quotes.{slug}.{one.row.demand.slug}.support_usd",
                f"Support of {quoted.line.part}, {quoted.line.support_years:g} years", "USD",
                quoted.line.support_price * quoted.usd_per_unit, quoted.source,
            )  # fmt: skip
            costs.append(one.row.count * price)
        if not costs:
            return None
        return self.ledger.derive(
            f"quotes.{slug}.support_usd",
            f"Support charged beside the prices, {vendor}",
            "USD",
            added(costs),
            sign=Sign.COST,
        )


def in_words(terms: PaymentTerms) -> str:
    """Terms for people.

    >>> in_words(PaymentTerms(0.3, 0.7, 0.0, 30))
    '30 % with the order, 70 % on shipment, net 30 days'
    """
    stages = (
        (terms.deposit_fraction, "with the order"),
        (terms.on_ship_fraction, "on shipment"),
        (terms.on_acceptance_fraction, "on acceptance"),
    )
    said = [f"{share * 100:g} % {when}" for share, when in stages if share]
    return ", ".join([*said, *([f"net {terms.net_days:g} days"] if terms.net_days else [])])
