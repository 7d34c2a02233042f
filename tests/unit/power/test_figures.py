"""Named figures of the power model."""

from __future__ import annotations

import numpy as np

from planner.catalog.schema import Assumptions
from planner.ledger import Ledger
from planner.power.figures import FILE, NAMES, Figures
from tests.unit.power.parts import CATALOG


def test_every_named_figure_stands_in_the_catalog() -> None:
    assert set(NAMES) <= set(CATALOG.get(Assumptions, FILE).figures)


def test_a_figure_is_entered_once_and_remembered() -> None:
    figures = Figures(Ledger(months=1), CATALOG)
    assert figures("cpu_limit_w") == figures("cpu_limit_w")
    assert [line.key for line in figures.lines] == ["assumption.cpu_limit_w"]


def test_draws_of_a_figure_are_used() -> None:
    ledger = Ledger(months=1, draws={"assumption.cpu_limit_w": np.array([300.0, 400.0])})
    assert list(Figures(ledger, CATALOG)("cpu_limit_w")) == [300.0, 400.0]
