"""A calibration profile as files: measurements in, the profile and the packed raw files out."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path

from planner.catalog.profiles import Profile, RawFile
from planner.errors import InputError, Place, Problem
from planner.measure.fit.profile import digest
from planner.measure.parse.points import LogError, Measurements
from planner.measure.parse.read import read_points
from planner.scenario.yamltext import inline, scalar
from planner.whole_file import replace_file

RAW = "raw"
"""Folder beside a profile that keeps the files it was fitted from."""


def read_all(files: Sequence[Path]) -> list[Measurements]:
    """Read every file.

    Raises:
        InputError: Some are damaged; holds the problems of all of them.
    """
    found, problems = [], []
    for path in files:
        try:
            found.append(read_points(path))
        except LogError as error:
            problems += [
                Problem(one.message, Place(str(one.path), one.line), remedy=_remedy(one.message))
                for one in error.problems
            ]
    if problems:
        raise InputError(problems)
    return found


def _remedy(message: str) -> str:
    if "no measurement" in message:
        return "give a result of planner bench, a log of nccl-tests, or a CSV table"
    return ""


def write_profile(profile: Profile, files: Sequence[Path], output: Path) -> None:
    """Write the profile, and the files it was fitted from, packed, into a folder beside it.

    Raises:
        InputError: The folder is missing or can't be written.
    """
    folder = output.parent / RAW
    try:
        folder.mkdir(exist_ok=True)
        kept = []
        for path, name in zip(files, raw_names(files, output.stem), strict=True):
            target = folder / name
            if target.resolve() != path.resolve():
                replace_file(target, _packed(path))
            kept.append(RawFile(file=f"{RAW}/{target.name}", sha256=digest(target)))
        whole = profile.model_copy(update={"raw": tuple(kept)})
        replace_file(output, profile_yaml(whole).encode())
    except OSError as error:
        raise InputError(Problem(f"can't be written: {error.strerror}", Place(str(output)))) from error


def raw_names(files: Sequence[Path], profile_id: str) -> list[str]:
    """Names under which files are kept: the profile's id, then their own; a second file of one name is numbered.

    >>> raw_names([Path("a/run.json"), Path("b/run.json.gz"), Path("raw/mine.log.gz")], "mine")
    ['mine.run.json.gz', 'mine.run-2.json.gz', 'mine.log.gz']
    """
    names: list[str] = []
    for path in files:
        own = path.name.removesuffix(".gz").removeprefix(f"{profile_id}.")
        stem, point, suffix = own.rpartition(".") if "." in own else (own, "", "")
        ends = chain([""], (f"-{number}" for number in count(2)))
        forms = (f"{profile_id}.{stem}{end}{point}{suffix}.gz" for end in ends)
        names.append(next(name for name in forms if name not in names))
    return names


def _packed(path: Path) -> bytes:
    content = path.read_bytes()
    return content if content[:2] == b"\x1f\x8b" else gzip.compress(content, mtime=0)


def profile_yaml(profile: Profile) -> str:
    """The profile as a catalog item, one fit a line."""
    data = profile.model_dump(mode="json", exclude_defaults=True)
    raw = " ".join(one.file for one in profile.raw)
    again = f"planner calibrate {raw} -o {profile.id}.yaml --as-of {profile.as_of}"
    again += f" --accelerator {profile.accelerator}" + (
        f" --source {profile.source}" if profile.source else ""
    )
    lines = [f"# Written by planner calibrate. Fit again: {again}"]
    for key, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines += [f"{key}:", *(f"  - {inline(one)}" for one in value)]
        elif isinstance(value, dict):
            lines += [f"{key}:", *(f"  {scalar(name)}: {inline(one)}" for name, one in value.items())]
        else:
            lines.append(f"{key}: {inline(value)}")
    return "\n".join(lines) + "\n"
