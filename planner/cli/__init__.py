"""Arguments in, files out. Commands import what they need when they run, so that help is quick."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
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
    raise SystemExit(code)
