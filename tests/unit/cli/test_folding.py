"""Problems that say the same of many lines are said once."""

from __future__ import annotations

from planner.cli.folding import folded


def test_the_same_words_of_three_lines_and_more_are_one() -> None:
    wrong = [f"offer.xlsx[RFQ]:{line}: no rate of EUR is known" for line in range(11, 43)]
    assert folded(wrong) == ["offer.xlsx[RFQ]:11: no rate of EUR is known; the same on lines 12 to 42"]


def test_two_lines_columns_and_other_files_stay_apart() -> None:
    told = [
        "a.yaml:3:5: is missing (add it)",
        "a.yaml:9:5: is missing (add it)",
        "b.yaml:3:5: is missing (add it)",
    ]
    assert folded(told) == told


def test_problems_without_a_line_are_said_once_each() -> None:
    assert folded(["no plan", "a.csv:2: x", "no price"]) == ["no plan", "a.csv:2: x", "no price"]
    assert folded(["no plan"] * 4) == ["no plan"]
