"""What is bought, what it costs over life, when the money is needed, and whether to own or rent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planner.design.bom import AssetClass
from planner.ledger.lines import Line
from planner.present import format as fmt
from planner.present.view.evidence import capex_shares, evidence_line
from planner.present.view.model import Cell, Column, Figure, Section, Table
from planner.present.view.reading import Reading, number, share, words
from planner.sourced import Source
from planner.units import MONTHS_PER_YEAR

MONTHS = 3
UNITS = (
    "unit.usd_per_gpu_hour", "unit.usd_per_gpu_hour_available", "unit.usd_per_gpu_hour_sold",
    "unit.usd_per_gpu_hour_goodput", "unit.usd_per_training_run", "unit.usd_per_mtoken_output",
)  # fmt: skip
UTILISATIONS = tuple(step / 20 for step in range(4, 21))
FROM_OWN_FUNDS = "Nothing is financed: purchases are paid from own funds."
TODAYS_PRICES = (
    "Prices, energy, rents and wages stay as they are on the plan's date, while the discount rate is nominal: "
    "later purchases aren't made cheaper, and late running costs are understated by inflation."
)


def _notes(reading: Reading) -> list[str]:
    """What holds for all amounts, by the terms that the scenario has."""
    money = reading.evaluation.loaded.scenario.money
    taxed = "after income tax; unit costs are before it" if money.tax is not None else "before tax"
    found = [f"All money is nominal and {taxed}."]
    found.append(
        FROM_OWN_FUNDS
        if money.debt is None
        else "The cost of ownership is that of the project, whoever finances it; what the loan changes stands with the owners' lines (metrics.equity)."
    )
    if reading.has("metrics.cover_kept") and not reading.value("metrics.cover_kept"):
        least, asked = (
            fmt.significant(reading.value(key)) for key in ("metrics.cover_least_ratio", "debt.cover_ratio")
        )
        found.append(
            f"The loan's terms are not kept: debt service is covered {least} times at the least, and the lender asks {asked}."
        )
    if money.escalation is None and money.price_erosion is None:
        found.append(TODAYS_PRICES)
    return found


def _server_life(reading: Reading) -> str:
    given = "money.depreciation.server_years"
    return given if reading.has(given) else "assumption.server_life_years"


def money_section(reading: Reading) -> Section:
    """C10 to C13, running and unit costs."""
    figures = [_capex(reading), _ownership(reading), _quarters(reading)]
    notes = _notes(reading)
    life = reading.value(_server_life(reading))
    if reading.evaluation.loaded.scenario.money.horizon_months > life * MONTHS_PER_YEAR:
        notes.append(
            f"The horizon is longer than the servers' book life of {life:g} years, and no server is replaced."
        )
    if reading.has("rent.usd_per_gpu_hour"):
        figures.append(_own_or_rent(reading))
    else:
        notes.append("Owning isn't compared with renting: the scenario names no rental offer (money.rental).")
    if not reading.has("cash.revenue_usd"):
        notes.append("No GPU-hours are sold (money.sell_usd_per_gpu_hour), so no payback is shown.")
    lead = (
        f"{fmt.money(reading.value('capex.total_usd'))} to buy, "
        f"{fmt.money(reading.value('opex.year1_usd'))} to run in the first year, "
        f"{fmt.money(reading.value('tco.npv_usd'))} over its life in today's money."
    )
    return Section("money", "Money", lead, tuple(figures), (_running(reading), _units(reading)), tuple(notes))


def steps_of(
    parts: list[tuple[str, float]], total: str, show: Callable[[float], str]
) -> list[dict[str, Any]]:
    """Rows of a waterfall: each starts where the one before ended, and the last is the sum."""
    rows: list[dict[str, Any]] = []
    at = 0.0
    for label, value in parts:
        rows.append(
            {
                "label": label,
                "start": at,
                "end": at + value,
                "value": value,
                "text": show(value),
                "kind": "part",
            }
        )
        at += value
    rows.append({"label": total, "start": 0.0, "end": at, "value": at, "text": show(at), "kind": "total"})
    return rows


def _capex(reading: Reading) -> Figure:
    total = reading.value("capex.total_usd")
    rows = []
    for line in _planned(reading):
        prices = _prices_of(reading, line)
        dates = sorted(source.as_of for source in prices if source is not None and source.as_of)
        rows.append(
            (
                words(line.label),
                reading.number(line.key, 1e-6),
                share(reading.value(line) / total),
                reading.letter(line.key),
                words(dates[0] if dates else fmt.NOTHING),
            )
        )
    rows.append(
        (
            words("Purchase"), reading.number("capex.total_usd", 1e-6), share(1.0),
            reading.letter("capex.total_usd"), words(""),
        )
    )  # fmt: skip
    largest = max(reading.built.capex.classes, key=reading.value)
    return Figure(
        "C10",
        "waterfall",
        f"The purchase is {fmt.money(total)}; {largest.label.lower().replace('gpus', 'GPUs')} are "
        f"{fmt.percent(reading.value(largest) / total, 0)} % of it",
        "Each class starts where the one above ended; the last bar is the sum.",
        {
            "steps": steps_of(
                [(line.label, reading.value(line)) for line in _planned(reading)],
                "Purchase",
                fmt.money,
            ),
            "evidence": capex_shares(reading),
        },
        Table(
            "capex",
            "Purchase by class",
            (
                Column("Class", numeric=False),
                Column("Cost", "M USD"),
                Column("Share", "%"),
                Column("Basis", numeric=False),
                Column("Oldest price", numeric=False),
            ),
            tuple(rows),
            total=True,
        ),
        evidence_line(reading),
    )


def _planned(reading: Reading) -> list[Line]:
    """Classes of the purchase that cost anything."""
    return [line for line in reading.built.capex.classes if reading.value(line)]


def _prices_of(reading: Reading, line: Line) -> list[Source | None]:
    kind = line.key.removeprefix("capex.").removesuffix("_usd")
    if kind not in set(AssetClass):
        return []
    return [row.price_source for row in reading.built.bom if row.demand.asset_class == kind]


def _ownership(reading: Reading) -> Figure:
    built, ledger = reading.built, reading.ledger
    parts: list[tuple[str, str, float]] = [
        (ledger["tco.capex_npv_usd"].label.removesuffix(", present value"), "tco.capex_npv_usd",
         -sum(float(ledger.value(line)[0].sum()) for line in built.capex.payments)),
    ]  # fmt: skip
    for line in built.opex.lines:
        key = f"tco.opex_{line.key.removeprefix('cash.opex_').removesuffix('_usd')}_npv_usd"
        nominal = -float(ledger.value(line)[0].sum())
        if nominal:
            parts.append((line.label, key, nominal))
    for name in ("residual", "end", "deposits", "tax"):
        if reading.has(f"cash.{name}_usd"):
            flow = ledger.value(f"cash.{name}_usd")[0]
            if flow.any():
                parts.append((ledger[f"cash.{name}_usd"].label, f"tco.{name}_npv_usd", -float(flow.sum())))
    rows = [
        (words(label), number(nominal / 1e6), reading.number(key, 1e-6), reading.letter(key))
        for label, key, nominal in parts
    ]
    rows.append(
        (
            words("Cost of ownership"), reading.number("tco.total_usd", 1e-6), reading.number("tco.npv_usd", 1e-6),
            reading.letter("tco.npv_usd"),
        )
    )  # fmt: skip
    total = reading.value("tco.npv_usd")
    running = reading.value("tco.opex_npv_usd")
    return Figure(
        "C11",
        "waterfall",
        f"Over its life it costs {fmt.money(total)} in today's money, of which running it is "
        f"{fmt.percent(running / total, 0)} %",
        "Present value of each line; resale counts against the cost.",
        {
            "steps": steps_of(
                [(label, reading.value(key)) for label, key, _ in parts], "Cost of ownership", fmt.money
            )
        },
        Table(
            "ownership",
            "Cost of ownership by line",
            (
                Column("Line", numeric=False),
                Column("Nominal", "M USD"),
                Column("Present value", "M USD"),
                Column("Basis", numeric=False),
            ),
            tuple(rows),
            total=True,
        ),
    )


def _quarters(reading: Reading) -> Figure:
    ledger, cash = reading.ledger, reading.built.cash
    net, closing = ledger.value(cash.net)[0], ledger.value(cash.cumulative)[0]
    into = ledger.value(cash.residual)[0].copy()
    if cash.revenue is not None:
        into = into + ledger.value(cash.revenue)[0]
    rows, quarters = [], []
    for first in range(0, ledger.months, MONTHS):
        last = min(first + MONTHS, ledger.months)
        came, flow = float(into[first:last].sum()), float(net[first:last].sum())
        after = float(closing[last - 1])
        name = f"Q{first // MONTHS + 1}"
        rows.append(
            (
                words(f"{name} (month {first})" if first == last - 1 else f"{name} (months {first} to {last - 1})"), number(came / 1e6), number((came - flow) / 1e6),
                number(flow / 1e6), number(after / 1e6),
            )
        )  # fmt: skip
        quarters.append(
            {
                "quarter": first // MONTHS + 1, "net": flow / 1e6, "cumulative": after / 1e6,
                "text": f"{name}: net {fmt.money(flow)}, cumulative {fmt.money(after)}",
            }
        )  # fmt: skip
    deepest = float(closing.min())
    when = int(closing.argmin())
    back = [month for month in range(when, ledger.months) if closing[month] >= 0]
    title = f"The most that has to be found is {fmt.money(-deepest)}, by month {when}"
    title += f"; it is back in month {back[0]}" if back else ""
    return Figure(
        "C12",
        "columns",
        title,
        "Columns are the net cash of a quarter, the line is the running total; out is negative.",
        {"quarters": quarters},
        Table(
            "cash",
            "Cash by quarter from the first payment",
            (
                Column("Quarter", numeric=False),
                Column("In", "M USD"),
                Column("Out", "M USD"),
                Column("Net", "M USD"),
                Column("Cumulative", "M USD"),
            ),
            tuple(rows),
        ),
    )


def offer_in_words(reading: Reading) -> str:
    """The rental offer compared with: its name, term, price and the price's date."""
    rental, line = reading.evaluation.parts.rental, reading.ledger["rent.usd_per_gpu_hour"]
    assert rental is not None
    assert line.source is not None
    months = rental.item.term_months
    term = f"{months} months committed" if months else "on demand"
    named = rental.item.name.lower()
    if not months and "reserved" in named:  # a block of days, ahead of time
        term = "no term"
    name = rental.item.name if term in named else f"{rental.item.name}, {term}"
    dated = f", {line.source.as_of}" if line.source.as_of else ""
    return f"{name}, at {fmt.given(reading.value(line), line.unit)}{dated}"


def _own_or_rent(reading: Reading) -> Figure:
    rental = reading.evaluation.parts.rental
    assert rental is not None
    committed = rental.item.term_months > 0
    price = reading.value("rent.usd_per_gpu_hour")
    own = reading.value("unit.usd_per_gpu_hour_available")
    planned = reading.value("money.utilisation_fraction")
    even = 1.0 if committed else reading.value("rent.break_even_utilisation_fraction")
    rows, points = [], []
    for used in UTILISATIONS:
        rent = price / used if committed else price
        rows.append((share(used, 0), number(own / used), number(rent)))
        points.append({"used": used, "own": own / used, "rent": rent})
    saved = reading.value("rent.saved_by_owning_usd")
    verdict = f"Owning {'saves' if saved >= 0 else 'costs'} {fmt.money(abs(saved))} against {offer_in_words(reading)}"
    if committed:
        title = f"{verdict}; both pay for idle hours, so utilisation doesn't decide"
        even_shown = None
    elif even < 1:
        title = f"{verdict}; they break even at {fmt.percent(even, 0)} % utilisation"
        even_shown = even
    else:
        title = f"{verdict}; owning costs more at any utilisation"
        even_shown = None
    return Figure(
        "C13",
        "crossing",
        title,
        "Cost of a scheduled GPU-hour by the share of available hours scheduled. Energy is that of the planned "
        "utilisation all along.",
        {
            "points": points, "planned": planned, "planned_text": f"plan {fmt.percent(planned, 0)} %",
            "even": even_shown,
            "even_text": "" if even_shown is None else f"break-even {fmt.percent(even, 0)} %",
        },
        Table(
            "own-rent",
            f"Own against rent: {offer_in_words(reading)}",
            (
                Column("Utilisation", "%"),
                Column("Own", "USD/GPU-h"),
                Column("Rent", "USD/GPU-h"),
            ),
            tuple(rows),
        ),
    )  # fmt: skip


def _running(reading: Reading) -> Table:
    ledger, built = reading.ledger, reading.built
    first = built.time.first_month
    rows = []
    for line in built.opex.lines:
        year = -float(ledger.value(line)[0][first : first + 12].sum())
        if line.key == "cash.opex_further_usd" and not year:
            continue  # what the scenario doesn't plan
        rows.append(
            (
                words(line.label),
                Cell(fmt.significant(year / 1e6), year / 1e6, line.key),
                reading.letter(line.key),
            )
        )
    rows.append((words("All"), reading.number("opex.year1_usd", 1e-6), reading.letter("opex.year1_usd")))
    return Table(
        "running",
        "Running costs, first twelve months in service",
        (Column("Line", numeric=False), Column("Cost", "M USD"), Column("Basis", numeric=False)),
        tuple(rows),
        total=True,
    )


def _units(reading: Reading) -> Table:
    rows = []
    for key in UNITS:
        if reading.has(key):
            line = reading.ledger[key]
            text, unit = fmt.significant(reading.value(key)), line.unit
            rows.append(
                (words(line.label), Cell(text, reading.value(key), key), words(unit), reading.letter(key))
            )
    return Table(
        "unit-costs",
        "Unit costs: present value of all costs over that of the hours",
        (
            Column("Unit", numeric=False),
            Column("Cost"),
            Column("Measured in", numeric=False),
            Column("Basis", numeric=False),
        ),
        tuple(rows),
    )
