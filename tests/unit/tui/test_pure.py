"""The parts that draw and decide without a screen."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from planner.catalog.store import open_catalog
from planner.errors import ScenarioError
from planner.evaluate import evaluate
from planner.present import format as fmt
from planner.present.html import html_text
from planner.present.json_output import json_text
from planner.present.view.build import view
from planner.present.view.changes import changes, moved_most, range_short
from planner.present.view.model import Better, Cell, Column, Headline, Section, Table
from planner.scenario.load import load_scenario, shipped_scenarios
from planner.scenario.schema import Group, Network, Scenario, SiteWish
from planner.study.plan import plan
from planner.tui.bar import bar_lines, edit_told
from planner.tui.draft import draft_of, kept, new_item, open_draft, preview, restored, with_item, without_item
from planner.tui.drawing import section_lines, table_lines
from planner.tui.evaluating import Answer, Question, answer, refined
from planner.tui.exporting import export
from planner.tui.fields import Holds, field_at, fields_of
from planner.tui.files import Shelf, is_alive, save_text
from planner.tui.helping import help_screen
from planner.tui.lines import cut, left, right, wrapped
from planner.tui.rows import Is, Sheet, rows_of
from planner.tui.state import Stand, State, taken
from planner.tui.texts import fixes, history_lines
from planner.tui.timeline import Step, Timeline
from planner.tui.used import Used
from tests.unit.tui.conftest import headline_short

CATALOG = open_catalog()
GPUS = ("cluster", "groups", 0, "gpus")


def answered(name: str, number: int = 1, **more: Any) -> tuple[State, Answer]:
    draft = open_draft(name)
    assert draft.loaded is not None
    found = answer(Question(number, draft.loaded, **more), lambda: CATALOG)
    assert found is not None
    return taken(State(draft=draft, timeline=Timeline(draft.text), asked=number), found), found


# Drafts


def test_a_preview_changes_the_data_and_not_the_text() -> None:
    draft = open_draft("h200-1024-ndr")
    changed = preview(draft, ("site", "pue"), 1.1)
    assert changed.loaded is not None and changed.loaded.scenario.site.pue == 1.1
    assert changed.text == draft.text and draft.value(("site", "pue")) is None
    wrong = preview(draft, ("site", "pue"), 0.9)
    assert wrong.loaded is None and str(wrong.problems[0].key) == "site.pue"
    deep = preview(draft, ("money", "depreciation", "server_years"), 4)
    assert deep.loaded is not None and deep.loaded.scenario.money.depreciation.server_years == 4


def test_default_takes_away_what_the_file_says_and_overrides_what_the_base_says() -> None:
    draft = open_draft("h200-1024-spectrum-x")
    changed = kept(draft, ("network", "planes"), 2)
    assert restored(changed, ("network", "planes")).text == draft.text
    over = restored(draft, ("site", "limit_mw"))  # the base has it
    assert over.value(("site", "limit_mw")) is None and over.loaded is not None
    assert "limit_mw: null" in over.text
    assert restored(draft, ("money", "deposit_fraction")) is draft
    with pytest.raises(ScenarioError, match="no default"):
        restored(draft, ("cluster", "groups", 0, "gpus"))


def test_an_item_of_the_base_cant_be_removed_and_one_of_the_file_can() -> None:
    draft = open_draft("h200-1024-spectrum-x")
    with pytest.raises(ScenarioError, match="comes from the base"):
        without_item(draft, ("cluster", "groups", 0))
    items = draft.value(("cluster", "groups"))
    grown = with_item(draft, ("cluster", "groups"), new_item(items, 0, whole=True))
    assert [one["id"] for one in grown.value(("cluster", "groups"))] == ["main", "main-2"]
    assert without_item(grown, ("cluster", "groups", 1)).value(("cluster", "groups")) == items


def test_a_byte_order_mark_and_line_breaks_survive_an_edit(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    text = "\ufeff" + open_draft("h100-8-lab").text.replace("\n", "\r\n")
    path.write_bytes(text.encode())
    draft = kept(open_draft(str(path)), GPUS, 16)
    assert draft.text == text.replace("gpus: 8", "gpus: 16")


# Fields and rows


def test_fields_tell_kind_range_unit_and_default() -> None:
    fields = {one.name: one for one in fields_of(SiteWish)}
    assert fields["pue"].bounds == "1 or more, 3 at most" and fields["pue"].nullable
    assert fields["cooling"].family == "cooling" and fields["cooling"].default_text == "air"
    assert fields["electricity_usd_per_kwh"].unit == "USD/kWh"
    assert fields["housing"].choices == ("colocation", "own")
    network = {one.name: one for one in fields_of(Network)}
    assert network["copper"].holds is Holds.FLAG and network["leaf"].holds is Holds.FIELDS
    found = field_at(("network", "leaf", "switch"))
    assert found is not None and found.family == "switches"
    assert field_at(("network", "nonsense")) is None and field_at(("cluster", "groups", 0)) is None
    assert {one.name for one in fields_of(Group) if one.required} == {"id", "server", "gpus"}


def test_every_field_of_the_schema_has_help_in_the_grid() -> None:
    missing = [one.name for one in fields_of(Scenario) if not one.help]
    assert not missing


@pytest.mark.parametrize("name", shipped_scenarios())
def test_rows_hold_every_value_of_a_plan_where_it_stands(name: str) -> None:
    draft = open_draft(name)
    rows = rows_of(Sheet(draft.document))
    by_path = {row.path: row for row in rows}
    assert len(by_path) == len(rows)
    for path, place in draft.document.places.items():
        row = by_path.get(path)
        if row is not None and row.kind is Is.FIELD:
            assert row.value == draft.value(path)
            assert row.standing == ("file" if place.path == draft.document.path else "base")
    groups = [row for row in rows if row.kind is Is.GROUP and row.depth == 0]
    assert all(row.sentence for row in groups)
    closed = frozenset(row.path for row in groups)
    assert len(rows_of(Sheet(draft.document, closed=closed))) == len(groups)


def test_rows_can_be_drawn_from_data_that_is_all_wrong() -> None:
    text = "name: x\nworkloads: 7\ncluster: [a]\nnetwork: {leaf: 3}\nsite: no\nlimits: {days: [1]}\nphases: {a: 1}\n"
    draft = draft_of(text, Path("a.yaml"))
    assert draft.loaded is None
    rows = rows_of(Sheet(draft.document, draft.problems))
    assert any(row.problem for row in rows)


# The state and the bar


def test_an_answer_to_an_earlier_question_changes_nothing() -> None:
    state, found = answered("h200-1024-ndr")
    later = replace(state, asked=2)
    assert taken(later, found) is later
    assert later.stand is Stand.CURRENT and replace(later, late=True).stand is Stand.STALE


def test_values_stay_while_a_plan_is_invalid_or_refused() -> None:
    state, _ = answered("h100-8-lab")
    draft = kept(open_draft("h100-8-lab"), ("workloads", 0, "model"), "llama-3.1-405b")
    assert draft.loaded is not None
    refused = answer(Question(2, draft.loaded), lambda: CATALOG)
    assert refused is not None
    now = taken(replace(state, draft=draft, asked=2), refused)
    assert now.stand is Stand.REFUSED and now.headlines == state.headlines
    lines = [line.text for line in bar_lines(now, 80, 24)]
    assert "~54" in lines[1] and "✗ 'llama-3.1-405b' can't be trained on 8 GPUs" in lines[3]
    offered = fixes(now)
    assert offered[0].path == GPUS and offered[0].applies and offered[0].value > 8
    assert not offered[1].applies


@pytest.mark.parametrize("width", [1, 20, 60, 79, 80, 110, 140, 250])
def test_the_bar_fits_every_width(width: int) -> None:
    for state in (State(), answered("h200-serving-fleet")[0]):
        for line in bar_lines(state, width, 24)[1:]:
            assert cell_len(line.text) <= max(width, 10)


def test_limits_missed_and_odds_have_marks() -> None:
    state, found = answered("h200-serving-fleet")
    ranged = refined(found)
    assert ranged is not None
    lines = [line.text for line in bar_lines(replace(taken(state, ranged), ranges=True), 80, 24)]
    assert "?46" in lines[1] or "?4" in lines[1]
    assert range_short(ranged.headlines[0]) in lines[2]
    draft = kept(open_draft("h200-1024-ndr"), ("limits", "days"), 1)
    assert draft.loaded is not None
    missed = answer(Question(1, draft.loaded), lambda: CATALOG)
    assert missed is not None
    lines = [line.text for line in bar_lines(taken(State(draft=draft, asked=1), missed), 80, 24)]
    assert f"!{headline_short(2)}" in lines[1] and "Misses 1 of 3 limits" in lines[3]


def test_a_fault_and_a_withdrawn_question() -> None:
    draft = open_draft("h100-8-lab")
    assert draft.loaded is not None

    def broken(loaded: Any, catalog: Any) -> Any:
        raise ZeroDivisionError("ours")

    found = answer(Question(1, draft.loaded), lambda: CATALOG, evaluate=broken)
    assert found is not None and "ZeroDivisionError: ours" in found.fault and not found.good
    assert answer(Question(1, draft.loaded), lambda: CATALOG, cancelled=lambda: True) is None
    state = taken(State(draft=draft, asked=1), found)
    assert state.stand is Stand.FAULT


def cell(
    value: float | None, short: str, better: Better = Better.LOWER, key: str = "capex.total_usd"
) -> Headline:
    return Headline(key, "CAPEX", "Purchase", better, value, short, short)


def test_a_change_has_a_sign_for_direction_and_a_glyph_for_judgement() -> None:
    one = changes((cell(47e6, "47.0M"),), (cell(46e6, "46.0M"),))[0]
    assert (one.text, one.glyph) == ("-1.0M", "▲")
    one = changes((cell(47e6, "47.0M", Better.HIGHER),), (cell(46e6, "46.0M", Better.HIGHER),))[0]
    assert one.glyph == "▼"
    one = changes((cell(47e6, "47.0M"),), (cell(47.001e6, "47.0M"),))[0]
    assert (one.text, one.glyph) == ("=", "")
    one = changes((cell(None, "–"),), (cell(47e6, "47.0M"),))[0]
    assert (one.text, one.glyph) == ("new", "")
    assert moved_most(changes((cell(47e6, "47.0M"),), (cell(46e6, "46.0M"),))) == "CAPEX -1.0M ▲"


# The history


def test_a_narrow_bar_tells_an_edit_in_fewer_words_and_its_effect_in_full() -> None:
    moved = changes((cell(60.7, "60.7"),), (cell(58.6, "58.6"),))
    step = Step("12:00:00", (), "network.leaf.optic", "osfp-800g-2xdr4", "osfp-800g-lpo-2xdr4", "", moved)
    effect = moved_most(moved)
    assert edit_told(step, 200) == f"network.leaf.optic osfp-800g-2xdr4 > osfp-800g-lpo-2xdr4: {effect}"
    assert edit_told(step, 50) == f"leaf.optic > osfp-800g-lpo-2xdr4: {effect}"
    for room in range(len(effect) + 4, 120):
        told = edit_told(step, room)
        assert told.endswith(effect) and len(told) <= room
    first = replace(step, changes=changes((), (cell(58.6, "58.6"),)))
    assert edit_told(first, 200).endswith("the first values of this plan")
    jump = replace(step, label="back to the pin", old="", new="")
    assert edit_told(jump, 60) == f"back to the pin: {effect}"


def test_help_keeps_every_word_on_80_columns() -> None:
    lines = [line.text for line in help_screen({}, State())]
    assert max(map(cell_len, lines)) <= 76
    assert "Export" in " ".join(lines)


def test_undo_redo_and_a_new_edit_after_undo() -> None:
    def step(text: str) -> Step:
        return Step("12:00", ("a",), "a", "1", text, text)

    line = Timeline("0").with_step(step("1")).with_step(step("2"))
    back = line.undone()
    assert back is not None and back.text == "1" and back.redone() == line
    assert back.with_step(step("3")).steps[-1].text == "3" and len(back.with_step(step("3")).steps) == 2
    assert Timeline("0").undone() is None and line.redone() is None
    assert line.moved(0).text == "0" and line.moved(9).at == 2
    assert line.before(("a",)) == "1" and line.changed == {("a",)}
    found = (changes((cell(47e6, "47.0M"),), (cell(46e6, "46.0M"),))[0],)
    judged = line.judged(found)
    assert judged.last is not None and judged.last.changes == found and judged.judged(()) is judged
    texts = [one.text for one in history_lines(judged.undone() or judged, 80)]
    assert texts[1].startswith(" ●") and texts[2].startswith(" ○") and "CAPEX -1.0M▲" in texts[2]


# Files


def test_saving_keeps_rights_and_writes_through_links(tmp_path: Path) -> None:
    real = tmp_path / "real.yaml"
    real.write_text("a: 1\n")
    real.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(real)
    save_text(link, "a: 2\r\n")
    assert link.is_symlink() and real.read_bytes() == b"a: 2\r\n" and real.stat().st_mode & 0o777 == 0o640
    with pytest.raises(ScenarioError, match="can't be written"):
        save_text(tmp_path / "none" / "a.yaml", "x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.yaml", "real.yaml"]


def test_recovery_files_of_running_programs_are_left_alone(tmp_path: Path) -> None:
    plan = tmp_path / "a.yaml"
    mine, other = Shelf(tmp_path / "s", process=1), Shelf(tmp_path / "s", process=2)
    other.keep(plan, "edited", "saved", "12:00")
    assert not mine.unsaved(plan, alive=lambda process: True)
    found = mine.unsaved(plan, alive=lambda process: False)
    assert [one.text for one in found] == ["edited"] and found[0].base == "saved"
    assert not mine.unsaved(tmp_path / "b.yaml", alive=lambda process: False)
    mine.drop(found[0])
    assert not mine.unsaved(alive=lambda process: False)
    (tmp_path / "s" / "recovery" / "broken-2.json").write_text("{")
    assert not mine.unsaved(alive=lambda process: False)


def test_a_process_that_ended_and_waits_to_be_collected_doesnt_run() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read()  # it has closed its output, and wasn't waited for
    for _ in range(200):
        if not is_alive(child.pid):
            break
        time.sleep(0.02)
    assert Path(f"/proc/{child.pid}").exists() or not sys.platform.startswith("linux")
    assert not is_alive(child.pid) or not sys.platform.startswith("linux")
    child.stdout.close()
    child.wait()
    assert is_alive(os.getpid()) and not is_alive(child.pid)


@pytest.mark.parametrize("name", shipped_scenarios())
def test_what_is_taken_for_open_fields_comes_from_the_ledger(name: str) -> None:
    _, found = answered(name)
    assert found.evaluation is not None
    used, ledger = found.used, found.evaluation.ledger
    assert used[("site", "pue")].value == fmt.significant(ledger.scalar("power.pue"))
    assert used[("money", "depreciation", "server_years")].origin == "from finance"
    for path, one in used.items():
        assert field_at(path) is not None, path
        assert one.value not in ("", fmt.NOTHING) and len(one.within(24)) <= 40
    if ("network", "nic") in used:
        assert used[("network", "nic")].value == found.evaluation.parts.groups[0].nic.item.id


def test_used_values_fit_their_column() -> None:
    one = Used("osfp-800g-2xsr4, osfp-800g-2xdr4", "from here")
    assert one.within(80) == "(osfp-800g-2xsr4, osfp-800g-2xdr4 from here)"
    assert one.within(40) == "(osfp-800g-2xsr4, osfp-800g-2xdr4)" and one.within(22) == "(osfp-800g-2xsr4 +1)"


def test_a_state_folder_that_cant_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a file")
    shelf = Shelf(tmp_path / "s")
    assert not shelf.keep(tmp_path / "a.yaml", "x", "y", "12:00")
    shelf.opened(tmp_path / "a.yaml")
    assert shelf.recent() == () and "can't be written" in shelf.fault("text", "12:00")


# Drawing


@pytest.mark.parametrize("width", [40, 80, 118])
@pytest.mark.parametrize("name", shipped_scenarios())
def test_every_section_of_every_plan_fits_its_width(name: str, width: int) -> None:
    shown = view(evaluate(load_scenario(name), CATALOG))
    for section in shown.sections:
        lines = section_lines(section, width)
        assert lines
        for line in lines:
            assert cell_len(line.text) <= width, line.text


def test_a_section_without_data_says_why() -> None:
    lines = section_lines(Section("time", "Time", missing="the plan can't be built"), 80)
    assert "the plan can't be built" in lines[1].text


def test_letters_stand_in_a_fixed_column_and_rows_lead_to_their_key() -> None:
    table = Table(
        "t", "Caption", (Column("Part", numeric=False), Column("Cost", "USD")),
        ((Cell("a"), Cell("10", 10.0, "k.a", "Q")), (Cell("b"), Cell("5", 5.0))), total=True,
    )  # fmt: skip
    lines = table_lines(table, 60)
    assert lines[2].text.rstrip().endswith("10 Q") and lines[2].key == "k.a" and lines[2].stop
    assert lines[3].text.index("5") == lines[2].text.index("0")
    assert not lines[3].stop


def test_text_is_cut_by_cells() -> None:
    assert cut("長長長", 4) == "長…" and cell_len(left("長長", 7)) == 7 and right("a", 3) == "  a"
    assert all(cell_len(one) <= 10 for one in wrapped("長" * 30 + " and more words " + "x" * 50, 10, "  "))
    assert wrapped("", 10) == [""]


def test_an_export_has_the_bytes_of_a_batch_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("a.yaml")
    path.write_text(open_draft("h100-8-lab").text)
    told = list(export(path.read_text(), path, ("html", "json"), Path("out")))
    assert told == [
        (f"written: {Path('out') / 'a.html'}", False),
        (f"written: {Path('out') / 'a.json'}", False),
    ]
    evaluation = plan("a.yaml")
    assert Path("out/a.json").read_text() == json_text(evaluation)
    assert Path("out/a.html").read_text() == html_text(evaluation)
    (told,) = [list(export("name: 7", path, ("json",), Path("out")))]
    assert all(bad for _, bad in told)
