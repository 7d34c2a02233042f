"""Checks: formulas that must agree, each with both sides, and a master check for every sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.ledger.excel import formula
from planner.ledger.nodes import Const, Expr, added, ref, sum_months
from planner.ledger.solve import evaluate
from planner.present.workbook.calc import Frame
from planner.present.workbook.cells import SheetCells, letters, quoted
from planner.present.workbook.layout import (
    BOM,
    BOM_COST,
    CASH,
    CHANGED,
    CHECKS,
    FIRST_MONTH,
    FIRST_YEAR,
    INPUT_CHANGED,
    INPUT_COUNT_ROW,
    INPUTS,
    ORDER,
    SUMMARY,
    TIMING,
)
from planner.present.workbook.sheet import Sheet
from planner.present.workbook.tables import Years, bill_total_row

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


def plan_checks(frame: Frame, years: Years, headlines: Iterable[str]) -> list[Check]:
    """All checks but those for error cells, which need every sheet drawn."""
    cells = SheetCells(frame.layout, CHECKS)

    def agree(name: str, left: Expr, right: Expr, meaning: str = "") -> Check:
        texts = [formula(side, cells)[1:] for side in (left, right)]
        values = [
            float(np.broadcast_to(evaluate(side, frame.ledger), (frame.ledger.n,))[0])
            for side in (left, right)
        ]
        return Check(name, texts[0], values[0], texts[1], values[1], meaning)

    return [
        _bill_is_capex(frame, cells),
        *_purchase(frame, agree),
        *_depreciation(frame, agree),
        *_cash(frame, cells, years, agree),
        *_shares(frame, agree),
        *_worth(frame, cells, agree),
        *_planned(frame, cells, headlines),
    ]


Agree = Callable[..., Check]


def _bill_is_capex(frame: Frame, cells: SheetCells) -> Check:
    built = frame.evaluation.built
    assert built is not None
    others = [
        line for line in built.capex.classes if line.key in ("capex.installation_usd", "capex.facility_usd")
    ]
    total = f"{quoted(BOM)}${letters(BOM_COST)}${bill_total_row(frame) + 1}"
    left = "+".join([total, *(cells.at(line.key, None) for line in others)])
    value = sum(frame.value(row.cost) for row in built.bom) + sum(frame.value(line) for line in others)
    right = built.capex.total
    return Check(
        "Bill of materials, installation and construction make the purchase", left, value,
        cells.at(right.key, None), frame.value(right),
    )  # fmt: skip


def _purchase(frame: Frame, agree: Agree) -> list[Check]:
    built = frame.evaluation.built
    assert built is not None
    bought = built.capex
    parts = [bought.compute, bought.network, *([bought.facility] if bought.facility else [])]
    found = [
        agree(f"{paid.label}: payments add up to the amount", -sum_months(paid), ref(amount))
        for paid, amount in zip(bought.payments, parts, strict=True)
    ]
    return [
        *found,
        agree("Compute, network and construction make the purchase", added(parts), ref(bought.total)),
    ]


def _depreciation(frame: Frame, agree: Agree) -> list[Check]:
    """Charges within the time axis and the slice after it make the amount."""
    built = frame.evaluation.built
    assert built is not None
    found = []
    for name, amount in (
        ("server", built.capex.compute), ("network", built.capex.network), ("facility", built.capex.facility),
    ):  # fmt: skip
        if amount is None:
            continue
        share = "network" if name == "network" else "server"
        charged = sum_months(f"book.depreciation_{name}_usd")
        later = ref(amount) * added(
            ref(f"phase.{phase.id}.{share}_share_fraction")
            * (1 - _last(frame, f"book.{name}_{phase.id}_written_off_fraction"))
            for phase in built.phases
        )
        found.append(
            agree(
                f"Depreciation, {name}: charged and still to charge make the basis",
                charged + later,
                ref(amount),
                "what is written off after the last month is on the left too",
            )
        )
    return found


def _last(frame: Frame, key: str) -> Expr:
    """Value of a series in the last month."""
    from planner.ledger.nodes import sum_year

    return sum_year(key, first=frame.ledger.months - 1, months=1)


def _cash(frame: Frame, cells: SheetCells, years: Years, agree: Agree) -> list[Check]:
    first, last = letters(FIRST_MONTH), letters(FIRST_MONTH + frame.ledger.months - 1)

    def row(key: str) -> str:
        spot = cells.spot(key)
        return f"{quoted(spot.sheet)}${first}${spot.row + 1}:${last}${spot.row + 1}"

    net = frame.ledger["cash.net_usd"]
    opening, closing = (frame.ledger.values[f"cash.{name}_usd"][0] for name in ("opening", "closing"))
    gap = float(np.abs(opening + frame.ledger.values[net.key][0] - closing).sum())
    start, end = letters(FIRST_YEAR), letters(FIRST_YEAR + years.count - 1)
    line = years.row(net) + 1
    return [
        Check(
            "Cash: opening and flow make the closing balance in every month",
            f"SUMPRODUCT(ABS({row('cash.opening_usd')}+{row(net.key)}-{row('cash.closing_usd')}))", gap,
            "0", 0.0, "sum over all months of the differences",
        ),
        agree("Cash: the last balance is the sum of all flows", _last(frame, "cash.closing_usd"), sum_months(net)),
        Check(
            "Cash: years add up to the months",
            f"SUM({quoted(CASH)}${start}${line}:${end}${line})", sum(frame.series(net)),
            formula(sum_months(net), cells)[1:], sum(frame.series(net)),
        ),
    ]  # fmt: skip


def _shares(frame: Frame, agree: Agree) -> list[Check]:
    built = frame.evaluation.built
    assert built is not None
    found = [
        agree(
            f"Shares of the phases: {label}",
            added(ref(f"phase.{phase.id}.{name}_share_fraction") for phase in built.phases),
            Const(1.0),
        )
        for name, label in (("server", "servers"), ("network", "network"))
    ]
    parts = [line for line in frame.ledger if line.key.startswith("outcome.parts.")]
    if parts:
        found.append(agree("Parts of the scheduled GPU time make the whole", added(parts), Const(1.0)))
    return found


def _worth(frame: Frame, cells: SheetCells, agree: Agree) -> list[Check]:
    """Selling every installed hour at its levelised cost gives a present value of zero."""
    ledger = frame.ledger
    first, last = letters(FIRST_MONTH), letters(FIRST_MONTH + ledger.months - 1)

    def row(key: str) -> str:
        spot = cells.spot(key)
        return f"{quoted(spot.sheet)}${first}${spot.row + 1}:${last}${spot.row + 1}"

    rate = ledger.scalar("money.discount_rate_monthly")
    worth = (1 + rate) ** np.arange(ledger.months)
    revenue = float(
        (ledger.values["timing.gpu_hours"][0] / worth).sum() * ledger.scalar("unit.usd_per_gpu_hour")
    )
    cost = float((ledger.values["cash.cost_usd"][0] / worth).sum())
    discount = (
        f"(1+{cells.at('money.discount_rate_monthly', None)})^{quoted(TIMING)}"
        + row("timing.month").split("!")[1]
    )
    price = cells.at("unit.usd_per_gpu_hour", None)
    parts = [ref(f"tco.{name}_npv_usd") for name in ("capex", "opex", "residual")]
    return [
        Check(
            "Hours sold at their levelised cost are worth what they cost",
            f"SUMPRODUCT({row('timing.gpu_hours')}*{price}/{discount})", revenue,
            f"-SUMPRODUCT({row('cash.cost_usd')}/{discount})", -cost,
            "the difference is the net present value at that price: zero",
        ),
        agree("Present values of purchase, running and resale make the whole", added(parts), ref("tco.npv_usd")),
    ]  # fmt: skip


def _planned(frame: Frame, cells: SheetCells, headlines: Iterable[str]) -> list[Check]:
    found = []
    for key in headlines:
        value = frame.ledger.scalar(key)
        if np.isfinite(value):
            found.append(
                Check(
                    f"As the planner said: {frame.ledger[key].label}",
                    cells.at(key, None),
                    value,
                    "",
                    value,
                    "judged while no input is changed",
                    planned=True,
                )
            )
    return found


def error_checks(sheets: Iterable[Sheet]) -> list[Check]:
    """No error cells; the first rows, which show the checks themselves, are left out."""
    found = []
    for sheet in sheets:
        start = 5 if sheet.name == SUMMARY else INPUT_COUNT_ROW + 2
        area = f"{quoted(sheet.name)}$A${start}:${letters(sheet.columns)}${sheet.rows + 1}"
        found.append(
            Check(
                f"No error on {sheet.name}",
                f"SUMPRODUCT(--ISERROR({area}))",
                0.0,
                "0",
                0.0,
                "cells with an error",
            )
        )
    return found


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
        changed = f"{quoted(INPUTS)}${letters(INPUT_CHANGED)}${INPUT_COUNT_ROW + 1}"
        judged = f'IF({changed}>0,"{CHANGED}",{judged})'
    sheet.formula(row, 5, f'=IFERROR({judged},"FAIL")', "pass" if check.passes else "FAIL", "said")
    sheet.text(row, 6, check.meaning, "quiet")
