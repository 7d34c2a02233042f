"""The calibrate command: measurement files in, a profile with its errors out."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Sequence
from datetime import date
from itertools import chain, count
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from planner.catalog.figure import Date, Id
from planner.catalog.profiles import CollectiveFit, Profile, RawFile
from planner.catalog.store import Catalog, open_catalog
from planner.errors import CalibrationError, InputError, Place, Problem, nearest
from planner.measure.fit.profile import Fitted, digest, fit_profile
from planner.measure.parse.points import LogError, Measurements
from planner.measure.parse.read import read_points
from planner.scenario.yamltext import inline, scalar
from planner.whole_file import replace_file

RAW = "raw"
"""Folder beside a profile that keeps the files it was fitted from."""


def calibrate(
    files: Sequence[Path],
    *,
    output: Path | None,
    accelerator: str | None,
    name: str,
    as_of: str,
    source: str | None,
    catalog: Sequence[Path],
    as_json: bool,
) -> int:
    """Fit, print the errors, and write where a path is given.

    Raises:
        InputError: A file is damaged; every problem with its line.
        CalibrationError: The files hold nothing that can be fitted, or of several accelerators.
    """
    shelf = open_catalog(catalog)
    _check_options(output, as_of, source, shelf)
    files = list({path.resolve(): path for path in reversed(files)}.values())[::-1]
    read = read_all(files)
    for one in read:
        for note in one.notes:
            print(f"{one.path}: {note}", file=sys.stderr)
    profile_id = output.stem if output is not None else "profile"
    fitted = fit_profile(
        read, catalog=shelf, profile_id=profile_id, accelerator=accelerator, name=name, as_of=as_of, source=source
    )  # fmt: skip
    for reason in fitted.refused:
        print(f"not fitted: {reason}", file=sys.stderr)
    for reason in fitted.doubts:
        print(f"doubtful: {reason}", file=sys.stderr)
    if as_json:
        print(json.dumps(_summary(fitted), indent=1, allow_nan=False))
    else:
        print("\n".join(report(fitted.profile)))
    if output is not None:
        write_profile(fitted.profile, files, output)
        print(f"wrote {output}, and the raw files in {output.parent / RAW}", file=sys.stderr)
    return 0


def _check_options(output: Path | None, as_of: str, source: str | None, shelf: Catalog) -> None:
    """Refuse what would make no valid profile, all at once and before long work."""
    problems = _about_output(output) if output is not None else []
    if as_of and not _fits(Date, as_of):
        problems.append(Problem(f"--as-of '{as_of}' is no day", remedy="write --as-of YYYY-MM-DD"))
    elif as_of > date.today().isoformat():
        problems.append(
            Problem(f"--as-of '{as_of}' is yet to come", remedy="give the day of the measurement")
        )
    if source is not None and not _fits(Id, source):
        problems.append(Problem(f"--source '{source}' is no id", remedy="name an entry of sources.yaml"))
    elif source is not None and source not in shelf.sources:
        near = (
            nearest(source, shelf.sources)
            or "name an entry of sources.yaml, or add it to one in --catalog DIR"
        )
        problems.append(Problem(f"--source: no publication '{source}' in the catalog", remedy=near))
    if problems:
        raise InputError(problems)


def _about_output(output: Path) -> list[Problem]:
    """What is wrong with the path of a profile; its name becomes an id."""
    if output.suffix != ".yaml":
        # `.yaml` alone is a hidden file without a name before its ending
        name = output.name if output.suffix else output.name.removesuffix(".yaml") or "NAME"
        name = output.stem if output.suffix == ".yml" else name
        better = output.parent / f"{name}.yaml"
        return [Problem(f"'{output}' doesn't end in .yaml", remedy=f"write -o {better}")]
    problems = []
    if not _fits(Id, output.stem):
        problems.append(
            Problem(
                f"'{output.stem}' is no id",
                remedy="name the file in small letters, digits, points and hyphens",
            )
        )
    if output.is_dir():
        problems.append(Problem("is a folder, and a file is needed", Place(str(output))))
    if not output.parent.is_dir():
        problems.append(
            Problem(f"no folder '{output.parent}'", Place(str(output)), remedy="name a folder that is there")
        )
    return problems


def _fits(kind: Any, text: str) -> bool:
    try:
        TypeAdapter(kind).validate_python(text)
    except ValidationError:
        return False
    return True


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


def report(profile: Profile) -> list[str]:
    """The fits and their errors, as lines for a terminal."""
    lines = [f"{profile.name} ({profile.accelerator}, {profile.as_of})", ""]
    lines += [f"  {name}: {value}" for name, value in profile.environment.items()]
    if profile.collectives:
        head = ("operation", "ranks", "path", "mode", "type", "sizes", "regimes", "median", "P90", "worst")
        rows = [_row(one) for one in profile.collectives]
        lines += ["", "Collectives, errors of the fit on its points:", *_table(head, rows)]
    for title, names, cells in kernel_tables(profile):
        lines += ["", title, *_table(names, cells)]
    return lines


def kernel_tables(profile: Profile) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Tables of the fits that are no collectives: title, heads and rows."""
    found: list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]] = []
    for title, fits in (("Matrix products", profile.gemm), ("Attention", profile.attention)):
        rows: list[tuple[str, ...]] = [
            (getattr(one, "family", ""), one.dtype, one.implementation, str(one.errors.points),
             *_errors(one.errors), _percent(one.left_out.median_fraction))
            for one in fits
        ]  # fmt: skip
        if rows:
            kernel_head = ("kind", "type", "implementation", "points", "median", "P90", "worst", "left out")
            found.append((f"{title}, errors of the fit:", kernel_head, rows))
    if profile.memory:
        memory: list[tuple[str, ...]] = [
            (one.family, {True: "pinned", False: "not pinned", None: ""}[one.pinned], str(one.gpus_active),
             f"{one.rate_gbyte_per_s:,.1f} GB/s", *_errors(one.errors))
            for one in profile.memory
        ]  # fmt: skip
        memory_head = ("transfer", "memory", "GPUs", "rate", "median", "P90", "worst")
        found.append(("Memory:", memory_head, memory))
    if profile.power:
        power: list[tuple[str, ...]] = [
            (one.state, f"{one.mean_w:,.0f} W", f"{one.p95_w:,.0f} W", f"{one.share_of_limit_fraction:.0%}")
            for one in profile.power
        ]
        found.append(("Power of one GPU:", ("state", "mean", "P95", "of the limit"), power))
    if profile.overlap:
        overlap: list[tuple[str, ...]] = [
            (one.op, str(one.ranks), _percent(one.hidden_errors.median_fraction),
             _percent(one.gemm_errors.median_fraction), _percent(one.collective_errors.median_fraction))
            for one in profile.overlap
        ]  # fmt: skip
        overlap_head = ("operation", "ranks", "hidden share", "GEMM slowdown", "collective slowdown")
        found.append(("Overlap with matrix products, median errors:", overlap_head, overlap))
    return found


def _row(one: CollectiveFit) -> tuple[str, ...]:
    sizes = f"{_size(one.min_bytes)}-{_size(one.max_bytes)}"
    ranks = str(one.ranks) if one.nodes == 1 else f"{one.ranks} on {one.nodes}"
    return (
        one.op, ranks, one.path.value, one.mode.value, one.dtype, sizes, str(len(one.regimes)), *_errors(one.errors)
    )  # fmt: skip


def _errors(errors: Any) -> tuple[str, str, str]:
    return (
        _percent(errors.median_fraction), _percent(errors.p90_fraction), _percent(errors.worst_fraction)
    )  # fmt: skip


def _percent(fraction: float) -> str:
    return f"{fraction:.1%}"


def _size(size: int) -> str:
    """A binary size.

    >>> _size(512), _size(8 * 2**30)
    ('512B', '8G')
    """
    for unit, scale in (("G", 2**30), ("M", 2**20), ("K", 2**10)):
        if size >= scale:
            return f"{size / scale:g}{unit}"
    return f"{size}B"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *rows]
    ]


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


def _summary(fitted: Fitted) -> dict[str, Any]:
    said = {"refused": list(fitted.refused), "doubts": list(fitted.doubts)}
    return {**said, **fitted.profile.model_dump(mode="json", exclude_defaults=True)}


__all__ = ["CalibrationError", "calibrate", "profile_yaml", "read_all", "report", "write_profile"]
