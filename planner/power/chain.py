"""The power chain between a server's inlet and the meter: what each stage loses under load and idle.

Over a year a stage loses what it loses in each of the two, by the hours that work runs. Losses of supplies
inside servers are part of IT power and have no place here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from planner.arrays import Floats
from planner.catalog.conversion import ConversionKind, PowerConversion
from planner.catalog.store import Catalog, Entry
from planner.design.cluster import Cluster
from planner.errors import Problem, ScenarioError
from planner.ledger import Ledger, Line
from planner.ledger.nodes import added
from planner.power.facility import average_it_w
from planner.power.figures import Figures
from planner.power.it_load import Load
from planner.power.psu import Curve
from planner.power.server import curve_of
from planner.power.transients import Feed, transients
from planner.power.ups import Units, loss_fraction, shared_load_w, units_for
from planner.scenario.givens import figure_line
from planner.scenario.site import Housing
from planner.units import KILO

TRANSFORMER, DOUBLE_CONVERSION, ECO = "transformer", "ups-double-conversion", "ups-eco"
STAGES = {
    "rack_distribution": "rack feeds",
    "ups": "UPS",
    "transformer": "transformers and switchgear",
}
"""Stages from the rack to the meter, as keys and in words."""
STATES = {"loaded": ("power.it_w", "under load"), "idle": ("power.it_idle_w", "idle")}
"""What runs through the chain, as keys, lines and in words."""
DEPENDS = (*(key for key, _ in STATES.values()), "power.it_peak_w")
"""Lines that the load of a stage rests on."""


def electrical_chain(ledger: Ledger, cluster: Cluster, loads: Sequence[Load]) -> None:
    """Enter rack feeds, UPS units, their loads and losses, and the sum of losses over IT power.

    Raises:
        DesignError: A rack's peak exceeds its feeds.
        ScenarioError: The wished UPS is none.
    """
    figures = Figures(ledger, cluster.parts.catalog)
    feeds = transients(ledger, cluster, loads)
    drawn = {state: ledger.value(key) for state, (key, _) in STATES.items()}
    through = {state: np.ones(ledger.n) for state in STATES}
    lines = []
    for stage in STAGES:
        if stage == "rack_distribution":
            loss = {state: _feed_loss(ledger, figures, feeds, drawn[state]) for state in STATES}
        elif stage == "ups":
            loss = _ups_loss(ledger, figures, cluster, drawn, through)
        else:
            loss = _transformer_loss(ledger, figures, cluster, drawn, through)
        # what a stage loses, it loses of all that the stages behind it have let through
        shares = {state: loss[state] * through[state] for state in STATES}
        lines.append(_loss_line(ledger, figures, stage, shares))
        through = {state: through[state] + shares[state] for state in STATES}
    ledger.derive(
        "power.electrical_loss_fraction", "Electrical losses, share of IT power", "fraction", added(lines),
        note="from the rack's feed to the meter; supplies inside servers are in the IT power",
    )  # fmt: skip


def _loss_line(ledger: Ledger, figures: Figures, stage: str, shares: Mapping[str, Floats]) -> Line:
    """Enter what a stage loses in each state, and over the year by the hours of each."""
    states = {
        state: ledger.compute(
            f"power.chain.{stage}_{state}_loss_fraction", f"Lost in {STAGES[stage]} {words}, share of IT power",
            "fraction", shares[state], function=loss_fraction, inputs=[*DEPENDS, *figures.lines],
            note="on the curve of its efficiency",
        )
        for state, (_, words) in STATES.items()
    }  # fmt: skip
    average, busy = average_it_w(ledger), ledger["power.busy_fraction"]
    lost = (
        busy * ledger["power.it_w"] * states["loaded"]
        + (1 - busy) * ledger["power.it_idle_w"] * states["idle"]
    )
    return ledger.derive(
        f"power.chain.{stage}_loss_fraction", f"Lost in {STAGES[stage]}, share of IT power", "fraction",
        lost / average, note="over the hours of a year, under load and idle",
    )  # fmt: skip


def others_w(figures: Figures, cluster: Cluster) -> Floats:
    """IT power that a colocation building is laid out for beside this plan's; zero in a building of its own."""
    if cluster.parts.loaded.scenario.site.housing is Housing.OWN:
        return np.zeros(figures.ledger.n)
    building = figures("colocation_building_it_kw") * KILO
    return np.asarray(np.maximum(building - figures.ledger.value("power.it_peak_w"), 0.0))


def _shared_w(figures: Figures, cluster: Cluster, drawn_w: Floats) -> Floats:
    others = others_w(figures, cluster)
    if not others.any():
        return drawn_w
    return shared_load_w(
        average_w=drawn_w, others_w=others, others_load=figures("colocation_building_load_fraction")
    )


def _feed_loss(ledger: Ledger, figures: Figures, feeds: Sequence[Feed], drawn_w: Floats) -> Floats:
    """Loss of the racks' feeds, weighted by what runs through each kind."""
    share = drawn_w / ledger.value("power.it_peak_w")
    lost, drawn = np.zeros(ledger.n), np.zeros(ledger.n)
    for feed in feeds:
        rating = figures.use(ledger[f"conversion.{feed.entry.item.id}.rating_kw"]) * KILO
        peak = ledger.value(feed.peak_w)
        loss = loss_fraction(
            load_w=peak * share, capacity_w=ledger.value(feed.feeds) * rating,
            curve=curve_of(figures, feed.entry.item.id, ConversionKind.RACK_FEED),
        )  # fmt: skip
        lost, drawn = lost + loss * peak * feed.racks, drawn + peak * feed.racks
    return np.asarray(lost / np.maximum(drawn, 1.0))


def ups_of(cluster: Cluster) -> Entry[PowerConversion]:
    """UPS that the scenario names, else the one for its cooling method, else double conversion.

    Raises:
        ScenarioError: What it names is no UPS of the catalog.
    """
    catalog, wish = cluster.parts.catalog, cluster.parts.loaded.scenario.site.ups
    if wish is None:
        eco = catalog.entry(PowerConversion, ECO)
        fits = cluster.parts.cooling.item.id in eco.item.default_for_cooling
        return eco if fits else catalog.entry(PowerConversion, DOUBLE_CONVERSION)
    if wish in catalog.ids(PowerConversion):
        named = catalog.entry(PowerConversion, wish)
        if named.item.kind is ConversionKind.UPS:
            return named
    raise ScenarioError(
        Problem(
            f"'{wish}' is no UPS of the catalog",
            cluster.parts.loaded.document.place(("site", "ups")),
            "site.ups",
            remedy=f"choose from {', '.join(_supplies(catalog))}",
        )
    )


def _supplies(catalog: Catalog) -> list[str]:
    return [
        one
        for one in catalog.ids(PowerConversion)
        if catalog.get(PowerConversion, one).kind is ConversionKind.UPS
    ]


def stage_units(
    ledger: Ledger, figures: Figures, cluster: Cluster, entry: Entry[PowerConversion], peak_w: Floats
) -> Units:
    """Units of a stage for a sustained peak, ratings and steps from the catalog."""
    fields = [("rating_kw", "Largest rating"), ("step_kw", "Step of ratings")]
    if entry.item.small_step_kw is not None:
        fields.append(("small_step_kw", "Step of small ratings"))
    largest, step, *small = (
        figures.use(
            figure_line(
                ledger,
                f"conversion.{entry.item.id}.{field}",
                f"{label} of {entry.item.name}",
                "kW",
                entry,
                field,
            )
        )
        for field, label in fields
    )
    return units_for(
        peak_w=peak_w, largest_w=largest * KILO, step_w=step * KILO,
        load_limit=figures("transformer_load_limit_fraction"),
        redundancy=cluster.parts.loaded.scenario.site.redundancy,
        small_step_w=small[0] * KILO if small else None,
    )  # fmt: skip


def unit_lines(
    ledger: Ledger,
    figures: Figures,
    cluster: Cluster,
    stage: str,
    units: Units,
    name: str,
    inputs: Sequence[Line | str],
) -> None:
    """Enter units of a stage and the rating of one: the building's, which a colocation tenant shares."""
    note = "the fewest that carry the peak within their planned load, and spare ones as wished"
    if others_w(figures, cluster).any():
        note += "; the building's, shared with its other tenants"
    for key, label, unit, value in (
        ("units", f"{name}, spare ones included", "1", units.installed),
        ("units_needed", f"{name} that carry the peak", "1", units.needed),
        ("unit_kw", f"Rating of one: {name}", "kW", units.rating_w / KILO),
    ):
        ledger.compute(
            f"power.{stage}.{key}", label, unit, value, function=units_for, inputs=[*inputs, *figures.lines],
            note=note,
        )  # fmt: skip


def _ups_loss(
    ledger: Ledger,
    figures: Figures,
    cluster: Cluster,
    drawn_w: Mapping[str, Floats],
    out: Mapping[str, Floats],
) -> dict[str, Floats]:
    entry = ups_of(cluster)
    overload = figures.use(
        figure_line(
            ledger, f"conversion.{entry.item.id}.overload_ratio", f"Short draw over rating of {entry.item.name}",
            "1", entry, "overload_ratio", missing=1.0,
        )
    )  # fmt: skip
    own = np.maximum(ledger.value("power.it_peak_w"), ledger.value("power.it_transient_w") / overload)
    units = stage_units(ledger, figures, cluster, entry, (own + others_w(figures, cluster)) * out["loaded"])
    asked = ["power.it_peak_w", "power.it_transient_w"]
    unit_lines(ledger, figures, cluster, "ups", units, entry.item.name, asked)
    load = {state: _shared_w(figures, cluster, drawn_w[state]) * out[state] for state in STATES}
    ledger.compute(
        "power.ups.load_fraction", "Load of the UPS while work runs, share of its rating", "fraction",
        load["loaded"] / units.capacity_w, function=shared_load_w,
        inputs=[*DEPENDS, "power.ups.units", *figures.lines],
        note="all units share the load, spare ones too",
    )  # fmt: skip
    curve = curve_of(figures, entry.item.id, ConversionKind.UPS)
    return _by_state(load, units, curve)


def _transformer_loss(
    ledger: Ledger,
    figures: Figures,
    cluster: Cluster,
    drawn_w: Mapping[str, Floats],
    out: Mapping[str, Floats],
) -> dict[str, Floats]:
    """Loss on the IT load's way; cooling loads the same transformers alike, so their load is that of IT power."""
    entry = cluster.parts.catalog.entry(PowerConversion, TRANSFORMER)
    peak = (ledger.value("power.it_peak_w") + others_w(figures, cluster)) * out["loaded"]
    units = stage_units(ledger, figures, cluster, entry, peak)
    curve = curve_of(figures, TRANSFORMER, ConversionKind.TRANSFORMER)
    load = {state: _shared_w(figures, cluster, drawn_w[state]) * out[state] for state in STATES}
    return _by_state(load, units, curve)


def _by_state(load_w: Mapping[str, Floats], units: Units, curve: Curve) -> dict[str, Floats]:
    return {
        state: loss_fraction(load_w=load, capacity_w=units.capacity_w, curve=curve)
        for state, load in load_w.items()
    }
