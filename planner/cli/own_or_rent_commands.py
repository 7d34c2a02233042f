"""The command that compares owning with leasing and renting."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.options import AsJson, Calibrations, Changes, Folders, OneScenario, with_profiles


def add_own_or_rent(app: typer.Typer) -> None:
    """Register the command."""
    app.command("own-or-rent", epilog="Example: planner own-or-rent h200-1024-ndr --json")(own_or_rent)


def own_or_rent(
    scenario: OneScenario,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference", metavar="OPTION", help="Option to compare with; the plan as it stands by default."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="JSON or text file for the answer.")
    ] = None,
    focus: Annotated[
        Path | None,
        typer.Option("--focus", metavar="FILE", help="CSV file of monthly costs in FOCUS columns."),
    ] = None,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="KEY", help="Say how a number of an option came about.")
    ] = None,
    change: Changes = None,
    calibration: Calibrations = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Compare owning, leasing and renting. Owning in either housing; renting on demand or for a term, by provider.

    All options deliver the same scheduled GPU-hours: monthly cash, present value, cost of a GPU-hour, rate of return
    of the difference, and the utilisation and month at which they break even. Where money.sell_usd_per_gpu_hour is
    set, the operator's view: revenue, EBITDA, payback, cover of debt service.
    """
    from planner.cli.own_or_rent import compare

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    return compare(
        scenario, reference=reference, output=output, focus=focus, explain=explain, changes=changes, catalog=folders,
        as_json=as_json,
    )  # fmt: skip
