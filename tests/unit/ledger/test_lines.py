"""Entering lines, overrides, draws and what rests on what."""

from __future__ import annotations

import numpy as np
import pytest

from planner.errors import ScenarioError
from planner.ledger import Axis, Kind, Ledger, Line, Override
from planner.ledger.nodes import prev, ref, sum_months
from planner.sourced import Basis, Source

SOURCE = Source("catalog/modules/osfp.yaml:4", source="vendor", basis=Basis.DATASHEET)


def given(ledger: Ledger, key: str, value: float = 2.0, unit: str = "1") -> Line:
    return ledger.given(key, key.capitalize(), unit, value, SOURCE)


def model(value: float) -> float:
    return value * 10


def overridden(key: str, value: float, unit: str) -> dict[str, Override]:
    return {key: Override(value, unit, "quote of May", "scenario.yaml:12")}


def test_a_line_entered_twice_is_a_bug() -> None:
    ledger = Ledger(months=1)
    given(ledger, "a")
    with pytest.raises(AssertionError, match="a is entered twice"):
        given(ledger, "a")


def test_lines_come_in_the_order_of_entry() -> None:
    ledger = Ledger(months=1)
    for key in ("z", "a", "m"):
        given(ledger, key)
    assert [line.key for line in ledger] == ["z", "a", "m"]
    assert "a" in ledger and "b" not in ledger
    assert ledger["m"].label == "M"


def test_a_given_line_keeps_its_source_and_range() -> None:
    ledger = Ledger(months=1)
    line = ledger.given("a", "A", "USD", 5.0, SOURCE, low=4.0, high=7.0)
    assert (line.kind, line.source, line.low, line.high) == (Kind.GIVEN, SOURCE, 4.0, 7.0)


def test_a_computed_line_names_its_function_and_inputs() -> None:
    ledger = Ledger(months=1)
    a = given(ledger, "a")
    line = ledger.compute("b", "B", "1", model(2.0), function=model, inputs=[a, "a"])
    assert line.kind is Kind.COMPUTED
    assert line.function.endswith(".model")
    assert ledger.inputs_of("b") == ("a",)
    assert ledger.scalar("b") == 20.0


def test_a_computed_line_rests_on_lines_that_exist() -> None:
    with pytest.raises(AssertionError, match="nowhere"):
        Ledger(months=1).compute("b", "B", "1", 1.0, function=model, inputs=["nowhere"])


def test_inputs_of_a_formula_come_once_and_in_order() -> None:
    ledger = Ledger(months=1)
    b, a = given(ledger, "b"), given(ledger, "a")
    ledger.derive("c", "C", "1", b * a + b - a)
    assert ledger.inputs_of("c") == ("b", "a")
    assert ledger.inputs_of("a") == ()


@pytest.mark.parametrize(
    ("axis", "value", "shape"),
    [
        (Axis.SCALAR, 3.0, (1,)),
        (Axis.MONTH, 3.0, (1, 4)),
        (Axis.MONTH, [1, 2, 3, 4], (1, 4)),
        (Axis.TABLE, [1, 2, 3], (1, 3)),
    ],
)
def test_values_take_the_shape_of_their_axis(axis: Axis, value: float, shape: tuple[int, ...]) -> None:
    ledger = Ledger(months=4)
    ledger.given("a", "A", "1", value, SOURCE, axis=axis)
    assert ledger.value("a").shape == shape


def test_given_values_cannot_be_changed_through_the_array() -> None:
    ledger = Ledger(months=4)
    given(ledger, "a")
    with pytest.raises(ValueError, match="read-only"):
        ledger.value("a")[0] = 9.0


def test_an_override_replaces_a_given_line_with_its_reason() -> None:
    ledger = Ledger(months=1, overrides=overridden("price", 850.0, "USD"))
    line = ledger.given("price", "Price", "USD", 900.0, SOURCE, low=800.0, high=999.0)
    assert ledger.scalar("price") == 850.0
    assert line.source == Source("scenario.yaml:12", basis=Basis.USER, note="quote of May")
    assert (line.low, line.high) == (None, None)


def test_an_override_of_a_computed_line_makes_it_given() -> None:
    ledger = Ledger(months=1, overrides=overridden("b", 7.0, "1"))
    a = given(ledger, "a")
    line = ledger.compute("b", "B", "1", 20.0, function=model, inputs=[a])
    assert (line.kind, line.function, ledger.scalar("b")) == (Kind.GIVEN, "", 7.0)
    assert ledger.locked() == frozenset()


def test_an_override_of_a_series_holds_in_every_month() -> None:
    ledger = Ledger(months=3, overrides=overridden("s", 7.0, "kW"))
    ledger.given("s", "S", "kW", [1, 2, 3], SOURCE, axis=Axis.MONTH)
    assert ledger.value("s").tolist() == [[7.0, 7.0, 7.0]]


def test_an_override_in_another_unit_is_refused() -> None:
    ledger = Ledger(months=1, overrides=overridden("power", 7.0, "MW"))
    with pytest.raises(ScenarioError, match="'power' is in 'kW', and the override says 'MW'") as raised:
        given(ledger, "power", unit="kW")
    assert raised.value.problems[0].key == "overrides.power.unit"


def test_an_override_of_a_formula_names_what_to_override_instead() -> None:
    ledger = Ledger(months=1, overrides=overridden("c", 7.0, "1"))
    a, b = given(ledger, "a"), given(ledger, "b")
    with pytest.raises(ScenarioError, match=r"'c' is a formula.*override what it reads: a, b"):
        ledger.derive("c", "C", "1", a * b + a)


def test_an_override_of_a_table_is_refused() -> None:
    ledger = Ledger(months=1, overrides=overridden("t", 7.0, "1"))
    with pytest.raises(ScenarioError, match="'t' is a table"):
        ledger.given("t", "T", "1", [1, 2], SOURCE, axis=Axis.TABLE)


def test_unused_overrides_come_with_the_nearest_keys() -> None:
    overrides = overridden("capex.optic_usd", 1.0, "USD") | overridden("zzz", 1.0, "USD")
    ledger = Ledger(months=1, overrides=overrides)
    given(ledger, "capex.optics_usd")
    with pytest.raises(ScenarioError) as raised:
        ledger.refuse_unused_overrides()
    near, far = raised.value.problems
    assert (near.key, near.remedy) == ("overrides.capex.optic_usd", "nearest: capex.optics_usd")
    assert far.remedy == "planner explain lists the keys"


def test_used_overrides_are_not_refused() -> None:
    ledger = Ledger(months=1, overrides=overridden("a", 1.0, "1"))
    given(ledger, "a")
    ledger.refuse_unused_overrides()


def test_draws_replace_given_values_member_by_member() -> None:
    ledger = Ledger(months=2, draws={"a": np.array([1.0, 2.0, 3.0])})
    a, b = given(ledger, "a"), given(ledger, "b")
    ledger.derive("c", "C", "1", a * b)
    assert ledger.n == 3
    assert ledger.value("c").tolist() == [2.0, 4.0, 6.0]
    assert ledger.scalar("c", 2) == 6.0


@pytest.mark.parametrize("draws", [np.array([1.0, 2.0]), np.array([[1.0] * 3, [2.0] * 3])])
def test_draws_of_a_series_spread_over_its_months(draws: np.ndarray) -> None:
    ledger = Ledger(months=3, draws={"s": draws})
    s = ledger.given("s", "S", "1", 0.0, SOURCE, axis=Axis.MONTH)
    ledger.derive("total", "Total", "1", sum_months(s))
    assert ledger.value("total").tolist() == [3.0, 6.0]


def test_draws_of_several_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"several sizes: \[2, 3\]"):
        Ledger(months=1, draws={"a": np.zeros(2), "b": np.zeros(3)})


def test_given_lines_under_a_computed_one_are_locked_even_through_formulas() -> None:
    ledger = Ledger(months=1)
    gpus, spares, price = given(ledger, "gpus"), given(ledger, "spares"), given(ledger, "price")
    all_gpus = ledger.derive("all_gpus", "All", "1", gpus * spares)
    ledger.compute("racks", "Racks", "1", 4.0, function=model, inputs=[all_gpus])
    ledger.derive("cost", "Cost", "USD", all_gpus * price)
    assert ledger.locked() == {"gpus", "spares"}


def test_formulas_are_worked_out_once_and_kept() -> None:
    ledger = Ledger(months=1)
    b = ledger.derive("b", "B", "1", given(ledger, "a") * 2)
    ledger.derive("c", "C", "1", b + 1)
    assert "c" not in ledger.values
    assert ledger.value("c") is ledger.value("c")
    assert "b" in ledger.values


def test_solve_works_out_every_formula() -> None:
    ledger = Ledger(months=2)
    ledger.derive("b", "B", "1", prev("c"))
    ledger.derive("c", "C", "1", ref("b") + given(ledger, "a"))
    ledger.solve()
    assert set(ledger.values) == {"a", "b", "c"}
