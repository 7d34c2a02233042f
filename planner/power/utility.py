"""Connection to the utility: apparent power, transformers, and the demand peak against the average."""

from __future__ import annotations

import numpy as np

from planner.catalog.conversion import PowerConversion
from planner.design.cluster import Cluster
from planner.ledger import Ledger, Line
from planner.ledger.nodes import Expr, flag, maximum, minimum, ref, round_up
from planner.power.chain import TRANSFORMER, others_w
from planner.power.figures import Figures
from planner.scenario.givens import assume
from planner.scenario.site import Redundancy
from planner.units import KILO, MEGA


def utility(ledger: Ledger, cluster: Cluster) -> None:
    """Enter demand peak, load factor, MVA and transformers, once power at the meter stands.

    The connection is the plan's own; transformers in a colocation building are those of the building.
    The demand meter takes means of a quarter or half hour: it sees the sustained peak and no transient.
    """
    figures = Figures(ledger, cluster.parts.catalog)
    peak = ledger.derive(
        "power.demand_peak_w", "Demand peak at the meter", "W", ledger["power.facility_peak_w"],
        note="the sustained peak of a billing interval; transients of the racks pass between its readings",
    )  # fmt: skip
    ledger.derive(
        "power.load_factor_fraction", "Load factor: average over demand peak", "fraction",
        ledger["power.average_facility_w"] / peak,
    )  # fmt: skip
    factor = assume(
        ledger,
        cluster.parts.catalog,
        "facility",
        "power_factor_fraction",
        "Power factor at the meter",
        "fraction",
    )
    ledger.derive("power.utility.apparent_mva", "Connection to the utility", "MVA", peak / factor / MEGA)
    _transformers(ledger, cluster, figures, peak, factor)
    ledger.derive(
        "power.transformer.capacity_mva", "Transformers installed", "MVA",
        ledger["power.transformer.units"] * ledger["power.transformer.unit_kw"] / KILO,
    )  # fmt: skip


def _transformers(ledger: Ledger, cluster: Cluster, figures: Figures, peak: Line, factor: Line) -> None:
    """Enter the transformers as formulas, as `planner.power.ups.units_for` counts them.

    Formulas, since the demand peak follows inputs that finance may edit, and the count follows with it.
    A transformer's rating is apparent power, so the peak is too; other tenants of the building are taken to
    need as much for a watt of IT power.
    """
    entry = cluster.parts.catalog.entry(PowerConversion, TRANSFORMER)
    shared = others_w(figures, cluster)
    building = ledger.compute(
        "power.transformer.building_ratio", "IT power of the building over this plan's", "1",
        1.0 + shared / np.maximum(ledger.value("power.it_peak_w"), 1.0), function=others_w,
        inputs=["power.it_peak_w", *figures.lines],
    )  # fmt: skip
    largest, step = (ledger[f"conversion.{entry.item.id}.{field}"] for field in ("rating_kw", "step_kw"))
    limit = assume(
        ledger, cluster.parts.catalog, "facility", "transformer_load_limit_fraction",
        "Planned load of transformers and UPS units", "fraction",
    )  # fmt: skip
    asked = ledger.derive(
        "power.transformer.asked_kva", "Rating that transformers need together", "kVA",
        peak * building / factor / limit / KILO,
    )  # fmt: skip
    name, note = entry.item.name, "the fewest that carry the peak within their planned load"
    if shared.any():
        note += "; the building's, shared with its other tenants"
    needed = ledger.derive(
        "power.transformer.units_needed", f"{name} that carry the peak", "1",
        maximum(round_up(asked / largest), 1), note=note,
    )  # fmt: skip
    each: Expr = asked / needed
    small = f"conversion.{entry.item.id}.small_step_kw"
    size: Expr = ref(step)
    if small in ledger:
        below = flag(each, "<", step)
        size = below * ledger[small] + (1 - below) * step
    ledger.derive(
        "power.transformer.unit_kw", f"Rating of one: {name}", "kW",
        minimum(round_up(each / size) * size, largest), note=note,
    )  # fmt: skip
    redundancy = cluster.parts.loaded.scenario.site.redundancy
    installed = {Redundancy.N: needed * 1, Redundancy.N_PLUS_1: needed + 1, Redundancy.TWO_N: needed * 2}
    ledger.derive(
        "power.transformer.units", f"{name}, spare ones included", "1", installed[redundancy],
        note=f"redundancy {redundancy.value}",
    )  # fmt: skip
