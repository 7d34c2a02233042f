"""`planner catalog`: what the shelf holds, and whether it is in order."""

from __future__ import annotations

from typing import Annotated

import typer

from planner.cli.options import AsJson, Folders

catalog_app = typer.Typer(
    help="The hardware catalog, with source and date of every figure.", rich_markup_mode=None
)


@catalog_app.command("list", epilog="Example: planner catalog list transceivers --filter '800g price<900'")
def catalog_list(
    family: Annotated[str | None, typer.Argument(help="One family, such as switches.")] = None,
    words: Annotated[
        str, typer.Option("--filter", metavar="WORDS", help="Words and comparisons that must hold.")
    ] = "",
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """List items."""
    from planner.cli.shelf import list_items

    return list_items(family, words, catalog=catalog or [], as_json=as_json)


@catalog_app.command("show", epilog="Example: planner catalog show qm9700")
def catalog_show(
    item: Annotated[str, typer.Argument(help="Id of an item, or FAMILY/ID.")],
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Show an item with the source and date of every figure."""
    from planner.cli.shelf import show_item

    return show_item(item, catalog=catalog or [], as_json=as_json)


@catalog_app.command("check", epilog="Example: planner catalog check --catalog my-catalog")
def catalog_check(catalog: Folders = None) -> int:
    """Read every item and every source, and say what is wrong."""
    from planner.cli.shelf import check_items

    return check_items(catalog=catalog or [])
