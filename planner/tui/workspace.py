"""A folder of scenarios: what lies in it, and copies, names and removal of its files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner.documents import is_file
from planner.errors import Place, Problem, ScenarioError
from planner.tui.draft import read_text
from planner.tui.files import save_text

MOST: Final = 2_000
"""YAML files that are looked into; a folder with more is no workspace, and the list says so."""
HEAD_BYTES: Final = 4096
"""What is read of a file to tell what it is: names and kinds stand at the top."""
_SCENARIO: Final = re.compile(r"^(?:workloads|cluster|extends|site):", re.MULTILINE)
_NAME: Final = re.compile(r"^name:[ \t]*(.+?)[ \t]*(?:#.*)?$", re.MULTILINE)
_EXTENDS: Final = re.compile(r"^extends:[ \t]*(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One scenario of the folder.

    Attributes:
        title: What it calls itself; empty where it has no name of its own.
        extends: The plan it changes; empty where it stands alone.
    """

    path: Path
    title: str = ""
    extends: str = ""

    @property
    def told(self) -> str:
        """What a list says beside the file's name."""
        base = f"changes {self.extends}" if self.extends else ""
        return ", ".join(part for part in (self.title, base) if part)


def scenarios_in(folder: Path) -> tuple[Entry, ...]:
    """Scenarios in a folder, by name; other YAML files, hidden ones and folders below are left out.

    Raises:
        ScenarioError: The folder can't be read.
    """
    found = []
    for path in _files(folder)[:MOST]:
        entry = _entry(path)
        if entry is not None:
            found.append(entry)
    return tuple(found)


def unlisted(folder: Path) -> list[str]:
    """What to say of files that are too many to be listed; nothing where all are.

    Raises:
        ScenarioError: The folder can't be read.
    """
    files = len(_files(folder))
    return [f"{files:,} YAML files: the first {MOST:,} by name are looked into"] if files > MOST else []


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(
            one for one in folder.iterdir()
            if one.suffix in (".yaml", ".yml") and not one.name.startswith(".") and is_file(one)
        )  # fmt: skip
    except OSError as error:
        raise ScenarioError(
            Problem(f"can't be read: {error.strerror or error}", Place(str(folder)))
        ) from error


def _entry(path: Path) -> Entry | None:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return None
    if not _SCENARIO.search(head):
        return None
    name, extends = _NAME.search(head), _EXTENDS.search(head)
    return Entry(path, name[1].strip("\"'") if name else "", extends[1].strip("\"'") if extends else "")


def free_name(folder: Path, stem: str) -> str:
    """A file name that is not taken: ``plan.yaml``, then ``plan-2.yaml``."""
    number, name = 2, f"{stem}.yaml"
    while (folder / name).exists():
        name, number = f"{stem}-{number}.yaml", number + 1
    return name


def copied(path: Path, name: str) -> Path:
    """A copy of a scenario beside it, under another name.

    Raises:
        ScenarioError: A file of that name is there, or it can't be written.
    """
    target = path.with_name(with_suffix(name))
    if target.exists():
        raise ScenarioError(Problem("is there already", Place(str(target)), remedy="choose another name"))
    save_text(target, read_text(path))
    return target


def removed(path: Path) -> None:
    """Take a scenario away.

    Raises:
        ScenarioError: It can't be removed.
    """
    try:
        path.unlink()
    except OSError as error:
        raise ScenarioError(
            Problem(f"can't be removed: {error.strerror or error}", Place(str(path)))
        ) from error


def used_by(path: Path, entries: tuple[Entry, ...]) -> tuple[str, ...]:
    """Names of the scenarios in the folder that change this one."""
    names = {path.name, path.stem, str(path)}
    return tuple(one.path.name for one in entries if one.extends in names)


def with_suffix(name: str) -> str:
    """A name with YAML's ending.

    >>> with_suffix("mine"), with_suffix("mine.yml"), with_suffix("v1.2")
    ('mine.yaml', 'mine.yml', 'v1.2.yaml')
    """
    return name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"
