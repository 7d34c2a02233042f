"""The report as a file: self-contained, readable by machines and by all readers, the same every time."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.present.html.page import html_text
from planner.present.view.build import view
from planner.resources import shipped as folder
from planner.scenario.load import load_scenario, shipped_scenarios
from planner.study.bands import with_ranges
from tests.unit.present.conftest import HOSTILE, NO_NETWORK, TOO_SMALL, evaluated

MAIN = "h200-1024-ndr"
ALL = (*shipped_scenarios(), TOO_SMALL, NO_NETWORK)
MOST_BYTES = 1_000_000
"""The limit is 1.5 MB; staying well under it is what keeps a report quick to open and to mail."""


@cache
def page(name: str) -> str:
    return html_text(evaluated(name))


class Reader(HTMLParser):
    """Elements of a page with their attributes, in order, and the text of scripts."""

    VOID = ("meta", "input", "br", "link", "img")

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.scripts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


@cache
def read(name: str) -> Reader:
    return Reader(page(name))


@pytest.mark.parametrize("name", ALL)
def test_every_element_is_closed(name: str) -> None:
    assert read(name).open == []


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_asked_for_from_anywhere(name: str) -> None:
    asking = ("src", "srcset", "data", "poster", "action", "formaction", "background", "ping", "xlink:href")
    for tag, attributes in read(name).elements:
        assert not set(attributes) & set(asking), (tag, attributes)
        assert not any(key.startswith("on") for key in attributes), (tag, attributes)
        if "href" in attributes:
            assert attributes["href"].startswith("#"), attributes
        assert tag not in ("link", "img", "iframe", "object", "embed", "base"), tag
    text = page(name)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


@pytest.mark.parametrize("name", ALL)
def test_ids_are_used_once_and_every_link_leads_somewhere(name: str) -> None:
    found = read(name)
    ids = Counter(attributes["id"] for _, attributes in found.elements if "id" in attributes)
    assert [one for one, times in ids.items() if times > 1] == []
    for _, attributes in found.elements:
        targets = [attributes["href"][1:]] if "href" in attributes else []
        targets += attributes.get("aria-labelledby", "").split()
        assert [one for one in targets if one not in ids] == []
    painted = set(re.findall(r'(?:fill|clip-path)="url\(#([^)]+)\)"', page(name)))
    assert painted <= set(ids)


@pytest.mark.parametrize("name", ALL)
def test_the_file_stays_small(name: str) -> None:
    assert len(page(name).encode()) < MOST_BYTES


@pytest.mark.parametrize("name", [MAIN, "h200-phased", TOO_SMALL])
def test_the_same_plan_gives_the_same_bytes_whatever_was_drawn_before(name: str) -> None:
    first = page(name)
    page("h200-serving-fleet")
    scenario, _, change = name.partition("!")
    again = evaluate(load_scenario(scenario, changes=[change] if change else []), open_catalog())
    assert html_text(again) == first


@pytest.mark.parametrize("name", ALL)
def test_only_our_own_script_may_run(name: str) -> None:
    found = read(name)
    policy = next(
        m["content"] for m in found.named("meta") if m.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'")
    kinds = [attributes.get("type", "") for attributes in found.named("script")]
    assert kinds == ["application/json", ""]
    digest = base64.b64encode(hashlib.sha256(found.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize("name", ALL)
def test_programs_can_read_the_headlines(name: str) -> None:
    data = json.loads(read(name).scripts[0])
    evaluation = evaluated(name)
    assert data["feasible"] is evaluation.feasible
    assert data["finding"] == view(evaluation).finding
    assert len(data["headlines"]) == 9
    value = data["headlines"]["capex.total_usd"]["value"]
    assert value == (evaluation.ledger.scalar("capex.total_usd") if evaluation.feasible else None)


@pytest.mark.parametrize("name", ALL)
def test_headings_go_down_one_step_at_a_time(name: str) -> None:
    levels = [int(tag[1]) for tag, _ in read(name).elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", ALL)
def test_a_screen_reader_finds_its_way(name: str) -> None:
    found = read(name)
    assert found.named("html")[0]["lang"] == "en"
    assert len(found.named("main")) == 1
    assert found.named("nav")[0]["aria-label"]
    assert found.named("a")[0] == {"class": "skip", "href": "#decision"}
    assert all(head["scope"] in ("col", "row") for head in found.named("th"))
    assert len(found.named("caption")) == len(found.named("table"))


def test_every_drawing_is_an_image_with_a_title_and_a_table_beside_it(shipped: Evaluation) -> None:
    text = html_text(shipped)
    found = Reader(text)
    drawings = [one for one in found.named("svg") if one.get("class") == "chart"]
    expected = [one for part in view(shipped).sections for one in part.figures]
    assert len(drawings) == len(expected)
    assert all(one["role"] == "img" for one in drawings)
    tables = {one.get("id") for one in found.named("table")}
    assert all(f"table-{one.table.id}" in tables for one in expected)
    assert [one["id"] for one in drawings] == [f"fig-{one.id.lower()}" for one in expected]
    assert text.count("<details") >= len(expected)


def test_every_number_with_a_key_links_to_its_derivation(shipped: Evaluation) -> None:
    ids = {attributes.get("id") for _, attributes in Reader(html_text(shipped)).elements}
    tables = [
        table
        for part in view(shipped).sections
        for table in (*(one.table for one in part.figures), *part.tables)
    ]
    keys = [cell.key for table in tables for row in table.rows for cell in row if cell.key]
    assert len(keys) > 100
    assert all(f"why.{key}" in ids for key in keys)


def test_a_refused_plan_shows_constraint_and_remedies_and_no_figures(refused: Evaluation) -> None:
    text = html_text(refused)
    found = Reader(text)
    assert "can&#39;t be built as described" in text
    assert not [one for one in found.named("svg") if one.get("class") == "chart"]
    assert not [one for one in found.named("ul") if one.get("class") == "tiles"]
    assert "<ol><li>" in text
    assert 'id="table-scenario"' in text


def hostile(tmp_path: Path, name: str) -> str:
    path = tmp_path / "plan.yaml"
    path.write_text(f"name: {json.dumps(name)}\nextends: {MAIN}\n", encoding="utf-8")
    return html_text(evaluate(load_scenario(path), open_catalog()))


@pytest.mark.parametrize(
    "name", [HOSTILE[:120], "</script><img src=x onerror=alert(1)>", "=cmd|' /C calc'!A0", "{{ 7*7 }}"]
)
def test_a_name_stays_text_whatever_it_says(tmp_path: Path, name: str) -> None:
    text = hostile(tmp_path, name)
    found = Reader(text)
    assert found.open == []
    assert len(found.named("script")) == 2
    assert not found.named("img")
    assert "<script>alert" not in text
    assert json.loads(found.scripts[0])["name"] == name


def test_draws_show_as_ranges_and_odds_on_the_tiles() -> None:
    text = html_text(with_ranges(evaluated(MAIN), draws=60))
    assert "P10 to P90: " in text
    assert re.search(r"in \d+ of 100 draws", text)
    assert 'id="fig-c16"' in text


def test_a_missed_limit_says_in_how_many_draws_it_is_met() -> None:
    found = with_ranges(evaluated(f"{MAIN}!limits.days=40"), draws=60)
    cell = next(one for one in view(found).headlines if one.bar == "DAYS")
    assert cell.met is False
    assert cell.odds is not None
    assert 0 < cell.odds < 0.5
    text = html_text(found)
    met = round(cell.odds * 100)
    assert f"limit 40.0 days, missed: met in {met} of 100 draws" in text
    assert "missed in" not in text


def colours(text: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z0-9]+):(#[0-9a-f]{3,6})", text))


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(one * 2 for one in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_text_stands_out_from_what_is_behind_it(theme: str) -> None:
    style = (folder("templates") / "report" / "report.css").read_text(encoding="utf-8")
    base = style.partition("@media")[0]
    more = {
        "light": "",
        "dark": style.partition("(prefers-color-scheme:dark)")[2].partition("}}")[0],
        "print": style.partition("@media print")[2],
    }
    found = {**colours(base), **colours(more[theme])}
    for ink in ("ink", "soft", "link", "good", "bad"):
        for paper in ("paper", "panel"):
            assert contrast(found[ink], found[paper]) >= 4.5, (ink, paper)
