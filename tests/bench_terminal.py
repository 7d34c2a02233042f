"""CPU time until the terminal interface stands, and until it shows numbers. Part of ``make bench``."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from fcntl import ioctl
from functools import cache
from pathlib import Path
from termios import TIOCSWINSZ

SCENARIO = "h200-1024-ndr"
TABS, NUMBERS = b"Network", b" days"
"""What the first frame shows, and what only a plan that was worked out does."""
LONGEST_S = 60.0


@cache
def measured() -> tuple[float, float]:
    """CPU seconds of the process when its tabs and when its first outcomes are drawn, best of three."""
    with tempfile.TemporaryDirectory() as home:
        once(Path(home))  # the catalog's index is written once for a user
        runs = [once(Path(home)) for _ in range(3)]
    return min(run[0] for run in runs), min(run[1] for run in runs)


def once(home: Path) -> tuple[float, float]:
    """One start in a terminal of 140 columns and 40 rows."""
    shutil.rmtree(home / "state", ignore_errors=True)
    process, terminal = pty.fork()
    if process == 0:
        folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("STATE", "CACHE", "CONFIG")}
        command = [sys.executable, "-m", "planner", "tui", SCENARIO]
        os.execve(sys.executable, command, {**os.environ, **folders, "TERM": "xterm-256color"})
    ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    try:
        return _until(process, terminal, TABS), _until(process, terminal, NUMBERS)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def _until(process: int, terminal: int, mark: bytes) -> float:
    """CPU seconds of a process when it has written a text."""
    seen, end = b"", time.monotonic() + LONGEST_S
    while mark not in seen:
        assert time.monotonic() < end, f"{mark!r} is not shown: {seen[-400:]!r}"
        if select.select([terminal], [], [], 0.05)[0]:
            seen += os.read(terminal, 65_536)
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


MEASURES: list[tuple[str, str, Callable[[], float]]] = (
    [
        ("terminal, first frame, CPU s", "1.5", lambda: measured()[0]),
        ("terminal, first numbers, CPU s", "2", lambda: measured()[1]),
    ]
    if sys.platform.startswith("linux")
    else []
)
