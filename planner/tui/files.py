"""What the editor keeps on disk: the scenario, recovery files, recent names, records of our own faults."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from planner.documents import is_file
from planner.errors import Place, Problem, ScenarioError
from planner.whole_file import PRIVATE, clear_parts, replace_file

RECENT = 12


def state_folder() -> Path:
    """The user's state folder for this program."""
    from platformdirs import user_state_path

    return user_state_path("cluster-planner")


def real(path: Path) -> Path:
    """Where a path leads; as it was written where links go in a circle, or the folder it starts from is gone."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a circle is a RuntimeError, a name with a NUL a ValueError
        return path


def is_folder(path: Path) -> bool:
    """Whether a folder is there; a name that nothing can have is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def save_text(path: Path, text: str) -> None:
    """Write a text in place at once, keeping the file's rights; a link's target is what is written.

    Raises:
        ScenarioError: It can't be written; the file is as before.
    """
    target = real(path)
    try:
        mode = _rights(target)
        replace_file(target, text.encode("utf-8"), mode=mode, durable=True)
    except (OSError, ValueError) as error:
        raise ScenarioError(
            Problem(
                f"can't be written: {getattr(error, 'strerror', None) or error}",
                Place(str(path)),
                remedy="save it elsewhere",
            )
        ) from error


def _rights(target: Path) -> int | None:
    """Rights of the file that is written over; None where there is none yet.

    Raises:
        OSError: What stands there is no file: writing to a pipe would wait for a reader for ever.
    """
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "is a folder, a pipe or a device, and no file")
    return stat.S_IMODE(mode)


@dataclass(frozen=True, slots=True)
class Unsaved:
    """Edits that were never saved.

    Attributes:
        file: The recovery file.
        base: What stood on disk when they were made.
        held: Process of that number still runs, and may be a planner with these edits open.
    """

    file: Path
    path: Path
    text: str
    base: str
    time: str
    held: int = 0


class Shelf:
    """Recovery files and recent names, in one folder; whatever fails here never stops the editor."""

    def __init__(self, folder: Path, *, process: int | None = None) -> None:
        self.folder = folder
        self.process = os.getpid() if process is None else process

    def _file(self, path: Path) -> Path:
        name = hashlib.sha256(os.fsencode(real(path))).hexdigest()[:16]  # names needn't be UTF-8
        return self.folder / "recovery" / f"{name}-{self.process}.json"

    def keep(self, path: Path, text: str, base: str, time: str) -> bool:
        """Write unsaved edits down; False where that failed."""
        data = {"path": str(real(path)), "text": text, "base": base, "time": time}
        return _written(self._file(path), json.dumps(data))

    def forget(self, path: Path) -> None:
        """Nothing of this plan is unsaved any more."""
        with contextlib.suppress(OSError):
            self._file(path).unlink(missing_ok=True)

    def drop(self, unsaved: Unsaved) -> None:
        """Throw a recovery file away."""
        with contextlib.suppress(OSError):
            unsaved.file.unlink(missing_ok=True)

    def unsaved(
        self, path: Path | None = None, alive: Callable[[int], bool] | None = None
    ) -> tuple[Unsaved, ...]:
        """Edits that a program which no longer runs left behind, newest first."""
        return tuple(one for one in self.kept(path, alive) if not one.held)

    def kept(
        self, path: Path | None = None, alive: Callable[[int], bool] | None = None
    ) -> tuple[Unsaved, ...]:
        """All edits that were never saved, newest first; `Unsaved.held` where their program seems to run still."""
        found = []
        for file in sorted((self.folder / "recovery").glob("*-*.json")):
            process = file.stem.rpartition("-")[2]
            runs = process.isdigit() and int(process) != self.process and (alive or is_alive)(int(process))
            try:
                data = json.loads(file.read_text(encoding="utf-8"))
                told = {key: data[key] for key in ("path", "text", "base", "time")}
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                continue
            if not all(isinstance(one, str) for one in told.values()) or "\0" in told["path"]:
                continue
            plan, held = Path(told["path"]), int(process) if runs else 0
            if path is None or plan == real(path):
                found.append(Unsaved(file, plan, told["text"], told["base"], told["time"], held))
        return tuple(sorted(found, key=lambda one: one.time, reverse=True))

    def tidy(self, path: Path) -> None:
        """Remove half-written files that a killed session left: of this plan, and all in the program's own folder."""
        plan = real(path)
        clear_parts(plan.parent, of=plan.name)
        for own in (self.folder, self.folder / "recovery"):
            clear_parts(own)

    def recent(self) -> tuple[Path, ...]:
        """Plans that were opened last and still exist."""
        try:
            names = json.loads((self.folder / "recent.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return ()
        paths = [Path(name) for name in names if isinstance(name, str)] if isinstance(names, list) else []
        return tuple(path for path in paths if is_file(path))

    def opened(self, path: Path) -> None:
        """Put a plan at the head of the recent ones."""
        here = real(path)
        names = [str(here), *(str(one) for one in self.recent() if one != here)]
        _written(self.folder / "recent.json", json.dumps(names[:RECENT]))

    def fault(self, text: str, time: str) -> str:
        """Save a traceback; gives the file's name, or says that it couldn't be written."""
        name = self.folder / "faults" / f"{time.replace(':', '').replace(' ', '-')}-{self.process}.txt"
        return str(name) if _written(name, text) else "nowhere: the state folder can't be written"


def _written(path: Path, text: str) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(path, text.encode("utf-8"), mode=PRIVATE)
    except OSError:
        return False
    return True


def is_alive(process: int) -> bool:
    """Whether a process runs; one that ended and waits to be collected doesn't."""
    with contextlib.suppress(OSError, IndexError):
        state = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        if state in ("Z", "X", "x"):
            return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):  # no process has a number that large
        return False
    except OSError:
        return True
    return True
