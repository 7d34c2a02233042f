"""The catalog commands: list, show, check."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from planner.catalog.depreciation import PercentColumn
from planner.catalog.figure import Figure
from planner.catalog.index import catalog_index
from planner.catalog.profiles import Profile
from planner.catalog.schema import FAMILIES
from planner.catalog.store import Catalog, Entry, open_catalog
from planner.errors import InputError, Problem, nearest


def list_items(family: str | None, words: str, *, catalog: Sequence[Path], as_json: bool) -> int:
    """Print items, one a line.

    Raises:
        InputError: No such family.
    """
    if family is not None and family not in FAMILIES:
        raise InputError(
            Problem(
                f"no family '{family}'", remedy=nearest(family, FAMILIES) or f"one of {', '.join(FAMILIES)}"
            )
        )
    index = catalog_index(open_catalog(catalog))
    rows = index.rows(family, words)
    if as_json:
        found = [
            {"family": r.family, "id": r.id, "name": r.name, "vendor": r.vendor, "orderable": r.orderable,
             "available": r.available, "summary": r.summary}
            for r in rows
        ]  # fmt: skip
        print(json.dumps(found, indent=1))
    else:
        wide = max((len(row.id) for row in rows), default=0)
        for row in rows:
            mark = "" if row.orderable else "  (not orderable)"
            print(f"{row.family:<16} {row.id:<{wide}}  {row.summary}{mark}")
        if not rows:
            print("nothing found", file=sys.stderr)
    for problem in index.problems:
        print(problem, file=sys.stderr)
    return 2 if index.problems else 0


def show_item(item: str, *, catalog: Sequence[Path], as_json: bool) -> int:
    """Print an item with every figure's source and date.

    Raises:
        InputError: No such item.
    """
    shelf = open_catalog(catalog)
    found = _find(shelf, item)
    if not found:
        every = [name for kind in FAMILIES.values() for name in shelf.ids(kind)]
        raise InputError(Problem(f"no item '{item}' in the catalog", remedy=nearest(item, every)))
    for entry in found:
        if as_json:
            print(entry.item.model_dump_json(indent=1, exclude_none=True))
        else:
            _print_entry(shelf, entry)
    return 0


def _find(shelf: Catalog, item: str) -> list[Entry[Any]]:
    family, slash, name = item.partition("/")
    wanted = {family: FAMILIES[family]} if slash and family in FAMILIES else FAMILIES
    name = name if slash else item
    return [shelf.entry(kind, name) for kind in wanted.values() if name in shelf.ids(kind)]


def _print_entry(shelf: Catalog, entry: Entry[Any]) -> None:
    item = entry.item
    print(f"{item.family}/{item.id}: {item.name}  ({entry.document.path})")
    if not item.orderable:
        print(f"  not orderable: {item.why_not_orderable}")
    if isinstance(item, Profile):
        from planner.cli.calibrate import report

        print("\n".join(report(item)[1:]))
        return
    figures: dict[str, Figure] = {}
    for name, value in item:
        if isinstance(value, Figure):
            figures[name] = value
        elif name == "figures" and isinstance(value, dict):
            figures.update(value)
        elif isinstance(value, PercentColumn):
            percents = ", ".join(f"{one:g}" for one in value.percent)
            print(f"  {name}: {percents} %  [{value.basis}, {value.as_of}] {_title(shelf, value.source)}")
        elif name not in ("id", "name", "orderable", "why_not_orderable") and value not in (None, "", (), 0):
            print(f"  {name}: {value if isinstance(value, (str, int, float)) else _plain(value)}")
    for name, figure in figures.items():
        spread = "" if figure.low is None and figure.high is None else _spread(figure)
        doubt = "" if figure.verified else ", not verified"
        title = _title(shelf, figure.source)
        print(f"  {name}: {figure.value:,.10g}{spread}  [{figure.basis}{doubt}, {figure.as_of}] {title}")
        if figure.note:
            print(f"      {figure.note}")


def _title(shelf: Catalog, source: str) -> str:
    known = shelf.sources.get(source)
    return known.title if known is not None else source


def _spread(figure: Figure) -> str:
    low = figure.value if figure.low is None else figure.low
    high = figure.value if figure.high is None else figure.high
    return f" ({low:,.10g} to {high:,.10g})"


def _plain(value: Any) -> str:
    if hasattr(value, "model_dump"):
        return ", ".join(f"{key} {one}" for key, one in value.model_dump(exclude_none=True).items())
    return ", ".join(str(one) for one in value) if isinstance(value, (tuple, list)) else str(value)


def check_items(*, catalog: Sequence[Path]) -> int:
    """Read everything; print problems and a count."""
    shelf = open_catalog(catalog)
    index = catalog_index(shelf)
    problems = [str(problem) for problem in index.problems]
    checked = 0
    for row in index.rows():
        entry = shelf.entry(FAMILIES[row.family], row.id)
        checked += 1
        for name, source in _sources(entry.item):
            if source not in shelf.sources:
                problems.append(f"{entry.document.path}: {name}: no source '{source}' in sources.yaml")
        if isinstance(entry.item, Profile):
            problems += _raw_problems(shelf, entry.item)
    for problem in problems:
        print(problem)
    print(f"{checked} items, {len(shelf.sources)} sources, {len(problems)} problems", file=sys.stderr)
    return 2 if problems else 0


def _raw_problems(catalog: Catalog, profile: Profile) -> list[str]:
    """Raw files that are gone or aren't those the profile was fitted from."""
    path = catalog.path_of(Profile, profile.id)
    found = []
    for raw in profile.raw:
        file = path.parent / raw.file
        if not file.is_file():
            found.append(f"{path}: raw file {raw.file} is missing (the fit stands, and can't be made again)")
        elif sha256(file.read_bytes()).hexdigest() != raw.sha256:
            found.append(f"{path}: raw file {raw.file} isn't the one the profile was fitted from")
    return found


def _sources(item: Any) -> list[tuple[str, str]]:
    found = []
    for name, value in item:
        if isinstance(value, Figure | PercentColumn):
            found.append((name, value.source))
        elif isinstance(value, dict):
            found += [(f"{name}.{key}", one.source) for key, one in value.items() if isinstance(one, Figure)]
    return found
