"""The inputs: what a reader may change, and what needs a new run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from planner.evaluate import Evaluation
from planner.ledger import Kind, Line
from planner.present import format as fmt
from planner.present.workbook.calc import Frame, measured_profiles
from planner.present.workbook.cells import letters
from planner.present.workbook.constants import constant_label
from planner.present.workbook.headings import GROUPS, group_of
from planner.present.workbook.layout import (
    CHANGED,
    INPUT_CHANGED,
    INPUT_COUNT_ROW,
    INPUT_HEAD,
    INPUT_KEY,
    INPUT_PLANNED,
    INPUT_TABLE,
    INPUT_VALUE,
    INPUTS,
    Choice,
    InputGroup,
)
from planner.present.workbook.sheet import Sheet
from planner.present.workbook.styles import number_format, unit_text
from planner.sourced import Basis, Source

_HEAD: Final = (
    "Group", "Name", "Value", "Unit", "Low (P10)", "High (P90)", "As planned", "Changed", "Basis", "Source",
    "Date", "Key",
)  # fmt: skip
_WIDTHS: Final = (16, 62, 16, 13, 13, 13, 16, 10, 7, 60, 12, 52)


def scenario_leaves(evaluation: Evaluation) -> list[Choice]:
    """Every value the scenario states, with where it stands."""
    document, found = evaluation.loaded.document, []
    for path, value in _leaves(document.data, ()):
        place = document.places.get(path)
        where = "" if place is None else f"{place.path}:{place.line}" if place.line else place.path
        key = ".".join(str(part) for part in path)
        found.append(Choice(group_title(path[0]), key, _shown(value), where))
    return found


def scenario_choices(evaluation: Evaluation) -> list[Choice]:
    """Wishes that no given line stands for: names, dates, models, limits of the design."""
    represented = {line.source.where for line in evaluation.ledger if line.source is not None}
    measured = [
        Choice(GROUPS["performance"], f"calibration.measured.{number}", name, f"catalog/profiles/{name}.yaml")
        for number, name in enumerate(measured_profiles(evaluation))
    ]
    return measured + [
        choice
        for choice in scenario_leaves(evaluation)
        if choice.key.split(".", 1)[0] not in _ELSEWHERE
        and (isinstance(choice.value, str) or choice.where not in represented)
    ]


_ELSEWHERE: Final = ("schema_version", "name", "extends", "overrides", "limits")
"""Fields that stand on Summary, on Changes, or name the file."""


def _shown(value: Any) -> str | float:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return float(value) if isinstance(value, float | int) else str(value)


_SUFFIXES: Final = {
    "_usd": "USD", "_fraction": "fraction", "_percent": "%", "_s": "s", "_ms": "ms", "_hours": "h", "_months": "months",
    "_years": "years", "_m": "m", "_kw": "kW", "_mw": "MW", "_kwh": "kWh", "_gb": "GB", "_tokens": "tokens", "_c": "°C",
    "_trillion": "10^12", "_kg_per_kwh": "kg/kWh", "_usd_per_kwh": "USD/kWh", "_gbit_per_s": "Gbit/s",
    "_usd_per_gpu_hour": "USD/GPU-h", "_usd_per_kw_month": "USD/kW/month", "_billion": "10^9", "_k": "K",
}  # fmt: skip


def field_unit(choice: Choice) -> str:
    """Unit of a scenario's field, by the end of its name.

    >>> field_unit(Choice("Money", "money.horizon_months", 60.0, "")), field_unit(Choice("Site", "site.cooling", "air", ""))
    ('months', 'text')
    """
    if isinstance(choice.value, str):
        return "text"
    ends = (end for end in sorted(_SUFFIXES, key=len, reverse=True) if choice.key.endswith(end))
    return _SUFFIXES.get(next(ends, ""), "number")


def group_title(first: str) -> str:
    """Group of a scenario field."""
    return {"workloads": "Workload", "phases": "Phases"}.get(first) or group_of(first)


def _leaves(data: Any, path: tuple[Any, ...]) -> Iterable[tuple[tuple[Any, ...], Any]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _leaves(value, (*path, key))
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            yield from _leaves(value, (*path, index))
    elif data is not None:
        yield path, data


def draw_inputs(sheet: Sheet, frame: Frame) -> None:
    """Both zones with their groups, then the scenario's other wishes."""
    layout = frame.layout
    _header(sheet, frame)
    _zone(sheet, INPUT_HEAD + 1, "Followed here: change a value, and every sheet follows", "zone")
    for group in layout.followed:
        _group(sheet, frame, group, editable=True)
    _zone(
        sheet, layout.locked_row,
        f"Needs a new run (locked): another value is another design. Change the scenario, then: {frame.command}",
        "locked zone",
    )  # fmt: skip
    for group in layout.locked:
        _group(sheet, frame, group, editable=False)
    for row, choice in layout.choices:
        _choice(sheet, row, choice)
    _zone(
        sheet, layout.constants_row, "Numbers of formulas (locked): units and conventions, each in one cell", "locked zone"
    )  # fmt: skip
    for value, spot in layout.constants.items():
        _constant(sheet, frame, spot.row, value)
    if layout.tables:
        _zone(
            sheet, layout.tables_row, "Tables that formulas look up, values from column N on", "locked zone"
        )
    for row, line in layout.tables:
        _table(sheet, frame, row, line)
    last = layout.end[INPUTS]
    sheet.raw.autofilter(INPUT_HEAD, 0, last, len(_HEAD) - 1)
    _mark_changes(sheet, last)


def _header(sheet: Sheet, frame: Frame) -> None:
    sheet.text(
        0,
        0,
        "Edit the blue values on pale yellow in column C; everything else follows or is locked.",
        "title",
    )
    sheet.status(INPUT_COUNT_ROW, 0, frame.status)
    sheet.text(INPUT_COUNT_ROW, INPUT_PLANNED, "Inputs changed", "quiet")
    column, last = letters(INPUT_CHANGED), frame.layout.end[INPUTS] + 1
    text = f'=COUNTIF({column}{INPUT_HEAD + 2}:{column}{last},"{CHANGED}")'
    sheet.formula(INPUT_COUNT_ROW, INPUT_CHANGED, text, 0.0, "total", "0")
    sheet.head(INPUT_HEAD, _HEAD, right=frozenset({2, 4, 5, 6}))
    for column_at, width in enumerate(_WIDTHS):
        sheet.raw.set_column(column_at, column_at, width)
    sheet.raw.freeze_panes(INPUT_HEAD + 1, 3)


def _zone(sheet: Sheet, row: int, title: str, role: str) -> None:
    sheet.text(row, 0, title, role)
    for column in range(1, len(_HEAD)):
        sheet.raw.write_blank(row, column, None, sheet.styles.get(role))


def _group(sheet: Sheet, frame: Frame, group: InputGroup, *, editable: bool) -> None:
    sheet.text(group.row, 0, group.title, "heading")
    for column in range(1, len(_HEAD)):
        sheet.raw.write_blank(group.row, column, None, sheet.styles.get("heading"))
    for row, line in enumerate(group.lines, start=group.row + 1):
        value = frame.value(line)
        pattern = number_format(line.unit, value)
        sheet.text(row, 0, group.title, "quiet")
        sheet.text(row, 1, line.label)
        sheet.number(row, INPUT_VALUE, value, "input" if editable else "given", pattern)
        sheet.text(row, 3, unit_text(line.unit), "unit")
        for column, bound in ((4, line.low), (5, line.high)):
            if bound is not None:
                sheet.number(row, column, bound, "static", number_format(line.unit, bound))
        sheet.number(row, INPUT_PLANNED, value, "static", pattern)
        _changed(sheet, row)
        assert line.source is not None
        _source(sheet, row, line.source, frame)
        sheet.text(row, INPUT_KEY, line.key, "key")
        sheet.raw.set_row(row, None, None, {"level": 1})
        if editable:
            sheet.raw.data_validation(row, INPUT_VALUE, row, INPUT_VALUE, _validation(line, value, frame))


def _changed(sheet: Sheet, row: int) -> None:
    value, planned = letters(INPUT_VALUE), letters(INPUT_PLANNED)
    text = f'=IF({value}{row + 1}<>{planned}{row + 1},"{CHANGED}","")'
    sheet.formula(row, INPUT_CHANGED, text, "", "middle")


def _source(sheet: Sheet, row: int, source: Source, frame: Frame) -> None:
    parts = frame.evaluation.parts
    known, as_of = parts.catalog.sources, parts.as_of
    publication = known.get(source.source)
    sheet.text(row, 8, source.basis.letter, "middle")
    said = [
        publication.title if publication else "",
        source.note if not source.verified else "",
        source.where,
    ]
    sheet.text(row, 9, "; ".join(part for part in said if part), "quiet")
    # What the planner itself says, such as a default, is of the day of the plan.
    sheet.day(row, 10, source.as_of or ("" if source.basis is Basis.USER else as_of))


def _choice(sheet: Sheet, row: int, choice: Choice) -> None:
    sheet.text(row, 0, choice.group, "quiet")
    *above, last = choice.key.split(".")
    name = f"{above[-1]}, number {int(last) + 1}" if last.isdigit() and above else last
    sheet.text(row, 1, name.replace("_", " "))
    for column, role in ((INPUT_VALUE, "given"), (INPUT_PLANNED, "static")):
        if isinstance(choice.value, str):
            sheet.text(row, column, choice.value, role)
        else:
            sheet.number(row, column, choice.value, role, "General")
    _changed(sheet, row)
    sheet.text(row, 3, field_unit(choice), "unit")
    sheet.text(row, 8, "u", "middle")
    sheet.text(row, 9, choice.where, "quiet")
    sheet.text(row, INPUT_KEY, choice.key, "key")


def _constant(sheet: Sheet, frame: Frame, row: int, value: float) -> None:
    label, unit = constant_label(value, frame.ledger)
    sheet.text(row, 1, label)
    for column, role in ((INPUT_VALUE, "given"), (INPUT_PLANNED, "static")):
        sheet.number(row, column, value, role, "General")
    sheet.text(row, 3, unit_text(unit), "unit")
    _changed(sheet, row)
    sheet.text(row, 8, "P", "middle")
    sheet.text(row, 9, "by definition, or as the formula's own words on its sheet say", "quiet")
    sheet.day(row, 10, frame.evaluation.parts.as_of)
    sheet.text(row, INPUT_KEY, f"constant.{value:.10g}", "key")


def _table(sheet: Sheet, frame: Frame, row: int, line: Line) -> None:
    sheet.text(row, 1, line.label)
    sheet.text(row, 3, unit_text(line.unit), "unit")
    sheet.text(row, INPUT_KEY, line.key, "key")
    if line.source is not None:
        _source(sheet, row, line.source, frame)
    role = "given" if line.kind is Kind.GIVEN else "computed"
    for column, value in enumerate(frame.series(line), start=INPUT_TABLE):
        sheet.number(row, column, value, role, number_format(line.unit, value))


def _mark_changes(sheet: Sheet, last: int) -> None:
    area = (INPUT_HEAD + 1, INPUT_CHANGED, last, INPUT_CHANGED)
    alarm = {"type": "cell", "criteria": "==", "value": f'"{CHANGED}"', "format": sheet.styles.get("banner")}
    sheet.raw.conditional_format(*area, alarm)


def _validation(line: Line, value: float, frame: Frame) -> dict[str, Any]:
    """What may be typed, by unit; the message repeats the range that the source gives."""
    low, high, words = allowed_range(line, frame.ledger.months)
    if line.low is not None or line.high is not None:
        ends = [amount(end, line.unit) if end is not None else "open" for end in (line.low, line.high)]
        words += f" P10 to P90: {ends[0]} to {ends[1]}."
    message = f"{words} As planned: {with_unit(value, line.unit)}."
    rule: dict[str, Any] = {
        "validate": "integer" if line.unit == "month" else "decimal",
        "input_title": line.label[:32],
        "input_message": message[:255],
        "error_title": "Out of range",
        "error_message": words[:255],
    }
    if high is None:
        return {**rule, "criteria": ">=", "value": low}
    return {**rule, "criteria": "between", "minimum": low, "maximum": high}


def amount(value: float, unit: str) -> str:
    """A number as a reader types it, all its digits; a share with its sign.

    >>> amount(2e6, "Mtokens"), amount(0.0892, "USD/kWh"), amount(1.0, "fraction"), amount(1234567.5, "USD")
    ('2,000,000', '0.0892', '100 %', '1,234,567.5')
    """
    if unit.startswith("fraction"):
        return f"{fmt.plain(value * 100)} %"
    return fmt.plain(value) if abs(value) < 1e3 else fmt.written(value)


def with_unit(value: float, unit: str) -> str:
    """A number as a reader types it, with its unit.

    >>> with_unit(2e6, "Mtokens"), with_unit(0.03, "fraction/year"), with_unit(3.0, "month"), with_unit(8.0, "1")
    ('2,000,000 Mtokens', '3 % a year', 'month 3', '8')
    """
    text = amount(value, unit)
    if unit.startswith("fraction"):
        return text + unit.removeprefix("fraction").replace("/", " a ")
    if unit == "month":
        return f"month {text}"
    return text if unit == "1" else f"{text} {unit}"


def allowed_range(line: Line, months: int) -> tuple[float, float | None, str]:
    """Lowest and highest value a formula can work with, and both in words."""
    if line.key == "power.pue":
        return 1.0, 5.0, "A facility uses at least what its IT uses: 1 or more."
    if line.key.endswith("utilisation_fraction"):
        return 0.01, 1.0, "A share that costs are divided by: 1 % to 100 %."
    if line.unit == "fraction":
        return 0.0, 1.0, "A share: 0 % to 100 %."
    if line.unit.startswith("fraction"):
        return 0.0, 1.0, "A rate: 0 % to 100 %."
    if line.unit == "month":
        return 0.0, float(months - 1), f"A month of the time axis: 0 to {months - 1}."
    if line.unit in ("years", "h", "USD/GPU-h", "Mtokens"):
        return 0.01, None, "More than zero."
    return 0.0, None, "Zero or more."
