"""What stands above a view's sections, without them: enough for a line in a table of many plans."""

from __future__ import annotations

import planner
from planner.evaluate import Evaluation
from planner.present.view.anchored import anchor_tables
from planner.present.view.beside import storage_warnings
from planner.present.view.model import Table, View
from planner.present.view.outcomes import finding, headlines, refusals, verdict
from planner.present.view.reading import Reading
from planner.present.view.remedies import tried_table


def brief(evaluation: Evaluation) -> View:
    """The view of one evaluation without its sections, choices and glossary, which take most of its time."""
    cells = headlines(evaluation)
    said, meets = verdict(evaluation, cells)
    return View(
        name=evaluation.loaded.scenario.name,
        finding=finding(evaluation),
        verdict=" ".join((said, *storage_warnings(evaluation))),
        meets=meets,
        feasible=evaluation.feasible,
        headlines=cells,
        sections=(),
        refusal=refusals(evaluation),
        tried=tried_table(evaluation),
        stamp=stamp(evaluation),
        measured=_measured(evaluation),
    )


def _measured(evaluation: Evaluation) -> tuple[Table, ...]:
    """Points measured on one's own endpoints beside the model."""
    if evaluation.built is None:
        return ()
    reading = Reading(evaluation, evaluation.built)
    return tuple(
        table for served in evaluation.built.performance.served for table in anchor_tables(reading, served)
    )


def stamp(evaluation: Evaluation) -> tuple[tuple[str, str], ...]:
    """What produced the numbers: files, dates, version, hashes."""
    loaded, parts = evaluation.loaded, evaluation.parts
    return (
        ("scenario", loaded.document.path),
        ("prices and parts as of", parts.as_of),
        ("cluster-planner", planner.__version__),
        ("scenario hash", loaded.digest()),
        ("catalog hash", parts.catalog.digest()),
    )
