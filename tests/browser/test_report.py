"""The report in a real browser, opened from disk."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.present.html.page import html_text
from planner.scenario.load import load_scenario
from planner.study.bands import with_ranges
from tests.browser.devtools import Browser, browser
from tests.office import browser_or_skip

pytestmark = pytest.mark.browser
MAIN, SERVING, LARGE = "h200-1024-ndr", "h200-serving-fleet", "h100-16384-roce"
REFUSED = "h100-8-lab!workloads.0.model=llama-3.1-405b"
LONG = "a name without a space"
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    made = {}
    for at, name in enumerate((MAIN, SERVING, LARGE, REFUSED)):
        scenario, _, change = name.partition("!")
        found = evaluate(load_scenario(scenario, changes=[change] if change else []), open_catalog())
        made[name] = folder / f"report {at}.html"
        made[name].write_text(html_text(with_ranges(found, draws=60)), encoding="utf-8")
    long = folder / "long.yaml"
    long.write_text(f"name: {'W' * 120}\nextends: {MAIN}\n", encoding="utf-8")
    made[LONG] = folder / "long.html"
    made[LONG].write_text(html_text(evaluate(load_scenario(long), open_catalog())), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(browser_or_skip(), tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(params=[MAIN, SERVING, LARGE, REFUSED, LONG])
def shown(request: pytest.FixtureRequest, reports: dict[str, Path], page: Browser) -> Browser:
    page.open(reports[request.param])
    return page


def emulate(page: Browser, *, width: int = 1200, scheme: str = "light") -> None:
    page.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
    )
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])


def test_it_asks_for_nothing_but_itself_and_nothing_complains(shown: Browser) -> None:
    assert len(shown.asked_for()) == 1
    assert shown.asked_for()[0].startswith("file:///")
    assert shown.complaints() == []


def test_every_drawing_is_visible(shown: Browser) -> None:
    sizes: list[Any] = shown.evaluate(
        "[...document.querySelectorAll('svg.chart')].map(s => {const r = s.getBoundingClientRect(); return [r.width, r.height]})"
    )
    assert all(width > 200 and height > 50 for width, height in sizes)
    inside: list[Any] = shown.evaluate(
        "[...document.querySelectorAll('svg.chart')].filter(s => {const r = s.getBoundingClientRect();"
        "return [...s.querySelectorAll('text')].some(t => {const b = t.getBoundingClientRect();"
        "return b.left < r.left - 6 || b.right > r.right + 6 || b.top < r.top - 6 || b.bottom > r.bottom + 6})})"
        ".map(s => s.id)"
    )
    assert inside == []


def test_labels_of_a_drawing_dont_lie_on_each_other(shown: Browser) -> None:
    crossing: list[Any] = shown.evaluate(
        "[...document.querySelectorAll('svg.chart')].flatMap(s => {const t = [...s.querySelectorAll('text')]"
        ".map(x => [x.textContent, x.getBoundingClientRect()]); const bad = [];"
        "t.forEach((a, i) => t.slice(i + 1).forEach(b => {const w = Math.min(a[1].right, b[1].right) - "
        "Math.max(a[1].left, b[1].left), h = Math.min(a[1].bottom, b[1].bottom) - Math.max(a[1].top, b[1].top);"
        "if (w > 2 && h > 4) bad.push([s.id, a[0], b[0]])})); return bad})"
    )
    assert crossing == []


def test_the_page_never_scrolls_sideways(shown: Browser) -> None:
    for width in (1200, 800, 400):
        emulate(shown, width=width)
        assert shown.evaluate(WIDE) <= 0, width


BROKEN = (
    "[...document.querySelectorAll('table th, table td, caption')].filter(c => c.offsetParent !== null).flatMap(c => {"
    "const walk = document.createTreeWalker(c, NodeFilter.SHOW_TEXT), bad = []; let node;"
    "while ((node = walk.nextNode())) for (const m of node.data.matchAll(/(?<![^ ])[A-Za-z]{4,20}(?![^ ])/g)) {"
    "const r = document.createRange(); r.setStart(node, m.index); r.setEnd(node, m.index + m[0].length);"
    "if (r.getClientRects().length > 1) bad.push(m[0])} return bad})"
)


@pytest.mark.parametrize("name", [MAIN, SERVING, LARGE])
def test_on_narrow_screens_words_stay_whole_and_no_column_is_cut_off(
    reports: dict[str, Path], page: Browser, name: str
) -> None:
    page.open(reports[name])
    page.evaluate("document.querySelectorAll('details').forEach(d => {d.open = true})")
    try:
        for width in (390, 500):
            emulate(page, width=width)
            assert page.evaluate(BROKEN) == [], width
            assert page.evaluate(WIDE) <= 0, width
            for table in ("choices", "unknowns"):  # read without scrolling sideways
                over = f"(w => w.scrollWidth - w.clientWidth)(document.querySelector('#table-{table}').parentNode)"
                assert page.evaluate(over) <= 0, (table, width)
            unreachable = (
                "[...document.querySelectorAll('.wide')].filter(w => w.scrollWidth > w.clientWidth + 1 && "
                "getComputedStyle(w).overflowX !== 'auto').length"
            )
            assert page.evaluate(unreachable) == 0, width
    finally:
        emulate(page)


def test_dark_and_light_follow_the_reader(reports: dict[str, Path], page: Browser) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        emulate(page, scheme=scheme)
        page.open(reports[MAIN])
        seen[scheme] = page.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('svg.chart text')).fill]"
        )
    emulate(page)
    assert seen["light"] == ["rgb(255, 255, 255)", "rgb(27, 31, 36)"]
    assert seen["dark"] == ["rgb(21, 24, 28)", "rgb(231, 234, 238)"]


def test_a_click_on_a_head_sorts_and_keeps_the_sum_last(reports: dict[str, Path], page: Browser) -> None:
    page.open(reports[MAIN])
    costs = "[...document.querySelectorAll('#table-bill tbody tr')].map(r => parseFloat(r.cells[6].textContent.replace(',', '')))"
    page.evaluate("document.querySelectorAll('#table-bill thead th')[6].querySelector('button').click()")
    up = page.evaluate(costs)
    assert up == sorted(up)
    page.evaluate("document.querySelectorAll('#table-bill thead th')[6].querySelector('button').click()")
    assert page.evaluate(costs) == sorted(up, reverse=True)
    assert page.evaluate("document.querySelector('#table-bill tfoot').textContent").startswith("All parts")
    assert page.complaints() == []


def test_a_filter_leaves_the_rows_that_hold_the_words(reports: dict[str, Path], page: Browser) -> None:
    page.open(reports[MAIN])
    page.evaluate(
        "(() => {const i = document.querySelector('#assumptions input'); i.value = 'per hop, infiniband';"
        "i.dispatchEvent(new Event('input'))})()"
    )
    left = page.evaluate(
        "[...document.querySelectorAll('#assumptions tbody tr')].filter(r => !r.hidden).length"
    )
    assert left == 1


def test_without_scripts_every_section_and_table_is_there(reports: dict[str, Path], page: Browser) -> None:
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.open(reports[MAIN])
        root = page.call("DOM.getDocument")["root"]["nodeId"]

        def count(selector: str) -> int:
            return len(page.call("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"])

        assert count("main > section") == 11
        assert count("button, input") == 0
        assert count("table tbody tr") > 400
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)


def printed(page: Browser) -> bytes:
    answer = page.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
    return base64.b64decode(answer["data"])


def pages_of(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


# half of it is the list of assumptions, where every constant of the models has its row
@pytest.mark.parametrize(("name", "most"), [(MAIN, 40), (SERVING, 36), (LARGE, 44), (REFUSED, 8)])
def test_on_paper_it_is_a_report_and_not_a_book(
    reports: dict[str, Path], page: Browser, name: str, most: int
) -> None:
    page.open(reports[name])
    assert 2 <= pages_of(printed(page)) <= most


@pytest.mark.parametrize("name", [MAIN, SERVING, LARGE, LONG])
def test_the_decision_fits_one_page(reports: dict[str, Path], page: Browser, name: str) -> None:
    page.open(reports[name])
    page.evaluate("document.querySelectorAll('main > *:not(#decision), footer').forEach(e => e.remove())")
    assert pages_of(printed(page)) == 1


def test_paper_shows_the_tables_behind_figures(reports: dict[str, Path], page: Browser) -> None:
    page.open(reports[MAIN])
    page.call("Emulation.setEmulatedMedia", media="print")
    try:
        height = "document.querySelector('#table-loss-ladder').getBoundingClientRect().height"
        assert page.evaluate(height) > 50
        assert page.evaluate("getComputedStyle(document.querySelector('#why')).display") == "none"
    finally:
        page.call("Emulation.setEmulatedMedia", media="")
