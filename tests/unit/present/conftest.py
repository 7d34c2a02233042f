"""Evaluations that several tests of presenters look at, each made once."""

from __future__ import annotations

from functools import cache

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_scenario, shipped_scenarios

TOO_SMALL = "h100-8-lab!workloads.0.model=llama-3.1-405b"
NO_NETWORK = "h200-1024-ndr!network.topology=none"
HOSTILE = "<script>alert('1')</script>\"=1+1 " + "é" * 60 + " & co"


@cache
def evaluated(name: str) -> Evaluation:
    """A shipped scenario, with one change after an exclamation mark."""
    scenario, _, change = name.partition("!")
    return evaluate(load_scenario(scenario, changes=[change] if change else []), open_catalog())


@pytest.fixture(params=shipped_scenarios())
def shipped(request: pytest.FixtureRequest) -> Evaluation:
    return evaluated(request.param)


@pytest.fixture(params=[TOO_SMALL, NO_NETWORK])
def refused(request: pytest.FixtureRequest) -> Evaluation:
    return evaluated(request.param)
