"""Where a watt goes, whether it fits, and what energy and carbon come to."""

from __future__ import annotations

from planner.design.inventory import State
from planner.power.chain import STAGES
from planner.power.it_load import Load
from planner.power.pue import PARTS
from planner.present import format as fmt
from planner.present.view.chain import months_figure, oneline_figure
from planner.present.view.model import Cell, Column, Figure, Section, Table
from planner.present.view.reading import Reading, number, share, whole, words

CATEGORIES = {
    "servers": "Servers with GPUs", "network": "Switches and adapters", "optics": "Optics and active cables",
    "storage": "Storage", "management": "Management servers",
}  # fmt: skip
STATES = (
    ("Idle", "power.facility_idle_w", "power.it_idle_w"),
    ("Typical, under load", "power.facility_w", "power.it_w"),
    ("Yearly average", "power.average_facility_w", "power.average_it_w"),
    ("Peak", "power.facility_peak_w", "power.it_peak_w"),
)
NOTES = (
    "PUE is a yearly average; the peak is that of the IT equipment in the hottest hours of a typical year.",
    "Draw under load is that of the workloads by their share of the time; the peak is the highest sustained draw that "
    "a source gives, and the nameplate where none does.",
)


def power_section(reading: Reading) -> Section:
    """C7, C8, loads by part, energy and carbon."""
    lead = (
        f"{fmt.quantity(reading.value('power.facility_w'), 'W')} at the meter under load, "
        f"{fmt.quantity(reading.value('power.facility_peak_w'), 'W')} at peak, "
        f"PUE {fmt.significant(reading.value('power.pue'))}."
    )
    figures: list[Figure | None] = [
        _sankey(reading), oneline_figure(reading), _range(reading), months_figure(reading)
    ]  # fmt: skip
    return Section(
        "power",
        "Power",
        lead,
        tuple(figure for figure in figures if figure is not None),
        (_parts(reading), _energy(reading)),
        NOTES,
    )


def _sankey(reading: Reading) -> Figure:
    meter, it_w = reading.value("power.facility_w"), reading.value("power.it_w")
    sums: dict[str, float] = {}
    for load in reading.built.loads:
        watts = reading.value(load.watts[State.TYPICAL])
        sums[load.consumer.category] = sums.get(load.consumer.category, 0.0) + watts
    flows = [
        *(("Meter", label, reading.value(key), key, "loss") for label, key in _losses(reading)),
        *(("Meter", label, reading.value(key), key, "cooling") for label, key in _cooling(reading)),
        ("Meter", "IT", it_w, "power.it_w", "load"),
        *(("IT", label, sums[name], "", "load") for name, label in CATEGORIES.items() if sums.get(name)),
    ]
    rows = [
        (
            words(start), words(end), Cell(fmt.significant(watts / 1e3), watts / 1e3, key), share(watts / meter),
            reading.letter(key) if key else words(_category_letter(reading, end)),
        )
        for start, end, watts, key, _ in flows
    ]  # fmt: skip
    servers = sums.get("servers", 0.0)
    return Figure(
        "C7",
        "sankey",
        f"Of {fmt.quantity(meter, 'W')} at the meter, {fmt.percent(servers / meter, 0)} % reaches the servers and "
        f"{fmt.percent(1 - it_w / meter, 0)} % stays with the building",
        "From the meter on the left to the parts on the right; a band's height is its power under load.",
        {
            "flows": [
                {"from": a, "to": b, "value": watts, "text": fmt.quantity(watts, "W"), "kind": kind}
                for a, b, watts, _, kind in flows
            ],
            "total": fmt.quantity(meter, "W"),
        },
        Table(
            "power-flows",
            "Power under load, from the meter to the parts",
            (
                Column("From", numeric=False),
                Column("To", numeric=False),
                Column("Power", "kW"),
                Column("Of the meter", "%"),
                Column("Basis", numeric=False),
            ),
            tuple(rows),
        ),
    )


def _cooling(reading: Reading) -> list[tuple[str, str]]:
    """What moves heat and the rest of the building, part by part; parts that draw nothing are left out."""
    found = [(label, f"power.cooling.{part}_w") for part, label in PARTS.items()]
    return [(label, key) for label, key in found if reading.has(key) and reading.value(key) > 0]


def _losses(reading: Reading) -> list[tuple[str, str]]:
    """Losses of each stage from the meter to the racks, or all of them where stages aren't known."""
    found = [(f"Lost in {words_}", f"power.chain.{stage}_loss_w") for stage, words_ in STAGES.items()]
    known = [(label, key) for label, key in reversed(found) if reading.has(key)]
    return known or [("Losses", "power.distribution_loss_w")]


def _category_letter(reading: Reading, label: str) -> str:
    from planner.present.view.reading import WEAKEST

    found = [
        WEAKEST.index(reading.letters[load.watts[State.TYPICAL].key])
        for load in reading.built.loads
        if CATEGORIES[load.consumer.category] == label
    ]
    return WEAKEST[max(found)]


def rack_limit_kw(reading: Reading) -> float | None:
    """Power one rack may draw, as wished or by cooling method."""
    parts = reading.evaluation.parts
    wish = parts.loaded.scenario.site.rack_limit_kw
    figure = parts.cooling.item.rack_limit_kw
    return wish if wish is not None else figure.value if figure is not None else None


def _range(reading: Reading) -> Figure:
    scenario = reading.evaluation.loaded.scenario
    limits = [
        (name, mw)
        for name, mw in (
            ("site.limit_mw", scenario.site.limit_mw),
            ("limits.site_mw", scenario.limits.site_mw),
        )
        if mw is not None
    ]
    limit = min((mw for _, mw in limits), default=None)
    rows, states = [], []
    for label, meter, it_w in STATES:
        mw = reading.value(meter) / 1e6
        margin = fmt.NOTHING if limit is None else fmt.significant(limit - mw)
        rows.append(
            (
                words(label),
                reading.number(meter, 1e-6),
                reading.number(it_w, 1e-6),
                words(fmt.NOTHING) if limit is None else number(limit),
                Cell(margin, None if limit is None else limit - mw),
            )
        )
        states.append({"state": label, "mw": mw, "text": f"{fmt.significant(mw)} MW"})
    rack = rack_limit_kw(reading)
    racks = [
        {"name": group.id, "kw": group.power_kw_max, "text": f"{fmt.significant(group.power_kw_max)} kW"}
        for group in reading.built.cluster.layout.groups
    ]
    peak = reading.value("power.facility_peak_w") / 1e6
    fits = "no limit of the site is stated"
    if limit is not None:
        over = peak > limit
        fits = (
            f"{'over' if over else 'within'} the {fmt.significant(limit)} MW limit by "
            f"{fmt.significant(abs(limit - peak))} MW"
        )
    return Figure(
        "C8",
        "range",
        f"At peak the site draws {fmt.significant(peak)} MW: {fits}",
        "Left: power at the meter by state. Right: the fullest rack of each kind at peak. Rules are limits.",
        {
            "states": states, "racks": racks, "rack_limit": rack,
            "limit": limit, "limit_text": "" if limit is None else f"limit {fmt.significant(limit)} MW",
            "rack_limit_text": "" if rack is None else f"limit {fmt.significant(rack)} kW",
        },
        Table(
            "power-states",
            "Power by state against the limit",
            (
                Column("State", numeric=False),
                Column("Meter", "MW"),
                Column("IT", "MW"),
                Column("Limit", "MW"),
                Column("To spare", "MW"),
            ),
            tuple(rows),
        ),
    )  # fmt: skip


def _parts(reading: Reading) -> Table:
    def largest(load: Load) -> float:
        return -reading.value(load.watts[State.TYPICAL])

    rows = [
        (
            words(load.consumer.label),
            words(CATEGORIES[load.consumer.category]),
            reading.count(load.consumer.count.key),
            *(reading.number(load.watts[state].key, 1e-3) for state in State),
            reading.letter(load.watts[State.TYPICAL].key),
        )
        for load in sorted(reading.built.loads, key=largest)
    ]
    rows.append(
        (
            words("IT load"), words(""), words(""), reading.number("power.it_idle_w", 1e-3),
            reading.number("power.it_w", 1e-3), reading.number("power.it_peak_w", 1e-3), reading.letter("power.it_w"),
        )
    )  # fmt: skip
    return Table(
        "power-parts",
        "Draw of the IT equipment by part and state",
        (
            Column("Part", numeric=False),
            Column("Class", numeric=False),
            Column("Running"),
            Column("Idle", "kW"),
            Column("Typical", "kW"),
            Column("Peak", "kW"),
            Column("Basis", numeric=False),
        ),
        tuple(rows),
        total=True,
    )


def _energy(reading: Reading) -> Table:
    rows = [
        (words("PUE"), reading.quantity("power.pue"), reading.letter("power.pue")),
        (
            words("Energy of a full year"),
            Cell(
                f"{fmt.significant(reading.value('power.energy_kwh_per_year') / 1e3)} MWh",
                reading.value("power.energy_kwh_per_year") / 1e3, "power.energy_kwh_per_year",
            ),
            reading.letter("power.energy_kwh_per_year"),
        ),
        (
            words("Price of electricity"), reading.quantity("site.electricity_usd_per_kwh"),
            reading.letter("site.electricity_usd_per_kwh"),
        ),
    ]  # fmt: skip
    for key, label in (
        ("power.carbon_kg_per_year", "Carbon of a full year, location-based"),
        ("power.carbon_market_kg_per_year", "Carbon of a full year, market-based"),
    ):
        if reading.has(key):
            tonnes = reading.value(key) / 1e3
            text = f"{fmt.significant(tonnes)} t CO2"
            rows.append((words(label), Cell(text, tonnes, key), reading.letter(key)))
    if reading.has("power.water_l_per_year"):
        key = "power.water_l_per_year"
        cubic = reading.value(key) / 1e3
        text = f"{fmt.significant(cubic)} m3"
        rows.append((words("Water of a full year, on site"), Cell(text, cubic, key), reading.letter(key)))
    layout = reading.built.cluster.layout
    rows.append((words("Racks"), whole(layout.racks), words("")))
    rows.append((words("Floor, racks and aisles"), words(f"{fmt.count(layout.floor_area_m2)} m2"), words("")))
    return Table(
        "energy",
        "Energy, carbon and floor",
        (Column("Quantity", numeric=False), Column("Value"), Column("Basis", numeric=False)),
        tuple(rows),
    )
