"""The command that sets scenarios side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.options import AsJson, Calibrations, Changes, Folders, with_profiles


def add_compare(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog="Example: planner compare h200-1024-ndr h200-1024-spectrum-x -o reports")(compare)


def compare(
    scenarios: Annotated[
        list[str], typer.Argument(help="Two to four scenario files, or names of shipped ones.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Folder for compare.html and its like."),
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", metavar="LIST", help="Any of html,json,txt, with commas.")
    ] = "html,json",
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain", metavar="LETTER:KEY", help="Say how a number came about, such as B:capex.total_usd."
        ),
    ] = None,
    change: Changes = None,
    calibration: Calibrations = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Set scenarios side by side. What differs in input, design, outcome and money; what would turn the choice.

    All are drawn with the same inputs, so odds are of differences; a difference that fewer than nine of ten draws
    confirm is too close to call. --set changes all of them. Exit code 2 where one can't be built.
    """
    from planner.cli.compare import compare_named

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    return compare_named(
        scenarios,
        output=output,
        formats=formats,
        explain=explain,
        changes=changes,
        catalog=folders,
        as_json=as_json,
    )
