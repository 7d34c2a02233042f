"""Puts a file in place at once: a reader finds the whole new one, or the one that was there before."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import tempfile
import time
from pathlib import Path
from typing import Final

PRIVATE = 0o600
"""Rights of a file for its owner alone."""
_NAME: Final = 60
"""Characters of a file's name that its temporary one takes over."""
LEFT_AFTER_S: Final = 3600.0
"""A temporary file of this age belongs to no process that still writes: bytes are ready before one is made."""


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
    clear_parts(path.parent, of=path.name)
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:_NAME]}-", suffix=".part", dir=path.parent)
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


def clear_parts(folder: Path, *, of: str = "") -> None:
    """Remove temporary files that a killed process left behind: regular ones, `LEFT_AFTER_S` old or more.

    Args:
        folder: Where they lie; nothing happens where it can't be read.
        of: Name of the file that they were to become; any file's when empty, for a folder that is the program's own.
    """
    name = re.escape(of[:_NAME]) if of else ".+"
    ours = re.compile(rf"\.{name}-[a-z0-9_]{{8}}\.part", re.DOTALL)
    oldest = time.time() - LEFT_AFTER_S
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not ours.fullmatch(entry.name) or not entry.is_file(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):  # another process was quicker, or it isn't ours to remove
                if entry.stat(follow_symlinks=False).st_mtime <= oldest:
                    os.unlink(entry.path)  # noqa: PTH108 (an entry has its path as text)


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
