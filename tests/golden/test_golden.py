"""Whole scenarios against a saved ledger: a changed number is read in the diff.

``make golden`` writes the files again.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_scenario, shipped_scenarios

FOLDER = Path(__file__).parent
SCENARIOS = (
    "b300-2048-cpo",
    "gb200-nvl72-16",
    "h200-1024-ndr",
    "h200-phased",
    "b200-h200-disaggregated",
    "h200-serving-fleet",
)


def computed(name: str) -> Evaluation:
    return evaluate(load_scenario(name), open_catalog())


def lines_of(evaluation: Evaluation) -> dict[str, str]:
    """Key to value; a series by its sum and its last month."""
    found = {}
    for line in evaluation.ledger:
        values = evaluation.ledger.value(line)[0]
        numbers = [values] if np.ndim(values) == 0 else [values.sum(), values[-1]]
        found[line.key] = " ".join(f"{float(number):.12g}" for number in numbers)
    return found


def text_of(evaluation: Evaluation) -> str:
    return "".join(f"{key} {value}\n" for key, value in lines_of(evaluation).items())


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_ledger_is_the_saved_one(name: str) -> None:
    saved = dict(line.split(" ", 1) for line in (FOLDER / f"{name}.txt").read_text().splitlines())
    found = lines_of(computed(name))
    assert list(found) == list(saved)
    changed = {
        key: (saved[key], value)
        for key, value in found.items()
        # 1e-9: the last digits of sums differ between processors
        if not np.allclose(
            [float(one) for one in value.split()], [float(one) for one in saved[key].split()],
            rtol=1e-9, atol=1e-12, equal_nan=True,
        )
    }  # fmt: skip
    assert changed == {}


def test_every_shipped_scenario_can_be_built() -> None:
    assert all(computed(name).feasible for name in shipped_scenarios())


if __name__ == "__main__":
    for scenario in SCENARIOS:
        (FOLDER / f"{scenario}.txt").write_text(text_of(computed(scenario)))
        print(f"written: {scenario}", file=sys.stderr)
