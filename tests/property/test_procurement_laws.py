"""Laws of quotes and orders."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.design.orders import Order, split
from planner.design.quoted import choose
from planner.errors import InputError, Place
from planner.finance.payment_terms import payment_factor
from planner.intake import cells
from planner.intake.quotes import read_quotes
from planner.scenario.quotes import QuoteLine

shares = st.lists(st.integers(1, 50), min_size=1, max_size=6).map(
    lambda parts: [one / sum(parts) for one in parts]
)


@given(shares, st.integers(0, 100_000), st.sampled_from(["", "leaf", "spine"]))
def test_orders_add_up_to_whole_pieces(fractions: list[float], count: int, where: str) -> None:
    orders = [Order(str(n), n, date(2027, 1, 1), None, one) for n, one in enumerate(fractions)]
    bought = split(count, orders, where=where)
    assert sum(bought) == count
    assert all(one >= 0 and one == int(one) for one in bought)


@given(
    st.dictionaries(st.integers(1, 1000), st.integers(1, 10**6), min_size=1, max_size=8), st.integers(1, 2000),
    st.integers(0, 500), st.randoms(),
)  # fmt: skip
def test_a_larger_order_never_has_a_higher_price_and_row_order_means_nothing(
    breaks: dict[int, int], quantity: int, more: int, random: Any
) -> None:
    lines = [
        QuoteLine(Place("q.csv", n), "A", "1", "2026-11-20", "", "p", float(price), min_quantity=float(least))
        for n, (least, price) in enumerate(breaks.items(), start=2)
    ]
    order = [Order("all", None, date(2026, 11, 30), None, 1.0)]
    loaded: Any = None
    small, _ = choose(lines, [quantity], order, loaded)
    large, _ = choose(lines, [quantity + more], order, loaded)
    random.shuffle(lines)
    again, _ = choose(lines, [quantity], order, loaded)
    assert again == small
    if small is not None:
        assert large is not None
        assert large.price_usd <= small.price_usd
        assert small.line.least <= quantity
    else:
        assert min(breaks) > quantity


@given(st.floats(0.01, 1e9).map(lambda value: round(value, 2)))
def test_a_price_reads_the_same_with_either_separator(value: float) -> None:
    english = f"{value:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert cells.number(english) == cells.number(german) == pytest.approx(value)


@given(st.floats(0, 1), st.floats(0, 0.5), st.floats(0, 700), st.floats(0, 300))
def test_a_later_payment_is_worth_no_more(deposit: float, rate: float, ship: float, net: float) -> None:
    def worth(net_days: float, ship_days: float) -> float:
        return float(
            payment_factor(
                deposit_fraction=np.array([deposit]), on_ship_fraction=np.array([1 - deposit]),
                on_acceptance_fraction=np.array([0.0]), net_days=np.array([net_days]),
                ship_days=np.array([ship_days]), acceptance_days=np.array([ship_days]), rate=np.array([rate]),
            )[0]
        )  # fmt: skip

    assert worth(net + 30, ship) <= worth(net, ship) + 1e-12
    assert worth(net, ship + 30) <= worth(net, ship) + 1e-12
    assert worth(net, ship) <= 1 + 1e-12


CELL = st.one_of(
    st.sampled_from(
        ["", "qm9700", "1,234.50", "-3", "1e5", "30%", "2026-11-20", "31.02.2026", "EUR", "net 30", "=1+1"]
    ),
    st.text(max_size=12),
)


@given(st.lists(st.lists(CELL, min_size=1, max_size=14), max_size=12))
def test_any_rows_are_prices_or_problems_with_a_place(rows: list[list[str]]) -> None:
    head = (
        "part,unit price,currency,vendor,quote id,quote date,valid until,moq,min quantity,lead time,deposit %,"
        "on ship %,payment terms,support price"
    )
    body = "\n".join(",".join(f'"{cell.replace(chr(34), "")}"' for cell in row) for row in rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "q.csv"
        path.write_bytes(f"{head}\n{body}\n".encode("utf-8", "surrogatepass"))
        try:
            quotes = read_quotes([path])
        except InputError as refused:
            assert all(one.place is not None and one.place.path == str(path) for one in refused.problems)
            return
    assert all(line.price > 0 and line.currency and line.vendor and line.quote_id for line in quotes.lines)


@given(st.binary(max_size=200), st.sampled_from(["xlsx", "csv", "tsv"]))
def test_any_bytes_are_refused_in_words_or_read(raw: bytes, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"q.{ending}"
        path.write_bytes(raw)
        with pytest.raises(InputError):
            read_quotes([path])
