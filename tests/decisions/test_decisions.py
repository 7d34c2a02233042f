"""Published answers to questions about whole clusters, each set up as a scenario: how near ours come.

``python -m tests.decisions.test_decisions`` writes the README's table again. The answers, their conditions and their
tolerances are those of the publications in cases.yaml; no tolerance is widened, and a miss stays in the table.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.decisions.decided import (
    SLACK,
    Output,
    cases,
    computed_below,
    error,
    ours,
    outputs,
    put_into_readme,
    reached,
    table,
    table_of_readme,
    typed_over,
    worked_out,
)

README = Path(__file__).parents[2] / "README.md"
SCENARIOS = Path(__file__).parent / "scenarios"
EXPRESSED, BY_MODEL = 18, 8
"""Decisions that a scenario has to express, and that design, power or performance has to answer."""


def named(output: Output) -> str:
    return f"{output.case}: {output.name}"


@pytest.mark.parametrize("output", [one for one in outputs() if one.known_error is None], ids=named)
def test_an_answer_agrees_within_its_records_tolerance(output: Output) -> None:
    value = ours(output)
    assert reached(output, value), f"{value:g} is {error(output, value):+.2%} off"


@pytest.mark.parametrize("output", [one for one in outputs() if one.known_error is not None], ids=named)
def test_a_miss_is_no_larger_than_listed_and_still_a_miss(output: Output) -> None:
    """A miss that grows is a fault, and one that went away belongs among the answers that agree."""
    value = ours(output)
    assert output.known_error is not None
    assert not reached(output, value)
    assert abs(error(output, value)) <= output.known_error + SLACK
    assert len(output.why) > 10


@pytest.mark.parametrize("output", outputs(), ids=named)
def test_what_is_said_of_an_answers_making_is_so(output: Output) -> None:
    typed, computed = typed_over(output), computed_below(output)
    assert output.how in ("model", "both", "overrides")
    if output.how == "model":
        assert not typed
    if output.how in ("model", "both"):
        assert computed
    else:
        assert typed


def test_every_published_decision_is_expressed_or_says_what_is_missing() -> None:
    assert len(cases()) == len({case.id for case in cases()}) == 27
    assert all(bool(case.outputs) != bool(case.missing) for case in cases())
    assert all(case.source for case in cases() if case.outputs)


def test_enough_decisions_are_reached_and_enough_of_them_by_the_models() -> None:
    agreeing = {one.case for one in outputs() if one.known_error is None}
    assert len(agreeing) >= EXPRESSED
    assert (
        len({one.case for one in outputs() if one.known_error is None and one.how != "overrides"}) >= BY_MODEL
    )


def test_every_scenario_answers_something() -> None:
    used = {term.scenario for one in outputs() for term in one.terms.values()}
    assert used == {path.stem for path in SCENARIOS.glob("*.yaml")}


def test_a_formula_knows_arithmetic_and_nothing_else() -> None:
    assert worked_out("1 - 8 * a / (b + 2)", {"a": 1.0, "b": 2.0}) == -1.0
    with pytest.raises(ValueError, match="no part of a formula"):
        worked_out("open('x')", {})


def test_the_readme_shows_the_answers_as_they_are() -> None:
    assert table_of_readme(README.read_text(encoding="utf-8")) == table()


if __name__ == "__main__":
    README.write_text(put_into_readme(README.read_text(encoding="utf-8"), table()), encoding="utf-8")
