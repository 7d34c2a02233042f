"""A terminal that goes without a signal ends the program, and what was edited stays."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from planner.scenario.load import find_scenario
from planner.tui.keeping import terminal_gone

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="as Linux closes pseudo-terminals"
)


def test_a_terminal_is_there_until_its_other_end_is_closed() -> None:
    above, below = pty.openpty()
    assert not terminal_gone(below)
    os.close(above)
    assert terminal_gone(below)
    os.close(below)


def test_the_program_leaves_when_a_terminal_goes_that_isnt_its_own(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_bytes(find_scenario("h100-8-lab").read_bytes())
    above, below = pty.openpty()
    folders = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("STATE", "CACHE", "CONFIG")}
    with subprocess.Popen(
        [sys.executable, "-m", "planner", "tui", str(plan)],
        stdin=below, stdout=below, stderr=below, start_new_session=True,
        env={**os.environ, **folders, "TERM": "xterm-256color"},
    ) as process:  # fmt: skip
        os.close(below)
        seen, end = b"", time.monotonic() + 60.0
        while b"Network" not in seen and time.monotonic() < end:
            seen += os.read(above, 65_536)
        os.close(above)
        try:
            assert process.wait(timeout=60.0) == 129
        finally:
            process.kill()
