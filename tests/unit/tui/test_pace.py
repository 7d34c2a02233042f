"""A filter over 5,000 parts finds, letter by letter, what a look at every part finds; `make bench` has the times."""

from __future__ import annotations

from typing import Any

from planner.tui.parts import PartPicker
from tests.many_parts import PARTS, large
from tests.unit.tui.conftest import settle

TYPED = ("n", "nd", "ndr", "ndr 64", "sn", "sn5", "sn5600", "")


async def test_a_picker_of_5000_parts_filters_while_one_types(app_of: Any, plan_file: Any) -> None:
    index = large("switches")
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        picker = PartPicker("5,000", [row.id for row in index.items], "switches", "", False)
        app.push_screen(picker)
        await settle(pilot)
        picker.told(index, "2026-11-30")
        await settle(pilot)
        one_by_one = await counts(
            pilot, picker.query_one("#overlay-filter"), picker.fill, lambda: lines(picker)
        )
        assert one_by_one[0] >= one_by_one[1] >= one_by_one[2] >= one_by_one[3]
        assert 0 < one_by_one[6] < one_by_one[7]


async def test_the_catalog_screen_of_5000_parts_filters_while_one_types(app_of: Any, plan_file: Any) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        pane = app.query_one("#catalog")
        pane.index = large("switches")
        box = pane.query_one("#catalog-filter")
        one_by_one = await counts(pilot, box, pane.fill, lambda: len(pane.found))
        assert one_by_one[0] >= one_by_one[1] >= one_by_one[2] >= one_by_one[3] > 0
        assert one_by_one[7] == PARTS
        # what is found letter by letter is what is found by the whole word at once
        assert (await counts(pilot, box, pane.fill, lambda: len(pane.found), ("sn5600",)))[0] == one_by_one[6]


def lines(picker: PartPicker) -> int:
    return sum(1 for line in picker.view.lines if line.stop)


async def counts(pilot: Any, box: Any, fill: Any, found: Any, typed: tuple[str, ...] = TYPED) -> list[int]:
    """How many parts are listed after each text."""
    numbers = []
    for text in typed:
        with box.prevent(type(box).Changed):
            box.value = text
        fill()
        numbers.append(found())
    await pilot.pause()
    return numbers
