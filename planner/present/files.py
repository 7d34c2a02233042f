"""Writes a report so that a reader finds either the whole file or the one that was there before."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from planner.errors import InputError, Place, Problem


def write_atomically(path: Path, data: bytes) -> None:
    """Put bytes in place under their final name at once.

    They go to a temporary name in the same folder first, which is removed whatever happens.

    Raises:
        InputError: The folder is missing or can't be written, or the path is a folder.
    """
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:60]}-", suffix=".part", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # mkstemp makes a file for its owner alone; a report gets the rights any new file has.
        temporary.chmod(0o666 & ~_mask())
        temporary.replace(path)
        temporary = None
    except OSError as error:
        raise InputError(_problem(path, error)) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


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
