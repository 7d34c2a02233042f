"""A serving scenario for the tests of sizing: one candidate, read once."""

from __future__ import annotations

from functools import cache

from planner.catalog.store import Catalog, open_catalog
from planner.choices import Precision
from planner.scenario.load import Loaded, load_scenario
from planner.study.sizing import Candidate
from planner.study.sizing_machines import candidates_of

NAME = "h200-serving-fleet"


@cache
def shelf() -> Catalog:
    """The shipped catalog."""
    return open_catalog()


def fleet(*changes: str) -> Loaded:
    """The shipped scenario with changes."""
    return load_scenario(NAME, changes=changes)


@cache
def candidate(server: str = "hgx-h200", precision: Precision = Precision.FP8) -> Candidate:
    """A server of the catalog that serves the scenario's model."""
    found, refused = candidates_of(fleet(), shelf(), 0, servers=[server], precisions=[precision])
    assert not refused
    return found[0]
