"""Writes reports of the plan as edited: the same evaluation and the same bytes as ``planner run``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from planner.errors import InputError, Place, PlannerError, Problem

if TYPE_CHECKING:
    from planner.evaluate import Evaluation

Write = Callable[["Evaluation"], bytes]


def writers() -> Mapping[str, Write]:
    """What makes each format's bytes."""
    from planner.present.html import html_text
    from planner.present.json_output import json_text
    from planner.present.workbook import workbook_bytes

    return {
        "html": lambda evaluation: html_text(evaluation).encode(),
        "xlsx": workbook_bytes,
        "json": lambda evaluation: json_text(evaluation).encode(),
    }


def export(
    text: str,
    path: Path,
    formats: Sequence[str],
    folder: Path,
    *,
    catalog: Sequence[Path] = (),
    make: Callable[[], Mapping[str, Write]] = writers,
) -> Iterator[tuple[str, bool]]:
    """Write each format; gives what to say and whether it went wrong, one after another.

    The catalog is opened anew, so that the report's hashes are those a batch run prints.
    """
    from planner.catalog.store import open_catalog
    from planner.evaluate import evaluate
    from planner.present.files import write_atomically
    from planner.scenario.load import load_text
    from planner.study.bands import with_ranges

    try:
        evaluation = with_ranges(evaluate(load_text(text, path), open_catalog(catalog)))
        _make(folder)
        known = make()
    except PlannerError as error:
        yield from ((str(problem), True) for problem in error.problems)
        return
    for kind in formats:
        file = folder / f"{path.stem}.{kind}"
        try:
            write_atomically(file, known[kind](evaluation))
        except PlannerError as error:
            yield str(error), True
        else:
            yield f"written: {file}", False


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            Problem(
                f"can't be made: {error.strerror or error}",
                Place(str(folder)),
                remedy="choose another folder",
            )
        ) from error
