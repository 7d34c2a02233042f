"""Lists, named items and optional parts of a plan: added, moved, removed, in a plan of its own and in one that extends another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner.errors import ScenarioError
from planner.scenario.load import find_scenario
from planner.tui.draft import Draft, draft_of, kept
from planner.tui.fields import Holds, field_at, fields_of
from planner.tui.listing import list_at, moved, part_at, with_word, without_part, without_word
from planner.tui.rows import Is, Sheet, rows_of
from planner.tui.state import Stand
from tests.unit.tui.conftest import go, press, settle, shown

PLAN = find_scenario("h200-1024-ndr").read_text()
PHASES = """
phases:
  # the first half
  - id: one   # now
    order: 2026-12
    in_service: 2027-03
  - id: two
    order: 2027-06
    in_service: 2027-09
quotes: [a.csv, b.csv]
"""


def draft(text: str = PLAN + PHASES) -> Draft:
    return draft_of(text, Path("mine.yaml"))


def test_an_item_moves_with_its_comments_and_back_to_the_same_bytes() -> None:
    before = draft()
    after = moved(before, ("phases", 0), 1)
    assert [one["id"] for one in after.value(("phases",))] == ["two", "one"]
    assert "# now" in after.text
    assert moved(after, ("phases", 1), -1).text == before.text


def test_plain_values_move_are_written_and_removed() -> None:
    assert moved(draft(), ("quotes", 1), -1).value(("quotes",)) == ["b.csv", "a.csv"]
    assert with_word(draft(), ("quotes", 2), "c.csv").value(("quotes",)) == ["a.csv", "b.csv", "c.csv"]
    assert with_word(draft(PLAN), ("anchors", 0), "run.yaml").value(("anchors",)) == ["run.yaml"]
    assert without_word(draft(), ("quotes", 0)).value(("quotes",)) == ["b.csv"]


@pytest.mark.parametrize(
    ("path", "step", "said"),
    [(("phases", 0), -1, "first already"), (("phases", 1), 1, "last already"), (("site",), 1, "no list")],
)
def test_what_cant_move_says_why(path: Any, step: int, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        moved(draft(), path, step)


def test_a_child_writes_the_list_it_changes_and_leaves_the_base(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(PLAN + PHASES)
    text = "extends: base.yaml\nname: Child  # mine\n"
    child = draft_of(text, tmp_path / "child.yaml")
    found = with_word(child, ("quotes", 1), "c.csv")
    assert found.value(("quotes",)) == ["a.csv", "c.csv"] and found.text.startswith(text)
    assert without_word(child, ("quotes", 1)).value(("quotes",)) == ["a.csv"]
    assert moved(child, ("quotes", 0), 1).value(("quotes",)) == ["b.csv", "a.csv"]
    with pytest.raises(ScenarioError, match="from the base"):
        moved(child, ("phases", 0), 1)
    changed = kept(child, ("phases", 1, "order"), "2027-05")
    assert changed.value(("phases", 1, "order")) == "2027-05" and "id: two" in changed.text


def test_optional_parts_are_put_in_and_taken_away() -> None:
    with_tax = kept(draft(), ("money", "tax"), {})
    assert with_tax.loaded is not None and with_tax.loaded.scenario.money.tax is not None
    assert without_part(with_tax, ("money", "tax")).text == PLAN + PHASES
    with_cost = kept(draft(), ("money", "costs", "land"), {"amount": 5e6})
    assert with_cost.loaded is not None
    assert not without_part(with_cost, ("money", "costs", "land")).value(("money", "costs"))


def test_the_innermost_part_and_list_around_a_field_are_found() -> None:
    assert part_at(("money", "costs", "land", "amount")) == ("money", "costs", "land")
    assert part_at(("network", "storage", "count")) == ("network", "storage")
    found = list_at(("money", "costs", "land", "amount"))
    assert found is not None and found[0] == ("money", "costs") and found[1].holds is Holds.NAMED


def test_every_field_of_the_schema_has_a_row_a_help_and_a_way_to_be_edited() -> None:
    """Walks the whole schema with every optional part put in."""
    from planner.scenario.schema import Scenario

    unhelped: list[str] = []

    def walk(model: Any, seen: tuple[Any, ...]) -> None:
        for one in fields_of(model):
            if not one.help:
                unhelped.append(f"{model.__name__}.{one.name}")
            if one.model is not None and one.model not in seen:
                walk(one.model, (*seen, model))

    walk(Scenario, ())
    assert not unhelped
    optional = [
        one.name for one in fields_of(field_model(("money",))) if one.nullable and one.holds is Holds.FIELDS
    ]
    assert {"tax", "tariff", "debt", "lease", "capital", "landed", "escalation"} <= set(optional)
    rows = rows_of(Sheet(draft().document))
    shown_names = {row.name for row in rows}
    assert set(optional) <= shown_names and {"halls", "costs", "currencies"} <= shown_names
    assert all(row.field is not None for row in rows if row.kind is Is.FIELD)


def field_model(path: Any) -> Any:
    found = field_at(path)
    assert found is not None
    return found.model


async def test_halls_are_added_by_their_fields_moved_and_removed(app_of: Any, plan_file: Path) -> None:
    before = plan_file.read_text()
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "site", "halls")
        await press(pilot, "a")
        assert "id" in shown(app) and "new in site.halls" in shown(app)
        await press(pilot, *"near", "enter", *"400", "enter")
        assert app.state.draft.value(("site", "halls")) == [{"id": "near", "racks": 400}]
        assert app.plan.row.path == ("site", "halls", 0)
        await press(pilot, "A")
        assert [one["id"] for one in app.state.draft.value(("site", "halls"))] == ["near", "near-2"]
        await press(pilot, "K")
        assert [one["id"] for one in app.state.draft.value(("site", "halls"))] == ["near-2", "near"]
        assert app.plan.row.path == ("site", "halls", 0)
        await press(pilot, "K")
        assert "is the first already" in shown(app)
        await press(pilot, "delete", "delete")
        assert app.state.draft.value(("site", "halls")) is None
        for _ in range(6):
            await press(pilot, "u")
        assert app.state.draft.text == before


async def test_lists_of_files_and_profiles_are_edited_one_by_one(app_of: Any, plan_file: Path) -> None:
    (plan_file.parent / "q.csv").write_text("item,unit price,currency,date\nhgx-h200,250000,USD,2026-10-01\n")
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "quotes")
        await press(pilot, "a", *"q", "full_stop", *"csv", "enter")
        assert app.state.draft.value(("quotes",)) == ["q.csv"] and app.plan.row.path == ("quotes", 0)
        go(app, "calibration")
        await press(pilot, "a")
        assert "add to calibration" in shown(app)
        await press(pilot, "enter")
        assert len(app.state.draft.value(("calibration",))) == 1
        go(app, "quotes", 0)
        await press(pilot, "delete")
        assert app.state.draft.value(("quotes",)) is None


async def test_a_cost_of_the_complete_list_is_added_and_moves_the_total(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        before = app.state.last.evaluation.ledger.scalar("capex.total_usd")
        go(app, "money", "costs")
        await press(pilot, "a", *"land", "enter", *"5M", "enter")
        assert app.state.draft.value(("money", "costs")) == {"land": {"amount": 5000000}}
        assert app.stand is Stand.CURRENT
        assert app.state.last.evaluation.ledger.scalar("capex.total_usd") == pytest.approx(before + 5e6)


async def test_an_optional_part_asks_for_what_it_must_have(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "money", "capital")
        await press(pilot, "enter", *"50%", "enter", *"6%", "enter")
        assert "equity_rate_fraction" in shown(app)
        await press(pilot, "escape")
        assert app.state.draft.value(("money", "capital")) is None and "nothing added" in shown(app)
        await press(pilot, "enter", *"50%", "enter", *"6%", "enter", *"12%", "enter")
        assert app.state.draft.value(("money", "capital", "equity_rate_fraction")) == 0.12
        assert app.stand is Stand.CURRENT
        await press(pilot, "delete")
        assert app.state.draft.value(("money", "capital")) is None


async def test_an_inherited_value_is_edited_into_this_file(app_of: Any, plan_file: Path) -> None:
    base = plan_file.read_bytes()
    child = plan_file.with_name("child.yaml")
    child.write_text("# my child\nextends: mine.yaml\nname: Child\n")
    app = app_of(child)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        go(app, "cluster", "groups", 0, "gpus")
        assert app.plan.row.standing == "base" and "mine.yaml:" in shown(app)
        await press(pilot, "enter", *"512", "enter")
        assert app.plan.row.standing == "u"
        await press(pilot, "ctrl+s")
        assert "gpus: 512" in child.read_text() and child.read_text().startswith("# my child\n")
        assert plan_file.read_bytes() == base
        await press(pilot, "d")
        assert (
            app.plan.row.standing == "base"
            and app.state.draft.value(("cluster", "groups", 0, "gpus")) == 1024
        )
