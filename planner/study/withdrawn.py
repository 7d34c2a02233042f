"""Work that is given up before its end."""

from __future__ import annotations


class WithdrawnError(Exception):
    """Nobody wants the answer any more; raised by whoever is told how far the work is."""
