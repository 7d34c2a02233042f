"""What reads files of quotes: said from above, since workbooks are opened there and not in the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.scenario.quotes import Quotes

Reader = Callable[[Sequence[Path]], "Quotes"]

_reader: list[Reader] = []


def read_quotes_with(reader: Reader) -> None:
    """Say what reads files of quotes."""
    _reader[:] = [reader]


def read(paths: Sequence[Path]) -> Quotes:
    """Quotes of some files, by what was said to read them.

    Raises:
        InputError: Every problem of every file.
    """
    assert _reader, "nothing was said to read files of quotes"
    return _reader[0](paths)
