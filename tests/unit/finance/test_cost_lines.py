"""The complete list of cost lines: each is in the ledger, of a model, planned, or an explicit zero."""

from __future__ import annotations

import pytest

from planner.catalog.store import open_catalog
from planner.errors import ScenarioError
from planner.evaluate import evaluate
from planner.finance import currency
from planner.finance.cost_lines import COVERED
from planner.ledger import Kind
from planner.scenario.load import load_scenario
from planner.scenario.money_costs import FURTHER, Falls
from tests.unit.finance.planned import SCENARIO, ledger, scalar, series

ELSEWHERE = {
    "capex.storage_usd": "bought where the network names storage",
    "capex.cooling_usd": "bought where liquid or doors cool the racks",
    "capex.facility_usd": "built where the housing is one's own",
    "assumption.spares_network_fraction": "spares of modules and cables",
}
NOTES = (
    "accelerators", "scale-up switches", "scale-out switches", "NICs and DPUs", "transceivers", "cables", "engines", "lasers",
    "storage", "management network", "coolant distribution", "rear doors", "facility power", "chillers", "building",
    "installation", "burn-in", "freight", "insurance in transit", "duty", "sales tax", "spares", "contingency",
    "interest during construction", "energy", "demand charges", "colocation rent", "hardware support", "software", "staff",
    "maintenance", "insurance", "failed jobs", "residual", "interest", "fees", "lease payments", "equity return",
    "income tax", "losses", "bonus",
)  # fmt: skip
FURTHER_NOTES = (
    "racks-pdus-busbars", "patch-panels", "fit-out", "land", "grid-connection", "backup-power", "software-perpetual",
    "engineering", "deposits", "standby-capacity", "renewable-certificates", "carbon-price", "water", "cross-connects",
    "remote-hands", "spares-logistics", "software-subscriptions", "facility-operation", "wan-transit", "property-tax",
    "security-compliance", "monitoring", "decommissioning", "e-waste", "lease-return", "colocation-restoration",
    "fx-hedge", "letters-of-credit", "commitment-fee",
)  # fmt: skip


def test_the_list_of_the_notes_is_covered() -> None:
    said = " ".join(COVERED)
    assert [name for name in NOTES if name not in said] == []
    assert [name for name in FURTHER_NOTES if name not in FURTHER] == []


@pytest.mark.parametrize("what", COVERED)
def test_a_model_has_each_covered_line(what: str) -> None:
    book = ledger()
    assert any(key in book or key in ELSEWHERE for key in COVERED[what])


def test_what_a_shipped_scenario_does_not_plan_is_a_zero_that_may_be_filled_in() -> None:
    shipped = evaluate(load_scenario("h200-1024-ndr"), open_catalog()).ledger
    for name in FURTHER:
        line = shipped[f"money.costs.{name}"]
        assert line.kind is Kind.GIVEN and shipped.scalar(line) == 0.0
        assert line.source is not None and line.source.note == "not planned"
        assert any(line.key in shipped.inputs_of(other.key) for other in shipped), f"nothing reads {name}"


@pytest.mark.parametrize(
    "name", [name for name, known in FURTHER.items() if known.falls is not Falls.DEPOSIT]
)
def test_each_line_of_the_list_moves_the_cost_by_its_amount(name: str) -> None:
    changes = ("money.tax=null", "money.debt=null", "money.lease=null", "money.price_erosion=null",
               "money.contingency=null", "money.capital=null", "money.working_capital=null",
               "money.costs.property-tax.per=total")  # fmt: skip
    base = ledger(*changes, f"money.costs.{name}.amount=0.0", f"money.costs.{name}.per=total")
    with_it = ledger(*changes, f"money.costs.{name}.amount=1000.0", f"money.costs.{name}.per=total")
    moved = with_it.scalar("tco.total_usd") - base.scalar("tco.total_usd")
    if FURTHER[name].falls is Falls.YEAR:
        assert moved > 9000.0 * (0.4 if name == "security-compliance" else 1)
    else:
        assert moved >= 1000.0 * (1 - 1e-9)


def test_amounts_in_other_currencies_take_the_plan_rate_to_buy_and_forwards_to_run() -> None:
    book = ledger()
    racks = book.scalar("capex.further_racks-pdus-busbars_usd")
    assert racks == pytest.approx(8000 * 1.1 * book.scalar("design.racks"))
    years = series(book, "timing.month")[0] / 12
    rate = currency.forward_rate(spot=scalar(book, "fx.EUR_usd"), rate=scalar(book, "fx.EUR_usd_rate"),
                                 foreign_rate=scalar(book, "fx.EUR_own_rate"), years=years)  # fmt: skip
    share = series(book, "timing.share_in_service_fraction")[0]
    risen = series(book, "escalation.inflation_factor")[0]
    assert -series(book, "cash.opex_further_wan-transit_usd")[0] == pytest.approx(
        60000 / 12 * rate * share * risen
    )


def test_a_share_of_the_book_value_declines_with_it() -> None:
    book = ledger()
    paid = -series(book, "cash.opex_further_property-tax_usd")[0]
    assert paid[1:] == pytest.approx(series(book, "book.value_usd")[0, :-1] * 0.004 / 12)


def test_a_share_of_revenue_follows_what_is_sold_at_the_price_of_its_month() -> None:
    book = ledger("money.operator={ramp_months: 6, price_fall_fraction_per_year: 0.2}")
    charged = -series(book, "cash.opex_further_letters-of-credit_usd")[0]
    assert charged == pytest.approx(series(book, "cash.revenue_usd")[0] * 0.001)


def test_deposits_come_back() -> None:
    flow = series(ledger(), "cash.deposits_usd")[0]
    assert flow.sum() == 0.0 and flow[0] < 0 < flow[-1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (("money.costs.odd-line={amount: 5.0}",), "needs falls"),
        (("money.costs.land={amount: 5.0, per: kwh}",), "falls once"),
        (("money.costs.land={amount: {value: 5.0, currency: JPY}}",), "rate is missing"),
        (("money.costs.water={amount: 1.5, per: revenue}",), "over 1"),
        (("money.deposit_fraction=0.7",), "at most 1 can be paid"),
        (("money.tax.server_years=6.0",), "MACRS has tables"),
        (("money.lease.term_months=150",), "horizon has 120 months"),
        (("money.rate_basis=real", "money.inflation_fraction=0.0"), "needs inflation_fraction"),
        (("money.tariff.on_peak_usd_per_kwh=null",), "needs on_peak_usd_per_kwh"),
        (("money.currencies.EUR.rate_fraction=null",), "give both or none"),
        (("money.sell_usd_per_gpu_hour=null",), "nothing is sold"),
        (("money.sell_usd_per_gpu_hour=null",), "nothing covers debt service"),
        (("money.sell_usd_per_gpu_hour=null",), "nobody owes"),
        (("money.tax={losses: used, loss_cap_fraction: 0.5}",), "does nothing where losses are used"),
        (("money.tariff={on_peak_usd_per_kwh: 0.2}",), "does nothing without on_peak_share_fraction"),
        (("money.tariff={ratchet_fraction: 0.8}",), "does nothing without demand_usd_per_kw_month"),
        (("money.colocation={contract_kw: 500}",), "does nothing without committed_fraction"),
        (("money.colocation.committed_fraction=0.5",), "give one of them"),
    ],
)
def test_terms_that_contradict_are_refused(changes: tuple[str, ...], words: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        load_scenario(SCENARIO, changes=changes)
    assert any(words in problem.message for problem in refused.value.problems)
