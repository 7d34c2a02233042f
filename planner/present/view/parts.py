"""What is ordered: the bill of materials, phases, lead times."""

from __future__ import annotations

from planner.design.bom import LABELS, BomRow
from planner.present import format as fmt
from planner.present.view.evidence import evidence_line
from planner.present.view.model import Cell, Column, Section, Table
from planner.present.view.quotes import quote_notes, quotes_table
from planner.present.view.reading import Reading, number, words


def parts_section(reading: Reading) -> Section:
    """Bill of materials and phases."""
    stale = sum(reading.number(row.price.key).stale for row in reading.built.bom)
    notes = [evidence_line(reading)]
    if stale:
        notes.append(
            f"† marks {stale} {'price' if stale == 1 else 'prices'} read more than 180 days before {reading.as_of}."
        )
    waits = [wait for row in reading.built.bom if (wait := _lead_weeks(row)) is not None]
    notes.append(
        f"The longest stated lead time is {fmt.significant(max(waits))} weeks."
        if waits
        else "The catalog states no lead times for these parts."
    )
    lead = f"{len(reading.built.bom)} kinds of parts; spares are bought with them."
    notes += quote_notes(reading)
    quoted = quotes_table(reading)
    tables = (_bill(reading), *(() if quoted is None else (quoted,)), _phases(reading))
    return Section("parts", "Parts", lead, (), tables, tuple(notes))


def _lead_weeks(row: BomRow) -> float | None:
    if row.quote is not None and row.quote.line.lead_time_weeks is not None:
        return row.quote.line.lead_time_weeks
    figure = getattr(row.demand.entry.item, "lead_time_weeks", None)
    return float(figure.value) if figure is not None else None


def _bill(reading: Reading) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for row in reading.built.bom:
        demand, price = row.demand, row.price
        weeks = _lead_weeks(row)
        bought, needed = reading.value(row.count), reading.value(demand.designed)
        rows.append(
            (
                words(demand.name if demand.unit == "1" else f"{demand.name} (m)"),
                words(LABELS[demand.asset_class]),
                reading.count(demand.designed.key),
                Cell(fmt.count(bought - needed), bought - needed),
                reading.count(row.count.key),
                reading.as_written(price.key),
                reading.number(row.cost.key, 1e-3),
                reading.letter(price.key),
                words(row.price_source.as_of if row.price_source is not None else fmt.NOTHING),
                words(fmt.NOTHING) if weeks is None else number(weeks),
            )
        )
    total = sum(reading.value(row.cost) for row in reading.built.bom)
    blank = words("")
    rows.append((words("All parts"), *[blank] * 5, number(total / 1e3), *[blank] * 3))
    return Table(
        "bill",
        "Bill of materials",
        (
            Column("Part", numeric=False),
            Column("Class", numeric=False),
            Column("In service"),
            Column("Spares"),
            Column("Bought"),
            Column("Price", "USD"),
            Column("Cost", "k USD"),
            Column("Basis", numeric=False),
            Column("Price of", numeric=False),
            Column("Lead time", "weeks"),
        ),
        tuple(rows),
        total=True,
    )


def _phases(reading: Reading) -> Table:
    rows = []
    wished = {phase.id: phase for phase in reading.evaluation.loaded.scenario.phases}
    fabric = {part.id: part for part in reading.built.fabric_phases}
    whole = reading.built.cluster.fabric
    for phase in reading.built.phases:
        wish, part = wished.get(phase.id), fabric.get(phase.id)
        leaves = part.leaves if part else whole.leaves
        upper = part.spines + part.cores if part else whole.spines + whole.cores
        rows.append(
            (
                words(phase.id),
                reading.count(f"phase.{phase.id}.gpus"),
                Cell(fmt.count(leaves), float(leaves)),
                Cell(fmt.count(upper), float(upper)),
                reading.percent(f"phase.{phase.id}.network_share_fraction"),
                words(wish.order if wish else reading.as_of),
                words(wish.in_service if wish else reading.as_of),
                reading.count(f"phase.{phase.id}.order_month"),
                reading.count(f"phase.{phase.id}.service_month"),
            )
        )
    return Table(
        "phases",
        "Phases of the purchase; months count from the first payment",
        (
            Column("Phase", numeric=False),
            Column("GPUs"),
            Column("Leaf switches"),
            Column("Spine and core switches"),
            Column("Of the network", "%"),
            Column("Order", numeric=False),
            Column("In service", numeric=False),
            Column("Order", "month"),
            Column("In service", "month"),
        ),
        tuple(rows),
    )
