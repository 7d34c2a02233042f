"""Files that a scenario names, by the names that find them from another folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from planner.scenario.anchors import beside
from planner.scenario.load import Loaded
from planner.scenario.yamltext import inline

FIELDS: Final = ("quotes", "anchors")
"""Lists of a scenario whose items are files, looked up beside the file that names them."""


def name_from(folder: Path, path: Path) -> str:
    """Name of a file for a scenario in a folder; an absolute one stays.

    >>> name_from(Path("plans"), Path("offers/acme.csv")), name_from(Path("plans"), Path("/offers/acme.csv"))
    ('../offers/acme.csv', '/offers/acme.csv')
    """
    return path.as_posix() if path.is_absolute() else Path(os.path.relpath(path, folder)).as_posix()


def as_read(loaded: Loaded) -> list[str]:
    """Changes, as given to ``--set``, by which another text reads the same files as the scenario did."""
    return [
        f"{field}={inline([path.as_posix() for path in found])}"
        for field in FIELDS
        if (found := _paths(loaded, field))
    ]


def renamed_files(loaded: Loaded, folder: Path, *, standalone: bool) -> Iterator[tuple[str, list[str]]]:
    """Fields of files whose names have to change when the scenario is written to a folder, with the new names.

    A name on the command line was looked up from the current folder, one in a file beside that file.

    Args:
        loaded: The scenario as it was read.
        folder: Where it is going to lie.
        standalone: Whether what it extends is written into it; else names of a base stay with the base.
    """
    for field in FIELDS:
        names: tuple[str, ...] = getattr(loaded.scenario, field)
        stand = {loaded.stands((field, index)) for index in range(len(names))}
        if not names or (stand == {"base"} and not standalone):
            continue
        found = [name_from(folder, path) for path in _paths(loaded, field)]
        if "set" in stand or found != [Path(os.path.normpath(name)).as_posix() for name in names]:
            yield field, found


def _paths(loaded: Loaded, field: str) -> list[Path]:
    """Files of a field, where the scenario looks them up."""
    names: tuple[str, ...] = getattr(loaded.scenario, field)
    return [beside(name, loaded.document.place((field, index))) for index, name in enumerate(names)]
