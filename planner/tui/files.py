"""What the editor keeps on disk: the scenario, recovery files, recent names, records of our own faults."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from planner.errors import Place, Problem, ScenarioError
from planner.whole_file import PRIVATE, replace_file

RECENT = 12


def state_folder() -> Path:
    """The user's state folder for this program."""
    from platformdirs import user_state_path

    return user_state_path("cluster-planner")


def save_text(path: Path, text: str) -> None:
    """Write a text in place at once, keeping the file's rights; a link's target is what is written.

    Raises:
        ScenarioError: It can't be written; the file is as before.
    """
    target = path.resolve()
    try:
        mode = target.stat().st_mode & 0o7777 if target.exists() else None
        replace_file(target, text.encode("utf-8"), mode=mode, durable=True)
    except OSError as error:
        raise ScenarioError(
            Problem(
                f"can't be written: {error.strerror or error}", Place(str(path)), remedy="save it elsewhere"
            )
        ) from error


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
        name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
        return self.folder / "recovery" / f"{name}-{self.process}.json"

    def keep(self, path: Path, text: str, base: str, time: str) -> bool:
        """Write unsaved edits down; False where that failed."""
        data = {"path": str(path.resolve()), "text": text, "base": base, "time": time}
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
                one = Unsaved(
                    file,
                    Path(data["path"]),
                    data["text"],
                    data["base"],
                    data["time"],
                    int(process) if runs else 0,
                )
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if path is None or one.path == path.resolve():
                found.append(one)
        return tuple(sorted(found, key=lambda one: one.time, reverse=True))

    def recent(self) -> tuple[Path, ...]:
        """Plans that were opened last and still exist."""
        try:
            names = json.loads((self.folder / "recent.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ()
        paths = [Path(name) for name in names if isinstance(name, str)] if isinstance(names, list) else []
        return tuple(path for path in paths if path.is_file())

    def opened(self, path: Path) -> None:
        """Put a plan at the head of the recent ones."""
        names = [str(path.resolve()), *(str(one) for one in self.recent() if one != path.resolve())]
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
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
