"""The risk of one result as figures and tables: what swings it, whose variance it is, what to do, how sure the draws are."""

from __future__ import annotations

from planner.finance.uncertainty import Factor, NextStep, Swing, Uncertainty, VarianceShare
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Figure, Table
from planner.present.view.reading import Reading, share, words

SHOWN = 10
"""Bars of a tornado before the one of all others."""
NAME = 44
"""Letters of a bar's name."""


def risk_lead(reading: Reading, risk: Uncertainty) -> str:
    """What the section says in two sentences."""
    label = reading.ledger[risk.key].label
    found = reading.evaluation.ranges.get(risk.key)
    unit = reading.ledger[risk.key].unit
    said = f"{label} is {fmt.quantity(risk.value, unit)} as planned"
    if found is not None:
        said += (
            f", and {fmt.quantity(found.p10, unit)} to {fmt.quantity(found.p90, unit)} (P10 to P90) over {risk.draws:,} "
            f"draws of {risk.inputs} inputs"
        )  # fmt: skip
    if risk.swings:
        said += f". {_sentence(risk.swings[0].factor.name)} swings it most"
    return f"{said}."


def risk_figures(reading: Reading, risk: Uncertainty) -> tuple[Figure, ...]:
    """The tornado and, where they were asked for, the shares of the variance."""
    found = []
    if risk.swings:
        found.append(_tornado(reading, risk))
    if risk.shares:
        found.append(_shares(reading, risk))
    return tuple(found)


def risk_tables(reading: Reading, risk: Uncertainty) -> list[Table]:
    """What to do next, the odds of every limit, and how the quantiles settle."""
    tables = [_steps(reading, risk)] if risk.steps else []
    if risk.odds:
        tables.append(_odds(reading, risk))
    if risk.convergence:
        tables.append(_convergence(reading, risk))
    return tables


def risk_notes(reading: Reading, risk: Uncertainty) -> tuple[str, ...]:
    """What the draws assume, and how they were made."""
    notes = [
        f"{risk.inputs} given numbers with a range are drawn: two halves of a normal distribution around the value, with "
        f"its P10 and P90; seed {risk.seed}. The design, the execution plan and the dates stay.",
        *(f"{one.name}: {one.value} ({one.where})." for one in risk.ties),
        *(
            f"{factor.name}: {factor.why}."
            for factor in dict.fromkeys(swing.factor for swing in risk.swings[:SHOWN])
            if factor.why
        ),
    ]
    if risk.shares:
        notes.append(
            "A first-order share goes when that input alone is known, a total share counts what it does together with "
            f"others; each from {risk.share_rows:,} pairs of draws."
        )
        notes.append(
            "How much an answer narrows P10 to P90 is the mean over the values it may turn out to have."
        )
    else:
        notes.append(
            "Shares of the variance, standard errors and how much each answer narrows the range: planner risk."
        )
    return tuple(notes)


def scaled(unit: str) -> tuple[float, str]:
    """Factor and name of the unit that bars of a line are drawn in.

    >>> scaled("USD"), scaled("W"), scaled("days")
    ((1e-06, 'M USD'), (1e-06, 'MW'), (1.0, 'days'))
    """
    if unit.startswith("fraction"):
        return 100.0, "%"
    return {"USD": (1e-6, "M USD"), "W": (1e-6, "MW"), "s": (1e3, "ms"), "kWh": (1e-6, "GWh")}.get(
        unit, (1.0, unit)
    )


def _tornado(reading: Reading, risk: Uncertainty) -> Figure:
    line = reading.ledger[risk.key]
    scale, unit = scaled(line.unit)
    shown = risk.swings[:SHOWN]
    widest = shown[0]
    return Figure(
        "C15",
        "tornado",
        f"{_sentence(widest.factor.name)} moves {_inside(line.label)} from "
        f"{fmt.quantity(min(widest.at_low, widest.at_high), line.unit)} to "
        f"{fmt.quantity(max(widest.at_low, widest.at_high), line.unit)}",
        "Each bar: the result with that input at its P10 and at its P90, all else as planned, which is the rule.",
        {
            "base": risk.value * scale,
            "unit": f"{line.label}, {unit}",
            "bars": [
                {
                    "name": cut(one.factor.name), "low": one.at_low * scale, "high": one.at_high * scale,
                    "low_text": f"{one.factor.name} at P10: {fmt.quantity(one.at_low, line.unit)}",
                    "high_text": f"{one.factor.name} at P90: {fmt.quantity(one.at_high, line.unit)}",
                }
                for one in (*shown, *((risk.rest,) if risk.rest is not None else ()))
            ],
        },
        swing_table(reading, risk),
    )  # fmt: skip


def swing_table(reading: Reading, risk: Uncertainty) -> Table:
    """The result at both ends of each input."""
    unit = reading.ledger[risk.key].unit

    def row(one: Swing) -> tuple[Cell, ...]:
        key = one.factor.keys[0] if one.factor.keys else ""
        ends = (one.factor.low, one.factor.high)
        return (
            Cell(one.factor.name, key=key),
            *(
                words(fmt.NOTHING if end is None else fmt.given(end, reading.ledger[key].unit))
                for end in ends
            ),
            words(fmt.quantity(one.at_low, unit)),
            words(fmt.quantity(one.at_high, unit)),
            words(_flips(risk, one)),
            reading.letter(key) if key else words(""),
        )

    rest = (risk.rest,) if risk.rest is not None else ()
    return Table(
        "swings",
        f"{reading.ledger[risk.key].label} at the P10 and P90 of each input",
        (
            Column("Input", numeric=False),
            Column("P10"),
            Column("P90"),
            Column("Result at P10"),
            Column("Result at P90"),
            Column("Flips the limit", numeric=False),
            Column("Basis", numeric=False),
        ),
        tuple(row(one) for one in (*risk.swings[:SHOWN], *rest)),
    )


def _flips(risk: Uncertainty, one: Swing) -> str:
    """Whether the result's limit is met at one end and missed at the other."""
    limit = next((odd.limit for odd in risk.odds if odd.key == risk.key), None)
    if limit is None:
        return fmt.NOTHING
    return "yes" if min(one.at_low, one.at_high) <= limit < max(one.at_low, one.at_high) else "no"


def _shares(reading: Reading, risk: Uncertainty) -> Figure:
    label = _inside(reading.ledger[risk.key].label)
    top = risk.shares[0]
    rest = next((one for one in risk.shares if one.factor is None), None)
    left = (
        ""
        if rest is None or len(risk.shares) < 2
        else f"; all that aren't listed, together {fmt.percent(max(0.0, rest.total), 0)} %"
    )
    return Figure(
        "C15b",
        "shares",
        f"{_named(top.factor)}: {fmt.percent(min(1.0, top.total), 0)} % of the variance of {label}{left}",
        "Sobol indices: dark, the share that goes when the input is known; light, the total, with what it does "
        "together with others. The line is two standard errors each way.",
        {
            "bars": [
                {
                    "name": cut(_named(one.factor)), "first": max(0.0, one.first) * 100, "total": max(0.0, one.total) * 100,
                    "from": max(0.0, one.total - 2 * one.total_error) * 100, "to": (one.total + 2 * one.total_error) * 100,
                    "text": f"{_named(one.factor)}: first order {fmt.percent(one.first)} %, total {fmt.percent(one.total)} %",
                }
                for one in risk.shares
            ]
        },
        share_table(reading, risk),
    )  # fmt: skip


def share_table(reading: Reading, risk: Uncertainty) -> Table:
    """First-order and total indices with their errors."""

    def row(one: VarianceShare) -> tuple[Cell, ...]:
        key = one.factor.keys[0] if one.factor is not None else ""
        cells = (one.first, one.first_error, one.total, one.total_error)
        return Cell(_named(one.factor), key=key), *(share(value) for value in cells)

    return Table(
        "shares",
        f"Shares of the variance of {_inside(reading.ledger[risk.key].label)}",
        (
            Column("Input", numeric=False),
            Column("First order", "%"),
            Column("Standard error", "points"),
            Column("Total", "%"),
            Column("Standard error", "points"),
        ),
        tuple(row(one) for one in risk.shares),
    )


def _steps(reading: Reading, risk: Uncertainty) -> Table:
    swings = {one.factor: one.width for one in risk.swings}
    worked_out = any(one.narrower_fraction is not None for one in risk.steps)

    def row(one: NextStep) -> tuple[Cell, ...]:
        unit = reading.ledger[risk.key].unit
        effect = (
            share(one.narrower_fraction)
            if one.narrower_fraction is not None
            else words(fmt.quantity(swings[one.factor], unit))
        )
        return (
            words(one.kind.value),
            Cell(one.factor.name, key=one.factor.keys[0]),
            effect,
            words(one.words),
        )

    return Table(
        "next-steps",
        "What to measure or negotiate next",
        (
            Column("Do", numeric=False),
            Column("Input", numeric=False),
            Column("Narrows P10 to P90 by", "%") if worked_out else Column("Swings it by"),
            Column("How, and how it is known so far", numeric=False),
        ),
        tuple(row(one) for one in risk.steps),
    )


def _odds(reading: Reading, risk: Uncertainty) -> Table:
    return Table(
        "missed-odds",
        "Chance of missing each limit",
        (
            Column("Outcome", numeric=False),
            Column("Limit"),
            Column("Stated in", numeric=False),
            Column("Missed in", "% of draws"),
            Column("Standard error", "points"),
        ),
        tuple(
            (
                Cell(reading.ledger[one.key].label, key=one.key),
                words(fmt.quantity(one.limit, reading.ledger[one.key].unit)),
                words(one.field),
                share(one.missed_fraction),
                share(one.error, 2),
            )
            for one in risk.odds
        ),
    )


def _convergence(reading: Reading, risk: Uncertainty) -> Table:
    unit = reading.ledger[risk.key].unit

    def cells(value: float, error: float | None) -> tuple[Cell, Cell]:
        return words(fmt.quantity(value, unit, 4)), words(
            fmt.NOTHING if error is None else fmt.quantity(error, unit, 2)
        )

    rows = tuple(
        (
            words(f"{one.draws:,}"),
            *cells(one.p10, None if one.errors is None else one.errors.p10),
            *cells(one.p50, None if one.errors is None else one.errors.p50),
            *cells(one.p90, None if one.errors is None else one.errors.p90),
        )
        for one in risk.convergence
    )
    return Table(
        "convergence",
        f"{reading.ledger[risk.key].label} by number of draws, with standard errors between hypercubes",
        (
            Column("Draws"), Column("P10"), Column("Error"), Column("P50"), Column("Error"), Column("P90"), Column("Error"),
        ),
        rows,
    )  # fmt: skip


def _named(factor: Factor | None) -> str:
    return "All other inputs together" if factor is None else factor.name


def cut(said: str, letters: int = NAME) -> str:
    """A name that fits beside its bar.

    >>> cut("Price of electricity"), cut("a" * 50, 10)
    ('Price of electricity', 'aaaaaaaaa…')
    """
    return said if len(said) <= letters else f"{said[: letters - 1].rstrip(' ,')}…"


def _sentence(said: str) -> str:
    return said[:1].upper() + said[1:]


def _inside(said: str) -> str:
    """A label within a sentence: no capital, unless it is an abbreviation."""
    return said[:1].lower() + said[1:] if said[1:2].islower() or said[1:2] == " " else said
