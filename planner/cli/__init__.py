"""Arguments in, files out. Commands import what they need when they run, so that help is quick."""

from __future__ import annotations


def main() -> None:
    """Run the command line and leave with its exit code."""
    from planner.cli.app import run_app

    raise SystemExit(run_app())
