"""The calibrate command: measurement files in, a profile with its errors out."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from planner.catalog.figure import Date, Id
from planner.catalog.store import Catalog, open_catalog
from planner.errors import CalibrationError, InputError, Place, Problem, nearest
from planner.measure.fit.profile import Fitted, fit_profile
from planner.present.profile_files import RAW, profile_yaml, read_all, write_profile
from planner.present.profile_text import report


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


def _summary(fitted: Fitted) -> dict[str, Any]:
    said = {"refused": list(fitted.refused), "doubts": list(fitted.doubts)}
    return {**said, **fitted.profile.model_dump(mode="json", exclude_defaults=True)}


__all__ = ["CalibrationError", "calibrate", "profile_yaml", "read_all", "report", "write_profile"]
