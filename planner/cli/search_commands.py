"""The command that searches plans of a training workload, and fleets for a serving one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.options import Anchors, AsJson, Calibrations, Changes, Folders, OneScenario, with_profiles


def add_search(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog="Example: planner search h100-16384-roce --by cost --top 5")(search)


def search(
    scenario: OneScenario,
    workload: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Workload; the first that trains by default, where none does the first that serves.",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, max=1000, help="Plans or fleets to show.")] = 10,
    by: Annotated[
        str | None, typer.Option(help="time, cost or energy; for serving gpus, cost or energy.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="CSV or JSON file for the best plans or fleets."),
    ] = None,
    zero_bubble: Annotated[
        bool, typer.Option("--zero-bubble", help="Try the zero-bubble schedule too, which few stacks have.")
    ] = False,
    rate: Annotated[
        float | None, typer.Option(metavar="N", help="Serving: requests a second in the busiest hour.")
    ] = None,
    spare: Annotated[
        int | None, typer.Option(min=0, metavar="K", help="Serving: spare replicas in every region (N+K).")
    ] = None,
    startup: Annotated[
        float | None,
        typer.Option(metavar="S", help="Serving: seconds until a replica that is asked for serves."),
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="Serving: server to try, or all. Repeatable; the plan's own by default."
        ),
    ] = None,
    precision: Annotated[
        list[str] | None,
        typer.Option(
            metavar="P", help="Serving: bf16, fp8 or fp4. Repeatable; all that a GPU has by default."
        ),
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORMAT",
            help="Serving: bf16, fp8, fp8-block, int8, int4, nvfp4 or mxfp4. Repeatable; the usual one of each precision "
            "and int4 beside bf16 by default.",
        ),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FILE", help="Serving: write the scenario with the best fleet."),
    ] = None,
    pools: Annotated[
        bool,
        typer.Option(
            "--pools",
            help="Serving: write or explain separate pools for prefill and decode instead of the best fleet.",
        ),
    ] = False,
    sure: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Serving: size the best fleet so that its load meets the objective in this share of draws, such as 0.9; "
            "by the expected values by default, which is about half of them.",
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="Serving: say how a number of the best fleet came about, such as sizing.gpus."
        ),
    ] = None,
    change: Changes = None,
    calibration: Calibrations = None,
    anchor: Anchors = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Search the best way to run a workload. Every legal plan of a training, or the smallest fleet for a load.

    A training workload gets its execution plans, best first, and why the others lose. A serving workload gets the
    fewest GPUs that carry its load within its objective, with replicas, precision, batch limit and what tokens cost, and
    whether separate pools for prefill and decode need fewer.
    """
    from planner.cli.anchor import with_anchors
    from planner.cli.search import search_scenario
    from planner.cli.size import serving_workload, size_scenario

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    changes = with_anchors(changes, anchor or [])
    place = serving_workload(scenario, workload, changes)
    if place is not None:
        return size_scenario(
            scenario, place, top=top, by=by, output=output, write=write, explain=explain, servers=server or [],
            precisions=precision or [], weights=weights or [], rate=rate, spare=spare, startup=startup, pools=pools, sure=sure,
            changes=changes, catalog=folders,
            as_json=as_json,
        )  # fmt: skip
    return search_scenario(
        scenario, workload=workload, top=top, by=by or "time", output=output, changes=changes, catalog=folders,
        as_json=as_json, zero_bubble=zero_bubble,
    )  # fmt: skip
