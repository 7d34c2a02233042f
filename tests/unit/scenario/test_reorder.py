"""Neighbours of a list change places, and nothing else in the text does."""

from __future__ import annotations

import pytest

from planner.documents import parse_document
from planner.errors import ScenarioError
from planner.scenario.reorder import swap_items

BLOCK = """\
# head
phases:
  # first things first
  - id: a   # one
    order: 2026-01

  # about b
  - id: b
    order: 2026-02
  - id: c
tail: 1  # end
"""


def test_an_item_takes_the_comments_above_it_along() -> None:
    found = swap_items(BLOCK, ("phases",), 0)
    assert [one["id"] for one in parse_document(found, name="x").data["phases"]] == ["b", "a", "c"]
    assert found.index("# about b") < found.index("- id: b") < found.index("- id: a   # one")
    assert found.startswith("# head\nphases:\n  # first things first\n")
    assert sorted(found.splitlines()) == sorted(BLOCK.splitlines())


def test_exchanging_twice_gives_the_same_bytes() -> None:
    for text, path, first in (
        (BLOCK, ("phases",), 1),
        ("quotes: [a.csv,  b.csv]  # two\n", ("quotes",), 0),
        ("quotes:\r\n- a.csv\r\n- b.csv\r\n", ("quotes",), 0),
        ("a: {q: [1, 2, 3]}\n", ("a", "q"), 1),
    ):
        assert swap_items(swap_items(text, path, first), path, first) == text


def test_the_last_line_may_lack_its_break() -> None:
    found = swap_items("q:\n- a\n- b", ("q",), 0)
    assert parse_document(found, name="x").data == {"q": ["b", "a"]}


@pytest.mark.parametrize(
    ("path", "first"), [(("phases",), 2), (("phases",), -1), (("tail",), 0), (("none",), 0)]
)
def test_what_has_no_neighbour_is_refused(path: tuple[str, ...], first: int) -> None:
    with pytest.raises(ScenarioError, match="no two items"):
        swap_items(BLOCK, path, first)
