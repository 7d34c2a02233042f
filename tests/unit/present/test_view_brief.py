"""The top of a view without its sections."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.present.view.brief import brief
from planner.present.view.build import view
from planner.scenario.load import load_scenario


@pytest.mark.parametrize(
    "changes",
    [
        (),
        ("limits.days=1",),
        ("site.limit_mw=0.01",),
        ("workloads.0.model=llama-3.1-405b", "cluster.groups.0.gpus=8"),
    ],
)
def test_it_says_what_the_whole_view_says_above_its_sections(changes: tuple[str, ...]) -> None:
    evaluation = evaluate(load_scenario("h200-1024-ndr", changes=changes), open_catalog())
    whole, above = view(evaluation), brief(evaluation)
    assert len(whole.sections) == 9
    assert above == replace(whole, sections=(), choices=None, unknowns=None, glossary=())
