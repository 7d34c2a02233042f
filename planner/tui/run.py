"""Starts the terminal interface."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def run(
    path: str | None, catalog_folders: Sequence[Path], *, read_only: bool = False, keymap: Path | None = None
) -> int:
    """Run the terminal interface until the user leaves it.

    Args:
        path: Scenario file, shipped name or folder of scenarios; None is the current folder.
        catalog_folders: Overlays of the catalog.
        read_only: Whether nothing can be edited or written.
        keymap: File with the user's own keys; by default the one in the user's folder for settings, if there is one.

    Returns:
        Exit code: 0, 130 where it was interrupted, or 128 and the signal's number.

    Raises:
        InputError: The file of keys is wrong, or a catalog folder is missing.
    """
    from planner.catalog.store import open_catalog
    from planner.tui.app import PlannerApp
    from planner.tui.remembered import allocate_flat

    open_catalog(catalog_folders)  # a folder that isn't there is told before the terminal is taken over
    try:
        allocate_flat()
        return PlannerApp(path, catalog_folders, read_only=read_only, keymap=own_keys(keymap)).run() or 0
    except KeyboardInterrupt:
        return 130


def own_keys(path: Path | None) -> dict[str, str]:
    """The user's keys by action; none without a file.

    Raises:
        InputError: The file is wrong.
    """
    from planner.tui.actions import known_actions
    from planner.tui.keys import keymap_file, read_keymap

    if path is None:
        path = keymap_file()
        if not path.is_file():
            return {}
    return read_keymap(path, known_actions())
