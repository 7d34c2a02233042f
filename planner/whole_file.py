"""Puts a file in place at once: a reader finds the whole new one, or the one that was there before."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path

PRIVATE = 0o600
"""Rights of a file for its owner alone."""


def replace_file(path: Path, data: bytes, *, mode: int | None = None, durable: bool = False) -> None:
    """Write bytes under a temporary name in the same folder and move them to their own.

    A pipe or a character device is written to as it is: it holds nothing to keep whole, and a file moved to its
    name would take its place, which for a device breaks the machine.

    Args:
        mode: The file's rights; those of any new file of this process when none are given.
        durable: Wait until the bytes are on the disk, for what can't be made again.

    Raises:
        OSError: The folder is missing or can't be written, or the path is a folder, a disk or a socket. The file
            that was there is as before, and the temporary one is gone.
    """
    if _is_stream(path):
        path.write_bytes(data)
        return
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


def _is_stream(path: Path) -> bool:
    """Whether bytes are to go to what stands at the path, or behind a link there, instead of into its place.

    Raises:
        OSError: It takes no file and no stream of bytes.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise OSError(errno.EINVAL, "is a disk or a socket", str(path))
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
