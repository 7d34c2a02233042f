"""Writes a report so that a reader finds either the whole file or the one that was there before."""

from __future__ import annotations

from pathlib import Path

from planner.errors import InputError, Place, Problem
from planner.whole_file import replace_file


def write_atomically(path: Path, data: bytes) -> None:
    """Put bytes in place under their final name at once, or say what a user can do about it.

    Raises:
        InputError: The folder is missing or can't be written, or the path is a folder.
    """
    try:
        replace_file(path, data)
    except OSError as error:
        raise InputError(_problem(path, error)) from error


def _problem(path: Path, error: OSError) -> Problem:
    reason = error.strerror or type(error).__name__
    if path.is_dir():
        return Problem("is a folder, and a file of this name is to be written", Place(str(path)),
                       remedy="remove it or write to another folder with -o")  # fmt: skip
    if not path.parent.is_dir():
        return Problem("the folder it goes to doesn't exist", Place(str(path)),
                       remedy=f"create {path.parent} or write to another folder with -o")  # fmt: skip
    return Problem(f"can't be written: {reason}", Place(str(path)),
                   remedy=f"make {path.parent} writable, free some space, or write elsewhere with -o")  # fmt: skip
