"""The list of parts: what each one does to the plan, sorted, filtered, stale, and two side by side."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.present.view.outcomes import headlines
from planner.scenario.load import load_scenario
from planner.tui.draft import open_draft
from planner.tui.effects import Effect, Known, effect_key, effect_of, split_filter
from planner.tui.evaluating import ONE_AT_A_TIME
from planner.tui.state import Stand
from planner.tui.weighing import UNRENTED
from tests.unit.tui.conftest import go, press, settle, shown

OPTIC = ("network", "leaf", "optic")
LINEAR = "osfp-800g-lpo-2xdr4"


async def open_list(app: Any, pilot: Any, path: tuple[str | int, ...] = OPTIC) -> Any:
    await settle(pilot)
    go(app, *path)
    await press(pilot, "enter")
    return await listed(app, pilot)


async def listed(app: Any, pilot: Any) -> Any:
    """The list in front, once all of it is worked out."""
    for _ in range(2000):
        if "to work out" not in shown(app) and "against this plan" in shown(app):
            break
        await pilot.pause(0.05)
    return app.screen


def capex_with(part: str) -> float:
    """Purchase of the shipped plan with another module, by the evaluation itself."""
    found = evaluate(load_scenario("h200-1024-ndr", changes=[f"network.leaf.optic={part}"]), open_catalog())
    return float(found.ledger.scalar("capex.total_usd"))


async def test_each_part_that_fits_says_what_it_does_to_cost_and_work(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        picker = await open_list(app, pilot)
        text = shown(app)
        assert "CAPEX" in text and "$/GPUh" in text and "DAYS" in text and "capex<0" in text
        fitting = [one for one in picker.choices if not one.why_not]
        assert len(fitting) > 3 and all(
            picker.effects[one.key].text == app.state.draft.text for one in fitting
        )
        row = next(line for line in text.splitlines() if LINEAR in line)
        base = float(app.state.last.evaluation.ledger.scalar("capex.total_usd"))
        change = picker.effects[LINEAR].change("CAPEX")
        assert change.glyph == "▲" and f"{change.text} ▲" in row
        found = picker.effects[LINEAR].difference("CAPEX", picker.base)
        assert found == pytest.approx(capex_with(LINEAR) - base) and found < 0
        await press(pilot, *"lpo-2xdr4")
        assert f"CAPEX {change.new} ({change.text} ▲)" in shown(app)
        await press(pilot, "enter")
        assert app.state.draft.value(OPTIC) == LINEAR and app.state.headlines[6].short == change.new


async def test_a_list_sorts_and_filters_by_what_parts_do(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        picker = await open_list(app, pilot)
        for _ in range(4):
            await press(pilot, "f2")
        assert "sorted by effect on CAPEX" in shown(app)
        fitting = [one.key for one in picker.choices if one.key and not one.why_not]
        costs = [picker.effects[one].difference("CAPEX", picker.base) for one in fitting]
        assert costs == sorted(costs) and fitting[0] == LINEAR
        picker.query_one("#overlay-filter").value = "capex<0"
        await settle(pilot)
        keys = [line.key for line in picker.view.lines if line.stop]
        assert keys == [one for one, cost in zip(fitting, costs, strict=True) if cost < 0] and keys


async def test_effects_of_an_earlier_plan_are_stale_until_worked_out_again(
    app_of: Any, plan_file: Path
) -> None:
    gate = threading.Event()
    gate.set()

    def slow(loaded: Any, catalog: Any) -> Any:
        gate.wait(20)
        return evaluate(loaded, catalog)

    app = app_of(plan_file, evaluate=slow)
    async with app.run_test(size=(80, 24)) as pilot:
        await open_list(app, pilot)
        await press(pilot, "escape")
        app.keep(("site", "pue"), 1.2)
        await settle(pilot)
        gate.clear()
        go(app, *OPTIC)
        await pilot.press("enter")
        for _ in range(400):
            if LINEAR in shown(app) and "to work out" in shown(app):
                break
            await pilot.pause(0.05)
        row = next(line for line in shown(app).splitlines() if LINEAR in line)
        assert "~" in row and "to work out" in shown(app)
        gate.set()
        await settle(pilot)
        row = next(line for line in shown(app).splitlines() if LINEAR in line)
        assert "~" not in row and "against this plan" in shown(app)


async def test_parts_that_a_filter_hides_are_worked_out_too(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *OPTIC)
        await pilot.press("enter")
        app.screen.query_one("#overlay-filter").value = "capex<0"  # nothing is known yet: nothing passes
        picker = await listed(app, pilot)
        assert [line.key for line in picker.view.lines if line.stop] == [LINEAR]
        done = {one.key for one in picker.choices if not one.why_not}
        assert done <= set(picker.effects) and picker.next_of(done) is None
        assert picker.next_of(done - {"osfp-800g-2xdr4"}) == "osfp-800g-2xdr4"


async def test_closing_the_list_ends_the_work(app_of: Any, plan_file: Path) -> None:
    tried: list[float] = []

    def counted(loaded: Any, catalog: Any) -> Any:
        tried.append(time.monotonic())
        return evaluate(loaded, catalog)

    app = app_of(plan_file, evaluate=counted)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, *OPTIC)
        with ONE_AT_A_TIME:  # as if another evaluation took its time
            await pilot.press("enter")
            await pilot.pause(0.5)
            before = len(tried)
            await pilot.press("escape")
            await pilot.pause(0.1)
        await settle(pilot)
        assert len(tried) <= before + 1 and len(app.screen_stack) == 1


async def test_two_parts_stand_beside_what_the_plan_comes_to_with_each(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(100, 40)) as pilot:
        picker = await open_list(app, pilot, ("network", "leaf", "switch"))
        fitting = [one.key for one in picker.choices if one.key and not one.why_not]
        assert fitting[:2] == ["qm9700", "qm9790"]
        await press(pilot, "f3", "down", "f3")
        text = "\n".join(line.text for line in app.screen.view.lines)
        assert "the plan with each" in text and "≠ Cost of an installed GPU-hour" in text
        assert "-107 (-14 %)" in text and "difference" in text
        await press(pilot, "escape", "escape")
        assert len(app.screen_stack) == 1


async def test_a_part_that_does_not_fit_says_so_beside_another(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(100, 40)) as pilot:
        picker = await open_list(app, pilot, ("network", "leaf", "switch"))
        other = next(one for one in picker.choices if one.key == "sn5600")
        assert other.why_not
        await press(pilot, "f3", "f3")
        assert "is held" in shown(app)
        picker.query_one("#overlay-filter").value = "sn5600"
        await settle(pilot)
        await press(pilot, "f3")
        assert "✗ with the second" in shown(app)


async def test_a_filter_that_keeps_all_out_is_offered_without_its_word(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        picker = await open_list(app, pilot)
        picker.query_one("#overlay-filter").value = "lpo nonsense"
        await settle(pilot)
        assert "no line has 'nonsense'" in shown(app) and "filter by 'lpo'" in shown(app)
        await press(pilot, "enter")
        assert app.screen is picker and picker.wanted == "lpo" and picker.view.key == LINEAR
        picker.query_one("#overlay-filter").value = "capex>900m"
        await settle(pilot)
        assert "no line has all of 'capex>900m'" in shown(app) and "all lines" in shown(app)
        await press(pilot, "enter")
        assert picker.wanted == "" and len(picker.view.lines) > 10


def test_an_effect_is_that_of_the_evaluation_and_says_why_there_is_none() -> None:
    draft, catalog = open_draft("h200-1024-ndr"), open_catalog()
    assert draft.loaded is not None
    base = headlines(evaluate(draft.loaded, catalog))
    same = effect_of(draft, OPTIC, None, base, lambda: catalog, evaluate)
    assert {one.text for one in same.changes} <= {"=", ""} and same.difference("CAPEX", base) == 0
    wrong = effect_of(draft, OPTIC, "qsfp112-400g-dr4", base, lambda: catalog, evaluate)
    assert wrong.why_not

    def broken(loaded: Any, catalog: Any) -> Any:
        raise RuntimeError

    assert "RuntimeError" in effect_of(draft, OPTIC, None, base, lambda: catalog, broken).why_not
    key = effect_key(wrong, "CAPEX", base)
    assert key > effect_key(same, "CAPEX", base) and effect_key(None, "CAPEX", base) == key


def test_a_filter_keeps_what_it_can_not_read_for_the_figures() -> None:
    assert split_filter("mw<0.5 power<20") == ("power<20", split_filter("mw<0.5")[1])
    assert split_filter("days<1.2.3 capex<.")[1] == ()
    held = replace(split_filter("gpuh<0")[1][0])
    assert not held.holds(None, ()) and not held.holds(Effect("", why_not="no"), ())


def test_effects_of_the_last_fields_are_kept_and_no_more() -> None:
    known = Known()
    for number in range(Known.MOST + 3):
        known.enter(("a", number), "part", Effect(str(number)))
    assert not known.at(("a", 0)) and known.at(("a", Known.MOST + 2))["part"].text == str(Known.MOST + 2)
    known.clear()
    assert not known.at(("a", Known.MOST + 2))


async def test_effects_worked_out_before_the_plan_had_values_are_counted_from_them_once_it_has(
    app_of: Any, plan_file: Path
) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        picker = await open_list(app, pilot)
        known = dict(picker.effects)
        assert known[LINEAR].change("CAPEX").glyph == "▲"
        await press(pilot, "escape")
        for part, effect in known.items():
            app.known.enter(OPTIC, part, effect.against(()))
        again = await open_list(app, pilot)
        await settle(pilot)
        assert again.effects == known


async def test_an_offer_to_rent_rules_no_server_out_and_can_be_left_out_once_one_is_picked(
    app_of: Any, plan_file: Path
) -> None:
    app = app_of(plan_file)
    server = ("cluster", "groups", 0, "server")
    async with app.run_test(size=(100, 40)) as pilot:
        picker = await open_list(app, pilot, server)
        other = next(one for one in picker.choices if one.key == "hgx-h100")
        assert not other.why_not and picker.effects["hgx-h100"].change("CAPEX").glyph
        assert picker.effects["hgx-h200"].note == "" and picker.effects["hgx-h100"].note == UNRENTED
        picker.query_one("#overlay-filter").value = "hgx-h100"
        await settle(pilot)
        assert "without the offer to rent" in shown(app)
        await press(pilot, "enter")
        assert app.stand is Stand.INVALID and "money.rental: remove it" in shown(app)
        await press(pilot, "x", "1")
        assert app.stand is Stand.CURRENT and app.state.draft.value(server) == "hgx-h100"
        assert app.state.headlines[6].short == picker.effects["hgx-h100"].change("CAPEX").new
        again = await open_list(app, pilot, ("money", "rental"))
        assert next(one for one in again.choices if one.key == "crusoe-h200").why_not
