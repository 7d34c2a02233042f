"""The entry of the command line: its exit code, and when it looks for cycles."""

from __future__ import annotations

import subprocess
import sys

COUNTED = """
import gc, sys
from planner.cli import main
found = []
gc.callbacks.append(lambda phase, info: found.append(info["generation"]) if phase == "stop" else None)
sys.argv = ["planner", *sys.argv[1:]]
try:
    main()
except SystemExit as leaving:
    print(leaving.code, len(found), gc.get_freeze_count() > 0, file=sys.stderr)
"""


def test_a_run_looks_for_no_cycles_on_its_way_and_none_when_it_leaves(tmp_path: object) -> None:
    command = [sys.executable, "-c", COUNTED, "run", "h100-8-lab", "-o", str(tmp_path), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, collections, frozen = done.stderr.split()[-3:]
    assert code in ("0", "1")
    assert (int(collections), frozen) == (0, "True")


def test_collecting_stays_on() -> None:
    """A long session and a large batch must not keep what workbooks leave behind."""
    code = "import gc, sys; from planner.cli import main; sys.argv = ['planner', '--version']\ntry: main()\nexcept SystemExit: print(gc.isenabled(), gc.get_threshold()[0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    enabled, threshold = done.stdout.split()[-2:]
    assert enabled == "True"
    assert 0 < int(threshold) < 1_000_000
