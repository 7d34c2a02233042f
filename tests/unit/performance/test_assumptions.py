"""The shipped corrections cover what the model asks for."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from planner.performance.layers import TrainingConstants

FOLDER = Path(__file__).parents[3] / "catalog" / "assumptions"
FIGURES = {
    key: figure
    for name in ("performance", "serving")
    for key, figure in YAML(typ="safe").load((FOLDER / f"{name}.yaml").read_text())["figures"].items()
}
FROM_ELSEWHERE = {"gemm_element_bytes", "attention_flop_ratio", "separate_projections"}
"""Formats follow from the scenario; how software lays out its work is known."""


@pytest.mark.parametrize("key", FIGURES)
def test_a_figure_lies_in_its_range_and_guesses_are_not_verified(key: str) -> None:
    figure = FIGURES[key]
    assert figure["low"] <= figure["value"] <= figure["high"]
    assert figure["basis"] != "estimate" or not figure["verified"]
    assert figure["note"]


def test_every_constant_of_training_has_a_figure() -> None:
    words = [set(key.removesuffix("_fraction").split("_")) for key in FIGURES]
    for field in fields(TrainingConstants):
        if field.name not in FROM_ELSEWHERE:
            asked = set(field.name.removesuffix("_fraction").split("_")) - {"head", "of", "peak"}
            assert any(asked <= have for have in words), field.name
