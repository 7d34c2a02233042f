"""Prices of quotes in the bill: which is taken, where it is from, and what is wrong where none can be."""

from __future__ import annotations

from pathlib import Path

import pytest

import planner
from planner.catalog.store import Catalog, open_catalog
from planner.errors import ScenarioError
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_scenario
from planner.scenario.remedies import applied

HEAD = "Part,Unit price,Currency,Vendor,Quote id,Quote date,Valid until,Min quantity,MOQ,Lead time weeks,USD per currency"


@pytest.fixture(scope="module")
def shelf() -> Catalog:
    return open_catalog()


def plan(
    shelf: Catalog, folder: Path, *rows: str, scenario: str = "h200-1024-ndr", changes: tuple[str, ...] = ()
) -> Evaluation:
    """The plan with quotes: part, price, currency, vendor, valid until, min quantity, MOQ, lead weeks, rate."""
    lines = []
    for row in rows:
        part, price, currency, vendor, until, least, moq, weeks, rate = row.split(",")
        quote = f"{vendor}-1"
        lines.append(
            f"{part},{price},{currency},{vendor},{quote},2026-11-20,{until},{least},{moq},{weeks},{rate}"
        )
    path = folder / "quotes.csv"
    path.write_text("\n".join([HEAD, *lines]) + "\n")
    return evaluate(load_scenario(scenario, changes=[f"quotes=[{path}]", *changes]), shelf)


def said(evaluation: Evaluation) -> list[str]:
    assert evaluation.refusal is not None
    return [one.message for one in evaluation.refusal.problems]


def test_a_quoted_price_moves_its_line_and_nothing_else(shelf: Catalog, tmp_path: Path) -> None:
    base = evaluate(load_scenario("h200-1024-ndr"), shelf).ledger
    found = plan(shelf, tmp_path, "qm9700,40000,USD,Acme,2027-01-31,,,,").ledger
    switches = base.scalar("bom.leaf-qm9700.count") + base.scalar("bom.spine-qm9700.count")
    saved = switches * (base.scalar("price.qm9700.price_usd") - 40000)
    assert base.scalar("capex.switches_usd") - found.scalar("capex.switches_usd") == pytest.approx(saved)
    assert found.scalar("capex.servers_usd") == base.scalar("capex.servers_usd")
    assert found.scalar("design.fabric.leaf_switches") == base.scalar("design.fabric.leaf_switches")


def test_the_price_knows_its_quote_file_and_row(shelf: Catalog, tmp_path: Path) -> None:
    line = plan(shelf, tmp_path, "qm9700,40000,USD,Acme,2027-01-31,32,,,").ledger["price.qm9700.price_usd"]
    assert line.source is not None
    assert (line.source.where, line.source.as_of) == (f"{tmp_path}/quotes.csv:2", "2026-11-20")
    assert line.source.basis.letter == "Q"
    assert line.source.note == (
        "quote Acme-1 of Acme (qm9700), valid until 2027-01-31, for orders from 32; the smallest here is 50"
    )


def test_the_break_is_that_of_the_whole_order_and_of_the_smallest_phase(
    shelf: Catalog, tmp_path: Path
) -> None:
    rows = ("qm9700,40000,USD,Acme,,1,,,", "qm9700,38000,USD,Acme,,30,,,", "qm9700,36000,USD,Acme,,50,,,")
    whole = plan(shelf, tmp_path, *rows).ledger
    phased = plan(shelf, tmp_path, *rows, scenario="h200-phased")
    # leaves and spines are one part: 33 + 17; of them the second phase takes 16
    assert whole.scalar("price.qm9700.price_usd") == 36000
    assert phased.ledger.scalar("price.qm9700.price_usd") == 40000


def test_of_several_vendors_the_cheapest_that_can_be_taken_is(shelf: Catalog, tmp_path: Path) -> None:
    rows = (
        "qm9700,39000,USD,Acme,2027-01-31,,,,", "qm9700,30000,USD,Late,2026-11-29,,,,",
        "qm9700,31000,USD,Big,,,51,,", "qm9700,35000,EUR,Euro,,,,,1.1",
    )  # fmt: skip
    found = plan(shelf, tmp_path, *rows)
    assert found.ledger.scalar("price.qm9700.price_usd") == pytest.approx(35000 * 1.1)
    assert found.ledger.scalar("price.qm9700.price_usd.eur") == 35000


def test_the_rate_is_the_quotes_own_or_else_the_scenarios(shelf: Catalog, tmp_path: Path) -> None:
    typed = "money.currencies.EUR.usd=1.2"
    own = plan(shelf, tmp_path, "qm9700,35000,EUR,Euro,,,,,1.1", changes=(typed,)).ledger
    scenarios = plan(shelf, tmp_path, "qm9700,35000,EUR,Euro,,,,,", changes=(typed,)).ledger
    assert own.scalar("price.qm9700.price_usd") == pytest.approx(38500)
    assert scenarios.scalar("price.qm9700.price_usd") == pytest.approx(42000)
    rate = scenarios["fx.EUR_usd"]
    assert rate.source is not None
    assert rate.source.where.startswith("--set")
    assert said(plan(shelf, tmp_path, "qm9700,35000,EUR,Euro,,,,,")) == [
        "quote Euro-1 of Euro for 'qm9700' is in EUR, and no rate to USD is known"
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("qm9700,1,USD,A,2026-11-29,,,,", "is valid until 2026-11-29, and the order is placed on 2026-11-30"),
        ("qm9700,1,USD,A,,51,,,", "holds from 51, and the order buys 50"),
        ("qm9700,1,USD,A,,,60,,", "holds from 60, and the order buys 50"),
    ],
)
def test_a_quote_that_cant_be_taken_is_a_problem_with_ways_out(
    shelf: Catalog, tmp_path: Path, row: str, message: str
) -> None:
    found = plan(shelf, tmp_path, row)
    assert said(found) == [f"quote A-1 of A for 'qm9700' {message}"]
    assert found.refusal is not None
    problem = found.refusal.problems[0]
    assert str(problem.place) == f"{tmp_path}/quotes.csv:2"
    cure = next(one for one in problem.remedies if one.edits)
    assert evaluate(applied(found.loaded, cure), shelf).feasible


def test_a_phase_after_the_quotes_end_can_be_ordered_earlier(shelf: Catalog, tmp_path: Path) -> None:
    found = plan(shelf, tmp_path, "qm9700,1,USD,A,2026-12-31,,,,", scenario="h200-phased")
    order = load_scenario("h200-phased").scenario.phases[1].order
    assert said(found)[0].startswith(
        "quote A-1 of A for 'qm9700' is valid until 2026-12-31, and the order of phase"
    )
    assert order in said(found)[0]
    assert found.refusal is not None
    earlier = next(one for one in found.refusal.problems[0].remedies if one.path == ("phases", 1, "order"))
    assert evaluate(applied(found.loaded, earlier), shelf).feasible


def test_parts_of_one_quote_that_fail_alike_are_one_problem(shelf: Catalog, tmp_path: Path) -> None:
    found = plan(
        shelf,
        tmp_path,
        "qm9700,1,USD,A,2026-11-29,,,,",
        "hgx-h200,1,USD,A,2026-11-29,,,,",
        "sn2201,1,USD,A,,99,,,",
    )
    assert said(found) == [
        "quote A-1 of A for 'hgx-h200', 'qm9700' is valid until 2026-11-29, and the order is placed on 2026-11-30",
        "quote A-1 of A for 'sn2201' holds from 99, and the order buys 20",
    ]


def test_a_replaced_adapter_is_less_by_its_own_quoted_price(shelf: Catalog, tmp_path: Path) -> None:
    change = ("network.nic=connectx-8-800g",)
    rows = ("connectx-8-800g,2000,USD,A,,,,,", "connectx-7-400g,900,USD,A,,,,,")
    both = plan(shelf, tmp_path, *rows, scenario="h200-1024-ndr", changes=change)
    assert both.built is not None
    slug = next(row.demand.slug for row in both.built.bom if row.demand.instead_of is not None)
    assert both.ledger.scalar(f"price.{slug}.more_usd") == 1100


def test_quotes_lie_beside_the_scenario_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text(f"{HEAD}\nqm9700,40000,USD,A,A-1,2026-11-20,,,,,\n")
    path = tmp_path / "mine.yaml"
    path.write_text("extends: h200-1024-ndr\nname: Mine\nquotes: [q.csv]\n")
    assert planner.plan(path).ledger.scalar("price.qm9700.price_usd") == 40000
    path.write_text("extends: h200-1024-ndr\nname: Mine\nquotes: [r.csv]\n")
    with pytest.raises(ScenarioError, match=r"mine\.yaml:3.*no quote file"):
        planner.plan(path)
