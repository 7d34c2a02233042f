"""Draw of a server of the plan by state, as ledger lines, from what its workloads are predicted to do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.arrays import Floats
from planner.design.cluster import Cluster
from planner.design.inventory import State
from planner.ledger import Ledger, Line
from planner.ledger.nodes import Expr, added, minimum
from planner.power.activity import activity_lines
from planner.power.capping import saved_fraction
from planner.power.figures import Figures
from planner.power.server import ServerDraw, server_draw
from planner.power.states import Activity
from planner.scenario.givens import assume, figure_line, wish_line
from planner.scenario.parts import GroupParts
from planner.scenario.schema import Workload, WorkloadKind

KINDS = {WorkloadKind.TRAINING: "training", WorkloadKind.SERVING: "inference"}
"""Kinds of workload with the state they put a server in."""


def server_lines(ledger: Ledger, cluster: Cluster, group: GroupParts) -> dict[State, Line]:
    """Draw of a server by state; working draw follows the workloads' shares of the scheduled time."""
    item, figures = group.server.item, Figures(ledger, cluster.parts.catalog)
    most = figure_line(
        ledger, f"watts.{item.id}.max_w", f"Nameplate of {item.name}", "W", group.server, "power_max_w"
    )
    ratio = assume(
        ledger, cluster.parts.catalog, "facility", "server_power_error_ratio",
        "Measured over predicted draw of a server", "1",
    )  # fmt: skip
    if group.accelerator.item.tdp_w is None:
        return _stated_lines(ledger, cluster, group)
    draw = _drawing(figures, cluster, group)
    raw = {
        "idle": ("without any program", draw.idle_w()),
        "peak": ("every accelerator at its limit", draw.peak_w()),
    }
    found: dict[State, Line] = {}
    for name, (said, watts) in raw.items():
        plain = ledger.compute(
            f"watts.{item.id}.{name}_predicted_w", f"Predicted draw of {item.name}, {name}", "W", watts,
            function=server_draw, inputs=figures.lines, note=f"parts through the supplies, {said}",
        )  # fmt: skip
        found[State(name)] = ledger.derive(
            f"watts.{item.id}.{name}_w", f"Draw of {item.name}, {name}", "W", minimum(plain * ratio, most)
        )
    working = [
        (workload, minimum(_working(figures, cluster, group, workload, draw) * ratio, most))
        for workload in cluster.parts.loaded.scenario.workloads
    ]
    _kind_lines(ledger, group, working)
    typical = _mean_line(ledger, group, State.TYPICAL.value, working)
    return {State.IDLE: found[State.IDLE], State.TYPICAL: typical, State.PEAK: found[State.PEAK]}


def _drawing(figures: Figures, cluster: Cluster, group: GroupParts) -> ServerDraw:
    cap = _cap(figures, cluster)
    return server_draw(figures, group.server, group.accelerator, group.scaleup, cap_fraction=cap)


def _cap(figures: Figures, cluster: Cluster) -> Floats:
    loaded, key = cluster.parts.loaded, "site.power_cap_fraction"
    if key not in figures.ledger:
        wish_line(
            figures.ledger, loaded, key, "Power limit set on accelerators, share of the rated one", "fraction",
            loaded.scenario.site.power_cap_fraction, "site", "power_cap_fraction",
        )  # fmt: skip
    return figures.use(figures.ledger[key])


def _working(
    figures: Figures, cluster: Cluster, group: GroupParts, workload: Workload, draw: ServerDraw
) -> Line:
    ledger, item = figures.ledger, group.server.item
    shares = activity_lines(ledger, cluster.parts, workload, group)
    activity = Activity(*(ledger.value(one) for one in shares))
    watts = draw.working_w(activity)
    _supply_line(ledger, figures, group, workload, draw, activity)
    _cap_line(ledger, figures, cluster, group, workload, activity)
    return ledger.compute(
        f"watts.{item.id}.{workload.id}.working_w", f"Predicted draw of {item.name} at work on {workload.id}", "W",
        watts, function=server_draw, inputs=[*figures.lines, *shares],
        note="accelerators by the shares of their time, the host, links and fans, through the supplies",
    )  # fmt: skip


def _supply_line(
    ledger: Ledger,
    figures: Figures,
    group: GroupParts,
    workload: Workload,
    draw: ServerDraw,
    activity: Activity,
) -> None:
    """Losses in the server's supplies: shown, and never added again."""
    at_inlet, behind = draw.working_w(activity), draw.behind_supplies_w(activity)
    ledger.compute(
        f"watts.{group.server.item.id}.{workload.id}.supply_loss_fraction",
        f"Lost in the supplies of {group.server.item.name}, share of its draw", "fraction",
        np.maximum(1.0 - behind / at_inlet, 0.0), function=server_draw, inputs=figures.lines,
        note="inside IT power, which is measured at the inlet; no part of PUE",
    )  # fmt: skip


def _cap_line(
    ledger: Ledger,
    figures: Figures,
    cluster: Cluster,
    group: GroupParts,
    workload: Workload,
    activity: Activity,
) -> None:
    if cluster.parts.loaded.scenario.site.power_cap_fraction >= 1.0:
        return
    capped = _drawing(figures, cluster, group).working_w(activity)
    free = server_draw(
        figures, group.server, group.accelerator, group.scaleup, cap_fraction=np.ones(1)
    ).working_w(activity)
    ledger.compute(
        f"watts.{group.server.item.id}.{workload.id}.cap_saving_fraction",
        f"What the power limit takes off the draw of {group.server.item.name}", "fraction",
        saved_fraction(free_w=free, capped_w=capped), function=saved_fraction, inputs=figures.lines,
        note="against the same shares of time without the limit",
    )  # fmt: skip


def _stated_lines(ledger: Ledger, cluster: Cluster, group: GroupParts) -> dict[State, Line]:
    """Draws as the catalog states them for the whole box, where no power limit of its accelerator is known."""
    item = group.server.item
    idle, typical = (
        figure_line(
            ledger, f"watts.{item.id}.{name}", f"Draw of {item.name}, {name.removesuffix('_w')}", "W",
            group.server, f"power_{name}",
        )
        for name in ("idle_w", "typical_w")
    )  # fmt: skip
    for kind in {one.kind for one in cluster.parts.loaded.scenario.workloads}:
        name = KINDS[kind]
        ledger.derive(f"watts.{item.id}.{name}_w", f"Draw of {item.name}, {name}", "W", typical)
    peak = ledger.derive(
        f"watts.{item.id}.peak_w", f"Highest draw of {item.name}", "W", ledger[f"watts.{item.id}.max_w"]
    )
    return {State.IDLE: idle, State.TYPICAL: typical, State.PEAK: peak}


def _kind_lines(ledger: Ledger, group: GroupParts, working: Sequence[tuple[Workload, Expr]]) -> None:
    for kind, name in KINDS.items():
        alike = [(workload, watts) for workload, watts in working if workload.kind is kind]
        if alike:
            _mean_line(ledger, group, name, alike)


def _mean_line(
    ledger: Ledger, group: GroupParts, name: str, working: Sequence[tuple[Workload, Expr]]
) -> Line:
    """Mean over workloads by their shares of the scheduled time."""
    item = group.server.item
    mean: Expr = working[0][1]
    if len(working) > 1:
        shares = [ledger[f"workload.{workload.id}.scheduled_fraction"] for workload, _ in working]
        mean = added(share * watts for share, (_, watts) in zip(shares, working, strict=True)) / added(shares)
    return ledger.derive(f"watts.{item.id}.{name}_w", f"Draw of {item.name}, {name}", "W", mean)
