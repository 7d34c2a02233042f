"""Starts the terminal interface."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def run(path: str | None, catalog_folders: Sequence[Path]) -> int:
    """Run the terminal interface until the user leaves it.

    Args:
        path: Scenario file or shipped name; None shows what can be opened.
        catalog_folders: Overlays of the catalog.

    Returns:
        Exit code: 0, or 130 where it was interrupted.
    """
    from planner.tui.app import PlannerApp

    try:
        return PlannerApp(path, catalog_folders).run() or 0
    except KeyboardInterrupt:
        return 130
