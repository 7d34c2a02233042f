"""Copying where the terminal's own way doesn't reach: inside tmux."""

from __future__ import annotations

import os
import subprocess
from typing import Final

PATIENCE_S: Final = 1.0


def to_tmux(text: str) -> bool:
    """Put a text into tmux's paste buffer, and through it into the clipboard; False outside tmux, or where that failed.

    By default tmux drops the sequence (OSC 52) with which a program asks a terminal to copy, and takes the
    same text from its own command. Versions before 3.2 can't hand it on to the terminal, and fill the buffer alone.
    """
    if not os.environ.get("TMUX"):
        return False
    return any(_loaded(flags, text) for flags in (["-w"], []))


def _loaded(flags: list[str], text: str) -> bool:
    try:
        done = subprocess.run(
            ["tmux", "load-buffer", *flags, "-"], input=text.encode("utf-8", "replace"), capture_output=True,
            check=False, timeout=PATIENCE_S,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
