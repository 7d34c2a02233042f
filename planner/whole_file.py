"""Puts a file in place at once: a reader finds the whole new one, or the one that was there before."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

PRIVATE = 0o600
"""Rights of a file for its owner alone."""


def replace_file(path: Path, data: bytes, *, mode: int | None = None, durable: bool = False) -> None:
    """Write bytes under a temporary name in the same folder and move them to their own.

    Args:
        mode: The file's rights; those of any new file of this process when none are given.
        durable: Wait until the bytes are on the disk, for what can't be made again.

    Raises:
        OSError: The folder is missing or can't be written, or the path is a folder. The file that was there
            is as before, and the temporary one is gone.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:60]}-", suffix=".part", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_mask() if mode is None else mode)
        temporary.replace(path)
    except BaseException:  # an interruption leaves nothing behind either
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
