"""Own, lease or rent: every option beside the reference, where they break even, and the operator's years."""

from __future__ import annotations

import math

from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Section, Table
from planner.present.view.reading import line_letters, words
from planner.study.options import Comparison, Option, Pair
from planner.units import MEGA, MONTHS_PER_YEAR

PER_HOUR = "USD/GPU-h"
NOTES = (
    "Every option delivers the same scheduled GPU-hours over the same months and is taken before income tax. Speed is "
    "that of the plan: a rented cluster with another network does other work in an hour.",
    "Rents stay as they are on their date; so does what energy and staff cost, unless the plan escalates it.",
    "Months are counted in money as it is paid, undiscounted; present values are at the plan's discount rate.",
    "A rate of return is that of the difference to the reference, whichever of the two is dearer at the start.",
)


def options_section(comparison: Comparison) -> Section:
    """Every table of the comparison, and what it says in a sentence."""
    tables = (_options(comparison), _pairs(comparison), _years(comparison), operator_table(comparison))
    left = tuple(f"Left out: {name}, {why}." for name, why in comparison.left_out)
    return Section(
        "options", "Own, lease or rent", lead(comparison), tables=tuple(one for one in tables if one.rows),
        notes=(*NOTES, *_said(comparison), *left),
    )  # fmt: skip


def _said(comparison: Comparison) -> tuple[str, ...]:
    """What was assumed, once for all options of which the same was."""
    by_notes: dict[tuple[str, ...], list[str]] = {}
    for one in comparison.options:
        notes = one.notes if one.can_be_had else (*one.notes, "an estimate of rents, which nobody offers")
        by_notes.setdefault(notes, []).append(one.label)
    return tuple(f"{'; '.join(labels)}: {'; '.join(notes)}." for notes, labels in by_notes.items() if notes)


def lead(comparison: Comparison) -> str:
    """What costs least, against the reference, and of which hours that is said."""
    best = min((one for one in comparison.options if one.can_be_had), key=lambda one: one.value("npv_usd"))
    reference = comparison.reference
    hours = comparison.ledger.value("timing.gpu_hours_sold")[0].sum()
    said = (
        f"For {fmt.significant(hours / MEGA)} M scheduled GPU-hours, {best.label} costs least: "
        f"{fmt.quantity(best.value('usd_per_gpu_hour'), PER_HOUR)}"
    )
    if best is reference:
        return f"{said}."
    other = fmt.quantity(reference.value("usd_per_gpu_hour"), PER_HOUR)
    return (
        f"{said}, against {other} of {reference.label} ({fmt.money(best.value('saved_npv_usd'))} less today)."
    )


def _options(comparison: Comparison) -> Table:
    letters = line_letters(comparison.ledger)
    rows = tuple(_row(comparison, one, letters) for one in comparison.options)
    return Table(
        "options", f"Options, against {comparison.reference.label}",
        (
            Column("Option", numeric=False), Column("Price of", numeric=False), Column("Rent", PER_HOUR),
            Column("Cost, NPV", "M USD"), Column("Cost", PER_HOUR), Column("Saved, NPV", "M USD"),
            Column("Rate of return", "% a year"), Column("Breaks even at", "% used"),
            Column("Reference is ahead from", "month"), Column("Basis", numeric=False),
        ),
        rows,
    )  # fmt: skip


def _row(comparison: Comparison, one: Option, letters: dict[str, str]) -> tuple[Cell, ...]:
    key = f"options.{one.id}"
    offer, is_reference = one.offer, one is comparison.reference
    rent = Cell(fmt.NOTHING) if offer is None else _cell(one, "rent_usd_per_gpu_hour")
    even = Cell(fmt.NOTHING)
    month = Cell(fmt.NOTHING)
    if not is_reference:
        even = share_cell(comparison.pair(one, comparison.reference).utilisation_fraction)
        month = _month(comparison.pair(comparison.reference, one).month)
    return (
        words(one.label), words(offer.as_of if offer is not None else fmt.NOTHING), rent,
        _cell(one, "npv_usd", MEGA), _cell(one, "usd_per_gpu_hour"), _cell(one, "saved_npv_usd", MEGA),
        Cell(fmt.NOTHING) if is_reference else _cell(one, "difference_rate_fraction", 0.01), even, month,
        words(letters.get(f"{key}.npv_usd", "")),
    )  # fmt: skip


def _cell(one: Option, name: str, unit: float = 1.0) -> Cell:
    value = one.value(name)
    key = f"options.{one.id}.{name}"
    if not math.isfinite(value):
        return Cell(fmt.NOTHING, key=key)
    return Cell(fmt.significant(value / unit), value / unit, key)


def share_cell(value: float | None) -> Cell:
    """A share in percent, or that there is none."""
    return Cell(fmt.NOTHING) if value is None else Cell(fmt.percent(value), value * 100)


def _month(value: int | None) -> Cell:
    return Cell(fmt.NOTHING) if value is None else Cell(fmt.count(value), float(value))


def _pairs(comparison: Comparison) -> Table:
    """Break-evens among the options that cost least, the reference included; all pairs stand in the JSON."""
    shown = sorted(comparison.options, key=lambda one: one.value("npv_usd"))[:5]
    rows = tuple(
        (
            words(pair.option.label), words(pair.other.label), share_cell(pair.utilisation_fraction),
            _month(pair.month),
        )
        for pair in comparison.pairs
        if pair.option in shown and pair.other in shown
        and _tells(comparison, pair)
    )  # fmt: skip
    return Table(
        "options-pairs", "Where the cheapest options break even with each other",
        (
            Column("Option", numeric=False), Column("Against", numeric=False), Column("Same cost at", "% used"),
            Column("Cheaper in total from", "month"),
        ),
        rows,
    )  # fmt: skip


def _tells(comparison: Comparison, pair: Pair) -> bool:
    """Whether a pair breaks even at all, and says more than the same pair the other way round."""
    if pair.month is not None:
        return True
    return pair.utilisation_fraction is not None and comparison.pair(pair.other, pair.option).month is None


def _years(comparison: Comparison) -> Table:
    """Cash of every option by year from the first payment."""
    months = comparison.options[0].cash.shape[0]
    starts = [0, *range(1, months, int(MONTHS_PER_YEAR))]
    spans = list(zip(starts, [*starts[1:], months], strict=True))
    rows = tuple(
        (words(one.label), *(_sum(one, first, end) for first, end in spans)) for one in comparison.options
    )
    heads = ("At once", *(f"Year {year}" for year in range(1, len(spans))))
    return Table(
        "options-years", "Cash by year, out of pocket negative",
        (Column("Option", numeric=False), *(Column(head, "M USD") for head in heads)), rows,
    )  # fmt: skip


def _sum(one: Option, first: int, end: int) -> Cell:
    value = float(one.cash[first:end].sum()) / MEGA
    return Cell(fmt.significant(value), value, f"options.{one.id}.cash_usd")


OPERATOR = (
    ("revenue_year{}_usd", "Revenue", "M USD", 1 / MEGA),
    ("revenue_year{}_usd_per_gpu_hour", "Revenue for a GPU-hour", PER_HOUR, 1.0),
    ("ebitda_year{}_usd", "EBITDA", "M USD", 1 / MEGA),
    ("ebitda_margin_year{}_fraction", "EBITDA margin", "%", 100.0),
)
METRICS = (
    ("metrics.payback_months", "Payback", "months", 1.0),
    ("metrics.irr_fraction", "Rate of return", "% a year", 100.0),
    ("metrics.cover_least_ratio", "Least cover of debt service (DSCR)", "", 1.0),
)


def operator_table(comparison: Comparison) -> Table:
    """Revenue for a GPU-hour, EBITDA, payback and cover of debt service, where hours are sold."""
    ledger = comparison.ledger
    years = [year for year in range(1, 16) if f"operator.ebitda_year{year}_usd" in ledger]
    rows = []
    for pattern, label, unit, scale in OPERATOR if years else ():
        keys = [f"operator.{pattern.format(year)}" for year in years]
        rows.append((words(label), words(unit), *(_line(comparison, key, scale) for key in keys)))
    for key, label, unit, scale in METRICS if years else ():
        if key in ledger:
            blank = [Cell("")] * (len(years) - 1)
            rows.append((words(label), words(unit), _line(comparison, key, scale), *blank))
    return Table(
        "options-operator", "Selling the hours, as the plan owns them",
        (Column("Of the operator", numeric=False), Column("", numeric=False), *(Column(f"Year {year}") for year in years)),
        tuple(rows),
    )  # fmt: skip


def _line(comparison: Comparison, key: str, scale: float) -> Cell:
    value = comparison.ledger.scalar(key) * scale
    if not math.isfinite(value):
        return Cell("never" if key.endswith("payback_months") else fmt.NOTHING, key=key)
    return Cell(fmt.significant(value), value, key)
