"""Arguments in, files out. Commands import what they need when they run, so that help is quick."""

from __future__ import annotations

import gc
import sys

YOUNG_OBJECTS = 250_000
"""New objects between two searches for cycles. Python's own 700 spend a fifth of a run on looking through what it
has loaded; an evaluation makes no cycles, a workbook 20,000 objects' worth."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(YOUNG_OBJECTS)
    try:
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")
        from planner.cli.app import run_app

        code = run_app()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    except ImportError as error:
        print(f"planner: {error}; the installation is broken, install cluster-planner again", file=sys.stderr)
        code = 70
    gc.freeze()  # the process ends with all it has: nothing to look for any more
    raise SystemExit(code)
