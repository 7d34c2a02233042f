"""Ledger lines of leasing the servers: rent, what it is worth against buying, and how it stands in the books."""

from __future__ import annotations

from dataclasses import dataclass

from planner.finance.differences import apart
from planner.finance.residual_lines import resale_share, wished_share
from planner.finance.tax_deductions import Deductions
from planner.finance.timeline import PhaseDates, PhaseLines, Timeline
from planner.finance.worth import tax_rate
from planner.ledger import Axis, Ledger, Line, Sign
from planner.ledger.nodes import Const, Expr, added, cumsum, flag, maximum, minimum, npv, prev, sum_months
from planner.scenario.givens import wish_line
from planner.scenario.money import Lease, LeaseView, PaymentTiming
from planner.scenario.parts import Parts
from planner.units import MONTHS_PER_YEAR


@dataclass(frozen=True, slots=True)
class _Terms:
    """What every line of a lease reads."""

    wish: Lease
    price: Expr
    rent: Line
    term: Line
    monthly: Line
    after_tax: Line
    residual_monthly: Line
    kept: Expr
    buyout: Line | None


def lease(ledger: Ledger, parts: Parts, time: Timeline, written: Deductions | None) -> None:
    """Enter the lease and what it is worth more than buying, the servers of each phase from its in-service date.

    The lessee saves the price, pays rent less its tax relief, goes without the deductions, all at the after-tax rate
    of borrowing; and lacks what the servers are worth at the end, or pays the buyout where that is less.

    Args:
        written: Deductions of an owner; None before tax.
    """
    wish = parts.loaded.scenario.money.lease
    if wish is None:
        return
    terms = _terms(ledger, parts, wish)
    phases = list(zip(time.phases, time.dates, strict=True))
    saved = added(phase.server_share * phase.paid for phase, _ in phases)
    saving = ledger.derive("lease.price_saved_usd", "Price of buying", "USD", terms.price * saved)
    rents = [_rent(ledger, terms, time, phase) for phase, _ in phases]
    rent = ledger.derive("lease.rent_usd", "Rent of the lease", "USD", added(rents), sign=Sign.COST)
    cost = ledger.derive("lease.rent_after_tax_usd", "Rent after tax", "USD", rent * terms.kept)
    end = ledger.derive(
        "lease.residual_usd", "What a lessee lacks at the end, after tax", "USD",
        terms.price * added(_end(ledger, parts, terms, time, phase, date) for phase, date in phases) * terms.kept,
    )  # fmt: skip
    worth: Expr = npv(terms.after_tax, saving) - npv(terms.after_tax, cost) - npv(terms.residual_monthly, end)
    if written is not None:
        last = flag(time.month, "=", ledger.months - 1)
        shares = added(
            phase.server_share * (share + apart(1.0, sum_months(share)) * last)
            for (phase, _), share in zip(phases, written.server, strict=True)
        )
        shield = ledger.derive(
            "lease.shield_usd", "Tax that deductions would save", "USD",
            terms.price * shares * tax_rate(ledger, parts),
            note="what is not written off by the plan's last month is deducted in it, from the sale",
        )  # fmt: skip
        worth = worth - npv(terms.after_tax, shield)
    ledger.derive(
        "lease.advantage_usd", "Leasing over buying, present value", "USD", worth,
        note="positive where leasing is better; either way asset and liability stand on the balance sheet",
    )  # fmt: skip
    _books(ledger, terms, time, phases, rents, rent)


def _terms(ledger: Ledger, parts: Parts, wish: Lease) -> _Terms:
    share, term, rate, residual_rate = (
        wish_line(ledger, parts.loaded, f"lease.{field}", label, unit, float(getattr(wish, field)),
                  "money", "lease", field)
        for field, label, unit in (
            ("payment_fraction_per_month", "Rent of a month, share of the price", "fraction/month"),
            ("term_months", "Payments of the lease", "month"),
            ("rate_fraction", "Rate of borrowing a year", "fraction/year"),
            ("residual_rate_fraction", "Rate for the servers' worth at the end a year", "fraction/year"),
        )
    )  # fmt: skip
    taxed = parts.loaded.scenario.money.tax is not None
    kept: Expr = 1 - tax_rate(ledger, parts) if taxed else Const(1.0)
    price: Expr = ledger["capex.servers_usd"]
    if "erosion.server_factor" in ledger:
        price = price * ledger["erosion.server_factor"]
    whole = ledger.derive("lease.price_usd", "Price of the leased servers", "USD", price)

    def monthly(name: str, label: str, yearly: Expr) -> Line:
        return ledger.derive(
            f"lease.{name}_monthly",
            label,
            "fraction/month",
            (1 + yearly) ** (Const(1.0) / MONTHS_PER_YEAR) - 1,
        )

    buyout = None
    if wish.buyout_fraction is not None:
        buyout = wish_line(
            ledger, parts.loaded, "lease.buyout_fraction", "Price of buying at the end, share of the price", "fraction",
            wish.buyout_fraction, "money", "lease", "buyout_fraction",
        )  # fmt: skip
    return _Terms(
        wish, whole, ledger.derive("lease.rent_full_usd", "Rent of a month, all servers", "USD", whole * share), term,
        monthly("rate", "Rate of borrowing a month", rate),
        monthly("rate_after_tax", "Rate of borrowing a month, after tax", rate * kept),
        monthly("residual_rate", "Rate a month for the servers' worth at the end", residual_rate), kept, buyout,
    )  # fmt: skip


def _rent(ledger: Ledger, terms: _Terms, time: Timeline, phase: PhaseLines) -> Line:
    """Payments of a phase, from its in-service date; those after the plan's last month are not on its axis."""
    service = ledger[f"phase.{phase.id}.service_month"]
    early = terms.wish.timing is PaymentTiming.ADVANCE
    due = (
        flag(time.month, ">=", service) * flag(time.month, "<", service + terms.term)
        if early
        else flag(time.month, ">", service) * flag(time.month, "<=", service + terms.term)
    )
    return ledger.derive(
        f"lease.rent_{phase.id}_usd", f"Rent, phase {phase.id}", "USD", terms.rent * phase.server_share * due
    )


def _end(
    ledger: Ledger, parts: Parts, terms: _Terms, time: Timeline, phase: PhaseLines, date: PhaseDates
) -> Expr:
    """Share of the price that a phase's servers are worth when the lease, or the plan, is over.

    A typed resale value is that of the plan's end: servers that go back earlier are worth what their age leaves.
    """
    left = ledger.months - 1 - date.service_month
    months = min(terms.wish.term_months, left)
    worth: Expr | None = wished_share(ledger, parts) if months == left else None
    if worth is None:
        age = None if months % int(MONTHS_PER_YEAR) == 0 else terms.term / MONTHS_PER_YEAR
        if months != terms.wish.term_months and age is not None:
            age = sum_months(phase.working) / MONTHS_PER_YEAR
        worth = resale_share(ledger, parts, months, age)
    if terms.buyout is not None:
        worth = minimum(worth, terms.buyout)
    over = minimum(ledger[f"phase.{phase.id}.service_month"] + terms.term, ledger.months - 1)
    return phase.server_share * worth * flag(time.month, "=", over)


def _books(
    ledger: Ledger,
    terms: _Terms,
    time: Timeline,
    phases: list[tuple[PhaseLines, PhaseDates]],
    rents: list[Line],
    rent: Line,
) -> None:
    """Liability and right to use by month, and the charge: interest and even amortisation, or one level charge."""
    starts, evens, ends = [], [], []
    for (phase, _), paid in zip(phases, rents, strict=True):
        service = ledger[f"phase.{phase.id}.service_month"]
        start = ledger.derive(
            f"lease.start_{phase.id}_usd", f"Liability at the start, phase {phase.id}", "USD",
            npv(terms.monthly, paid) * (1 + terms.monthly) ** service,
        )  # fmt: skip
        end = minimum(service + terms.term, ledger.months - 1)
        starts.append(start * flag(time.month, "=", service))
        evens.append(start * flag(time.month, ">", service) * flag(time.month, "<=", end) / (end - service))
        ends.append(end)
    begun = ledger.derive("lease.additions_usd", "Right to use, added", "USD", added(starts))
    last = ends[0] if len(ends) == 1 else maximum(*ends)
    opening = ledger.derive(
        "lease.opening_usd",
        "Lease liability at the start",
        "USD",
        prev("lease.closing_usd", 0),
        axis=Axis.MONTH,
    )
    interest = ledger.derive(
        "lease.interest_usd", "Interest of the lease", "USD", opening * terms.monthly, axis=Axis.MONTH
    )
    ledger.derive(
        "lease.closing_usd", "Lease liability at the end", "USD",
        (opening + begun + interest - rent) * flag(time.month, "<", last), axis=Axis.MONTH,
    )  # fmt: skip
    if terms.wish.view is LeaseView.FINANCE:
        amortised: Expr = added(evens)
    else:
        level = added(
            sum_months(paid) * flag(time.month, ">", ledger[f"phase.{phase.id}.service_month"])
            * flag(time.month, "<=", end) / (end - ledger[f"phase.{phase.id}.service_month"])
            for (phase, _), paid, end in zip(phases, rents, ends, strict=True)
        )  # fmt: skip
        amortised = level - interest
    charge = ledger.derive("lease.amortisation_usd", "Amortisation of the right to use", "USD", amortised)
    ledger.derive("lease.expense_usd", "Charge of the lease", "USD", interest + charge, sign=Sign.COST)
    ledger.derive(
        "lease.right_of_use_closing_usd", "Right to use at the end", "USD",
        (cumsum(begun) - cumsum(charge)) * flag(time.month, "<", last),
    )  # fmt: skip
