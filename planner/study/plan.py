"""From a scenario's name to its evaluation with ranges, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner.catalog.store import open_catalog
from planner.errors import ScenarioError
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_scenario
from planner.scenario.parts import with_part_problems
from planner.study.risk import with_ranges_and_swings


def plan(scenario: str | Path, *, changes: Sequence[str] = (), catalog: Sequence[Path] = ()) -> Evaluation:
    """Read a scenario, evaluate it, draw the ranges of its results, and find what swings its cost most.

    Args:
        scenario: A file, or the name of a shipped scenario.
        changes: ``key=value`` changes, as for ``--set``.
        catalog: Folders that add or replace catalog items.

    Raises:
        InputError: Every problem of the scenario and the catalog.
    """
    shelf = open_catalog(catalog)
    try:
        loaded = load_scenario(scenario, changes=changes)
    except ScenarioError as error:
        raise with_part_problems(error, shelf) from error
    return with_ranges_and_swings(evaluate(loaded, shelf))
