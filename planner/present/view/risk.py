"""What could move the decision: ranges of inputs by what they weigh, and odds where there are draws."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from planner.evaluate import Range
from planner.ledger import Axis, Kind
from planner.ledger.lines import Line
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Figure, Section, Table
from planner.present.view.outcomes import OUTCOMES, limit_of, odds_of
from planner.present.view.reading import Reading, number, share, words
from planner.present.view.risk_parts import risk_figures, risk_lead, risk_notes, risk_tables

LISTED = 10
RATES = {
    "site.electricity_usd_per_kwh": "tco.opex_energy_npv_usd",
    "power.pue": "tco.opex_energy_npv_usd",
    "site.colocation_usd_per_kw_month": "tco.opex_space_npv_usd",
    "assumption.support_fraction_per_year": "tco.opex_support_npv_usd",
    "assumption.staff_usd_per_fte_year": "tco.opex_staff_npv_usd",
    "assumption.insurance_fraction_per_year": "tco.opex_insurance_npv_usd",
    "assumption.installation_fraction": "capex.installation_usd",
    "assumption.cdu_price_usd_per_kw": "capex.cooling_usd",
    "site.construction_usd_per_w": "capex.facility_usd",
}
"""Rates that scale one line of the cost of ownership, and that line."""
NEVER = ("assumption.model_band", "watts.")
QUANTILES = tuple(step / 20 for step in range(1, 20))


@dataclass(frozen=True, slots=True)
class Weighed:
    """An input with a range, and what the range weighs."""

    line: Line
    value: float
    low: float
    high: float
    weight: float


def ranged(reading: Reading) -> list[Weighed]:
    """Given scalar lines with a range, weighed by its width over the value."""
    found = []
    for line in reading.ledger:
        if line.kind is not Kind.GIVEN or line.axis is not Axis.SCALAR or line.key.startswith(NEVER):
            continue
        value = reading.value(line)
        low = value if line.low is None else line.low
        high = value if line.high is None else line.high
        if high > low and value:
            found.append(Weighed(line, value, low, high, (high - low) / abs(value)))
    return found


def cost_inputs(reading: Reading) -> list[Weighed]:
    """Prices and rates by what their range moves in the cost of ownership, as a share of it.

    A price enters its part's cost in proportion, so this is the range's width times the cost's share;
    what follows a price (installation, support, resale) is left out.
    """
    total = reading.value("tco.npv_usd")
    costs = {key: reading.value(line) for key, line in RATES.items() if reading.has(line)}
    for row in reading.built.bom:
        costs[row.price.key] = costs.get(row.price.key, 0.0) + reading.value(row.cost)
    found = [
        Weighed(one.line, one.value, one.low, one.high, one.weight * costs[one.line.key] / total)
        for one in ranged(reading)
        if one.line.key in costs
    ]
    return sorted(found, key=lambda one: (-one.weight, one.line.key))


def time_inputs(reading: Reading) -> list[Weighed]:
    """Inputs that the predicted performance rests on, by the width of their range as a share of its larger end.

    A share of the value says nothing where the value is all but off, as an exponent of 0.001 between 0 and 8.
    """
    keys: set[str] = set()
    performance = reading.built.performance
    for name in (*(one.key for one in performance.trained), *(one.key for one in performance.served)):
        for end in ("mfu_fraction", "goodput_fraction"):
            keys |= set(reading.ledger[f"{name}.{end}"].inputs)
    foreign: tuple[str, ...] = ()
    if not performance.served:
        foreign = ("assumption.serving_", "assumption.tail_")
    elif not performance.trained:
        foreign = ("assumption.training_",)
    found = [
        replace(one, weight=(one.high - one.low) / max(abs(one.low), abs(one.high)))
        for one in ranged(reading)
        if one.line.key in keys and not one.line.key.startswith(foreign)
    ]
    return sorted(found, key=lambda one: (-one.weight, one.line.key))


def model_errors(reading: Reading) -> list[tuple[Weighed, str]]:
    """Bands of the model itself, and the times that each scales as they are: of the step, else of the first fleet."""
    performance = reading.built.performance
    if performance.trained:
        found = {f"{performance.trained[0].key}.model_error_ratio": "the step and the training time"}
    elif performance.served:
        key = performance.served[0].key
        found = {
            f"{key}.first_token_error_ratio": "the time to the first token",
            f"{key}.model_error_ratio": "the time for each token",
        }
    else:
        return []
    widths = {one.line.key: one for one in ranged(reading)}
    return [(widths[key], said) for key, said in found.items() if key in widths]


def risk_section(reading: Reading) -> Section:
    """Odds where there are draws, else why there are none; the widest inputs in either case."""
    figures: tuple[Figure, ...] = ()
    tables = [
        _table(reading, cost_inputs(reading)[:LISTED], "cost"),
        _table(reading, time_inputs(reading)[:LISTED], "time"),
    ]
    missing = ""
    ranges, risk = reading.evaluation.ranges, reading.evaluation.risk
    if ranges:
        tables.insert(0, _results(reading))
        figures = tuple(_odds(reading, key, first=not at) for at, key in enumerate(_judged(reading)))
    else:
        missing = (
            "No draws were made for this report, so results carry no P10 to P90 and limits are judged by their "
            "margin alone. The inputs below are those whose ranges weigh most."
        )
    if risk is not None:
        # the exact swing of one result replaces the estimate from each price's own line
        tables = [*(one for one in tables if one.id != "widest-cost"), *risk_tables(reading, risk)]
        figures = (*risk_figures(reading, risk), *figures)
        return Section(
            "risk",
            "Risk",
            risk_lead(reading, risk),
            figures,
            tuple(tables),
            risk_notes(reading, risk),
            missing,
        )
    notes = (
        "Cost inputs are weighed exactly for their own line; what follows them (installation, support, resale) is "
        "left out.",
        "Inputs of the performance model are ranked by the width of their range alone: how far each moves the step "
        "isn't worked out here.",
    )
    return Section("risk", "Risk", "", figures, tuple(tables), notes, missing)


def _judged(reading: Reading) -> tuple[str, ...]:
    """The two outcomes whose limit is least sure to be met, in the bar's order."""
    ranges, odds = reading.evaluation.ranges, {}
    for one in OUTCOMES:
        found = ranges.get(one.judged_by or one.key)
        if (share_met := odds_of(found, limit_of(reading.evaluation.loaded, one))) is not None:
            odds[one.key] = share_met
    least = sorted(odds, key=lambda key: odds[key])[:2]
    return tuple(key for key in odds if key in least)


def range_text(one: Weighed) -> str:
    """P10 to P90 with the unit."""
    unit = one.line.unit
    return f"{fmt.quantity(one.low, unit)} to {fmt.quantity(one.high, unit)}"


def _table(reading: Reading, inputs: list[Weighed], what: str) -> Table:
    rows = [
        (
            Cell(one.line.label, key=one.line.key),
            reading.quantity(one.line.key),
            words(range_text(one)),
            share(one.weight),
            reading.letter(one.line.key),
        )
        for one in inputs
    ]
    caption = (
        "Cost inputs by what their range moves in the cost of ownership"
        if what == "cost"
        else "Inputs of the performance model by the width of their range"
    )
    return Table(
        f"widest-{what}",
        caption,
        (
            Column("Input", numeric=False),
            Column("Value"),
            Column("P10 to P90"),
            Column("Moves", "% of cost") if what == "cost" else Column("Width", "% of its larger end"),
            Column("Basis", numeric=False),
        ),
        tuple(rows),
    )


def _results(reading: Reading) -> Table:
    rows = []
    for outcome in OUTCOMES:
        found = reading.evaluation.ranges.get(outcome.key)
        if found is None or outcome.key not in reading.ledger:
            continue
        unit = reading.ledger[outcome.key].unit
        limit = limit_of(reading.evaluation.loaded, outcome)
        odds = odds_of(reading.evaluation.ranges.get(outcome.judged_by, found), limit)
        rows.append(
            (
                Cell(outcome.name, key=outcome.key),
                *(words(fmt.quantity(value, unit)) for value in (found.p10, found.p50, found.p90)),
                words(fmt.NOTHING if limit is None else limit.text(unit)),
                words(fmt.NOTHING) if odds is None else share(odds, 0),
            )
        )
    return Table(
        "ranges",
        "Results over the draws",
        (
            Column("Outcome", numeric=False),
            Column("P10"),
            Column("P50"),
            Column("P90"),
            Column("Limit"),
            Column("Met in", "% of draws"),
        ),
        tuple(rows),
    )


def quantiles(found: Range) -> list[tuple[float, float]]:
    """Quantiles of the draws as the tiles' P10 and P90 are made, see `planner.study.bands`."""
    return [(part, float(np.quantile(found.draws, part))) for part in QUANTILES]


def _odds(reading: Reading, key: str, *, first: bool) -> Figure:
    outcome = next(one for one in OUTCOMES if one.key == key)
    unit = reading.ledger[key].unit
    scale = 1e-6 if unit in ("USD", "W") else outcome.scale
    shown = {"USD": "M USD", "W": "MW", "s": "ms"}.get(unit, unit)
    limit = limit_of(reading.evaluation.loaded, outcome)
    assert limit is not None
    judged = reading.evaluation.ranges[outcome.judged_by or key]
    name = f"{outcome.name}, at peak" if outcome.judged_by else outcome.name
    points, odds = quantiles(judged), judged.odds_at_most(limit.value)
    return Figure(
        "C16" if first else "C16b",
        "odds",
        f"{outcome.name} stays within {limit.text(unit)} in {fmt.out_of_100(odds)} draws",
        "The curve is the share of draws at or below a value; the rule is the limit.",
        {
            "points": [{"value": value * scale, "odds": part * 100} for part, value in points],
            "limit": limit.value * scale, "unit": f"{name}, {shown}",
            "limit_text": f"limit: {fmt.out_of_100(odds)}",
        },
        Table(
            f"odds-{key.replace('.', '-')}",
            f"{name}: quantiles of the draws",
            (Column("Share of draws", "%"), Column("At or below", shown)),
            tuple((share(part, 0), number(value * scale)) for part, value in points),
        ),
    )  # fmt: skip
