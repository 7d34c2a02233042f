"""The optics decision: variants side by side, break-evens, what saved watts allow, claims, wait or buy."""

from __future__ import annotations

from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Section, Table
from planner.present.view.optics_wait import wait_tables, wait_words
from planner.present.view.reading import line_letters, words
from planner.study.optics import Comparison, Variant
from planner.study.optics_parts import PartKind
from planner.study.optics_variants import Approach

ROWS: tuple[tuple[str, str, str, float], ...] = (
    ("Purchase, all", "M USD", "capex.total_usd", 1e-6),
    ("Purchase, network", "M USD", "capex.network_with_installation_usd", 1e-6),
    ("Modules, active cables", "kW", "optics.modules_w", 1e-3),
    ("Switches, optics inside", "kW", "optics.switches_w", 1e-3),
    ("Network at the meter", "kW", "optics.network_facility_w", 1e-3),
    ("Energy, network", "MWh/yr", "optics.energy_kwh_per_year", 1e-3),
    ("Energy cost, network", "k USD/yr", "optics.energy_usd_per_year", 1e-3),
    *((f"Failures, {kind}", "1/year", f"optics.failures.{kind}_per_year", 1.0) for kind in PartKind),
    ("Failures, fabric", "1/year", "optics.failures_per_year", 1.0),
    ("Failures that stop a job", "1/year", "optics.stops_per_year", 1.0),
    ("GPU-hours lost", "GPU-h/yr", "optics.lost_gpu_hours_per_year", 1.0),
    ("GPU-hours lost, worth", "k USD/yr", "optics.lost_usd_per_year", 1e-3),
    ("Spares on site", "", "optics.spares_count", 1.0),
    ("Spares on site, cost", "k USD", "optics.spares_usd", 1e-3),
    ("Heat into liquid, peak", "kW", "optics.liquid_w", 1e-3),
    ("Liquid loops, busbar", "k USD", "optics.liquid_usd", 1e-3),
    ("Lead time", "weeks", "optics.lead_time_weeks", 1.0),
    ("Ownership, NPV", "M USD", "optics.npv_usd", 1e-6),
    ("with lost work, NPV", "M USD", "optics.npv_with_lost_work_usd", 1e-6),
)
DIFFERENCE = "optics.npv_with_lost_work_usd"
NOTES = (
    "One evaluation each of the same plan; only fields of network differ. Failures, repair and spares are those of the "
    "compute fabric; fibre itself is taken not to fail.",
    "Optics get no credit for latency: light in fibre and current in copper are as fast as each other.",
    "A part that can't be ordered on the day is in no order. Its column says what it would be worth, at parity prices.",
)


def optics_section(comparison: Comparison) -> Section:
    """Every table of the comparison, and what it says in a sentence."""
    tables = [
        _variants(comparison), _repairs(comparison), _energy(comparison), _lengths(comparison), _watts(comparison),
        *wait_tables(comparison), _claims(comparison),
    ]  # fmt: skip
    return Section(
        "optics", "Optics decision", lead(comparison), tables=tuple(table for table in tables if table.rows),
        notes=(*variant_notes(comparison), *NOTES),
    )  # fmt: skip


def lead(comparison: Comparison) -> str:
    """Which variant costs least, by how much, and whether to wait."""
    best = comparison.best
    if best is None:
        return f"No variant can be ordered on {comparison.day}."
    said = f"Orderable on {comparison.day}: {best.approach} costs least"
    gaps = {
        one.approach: one.value(DIFFERENCE) - best.value(DIFFERENCE)
        for one in comparison.built
        if one.orderable and one is not best and one.approach is not Approach.CLAIMED
    }
    same = [approach for approach, gap in gaps.items() if gap == 0]
    if same:
        said += f" ({' and '.join(same)} is the same design)"
    more = {approach: gap for approach, gap in gaps.items() if gap > 0}
    if more:
        close = min(more, key=lambda approach: more[approach])
        share = fmt.percent(more[close] / best.value(DIFFERENCE), 2)
        said += f", {fmt.money(more[close])} less than {close} ({share} % of the cost of ownership)"
    return f"{said}. {wait_words(comparison)}".strip()


def variant_notes(comparison: Comparison) -> tuple[str, ...]:
    """What each variant exchanges, why one can't be built, what is on the roadmap."""
    found = []
    for one in comparison.variants:
        if one.why_not:
            found.append(f"{one.approach}: not possible, {one.why_not}.")
            continue
        said = list(dict.fromkeys(one.plan.notes))
        if one.approach is Approach.COPPER and not one.value("optics.failures.cables_per_year"):
            said.append(
                "no copper of this lane rate reaches a link of the fabric, which is that of pluggable"
            )
        if one.approach is Approach.LINEAR:
            said.append(
                "linear at the switches; modules in NICs stay as they are; each pair has to be qualified"
            )
        if one.value("optics.liquid_switches"):
            said.append(
                "liquid-cooled switches without mains supplies: loops and a 48 V busbar are in the sums"
            )
        if one.plan.roadmap:
            said.append(f"roadmap, not orderable by {comparison.day}: {'; '.join(one.plan.roadmap)}")
        if said:
            found.append(f"{one.approach}: {'; '.join(said)}.")
    return tuple(found)


def _heads(comparison: Comparison) -> tuple[Column, ...]:
    return tuple(Column(one.approach.value) for one in comparison.built)


def _variants(comparison: Comparison) -> Table:
    letters = {one.approach: line_letters(one.ledger) for one in comparison.built}
    rows = [
        (
            words(label),
            words(unit),
            *(_cell(one, key, scale, letters[one.approach]) for one in comparison.built),
        )
        for label, unit, key, scale in ROWS
        if any(one.value(key) for one in comparison.built)
    ]
    reference = comparison.reference
    gaps = [one.value(DIFFERENCE) - reference.value(DIFFERENCE) for one in comparison.built]
    rows.append(
        (
            words(f"against {reference.approach}"),
            words("k USD"),
            *(Cell(fmt.signed(gap / 1e3), gap / 1e3) for gap in gaps),
        )
    )
    can = ("yes" if one.orderable else "roadmap" for one in comparison.built)
    rows.append((words(f"Orderable {comparison.day}"), words(""), *(words(text) for text in can)))
    columns = (Column("Figure", numeric=False), Column("Unit", numeric=False), *_heads(comparison))
    return Table("optics-variants", "The same plan in each kind of optics", columns, tuple(rows))


def _cell(one: Variant, key: str, scale: float, letters: dict[str, str]) -> Cell:
    value = one.value(key) * scale
    if one.ledger[key].unit == "1":
        text = fmt.count(value)
    else:
        text = fmt.significant(value, 5 if key.startswith(("capex.total", "optics.npv")) else 3)
    return Cell(text, value, letter=letters[key])


def _repairs(comparison: Comparison) -> Table:
    one = comparison.reference
    swap, box = (one.ledger.scalar(f"assumption.{name}_repair_hours") for name in ("link", "switch"))
    engines = any(v.value("optics.failures.engines_per_year") for v in comparison.built)
    rows = [
        (words("module or cable"), words("exchanged in its cage"), Cell(fmt.significant(swap), swap)),
        (words("switch"), words("exchanged from the stock"), Cell(fmt.significant(box), box)),
    ]
    if engines:
        rows += [
            (
                words("external laser module"),
                words("exchanged at the front, its ports down"),
                Cell(fmt.significant(swap), swap),
            ),
            (
                words("co-packaged engine"),
                words("the whole switch is exchanged"),
                Cell(fmt.significant(box), box),
            ),
        ]
    return Table(
        "optics-repair", "What a failure asks for",
        (Column("Failed", numeric=False), Column("Repair", numeric=False), Column("Takes", "h")), tuple(rows),
    )  # fmt: skip


def _energy(comparison: Comparison) -> Table:
    now = comparison.reference.value("site.electricity_usd_per_kwh")
    rows = []
    for even in comparison.energy:
        if even.usd_per_kwh is not None:
            text = Cell(fmt.significant(even.usd_per_kwh), even.usd_per_kwh)
            said = f"above it {even.frugal} costs less, below it {even.thirsty}"
        else:
            text = words(fmt.NOTHING)
            said = "they cost the same" if even.always is None else f"{even.always} costs less at every price"
        rows.append(
            (words(even.frugal), words(even.thirsty), text, Cell(fmt.significant(now), now), words(said))
        )
    return Table(
        "optics-energy", "Energy price at which they cost the same, without lost work",
        (
            Column("Draws less", numeric=False), Column("Draws more", numeric=False), Column("Even at", "USD/kWh"),
            Column("Now", "USD/kWh"), Column("So", numeric=False),
        ),
        tuple(rows),
    )  # fmt: skip


def _lengths(comparison: Comparison) -> Table:
    rows = []
    for row in comparison.lengths:
        reach = f"to {row.to_m:g} m" if row.to_m else "never"
        if row.to_m and row.from_m:
            reach = f"{row.from_m:.1f} to {row.to_m:g} m"
        even = fmt.significant(row.even_module_usd) if row.even_module_usd > 0 else "less than 0"
        rows.append(
            (
                Cell(f"{row.lane_rate_gbit_per_s:g}", row.lane_rate_gbit_per_s),
                Cell(f"{row.rate_gbit_per_s:g}", row.rate_gbit_per_s),
                words(row.cable.id), Cell(fmt.significant(row.copper_usd), row.copper_usd),
                Cell(fmt.significant(row.optics_usd), row.optics_usd), words(reach), Cell(even, row.even_module_usd),
            )
        )  # fmt: skip
    return Table(
        "optics-lengths", "Copper against two modules and fibre over the horizon, energy included",
        (
            Column("Lane", "Gbit/s"), Column("Rate", "Gbit/s"), Column("Copper", numeric=False), Column("Copper", "USD"),
            Column("Optics", "USD"), Column("Copper wins", numeric=False), Column("Even module", "USD"),
        ),
        tuple(rows),
    )  # fmt: skip


def _watts(comparison: Comparison) -> Table:
    rows = [
        (
            words(approach), Cell(fmt.significant(saved.saved_w / 1e3), saved.saved_w / 1e3),
            *(Cell(fmt.count(number), number) for number in (saved.by_power, saved.by_rack, saved.by_cooling, saved.by_money)),
            Cell(fmt.count(saved.gpus), saved.gpus), words(saved.limited_by),
        )
        for approach, saved in comparison.saved.items()
    ]  # fmt: skip
    return Table(
        "optics-watts", f"GPUs that the saved watts allow, against {comparison.reference.approach}",
        (
            Column("Variant", numeric=False), Column("Saved", "kW"), Column("by power"), Column("by racks"),
            Column("by cooling"), Column("by money"), Column("GPUs"), Column("limit", numeric=False),
        ),
        tuple(rows),
    )  # fmt: skip


def _claims(comparison: Comparison) -> Table:
    rows = tuple(
        (
            words(claim.part), words(claim.field), Cell(fmt.plain(claim.value), claim.value), words(claim.unit),
            words(f"{claim.source}, {claim.as_of}"), words(claim.conditions), words("yes" if claim.used else "no"),
        )
        for claim in comparison.claims
    )  # fmt: skip
    heads = ("Part", "Claim", "Value", "Unit", "Source", "Conditions", "Used")
    return Table(
        "optics-claims",
        "What vendors claim",
        tuple(Column(head, numeric=head == "Value") for head in heads),
        rows,
    )
