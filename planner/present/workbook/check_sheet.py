"""The sheet of checks: both sides, what rounding explains, the result, and the master check of every sheet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from planner.present.workbook.layout import ANY_CHANGE, CHANGED, ORDER
from planner.present.workbook.sheet import Sheet

_HEAD: Final = ("Check", "Left", "Right", "Difference", "Allowed", "Result", "What it means")
FIRST: Final = 7
RESULT: Final = 5
"""Column of the results."""
_TOLERANCE_ROW, _LEFT_OUT_ROW = 4, 5
TOLERANCE: Final = 1e-9
"""Share of the larger side: office programs add up in another order than numpy."""


@dataclass(frozen=True, slots=True)
class Check:
    """Two sides as formulas without the equals sign, with their values.

    Attributes:
        planned: Compares with what the planner said: not judged once an input is changed.
    """

    name: str
    left: str
    left_value: float
    right: str
    right_value: float
    meaning: str = ""
    planned: bool = False

    @property
    def allowed(self) -> float:
        """Largest difference that rounding explains."""
        return TOLERANCE * max(1.0, abs(self.left_value), abs(self.right_value))

    @property
    def passes(self) -> bool:
        """Whether the sides agree as written, before any input is changed."""
        return abs(self.left_value - self.right_value) <= self.allowed


def status_text(checks: Iterable[Check], more: int = 0) -> str:
    """What every sheet's header says; ``more`` checks are known to pass."""
    results = [check.passes for check in checks]
    count, passed = len(results) + more, sum(results) + more
    if passed == count:
        return f"checks: {count} of {count} pass"
    return f"FAIL: only {passed} of {count} checks pass, see Checks"


def draw_checks(sheet: Sheet, checks: list[Check]) -> None:
    """The list, the tolerance as an input, and the master check."""
    assert sheet.name in ORDER
    last = FIRST + len(checks)
    sheet.text(0, 0, "Checks", "title")
    results = f"$F${FIRST + 1}:$F${last}"
    left_out = f'IF($B${_LEFT_OUT_ROW + 1}=0,"",", "&$B${_LEFT_OUT_ROW + 1}&" not judged: inputs changed")'
    passed = (
        f'=IF($B$4=$B$3,"checks: "&$B$4&" of "&$B$3&" pass"&{left_out},'
        f'"FAIL: only "&$B$4&" of "&$B$3&" checks pass, see Checks"&{left_out})'
    )
    sheet.formula(1, 0, passed, status_text(checks), "status")
    sheet.text(2, 0, "Checks judged")
    sheet.formula(
        2, 1, f'=COUNTIF({results},"pass")+COUNTIF({results},"FAIL")', float(len(checks)), "formula", "0"
    )
    sheet.text(3, 0, "Checks passed")
    sheet.formula(
        3, 1, f'=COUNTIF({results},"pass")', float(sum(one.passes for one in checks)), "formula", "0"
    )
    sheet.text(
        _LEFT_OUT_ROW, 0, "Checks not judged, since they compare with the plan and inputs were changed"
    )
    sheet.formula(_LEFT_OUT_ROW, 1, f'=COUNTIF({results},"{CHANGED}")', 0.0, "formula", "0")
    sheet.text(_TOLERANCE_ROW, 0, "Tolerance, as a share of the larger side (an input)")
    sheet.number(_TOLERANCE_ROW, 1, TOLERANCE, "input", "0E+00")
    sheet.raw.data_validation(
        _TOLERANCE_ROW, 1, _TOLERANCE_ROW, 1,
        {"validate": "decimal", "criteria": "between", "minimum": 0, "maximum": 0.01,
         "input_message": "Share of the larger side by which two sides may differ."},
    )  # fmt: skip
    sheet.head(FIRST - 1, _HEAD, right=frozenset({1, 2, 3, 4}))
    for column, width in enumerate((68, 20, 20, 14, 14, 12, 58)):
        sheet.raw.set_column(column, column, width)
    sheet.raw.freeze_panes(FIRST, 1)
    for row, check in enumerate(checks, start=FIRST):
        _check(sheet, row, check)
    area = (FIRST, 5, last, 5)
    alarm = {"type": "cell", "criteria": "==", "value": '"FAIL"', "format": sheet.styles.get("banner")}
    sheet.raw.conditional_format(*area, alarm)


def _check(sheet: Sheet, row: int, check: Check) -> None:
    pattern = "#,##0.00####" if abs(check.right_value) < 1e6 else "#,##0.00"
    difference = check.left_value - check.right_value
    if abs(difference) <= check.allowed * 1e-3:
        difference = 0.0  # as office programs show a difference of two numbers that rounding alone parts
    sheet.text(row, 0, check.name)
    sheet.formula(row, 1, f"={check.left}", check.left_value, "link", pattern)
    if check.right:
        sheet.formula(row, 2, f"={check.right}", check.right_value, "link", pattern)
    else:
        sheet.number(row, 2, check.right_value, "static", pattern)
    here = row + 1
    sheet.formula(row, 3, f"=B{here}-C{here}", difference, "formula", "0.0E+00")
    sheet.formula(
        row,
        4,
        f"=$B${_TOLERANCE_ROW + 1}*MAX(1,ABS(B{here}),ABS(C{here}))",
        check.allowed,
        "formula",
        "0.0E+00",
    )
    judged = f'IF(ABS(D{here})<=E{here},"pass","FAIL")'
    if check.planned:
        judged = f'IF({ANY_CHANGE},"{CHANGED}",{judged})'
    sheet.formula(row, 5, f'=IFERROR({judged},"FAIL")', "pass" if check.passes else "FAIL", "said")
    sheet.text(row, 6, check.meaning, "quiet")
