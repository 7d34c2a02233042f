"""Writes reports of the plan as edited: the same evaluation and the same bytes as ``planner run``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from planner.errors import PlannerError


def export(
    text: str, path: Path, formats: Sequence[str], folder: Path, *, catalog: Sequence[Path] = ()
) -> Iterator[tuple[str, bool]]:
    """Write each format; gives what to say and whether it went wrong, one after another.

    The catalog is opened anew, so that the report's hashes are those a batch run prints.
    """
    from planner.catalog.store import open_catalog
    from planner.evaluate import evaluate
    from planner.present.outputs import make_folder, write_reports
    from planner.scenario.load import load_text
    from planner.study.risk import with_ranges_and_swings

    try:
        evaluation = with_ranges_and_swings(evaluate(load_text(text, path), open_catalog(catalog)))
        make_folder(folder)
    except PlannerError as error:
        yield from ((str(problem), True) for problem in error.problems)
        return
    for kind in formats:
        try:
            for file in write_reports(evaluation, folder, path.stem, [kind]):
                yield f"written: {file}", False
        except PlannerError as error:
            yield str(error), True
