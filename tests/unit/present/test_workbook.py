"""How the workbook is built; `tests/workbook` works it out anew in an office program."""

from __future__ import annotations

import io
import re
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import openpyxl
import pytest
from openpyxl.utils import range_boundaries
from openpyxl.workbook import Workbook

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Axis, Kind
from planner.ledger.excel import formula
from planner.ledger.nodes import Const, Expr, Flag, Lookup, RoundUp, children
from planner.present.workbook import workbook_bytes
from planner.present.workbook.cells import SheetCells, letters, month_formulas, scalar_formula, shortened
from planner.present.workbook.inputs import scenario_choices
from planner.present.workbook.layout import FIRST_MONTH, INPUTS, MONTHLY, ORDER, Layout, lay_out
from planner.present.workbook.names import excel_names
from planner.present.workbook.summary import limits
from planner.scenario.load import load_scenario, shipped_scenarios
from planner.study.bands import with_ranges

HOSTILE = '=HYPERLINK("http://example.com","x")'


def made(name: str, *changes: str) -> Evaluation:
    return evaluate(load_scenario(name, changes=changes), open_catalog())


def opened(evaluation: Evaluation) -> Workbook:
    return openpyxl.load_workbook(io.BytesIO(workbook_bytes(evaluation)))


def layout_of(evaluation: Evaluation) -> Layout:
    return lay_out(evaluation, scenario_choices(evaluation))


@pytest.fixture(scope="module")
def plan() -> Evaluation:
    return made("h200-1024-ndr")


@pytest.fixture(scope="module")
def book(plan: Evaluation) -> Workbook:
    return opened(plan)


@pytest.mark.parametrize("name", shipped_scenarios())
def test_sheets_stand_in_order_and_every_line_has_a_place_of_its_own(name: str) -> None:
    evaluation = made(name)
    layout = layout_of(evaluation)
    assert tuple(opened(evaluation).sheetnames) == ORDER
    assert set(layout.spots) == set(evaluation.ledger.lines)
    taken = Counter((spot.sheet, spot.row, spot.column) for spot in layout.spots.values())
    assert [place for place, times in taken.items() if times > 1] == []
    for key, spot in layout.spots.items():
        months = evaluation.ledger[key].axis is Axis.MONTH
        assert (spot.sheet in MONTHLY and spot.column == FIRST_MONTH) or not months, key


def test_every_key_is_written_once(plan: Evaluation, book: Workbook) -> None:
    written: Counter[str] = Counter()
    for sheet in book.worksheets:
        if sheet.title not in ("Summary", "Scenarios", "Risk", "Checks", "Changes", "Sources"):
            for row in sheet.iter_rows():
                written.update(
                    cell.value
                    for cell in row
                    if isinstance(cell.value, str) and cell.value in plan.ledger.lines
                )
    assert written == Counter(list(plan.ledger.lines))


def test_the_same_evaluation_gives_the_same_bytes(plan: Evaluation) -> None:
    assert workbook_bytes(plan) == workbook_bytes(made("h200-1024-ndr"))


def test_given_lines_are_numbers_derived_lines_are_formulas_and_computed_lines_are_locked_numbers(
    plan: Evaluation, book: Workbook
) -> None:
    layout = layout_of(plan)
    free = {line.key for group in layout.followed for line in group.lines}
    for key, line in plan.ledger.lines.items():
        spot = layout.spots[key]
        cell = book[spot.sheet].cell(spot.row + 1, spot.column + 1)
        assert (cell.data_type == "f") == (line.kind is Kind.DERIVED), key
        assert cell.protection.locked != (key in free), key
    assert 50 < len(free) < len(plan.ledger.lines)


def test_only_inputs_limits_and_the_tolerance_are_unlocked(plan: Evaluation, book: Workbook) -> None:
    unlocked = {
        (sheet.title, cell.coordinate)
        for sheet in book.worksheets
        for row in sheet.iter_rows()
        for cell in row
        if not cell.protection.locked
    }
    layout = layout_of(plan)
    inputs = {
        (INPUTS, f"C{layout.spots[line.key].row + 1}") for group in layout.followed for line in group.lines
    }
    others = unlocked - inputs
    assert inputs <= unlocked
    assert ("Checks", "B5") in others
    assert ("Scenarios", "C3") in others
    assert {place[0] for place in others - {("Checks", "B5"), ("Scenarios", "C3")}} == {"Summary"}
    assert all(place[1][0] == "F" for place in others if place[0] == "Summary")
    assert all(sheet.protection.sheet and not sheet.protection.password for sheet in book.worksheets)


def test_inputs_have_the_input_style_a_range_and_a_name(plan: Evaluation, book: Workbook) -> None:
    sheet, layout = book[INPUTS], layout_of(plan)
    ranges = {str(rule.sqref): rule for rule in sheet.data_validations.dataValidation}
    for group in layout.followed:
        for line in group.lines:
            cell = sheet.cell(layout.spots[line.key].row + 1, 3)
            assert cell.style == "Input"
            assert cell.coordinate in ranges, line.key
            assert ranges[cell.coordinate].prompt
    price = layout.spots["site.electricity_usd_per_kwh"].row + 1
    assert book.defined_names["site.electricity_usd_per_kwh"].attr_text == f"Inputs!$C${price}"
    assert "P10 to P90: 0.0714 to 0.116" in ranges[f"C{price}"].prompt
    assert "capex.total_usd" in book.defined_names
    assert "cash.net_usd" not in book.defined_names


@pytest.mark.parametrize("name", ["h200-phased", "h100-16384-roce"])
def test_a_row_has_one_formula_but_for_the_first_month(name: str) -> None:
    book = opened(made(name))
    checked = 0
    for sheet_name in MONTHLY:
        sheet = book[sheet_name]
        assert sheet.freeze_panes == "G6"
        for row in sheet.iter_rows(min_row=6, min_col=FIRST_MONTH + 1):
            formulas = [cell.value for cell in row if cell.data_type == "f"]
            if len(formulas) < 20:
                continue  # no series: the roll-up by year
            relative = {_relative(text, FIRST_MONTH + 1 + offset) for offset, text in enumerate(formulas[1:])}
            assert len(relative) == 1, (sheet_name, formulas[1], relative)
            checked += 1
    assert checked > 25


def _relative(text: str, column: int) -> str:
    """A formula with its own column and the one before it named as such."""
    own, before = letters(column), letters(column - 1)
    text = re.sub(rf"(?<![A-Z$]){own}(?=\$?\d)", "<own>", text)
    return re.sub(rf"(?<![A-Z$]){before}(?=\d)", "<before>", text)


@pytest.mark.parametrize("name", ["h200-phased", "h100-8-lab"])
def test_moving_one_text_along_the_months_equals_rendering_each(name: str) -> None:
    evaluation = made(name)
    layout = layout_of(evaluation)
    for line in evaluation.ledger:
        if line.axis is Axis.MONTH and line.expression is not None:
            cells = SheetCells(layout, layout.spots[line.key].sheet)
            expr = shortened(line.expression, cells)
            each = [
                formula(expr, cells, month).replace("\x01", cells.columns[month])
                for month in range(evaluation.ledger.months)
            ]
            moved = list(month_formulas(cells, line))
            assert [text.replace("$", "") for text in moved] == [text.replace("$", "") for text in each], (
                line.key
            )


@pytest.mark.parametrize("name", ["h200-1024-ndr", "h100-16384-roce", "h200-serving-fleet"])
def test_formulas_hold_no_number_that_their_expression_lacks(name: str) -> None:
    evaluation = made(name)
    layout = layout_of(evaluation)
    for line in evaluation.ledger:
        if line.expression is None:
            continue
        cells = SheetCells(layout, layout.spots[line.key].sheet)
        texts = (
            [scalar_formula(cells, line)]
            if line.axis is Axis.SCALAR
            else list(month_formulas(cells, line))[:2]
        )
        allowed = set(_constants(line.expression))
        for text in texts:
            assert set(_numbers(text)) <= allowed, (line.key, text)


def _numbers(text: str) -> Iterator[float]:
    text = re.sub(r'"[^"]*"', "", text)
    text = re.sub(r"('[^']+'|[A-Za-z]+)!", "", text)
    text = re.sub(r"\$?[A-Z]{1,3}\$?\d+", "", text)
    yield from (float(one) for one in re.findall(r"\d+\.?\d*(?:E[+-]?\d+)?", text))


def _constants(expr: Expr) -> Iterator[float]:
    """Numbers of an expression, and those its functions bring along."""
    yield 0.01  # where the search for a rate of return starts
    match expr:
        case Const(value):
            yield abs(value)
        case Flag():
            yield from (0.0, 1.0)
        case RoundUp():
            yield from (0.0, 6.0)
        case Lookup():
            yield 1.0
        case _:
            pass
    for child in children(expr):
        yield from _constants(child)


def test_a_sum_of_neighbours_is_a_range(plan: Evaluation) -> None:
    layout = layout_of(plan)
    total = plan.ledger["capex.optics_usd"]
    text = scalar_formula(SheetCells(layout, "Capex"), total)
    assert re.fullmatch(r"=SUM\(BOM!\$F\$\d+:\$F\$\d+\)", text), text
    opex = next(iter(month_formulas(SheetCells(layout, "Opex"), plan.ledger["cash.opex_usd"])))
    assert re.fullmatch(r"=SUM\(G\d+:G\d+\)", opex), opex


@pytest.mark.parametrize("name", [HOSTILE, "+1+1", "@SUM(A1)", "<script>alert(1)</script> & 'x'", "ü" * 120])
def test_hostile_names_stay_text(name: str) -> None:
    evaluation = made("h100-8-lab")
    wished = evaluation.loaded.scenario.model_copy(update={"name": name})
    object.__setattr__(evaluation.loaded, "scenario", wished)
    book = opened(evaluation)
    rows = {str(row[0].value): row[1] for row in book["Summary"].iter_rows() if row[0].value}
    assert rows["Finding, as planned"].data_type == "s"
    assert str(rows["Finding, as planned"].value).startswith(name)
    # The title refers to that text, so that no text of a scenario becomes part of a formula.
    assert name not in book["Summary"]["A1"].value
    shown = openpyxl.load_workbook(io.BytesIO(workbook_bytes(evaluation)), data_only=True)["Summary"]["A1"]
    assert str(shown.value).startswith(name)
    assert book.properties.title == name
    assert all(not sheet._hyperlinks for sheet in book.worksheets)


def test_an_override_is_listed_with_its_reason_and_marked_as_typed() -> None:
    reason = f"{HOSTILE} as measured"
    wish = f"{{value: 0.11, unit: USD/kWh, reason: {reason!r}}}"
    evaluation = made("h100-8-lab", f"overrides={{site.electricity_usd_per_kwh: {wish}}}")
    book = opened(evaluation)
    assert book["Changes"]["A4"].value == "site.electricity_usd_per_kwh"
    assert book["Changes"]["E4"].value == reason
    assert book["Changes"]["E4"].data_type == "s"
    row = layout_of(evaluation).spots["site.electricity_usd_per_kwh"].row + 1
    assert book[INPUTS].cell(row, 3).value == 0.11
    assert book[INPUTS].cell(row, 9).value == "u"


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("h100-8-lab", ("workloads.0.model=llama-3.1-405b",), "96 GPUs"),
        ("h100-8-lab", ("workloads.0.model=llama-3.1-405b", f"name={HOSTILE}"), "96 GPUs"),
    ],
)
def test_a_plan_that_cannot_be_built_says_why_with_remedies_and_inputs(
    name: str, changes: tuple[str, ...], said: str
) -> None:
    evaluation = made(name, *changes)
    assert not evaluation.feasible
    book = opened(evaluation)
    assert book.sheetnames == ["Summary", "Inputs", "Changes"]
    texts = [str(cell.value) for row in book["Summary"].iter_rows() for cell in row if cell.value is not None]
    assert any("can't be built" in text for text in texts)
    assert any(said in text for text in texts)
    fields = {str(row[0].value): row[1].value for row in book["Inputs"].iter_rows(min_row=4)}
    assert fields["workloads.0.model"] == "llama-3.1-405b"
    assert all(
        cell.data_type != "f" for sheet in book.worksheets for row in sheet.iter_rows() for cell in row
    )
    assert workbook_bytes(evaluation) == workbook_bytes(made(name, *changes))


def test_a_rate_of_return_that_does_not_exist_is_shown_as_not_available() -> None:
    book = opened(made("h100-8-lab", "money.sell_usd_per_gpu_hour=0.01"))
    named = book.defined_names["metrics.irr_fraction"].attr_text
    sheet, cell = named.replace("'", "").replace("$", "").split("!")
    assert str(book[sheet][cell].value).endswith('"n/a")')
    row = next(row for row in book["Summary"].iter_rows(min_row=7) if row[10].value == "metrics.irr_fraction")
    assert str(row[8].value).endswith('"n/a")')


def test_ranges_stand_beside_the_headlines() -> None:
    evaluation = with_ranges(made("h100-8-lab"))
    sheet = opened(evaluation)["Summary"]
    row = next(row for row in sheet.iter_rows(min_row=7) if row[10].value == "capex.total_usd")
    found = evaluation.ranges["capex.total_usd"]
    assert (row[3].value, row[4].value) == (
        pytest.approx(found.p10 / row_unit(row)),
        pytest.approx(found.p90 / row_unit(row)),
    )


def row_unit(row: Any) -> float:
    """What the ledger's value is divided by to be shown in the unit of a row on Summary."""
    return {"M USD": 1e6, "M USD/year": 1e6, "MW": 1e6, "kW": 1e3, "GWh/year": 1e6}.get(row[2].value, 1.0)


@pytest.mark.parametrize("name", ["h200-1024-ndr", "h100-8-lab", "h200-serving-fleet"])
def test_numbers_on_summary_are_in_the_unit_written_beside_them(name: str) -> None:
    evaluation = with_ranges(made(name))
    content = io.BytesIO(workbook_bytes(evaluation))
    formulas, shown = (openpyxl.load_workbook(content, data_only=only)["Summary"] for only in (False, True))
    known, checked = limits(evaluation), set()
    for row in shown.iter_rows(min_row=7):
        key = row[10].value
        if key not in evaluation.ledger:
            continue
        divisor, value = row_unit(row), evaluation.ledger.scalar(key)
        assert (row[1].value, row[7].value) == pytest.approx((value / divisor,) * 2, rel=1e-12), key
        assert ("/Inputs!$C$" in str(formulas.cell(row[1].row, 2).value)) == (divisor != 1.0), key
        checked.add(row[2].value)
        if key in known:
            assert row[5].value == row[11].value == pytest.approx(known[key] / divisor, rel=1e-12), key
    assert checked & {"MW", "kW"}
    for row in formulas.iter_rows():
        assert all(",," not in cell.number_format for cell in row), row[0].value


def test_a_limit_says_in_which_unit_it_is_typed() -> None:
    changes = ("limits.site_mw=2.5", "limits.capex_usd=60000000", "limits.days=50")
    sheet = opened(made("h200-1024-ndr", *changes))["Summary"]
    rules = {str(rule.sqref): rule for rule in sheet.data_validations.dataValidation}
    units = {row[2].value: row[5] for row in sheet.iter_rows(min_row=7) if row[5].style == "Input"}
    assert {unit: cell.value for unit, cell in units.items()} == {"days": 50, "M USD": 60, "MW": 2.5}
    for unit, cell in units.items():
        rule = rules[cell.coordinate]
        assert (rule.type, rule.operator, rule.promptTitle) == (
            "decimal",
            "greaterThanOrEqual",
            f"Limit in {unit}",
        )
        assert f"As planned: {cell.value:g} {unit}." in rule.prompt


@pytest.mark.parametrize(
    ("changes", "megawatts"),
    [
        (("limits.site_mw=2.25", "site.limit_mw=null"), 2.25),
        (("limits.site_mw=null", "site.limit_mw=2.75"), 2.75),
        (("limits.site_mw=2.25", "site.limit_mw=2.75"), 2.25),
        (("limits.site_mw=2.75", "site.limit_mw=2.25"), 2.25),
        (("limits.site_mw=0.5", "site.limit_mw=null"), 0.5),
        (("limits.site_mw=null", "site.limit_mw=null"), None),
    ],
)
def test_the_limit_of_power_stands_beside_the_peak_wherever_it_was_set(
    changes: tuple[str, ...], megawatts: float | None
) -> None:
    evaluation = made("h200-1024-ndr", *changes)
    content = io.BytesIO(workbook_bytes(evaluation))
    sheet = openpyxl.load_workbook(content, data_only=True)["Summary"]
    rows = {row[10].value: row for row in sheet.iter_rows(min_row=7) if row[10].value in evaluation.ledger}
    peak = rows["power.facility_peak_w"]
    assert (peak[2].value, peak[5].value) == ("MW", megawatts)
    assert peak[6].value == (None if megawatts is None else "missed" if megawatts < 1 else "met")
    assert judged(evaluation) == [rows[key][6].value for key in limits(evaluation)]


@pytest.mark.parametrize("name", shipped_scenarios())
def test_the_verdict_speaks_of_as_many_limits_as_the_table_judges(name: str) -> None:
    evaluation = made(name)
    sheet = openpyxl.load_workbook(io.BytesIO(workbook_bytes(evaluation)), data_only=True)["Summary"]
    found = Counter(row[6].value for row in sheet.iter_rows(min_row=7) if row[6].value in ("met", "missed"))
    assert found == Counter(judged(evaluation))
    said = str(sheet["A2"].value)
    count = re.search(r"Meets (?:its limit|all limits) \((\d+)\)|Misses \d+ of (\d+) limits", said)
    stated = 0 if count is None else int(count[1] or count[2])
    assert stated == found.total(), said


def judged(evaluation: Evaluation) -> list[str]:
    """Whether the plan meets each of its limits."""
    ledger = evaluation.ledger
    return ["met" if ledger.scalar(key) <= limit else "missed" for key, limit in limits(evaluation).items()]


def test_prompts_of_inputs_are_in_words_of_people(plan: Evaluation, book: Workbook) -> None:
    prompts = {str(rule.sqref): rule.prompt for rule in book[INPUTS].data_validations.dataValidation}
    for prompt in prompts.values():
        assert not re.search(r"\d\.?\d*e[+-]?\d|\bfraction\b", prompt), prompt
    layout = layout_of(plan)
    said = {
        line.unit: prompts[f"C{layout.spots[line.key].row + 1}"]
        for group in layout.followed
        for line in group.lines
    }
    assert re.search(r"As planned: [\d,.]+ %", said["fraction"])
    assert re.search(r"As planned: [1-9][\d,]+ Mtokens\.$", said["Mtokens"])
    phased = made("h200-phased")
    row = layout_of(phased).spots["phase.second.order_month"].row + 1
    rules = opened(phased)[INPUTS].data_validations.dataValidation
    prompt = next(rule.prompt for rule in rules if str(rule.sqref) == f"C{row}")
    assert re.search(r"As planned: month \d+\.$", prompt)


def test_nothing_stands_beside_an_input_that_was_not_changed(plan: Evaluation) -> None:
    content = io.BytesIO(workbook_bytes(plan))
    formulas, shown = (openpyxl.load_workbook(content, data_only=only)[INPUTS] for only in (False, True))
    texts = [cell for (cell,) in formulas.iter_rows(min_row=4, min_col=8, max_col=8) if cell.data_type == "f"]
    assert len(texts) > 100
    for cell in texts:
        assert cell.value == f'=IF(C{cell.row}<>G{cell.row},"changed","")'
        assert shown.cell(cell.row, 8).value in (None, "")


def test_the_command_that_makes_it_again_can_be_pasted_into_a_shell() -> None:
    evaluation = made("h100-8-lab", "name=a; rm -rf $HOME", "site.pue=1.3")
    row = next(row for row in opened(evaluation)["Summary"].iter_rows() if row[0].value == "To make it again")
    assert row[1].value == "planner run h100-8-lab --set 'name=a; rm -rf $HOME' --set site.pue=1.3 -o reports"


def test_names_are_valid_and_different() -> None:
    names = excel_names(["a-b.c", "a_b.c", "A_b.c", "r1c1", "b300", "1st", "x" * 400, "site.pue"])
    assert len({name.lower() for name in names.values()}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z_][\w.]*", name) and len(name) <= 255 for name in names.values())
    assert names["b300"] == "_b300"


UPRIGHT = (
    "Timing",
    "Performance",
    "Capex",
    "Network share",
    "Power chain",
    "Opex",
    "Depreciation",
    "Finance",
    "Tax",
    "Metrics",
)


def printed_width(sheet: Any) -> float:
    """Width of the columns that are printed, in digits."""
    last = range_boundaries(str(sheet.print_area).split("!")[-1])[2]
    width = {
        column: found.width
        for found in sheet.column_dimensions.values()
        for column in range(found.min, found.max + 1)
    }
    return sum(width.get(column, 8.43) for column in range(1, last + 1))


@pytest.mark.parametrize("name", ["h200-1024-ndr", "h200-phased"])
def test_print_is_large_enough_to_read_and_leaves_out_keys_and_months(name: str) -> None:
    book = opened(made(name))
    for sheet in book.worksheets:
        # At seven points for ten, a page holds so many digits beside each other.
        assert printed_width(sheet) < (215 if sheet.page_setup.orientation == "landscape" else 145), sheet
        keys = [cell.column for row in sheet.iter_rows(max_row=7) for cell in row if cell.value == "Key"]
        last = range_boundaries(str(sheet.print_area).split("!")[-1])[2]
        if sheet.title not in ("Cash flow", "Changes"):  # its roll-up has years there; keys are its content
            assert all(column > last for column in keys), sheet
        if sheet.title in MONTHLY and sheet.title != "Cash flow":
            assert last == FIRST_MONTH - 2
    cash = book["Cash flow"]
    left, top, right, bottom = range_boundaries(str(cash.print_area).split("!")[-1])
    assert str(cash.cell(top, left).value).startswith("By year")
    assert str(cash.cell(bottom, left).value).startswith("Net cash")
    assert cash.cell(bottom, right).value is not None
    assert cash.cell(bottom, right + 1).value is None


def test_sheets_print_with_repeated_heads(book: Workbook) -> None:
    for sheet in book.worksheets:
        assert sheet.page_setup.orientation == ("portrait" if sheet.title in UPRIGHT else "landscape")
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert sheet.title == "Summary" or sheet.print_title_rows
    assert book["Summary"].page_setup.fitToHeight in (None, 1)  # 1 is what a file without it means
    assert book.properties.creator.startswith("cluster-planner")


def test_a_thousand_gpus_take_under_a_third_of_a_second(plan: Evaluation) -> None:
    workbook_bytes(plan)
    spent: list[Any] = []
    for _ in range(3):
        start = time.process_time()
        workbook_bytes(plan)
        spent.append(time.process_time() - start)
    assert min(spent) < 0.35


def test_the_cable_schedule_is_summed_by_a_formula(plan: Evaluation, book: Workbook) -> None:
    assert plan.built is not None
    classes = plan.built.cluster.cabling.classes
    sheet = book["Cables"]
    last = 5 + len(classes)
    assert [sheet.cell(row, 3).value for row in range(6, last + 1)] == [one.links for one in classes]
    assert sheet.cell(last + 1, 3).value == f"=SUM(C6:C{last})"
    names = [sheet.cell(row, 1).value for row in range(6, last + 1)]
    assert len(set(names)) == len(names)
    shown = openpyxl.load_workbook(io.BytesIO(workbook_bytes(plan)), data_only=True)["Cables"]
    assert shown.cell(last + 1, 3).value == sum(row.links for row in plan.built.cluster.cabling.rows)


def test_a_lab_has_nothing_to_cable_and_says_so() -> None:
    assert opened(made("h100-8-lab"))["Cables"]["A6"].value.startswith("No network joins the servers")


def test_shares_and_the_power_chain_have_sheets_of_their_own(plan: Evaluation) -> None:
    spots = layout_of(plan).spots
    for key, spot in spots.items():
        if key.startswith("share."):
            assert spot.sheet == "Network share", key
        if key.startswith(("power.chain.", "power.ups.", "power.transformer.", "power.utility.")):
            assert spot.sheet == "Power chain", key
        if key.startswith("design.cabling."):
            assert spot.sheet == "Cables", key
    assert spots["share.cost.network_fraction"].sheet == "Network share"
    assert spots["power.chain.ups_loss_w"].sheet == "Power chain"


def test_a_payback_stays_without_an_error_when_an_edit_makes_it_never_come() -> None:
    evaluation = made("h100-8-lab", "money.sell_usd_per_gpu_hour=9")
    assert evaluation.ledger.scalar("metrics.payback_months") > 0
    named = opened(evaluation)["Metrics"]
    rows = {str(row[4].value): str(row[2].value) for row in named.iter_rows(min_row=5)}
    assert rows["metrics.payback_months"].startswith("=IFERROR(")
    assert rows["metrics.payback_months"].endswith('"n/a")')
    assert rows["metrics.discounted_payback_months"].startswith("=IFERROR(")
