"""What keeps memory flat while the terminal interface is open."""

from __future__ import annotations

import subprocess
import sys

import pytest

TAKEN = "from planner.tui.remembered import allocate_flat; raise SystemExit(0 if allocate_flat() else 3)"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc alone takes them")
def test_the_c_library_takes_the_settings() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TAKEN], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_other_systems_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from planner.tui.remembered import allocate_flat

    monkeypatch.setattr(sys, "platform", "darwin")
    assert allocate_flat() is False
