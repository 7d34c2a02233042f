"""The power chain on one line, from the utility to the racks, and the energy of each month."""

from __future__ import annotations

from typing import Any

from planner.power.chain import STAGES
from planner.power.climate import MONTH_NAMES
from planner.power.pue import PARTS
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Figure, Table
from planner.present.view.reading import Reading, share, words
from planner.scenario.site import Housing

NAMES = {"transformer": "Transformers", "ups": "UPS", "rack_distribution": "Rack feeds"}


def _watts(reading: Reading, key: str) -> str:
    return fmt.quantity(reading.value(key), "W")


def _units(reading: Reading, stage: str) -> str:
    """Units of a stage and the rating of one, such as ``3 x 2.5 MVA, 2 carry the peak``."""
    if not reading.has(f"power.{stage}.units"):
        return ""
    units, needed = reading.value(f"power.{stage}.units"), reading.value(f"power.{stage}.units_needed")
    kw = reading.value(f"power.{stage}.unit_kw")
    size = f"{fmt.count(kw)} {'kVA' if stage == 'transformer' else 'kW'}"
    return f"{fmt.count(units)} x {size}, {fmt.count(needed)} needed"


def _shared(reading: Reading) -> str:
    """Whose transformers and UPS are drawn, where they aren't the plan's own."""
    if reading.evaluation.loaded.scenario.site.housing is Housing.OWN:
        return ""
    return " Transformers and UPS are the colocation building's, shared with its other tenants."


def _lost(reading: Reading, stage: str) -> str:
    key = f"power.chain.{stage}_loss_w"
    if not reading.has(key):
        return ""
    return f"loses {_watts(reading, key)}, {fmt.percent(reading.value(key) / reading.value('power.it_w'))} % of IT"


def _feeds(reading: Reading) -> list[str]:
    """Feeds of a rack of every kind of server."""
    found = []
    for key in reading.ledger.lines:
        if key.startswith("power.rack.") and key.endswith(".feeds"):
            server = key.removeprefix("power.rack.").removesuffix(".feeds")
            found.append(f"{fmt.count(reading.value(key))} to a rack of {server}")
    return found


def oneline_figure(reading: Reading) -> Figure:
    """C7b: what stands between the utility and the racks, how much of it, what it carries and loses."""
    meter = reading.value("power.facility_w")
    cooling = [f"power.cooling.{part}_w" for part in PARTS if reading.has(f"power.cooling.{part}_w")]
    utility = [
        f"{_watts(reading, 'power.facility_w')} under load",
        f"{_watts(reading, 'power.facility_peak_w')} at peak",
    ]
    if reading.has("power.utility.apparent_mva"):
        utility.append(f"{fmt.significant(reading.value('power.utility.apparent_mva'))} MVA connection")
    if reading.has("power.load_factor_fraction"):
        utility.append(f"load factor {fmt.percent(reading.value('power.load_factor_fraction'), 0)} %")
    stages: list[dict[str, Any]] = [{"name": "Utility", "lines": utility}]
    for stage in reversed(STAGES):
        lines = [_units(reading, stage), _lost(reading, stage)]
        if stage == "ups" and reading.has("power.ups.load_fraction"):
            lines.insert(
                1, f"{fmt.percent(reading.value('power.ups.load_fraction'), 0)} % loaded over a year"
            )
        if stage == "rack_distribution":
            lines = [*_feeds(reading), *lines]
        stages.append({"name": NAMES[stage], "lines": [line for line in lines if line]})
    racks = reading.built.cluster.layout.racks
    stages.append(
        {
            "name": "IT load",
            "lines": [
                f"{_watts(reading, 'power.it_w')} under load", f"{_watts(reading, 'power.it_peak_w')} at peak",
                f"in {fmt.count(racks)} racks",
            ],
        }
    )  # fmt: skip
    branch_lines = [f"{reading.ledger[key].label}: {_watts(reading, key)}" for key in cooling]
    if reading.has("power.cooling.distribution_units"):
        branch_lines.append(
            f"{fmt.count(reading.value('power.cooling.distribution_units'))} coolant distribution units"
        )
    branch = {"name": f"Cooling {_watts(reading, 'power.cooling_w')}", "after": 1, "lines": branch_lines}
    return Figure(
        "C7b", "oneline",
        f"{fmt.percent(1 - reading.value('power.it_w') / meter, 0)} % of what the meter gives under load is lost or moves "
        f"heat before it reaches the racks",
        f"Spare equipment: {reading.evaluation.loaded.scenario.site.redundancy.value}. "
        f"Supplies inside the servers are part of the IT load.{_shared(reading)}",
        {"stages": stages, "branch": branch}, _chain_table(reading),
    )  # fmt: skip


def _chain_table(reading: Reading) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for stage in reversed(STAGES):
        key, units, kw = f"power.chain.{stage}_loss_w", f"power.{stage}.units", f"power.{stage}.unit_kw"
        fraction = f"power.chain.{stage}_loss_fraction"
        nothing = words(fmt.NOTHING)
        rows.append(
            (
                words(NAMES[stage]),
                reading.count(units) if reading.has(units) else nothing,
                reading.number(kw) if reading.has(kw) else nothing,
                reading.number(key, 1e-3) if reading.has(key) else nothing,
                reading.percent(fraction, 2) if reading.has(fraction) else nothing,
                reading.letter(fraction) if reading.has(fraction) else words(""),
            )
        )
    rows.append(
        (
            words("All losses"), words(""), words(""), reading.number("power.distribution_loss_w", 1e-3),
            reading.percent("power.electrical_loss_fraction", 2), reading.letter("power.electrical_loss_fraction"),
        )
    )  # fmt: skip
    return Table(
        "power-chain",
        "Equipment between the meter and the racks, spare units included",
        (
            Column("Stage", numeric=False), Column("Units"), Column("Rating of one", "kW"), Column("Lost", "kW"),
            Column("Of IT power, average year", "%"), Column("Basis", numeric=False),
        ),
        tuple(rows),
        total=True,
    )  # fmt: skip


def months_figure(reading: Reading) -> Figure | None:
    """C9: energy and PUE of each month; None where the year isn't split."""
    keys = [(f"power.energy_kwh.{name}", f"power.month_pue.{name}") for name in MONTH_NAMES]
    if not all(reading.has(one) for pair in keys for one in pair):
        return None
    energy = [reading.value(key) / 1e3 for key, _ in keys]
    pue = [reading.value(key) for _, key in keys]
    most, least = max(range(12), key=pue.__getitem__), min(range(12), key=pue.__getitem__)
    name = [one.title() for one in MONTH_NAMES]
    rows = tuple(
        (words(month), reading.number(kwh, 1e-3), reading.number(ratio), share(kwh_value / sum(energy)))
        for month, (kwh, ratio), kwh_value in zip(name, keys, energy, strict=True)
    )
    total = (
        words("Year"),
        reading.number("power.energy_kwh_per_year", 1e-3),
        reading.number("power.pue"),
        share(1.0),
    )
    said = (
        f"PUE is {fmt.significant(pue[least])} all year"
        if fmt.significant(pue[most]) == fmt.significant(pue[least])
        else f"PUE goes from {fmt.significant(pue[least])} in {name[least]} to {fmt.significant(pue[most])} in {name[most]}"
    )
    return Figure(
        "C9", "months",
        f"{fmt.significant(sum(energy))} MWh in a full year; {said}",
        "Energy at the meter and PUE of each month, both from zero.",
        {
            "months": name,
            "panels": [
                {"title": "MWh at the meter", "values": energy, "texts": [fmt.short(one) for one in energy], "hue": "var(--c1)"},
                {"title": "PUE", "values": pue, "texts": [fmt.significant(one) for one in pue], "hue": "var(--c5)"},
            ],
        },
        Table(
            "energy-months", "Energy and PUE by month",
            (Column("Month", numeric=False), Column("Energy", "MWh"), Column("PUE"), Column("Of the year", "%")),
            (*rows, total), total=True,
        ),
    )  # fmt: skip
