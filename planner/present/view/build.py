"""Puts the view together: outcomes, time, power, money, network, parts, assumptions."""

from __future__ import annotations

import planner
from planner.evaluate import Evaluation
from planner.present.view.model import Section, View
from planner.present.view.outcomes import finding, headlines, refusals, verdict


def view(evaluation: Evaluation) -> View:
    """The view of one evaluation."""
    cells = headlines(evaluation)
    said, meets = verdict(evaluation, cells)
    return View(
        name=evaluation.loaded.scenario.name,
        finding=finding(evaluation),
        verdict=said,
        meets=meets,
        feasible=evaluation.feasible,
        headlines=cells,
        sections=_sections(evaluation),
        refusal=refusals(evaluation),
        stamp=stamp(evaluation),
    )


def _sections(evaluation: Evaluation) -> tuple[Section, ...]:
    return ()


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
