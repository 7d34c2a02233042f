"""Checks: formulas that must agree, each with both sides; `check_sheet` draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from planner.design.bom import AssetClass
from planner.ledger.excel import formula
from planner.ledger.nodes import Const, Expr, added, ref, sum_months
from planner.ledger.solve import evaluate
from planner.power.pue import PARTS
from planner.present.workbook.calc import Frame
from planner.present.workbook.cells import SheetCells, letters, quoted
from planner.present.workbook.check_sheet import Check
from planner.present.workbook.layout import (
    BOM,
    BOM_COST,
    CASH,
    CHECKS,
    FIRST_MONTH,
    FIRST_YEAR,
    INPUT_COUNT_ROW,
    SUMMARY,
    TIMING,
)
from planner.present.workbook.sheet import Sheet
from planner.present.workbook.tables import Years, bill_total_row
from planner.scenario.money import Discounting


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
        *_parts(frame, agree),
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
        line
        for line in built.capex.classes
        if line.key.removeprefix("capex.").removesuffix("_usd") not in set(AssetClass)
    ]
    total = f"{quoted(BOM)}${letters(BOM_COST)}${bill_total_row(frame) + 1}"
    left = "+".join([total, *(cells.at(line.key, None) for line in others)])
    value = sum(frame.value(row.cost) for row in built.bom) + sum(frame.value(line) for line in others)
    right = built.capex.total
    return Check(
        "Bill of materials, installation, construction and all else make the purchase", left, value,
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


def _parts(frame: Frame, agree: Agree) -> list[Check]:
    """Servers, networks and storage together are the whole bill and the whole load."""
    built = frame.evaluation.built
    assert built is not None
    return [
        agree(
            "Network share: the parts make the bill of materials", ref("share.cost.whole_usd"),
            added(row.cost for row in built.bom),
        ),
        agree("Power: IT, losses and cooling make the power at the meter", _from_meter(frame), ref("power.facility_w")),
        agree("Network share: the parts make the IT load", ref("share.power.whole_w"), ref("power.it_w")),
    ]  # fmt: skip


def _from_meter(frame: Frame) -> Expr:
    """What the drawing of where a watt goes adds up: the load, each loss and each part of cooling."""
    losses = [key for key in frame.ledger.lines if key.startswith("power.chain.") and key.endswith("_loss_w")]
    cooling = [f"power.cooling.{part}_w" for part in PARTS]
    return added(ref(key) for key in ("power.it_w", *(losses or ["power.distribution_loss_w"]), *cooling))


def _depreciation(frame: Frame, agree: Agree) -> list[Check]:
    """Charges within the time axis and the slice after it make the amount."""
    built = frame.evaluation.built
    assert built is not None
    found = []
    for name, amount in (
        ("server", built.capex.compute), ("network", built.capex.network), ("facility", built.capex.building),
    ):  # fmt: skip
        if amount is None:
            continue
        share = "network" if name == "network" else "server"
        if name == "facility" and built.time.building is not None:
            left: Expr = 1 - _last(frame, "book.facility_building_written_off_fraction")
        else:
            left = added(
                ref(getattr(phase, f"{share}_share"))
                * (1 - _last(frame, f"book.{name}_{phase.id}_written_off_fraction"))
                for phase in built.time.phases
            )
        charged = sum_months(f"book.depreciation_{name}_usd")
        later = ref(amount) * left
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
    names = (
        "capex",
        "opex",
        "residual",
        "end",
        "deposits",
        *(("tax",) if "tco.tax_npv_usd" in ledger else ()),
    )
    whole = agree(
        "Present values of purchase, running, resale and tax make the whole",
        added(ref(f"tco.{name}_npv_usd") for name in names), ref("tco.npv_usd"),
    )  # fmt: skip
    if frame.evaluation.loaded.scenario.money.discounting is not Discounting.MONTHS:
        sold = "Hours sold at their levelised cost, over cost"
        return [agree(sold, ref("metrics.levelised_cover_ratio"), Const(1.0)), whole, *_loan(frame, agree)]
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
    return [
        Check(
            "Hours sold at their levelised cost are worth what they cost",
            f"SUMPRODUCT({row('timing.gpu_hours')}*{price}/{discount})", revenue,
            f"-SUMPRODUCT({row('cash.cost_usd')}/{discount})", -cost,
            "the difference is the net present value at that price: zero",
        ),
        whole,
        *_loan(frame, agree),
    ]  # fmt: skip


def _loan(frame: Frame, agree: Agree) -> list[Check]:
    """A loan ends at zero: what is repaid is what was borrowed and the interest added to it."""
    if "debt.service_usd" not in frame.ledger:
        return []
    repaid = sum_months("debt.service_usd") - sum_months("debt.interest_usd")
    owed = sum_months("debt.draw_usd") + sum_months("debt.capitalised_interest_usd")
    return [agree("Debt: what is repaid is what was borrowed and the interest added to it", repaid, owed)]


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
