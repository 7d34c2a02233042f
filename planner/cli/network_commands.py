"""Commands of the network: the fabric alone, its cables, and the choice of optics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.options import AsJson, Calibrations, Changes, Folders, OneScenario, with_profiles


def add_network(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(epilog="Example: planner fabric --nodes 127 --switch qm9700 --json")(fabric)
    app.command(epilog="Example: planner cables h200-1024-ndr -o cut-sheet.csv")(cables)
    app.command(epilog="Example: planner optics b300-2048-cpo --json")(optics)


def fabric(
    switch: Annotated[str, typer.Option(help="Switch at every tier, a catalog id.")],
    gpus: Annotated[int | None, typer.Option(min=1, max=10_000_000, help="GPUs to join.")] = None,
    nodes: Annotated[int | None, typer.Option(min=1, max=10_000_000, help="Or nodes to join.")] = None,
    gpus_per_node: Annotated[int, typer.Option(min=1, max=1024, help="GPUs of a node.")] = 8,
    nics_per_node: Annotated[
        int | None, typer.Option(min=0, max=1024, help="NICs of a node; one a GPU by default.")
    ] = None,
    rails: Annotated[int | None, typer.Option(min=1, max=1024, help="Rails; one a NIC by default.")] = None,
    planes: Annotated[int, typer.Option(min=1, max=16, help="Planes each NIC is split over.")] = 1,
    topology: Annotated[
        str,
        typer.Option(
            help="rail-optimised, fat-tree, rail-only, dual-tor, dragonfly, torus, direct or single-switch."
        ),
    ] = "rail-optimised",
    tor: Annotated[
        int, typer.Option(min=1, max=2, help="Leaf switches each NIC is on; 2 is topology dual-tor.")
    ] = 1,
    oversubscription: Annotated[
        float, typer.Option(min=1.0, max=64.0, help="Leaf bandwidth down over up.")
    ] = 1.0,
    spine_oversubscription: Annotated[
        float,
        typer.Option(min=1.0, max=64.0, help="Spine bandwidth down over up, or out of a dragonfly's group."),
    ] = 1.0,
    grow_to: Annotated[
        int | None,
        typer.Option(
            min=1, max=10_000_000, metavar="GPUS", help="GPUs to lay out for; no cable moves on the way."
        ),
    ] = None,
    domain_gpus: Annotated[
        int | None, typer.Option(min=1, max=100_000, help="GPUs of a scale-up domain; a node's by default.")
    ] = None,
    paired: Annotated[
        bool, typer.Option("--paired", help="Two switches joined directly where one would do.")
    ] = False,
    reserved_ports: Annotated[
        int | None, typer.Option(min=0, max=64, help="Ports kept for management; 4 on InfiniBand by default.")
    ] = None,
    management: Annotated[
        bool, typer.Option("--management", help="Count in-band, out-of-band and management servers too.")
    ] = False,
    inband: Annotated[str, typer.Option(help="In-band switch, with --management.")] = "sn4700",
    oob: Annotated[str, typer.Option(help="Out-of-band switch, with --management.")] = "sn2201",
    nic: Annotated[
        str | None, typer.Option(help="NIC, a catalog id; one that fits the switch by default.")
    ] = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Design the network alone. Switches, links, cables, ports, hops, blast radius and room to grow."""
    from planner.cli.network import NetworkAsked, design_alone

    asked = NetworkAsked(
        switch=switch, gpus=gpus, nodes=nodes, gpus_per_node=gpus_per_node, nics_per_node=nics_per_node,
        rails=rails, planes=planes, topology=topology, oversubscription=oversubscription,
        spine_oversubscription=spine_oversubscription, reserved_ports=reserved_ports, nic=nic, tor=tor,
        grow_to=grow_to, domain_gpus=domain_gpus, paired=paired, management=management, inband=inband, oob=oob,
    )  # fmt: skip
    return design_alone(asked, catalog=catalog or [], as_json=as_json)


def cables(
    scenario: OneScenario,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="CSV file for the cut sheet: a line for each cable."
        ),
    ] = None,
    change: Changes = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Show what joins what, and write the cut sheet. It has every cable with its ports, medium and length."""
    from planner.cli.cables import write_cables

    return write_cables(scenario, output=output, changes=change or [], catalog=catalog or [], as_json=as_json)


def optics(
    scenario: OneScenario,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="JSON or text file for the answer.")
    ] = None,
    claims: Annotated[
        bool, typer.Option("--claims", help="Add co-packaged optics with the saving their makers claim.")
    ] = False,
    wait_until: Annotated[
        str | None,
        typer.Option(
            "--wait-until", metavar="YYYY-MM", help="Date to take for roadmap parts that state none."
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option("--explain", metavar="VARIANT:KEY", help="Say how a number of a variant came about."),
    ] = None,
    change: Changes = None,
    calibration: Calibrations = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Compare copper and the kinds of optics for a plan. Pluggable, linear, co-packaged; and whether to wait.

    One evaluation each: cost, watts, failures, repair, spares, cooling, lead time; break-evens by length,
    rate and energy price. Roadmap parts are in no order, and vendors' claims stay off unless asked for.
    """
    from planner.cli.optics import decide

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    return decide(
        scenario, output=output, changes=changes, catalog=folders, claims=claims, until=wait_until,
        explain=explain, as_json=as_json,
    )  # fmt: skip
