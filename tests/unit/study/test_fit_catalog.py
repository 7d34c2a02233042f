"""The joint fit of the training model against the rows and constants that ship.

``python tests/unit/study/test_fit_catalog.py`` fits again and writes the constants into the catalog.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.resources import shipped
from planner.study.fidelity.cases import Case, Cases
from planner.study.fidelity.rows import read_rows, shipped_files
from planner.study.fidelity.schema import Group
from planner.study.fidelity.scoring import family_weights, weighted_percentile
from planner.study.fidelity.training import band_of
from planner.study.fit.constants import FITTED, Constants, constants
from planner.study.fit.joint import evidence, fit, left_out_s, measured_s, predicted_s
from planner.study.fit.solve import Solution
from planner.study.fit.write import with_figures

FILE = shipped("catalog") / "assumptions" / "performance.yaml"
Fit = tuple[list[Case], Constants, Solution]


def shipped_fit() -> Fit:
    catalog = open_catalog([])
    maker = Cases(catalog)
    rows = [row for row in read_rows(shipped_files()).of(Group.TRAINING) if row.scorable]
    cases = [one for one in map(maker.of, rows) if isinstance(one, Case)]
    moved = constants(catalog)
    return cases, moved, fit(cases, moved)


@pytest.fixture(scope="module")
def found() -> Fit:
    return shipped_fit()


def test_at_most_fifty_constants_are_moved_and_the_rows_determine_at_most_twenty(found: Fit) -> None:
    assert len(set(FITTED)) == len(FITTED) <= 50
    assert 5.0 < found[2].effective_parameters <= 20.0


def test_the_catalog_holds_what_the_fit_finds(found: Fit) -> None:
    # a fifth of the prior's deviation: further off, somebody changed the model and didn't fit again
    _, moved, solution = found
    held = np.log([moved.given(key)[0] for key in moved.keys])
    off = np.abs(held - solution.parameters) / moved.prior.width
    assert {key: step for key, step in zip(moved.keys, off, strict=True) if step > 0.2} == {}


def test_no_constant_leaves_its_range(found: Fit) -> None:
    _, moved, solution = found
    assert np.all(solution.parameters >= moved.prior.low - 1e-12)
    assert np.all(solution.parameters <= moved.prior.high + 1e-12)


def test_fitted_errors_are_at_the_level_that_was_asked_for(found: Fit) -> None:
    # 3.8 % and 12.5 %: asked of the fitted model, families counting alike
    cases, moved, solution = found
    errors = np.abs(predicted_s(cases, moved, solution.parameters) / measured_s(cases) - 1.0)
    weights = family_weights([case.row.family for case in cases])
    assert weighted_percentile(errors, weights, 0.5) < 0.038
    assert weighted_percentile(errors, weights, 0.9) < 0.125


def test_a_fit_starts_from_ranges_and_not_from_what_the_last_one_wrote(found: Fit) -> None:
    cases, moved, solution = found
    written = with_figures(FILE.read_text(), evidence(cases, moved, solution))
    # ranges are as they were, for every figure
    ranges = re.compile(r"low: [^,]+, high: [^,]+")
    assert ranges.findall(written) == ranges.findall(FILE.read_text())


@pytest.fixture(scope="module")
def left_out(found: Fit) -> np.ndarray:
    """Each step by a fit without its family."""
    return left_out_s(found[0], found[1], "family")


def test_families_left_out_are_at_the_level_that_was_asked_for(found: Fit, left_out: np.ndarray) -> None:
    # 5.5 % and 20 %: asked of families that a fit didn't see
    cases = found[0]
    errors = np.abs(left_out / measured_s(cases) - 1.0)
    weights = family_weights([case.row.family for case in cases])
    assert weighted_percentile(errors, weights, 0.5) < 0.055
    assert weighted_percentile(errors, weights, 0.9) < 0.20


def test_stated_bands_hold_about_four_of_five_rows_of_families_left_out(
    found: Fit, left_out: np.ndarray
) -> None:
    # 75 to 88 %: asked of a band from P10 to P90
    cases = found[0]
    half_width = np.array([found[1].given(band_of(case))[0] for case in cases])
    held = np.abs(measured_s(cases) / left_out - 1.0) <= half_width
    assert 0.75 <= held @ family_weights([case.row.family for case in cases]) <= 0.88


if __name__ == "__main__":
    FILE.write_text(with_figures(FILE.read_text(), evidence(*shipped_fit())))
