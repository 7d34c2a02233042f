"""Commands of a purchase: quotes and the bill of materials."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.options import AsJson, Changes, Folders, OneScenario, QuoteFiles


def add_purchase(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(epilog="Example: planner quotes acme.csv beta.xlsx --scenario h200-1024-ndr")(quotes)
    app.command(epilog="Example: planner bom h200-1024-ndr -o bom.csv")(bom)


def quotes(
    files: Annotated[list[Path], typer.Argument(help="Vendor quotes: CSV files or workbooks.")],
    scenario: Annotated[
        str | None, typer.Option("--scenario", metavar="SCENARIO", help="Plan whose bill they are to price.")
    ] = None,
    change: Changes = None,
    catalog: Folders = None,
    explain: Annotated[
        str | None,
        typer.Option("--explain", metavar="KEY", help="Walk one amount down to its sources instead."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Read and compare vendors' quotes. They are matched to the catalog, and priced over a plan's bill.

    Columns are found by their headings: part, unit price, currency, vendor, quote id, quote date, valid until,
    min quantity, MOQ, lead time, payment terms, support. What a vendor doesn't quote is priced by the catalog
    and named. Exit code 1 where no offer keeps the plan's dates.
    """
    from planner.cli.quotes import compare

    return compare(
        files,
        scenario=scenario,
        changes=change or [],
        catalog=catalog or [],
        explain=explain,
        as_json=as_json,
    )


def bom(
    scenario: OneScenario,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE", help="FILE.csv for the bill, FILE.xlsx to ask for quotes."
        ),
    ],
    change: Changes = None,
    quote: QuoteFiles = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Write the bill of materials or a request for quotes. The first as CSV; vendors fill in the second.

    The filled workbook is read back by planner quotes and by planner run --quotes.
    """
    from planner.cli.quotes import with_quotes, write_bom

    changes = with_quotes(change or [], quote or [])
    return write_bom(scenario, output=output, changes=changes, catalog=catalog or [], as_json=as_json)
