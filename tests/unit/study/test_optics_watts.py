"""What saved watts allow, and what stops them."""

from __future__ import annotations

import pytest

from planner.study.optics_watts import SavedWatts, whole_servers


@pytest.mark.parametrize("least", ["power", "racks", "cooling", "money"])
def test_the_scarcest_of_four_says_how_many_gpus(least: str) -> None:
    amounts = {"power": 80, "racks": 80, "cooling": 80, "money": 80, least: 16}
    saved = SavedWatts(
        150_000.0, amounts["power"], amounts["racks"], amounts["cooling"], amounts["money"], 4e6
    )
    assert (saved.gpus, saved.limited_by) == (16, least)


def test_part_of_a_server_is_no_server() -> None:
    assert whole_servers(9_999.0, 10_000.0) == 0
    assert whole_servers(30_000.0, 10_000.0) == 3
