"""The leased option: the plan with its servers' price replaced by rent, on the scenario's terms or a lessor's sum."""

from __future__ import annotations

from dataclasses import dataclass

from planner.evaluate import Built, Evaluation
from planner.finance.options import lease_payment_usd
from planner.finance.residual_lines import resale_share
from planner.ledger import Ledger, Line
from planner.ledger.nodes import Const, Expr, added, cumsum, flag, maximum
from planner.scenario.givens import wish_line
from planner.scenario.money import Lease, PaymentTiming
from planner.sourced import Basis, Source
from planner.study.options_lines import Entered, built_of, energy_of_use, enter_option
from planner.units import MONTHS_PER_YEAR

USUAL_TERM_MONTHS = 48
LESSOR_RATE_FRACTION = 0.10
"""What a lessor is taken to earn a year where no lease is offered: a working value between debt and equity."""


@dataclass(frozen=True, slots=True)
class _Terms:
    """Terms of the lease in lines: rent of a month for all servers, months, and the buyout's price."""

    rent: Line
    term: Line
    months: int
    in_advance: bool
    buyout: Line | None
    notes: tuple[str, ...]


def enter_leased(evaluation: Evaluation) -> Entered:
    """Enter the plan with leased servers; everything else is bought and run as planned.

    With a buyout before the horizon's end the servers are bought then and kept. Without one they go back at the end
    of the term, or the lease is renewed at the same rent until the horizon's end.
    """
    ledger, built = evaluation.ledger, built_of(evaluation)
    price = _price(ledger)
    terms = _terms(evaluation, price)
    saved = price * added(phase.server_share * phase.paid for phase in built.time.phases)
    resale = _resale(ledger, built)
    keeps = terms.buyout is not None and terms.months < evaluation.loaded.scenario.money.horizon_months
    rent = terms.rent * added(
        _due(ledger, built, terms, index, keeps=keeps) for index in range(len(built.time.phases))
    )
    cash = ledger["cash.cost_usd"] + saved - rent
    if keeps:
        assert terms.buyout is not None
        cash = cash - price * terms.buyout * added(
            phase.server_share
            * flag(built.time.month, "=", ledger[f"phase.{phase.id}.service_month"] + terms.term)
            for phase in built.time.phases
        )
    elif terms.buyout is not None:
        cash = cash - resale + maximum(0.0, resale - price * terms.buyout * _last(ledger, built))
    else:
        cash = cash - resale
    return enter_option(
        evaluation,
        "leased",
        "Servers leased",
        cash,
        energy_of_use(ledger),
        running=ledger["cash.opex_usd"] - rent,
        ends=built.cash.ends[1:],
        notes=terms.notes,
    )


def _price(ledger: Ledger) -> Line:
    cost: Expr = ledger["capex.servers_usd"] + 0
    if "erosion.server_factor" in ledger:
        cost = ledger["capex.servers_usd"] * ledger["erosion.server_factor"]
    return ledger.derive("options.leased.price_usd", "Price of the servers that are leased", "USD", cost)


def _last(ledger: Ledger, built: Built) -> Expr:
    return flag(built.time.month, "=", ledger.months - 1)


def _resale(ledger: Ledger, built: Built) -> Line:
    """What the servers would have been sold for at the end: the residual value less the building's."""
    value: Expr = built.cash.residual + 0
    if built.capex.facility is not None:
        left = built.capex.facility - cumsum("book.depreciation_facility_usd")
        value = value - left * _last(ledger, built)
    return ledger.derive(
        "options.leased.resale_usd", "Resale of servers, which a lessee has none of", "USD", value
    )


def _terms(evaluation: Evaluation, price: Line) -> _Terms:
    wish = evaluation.loaded.scenario.money.lease
    return _sum_of_a_lessor(evaluation, price) if wish is None else _offered(evaluation, wish, price)


def _offered(evaluation: Evaluation, wish: Lease, price: Line) -> _Terms:
    """Terms that the scenario states; its lines of the lease are used where they are there."""
    ledger, loaded = evaluation.ledger, evaluation.loaded

    def line(field: str, label: str, unit: str) -> Line:
        key = f"lease.{field}"
        if key in ledger:
            return ledger[key]
        return wish_line(
            ledger, loaded, key, label, unit, float(getattr(wish, field)), "money", "lease", field
        )

    share = line("payment_fraction_per_month", "Rent of a month, share of the price", "fraction/month")
    term = line("term_months", "Payments of the lease", "month")
    buyout = None
    if wish.buyout_fraction is not None:
        buyout = line("buyout_fraction", "Price of buying at the end, share of the price", "fraction")
    rent = ledger.derive("options.leased.rent_usd", "Rent of a month, all servers", "USD", price * share)
    early = wish.timing is PaymentTiming.ADVANCE
    notes = [f"paid in {'advance' if early else 'arrears'}, {wish.term_months} months, as money.lease says"]
    if buyout is None and wish.term_months < loaded.scenario.money.horizon_months:
        notes.append("renewed at the same rent until the horizon's end")
    elif buyout is not None and wish.term_months < loaded.scenario.money.horizon_months:
        notes.append("bought at the end of the term and kept")
    return _Terms(rent, term, wish.term_months, early, buyout, tuple(notes))


def _sum_of_a_lessor(evaluation: Evaluation, price: Line) -> _Terms:
    """No lease is offered: rent at which a lessor earns its rate on the price less the catalog's resale value."""
    ledger = evaluation.ledger
    months = min(USUAL_TERM_MONTHS, evaluation.loaded.scenario.money.horizon_months)
    ours = Source(
        "planner", "planner-defaults", Basis.ESTIMATE, verified=False,
        note="a working value, since no lease is offered; put the lessor's terms into money.lease",
    )  # fmt: skip
    term = ledger.given("options.leased.term_months", "Payments of the lease", "month", float(months), ours)
    rate = ledger.given(
        "options.leased.lessor_rate_fraction",
        "What a lessor earns a year",
        "fraction/year",
        LESSOR_RATE_FRACTION,
        ours,
    )
    monthly = ledger.derive(
        "options.leased.lessor_rate_monthly", "What a lessor earns a month", "fraction/month",
        (1 + rate) ** (Const(1.0) / MONTHS_PER_YEAR) - 1,
    )  # fmt: skip
    whole_years = months - months % int(MONTHS_PER_YEAR)
    worth = ledger.derive(
        "options.leased.lessor_resale_usd", "What the lessor gets for the servers then", "USD",
        price * resale_share(ledger, evaluation.parts, max(whole_years, int(MONTHS_PER_YEAR)), None),
    )  # fmt: skip
    rent = ledger.compute(
        "options.leased.rent_usd", "Rent of a month, all servers", "USD",
        lease_payment_usd(
            price_usd=ledger.value(price), residual_usd=ledger.value(worth), rate=ledger.value(monthly),
            payments=ledger.value(term), in_advance=False,
        ),
        function=lease_payment_usd, inputs=[price, worth, monthly, term], note="paid in arrears",
    )  # fmt: skip
    notes = [
        f"no lease is offered: the rent is a lessor's sum at {LESSOR_RATE_FRACTION:.0%} a year, {months} months"
    ]
    if months < evaluation.loaded.scenario.money.horizon_months:
        notes.append("renewed at the same rent until the horizon's end")
    return _Terms(rent, term, months, False, None, tuple(notes))


def _due(ledger: Ledger, built: Built, terms: _Terms, index: int, *, keeps: bool) -> Expr:
    """Share of the rent that a phase owes in a month; until the horizon's end, or the buyout."""
    phase, month = built.time.phases[index], built.time.month
    service = ledger[f"phase.{phase.id}.service_month"]
    end: Expr = service + terms.term if keeps else Const(float(ledger.months - 1))
    if terms.in_advance:
        return phase.server_share * flag(month, ">=", service) * flag(month, "<", end)
    return phase.server_share * flag(month, ">", service) * flag(month, "<=", end)
