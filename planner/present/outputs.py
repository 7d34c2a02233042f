"""The formats a report is written in, and the one way in which it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from planner.errors import InputError, Place, Problem
from planner.evaluate import Evaluation
from planner.present.files import write_atomically

Write = Callable[[Evaluation], bytes]


def _html(evaluation: Evaluation) -> bytes:
    from planner.present.html import html_text

    return html_text(evaluation).encode()


def _xlsx(evaluation: Evaluation) -> bytes:
    from planner.present.workbook import workbook_bytes

    return workbook_bytes(evaluation)


def _json(evaluation: Evaluation) -> bytes:
    from planner.present.json_output import json_text

    return json_text(evaluation).encode()


def _bom(evaluation: Evaluation) -> bytes:
    from planner.present.bom_csv import bom_csv

    return bom_csv(evaluation)


def _cables(evaluation: Evaluation) -> bytes:
    from planner.design.cutsheet import cut_sheet
    from planner.present.bom_csv import built_of

    cluster = built_of(evaluation).cluster
    return cut_sheet(cluster.cabling, cluster.media, cluster.layout).csv()


WRITERS: Final[Mapping[str, Write]] = {
    "html": _html, "xlsx": _xlsx, "json": _json, "bom.csv": _bom, "cables.csv": _cables,
}  # fmt: skip
"""What makes each format's bytes; a presenter is imported when its format is asked for."""


def make_folder(folder: Path) -> None:
    """Make the folder of the reports.

    Raises:
        InputError: It can't be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            Problem(
                f"can't be made: {error.strerror or error}",
                Place(str(folder)),
                remedy="give a folder you may write to",
            )
        ) from error


def write_reports(evaluation: Evaluation, folder: Path, stem: str, formats: Sequence[str]) -> Iterator[Path]:
    """Write each format whole or not at all, and say which file is done.

    Raises:
        InputError: A file can't be written; the ones before it stay.
    """
    for kind in formats:
        path = folder / f"{stem}.{kind}"
        write_atomically(path, WRITERS[kind](evaluation))
        yield path
