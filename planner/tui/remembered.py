"""What stays in memory after its use over an afternoon of editing, and how it is given back."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from typing import Final

EVERY_S: Final = 10.0
"""How often; a list that was opened and closed between two times is forgotten by the second."""


def forget_drawn() -> None:
    """Let go of rows that were drawn for widgets which are no more.

    Textual keeps the drawn rows of a widget in an object of its own, and a method of that object is cached
    with the object as part of the key. So the last 1,024 widgets stay in memory with all they had drawn: tens
    of megabytes once lists were opened and closed a few hundred times. Clearing that cache costs two styles
    for each widget drawn next. Where a later Textual has no such cache, there is nothing to clear.
    """
    with contextlib.suppress(ImportError, AttributeError):
        from textual._styles_cache import StylesCache

        StylesCache.get_inner_outer.cache_clear()


M_MMAP_THRESHOLD: Final = -3
M_ARENA_MAX: Final = -8
ARENAS = 2
"""One for what is drawn, one for what is worked out beside it."""
MAPPED_FROM_BYTES = 1 << 20
"""Arrays from this size on are given back to the system as soon as they are let go."""


def allocate_flat() -> bool:
    """Tell the C library to keep few heaps; whether it has taken it.

    Each evaluation runs in a thread, and glibc gives threads heaps of their own, up to eight for each core, that it
    hardly ever gives back: half an hour of editing took a fifth more memory without this (393 MB against 309 after a
    quarter of an hour of the soak). Other C libraries and systems are left as they are.

    Source:
        mallopt(3): M_ARENA_MAX, M_MMAP_THRESHOLD.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        tell = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    return bool(tell(M_ARENA_MAX, ARENAS) and tell(M_MMAP_THRESHOLD, MAPPED_FROM_BYTES))
