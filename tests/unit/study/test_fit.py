"""The joint fit's parts: least squares with priors, bands, order, evidence and the file it writes."""

from __future__ import annotations

import numpy as np
import pytest

from planner.study.fit.bands import coverage_fraction, half_width_fraction
from planner.study.fit.joint import Evidence
from planner.study.fit.ordering import ordering
from planner.study.fit.solve import Prior, robust_loss, solve
from planner.study.fit.write import with_figures

ROWS = np.linspace(0.5, 2.0, 40)
TRUE = np.array([0.3, -0.2])


def line(parameters: np.ndarray) -> np.ndarray:
    """Residuals of a straight line, shape (draws, rows)."""
    return parameters[:, :1] + parameters[:, 1:] * ROWS - (TRUE[0] + TRUE[1] * ROWS)


def prior(width: float, reach: float = 10.0) -> Prior:
    return Prior(np.zeros(2), np.full(2, width), np.full(2, -reach), np.full(2, reach))


def test_with_loose_priors_the_data_decide() -> None:
    found = solve(line, prior(100.0), np.full(ROWS.size, 100.0), scale=10.0)
    np.testing.assert_allclose(found.parameters, TRUE, atol=1e-5)
    assert found.effective_parameters == pytest.approx(2.0, abs=1e-3)


def test_with_tight_priors_nothing_moves_and_nothing_is_determined() -> None:
    found = solve(line, prior(1e-4), np.full(ROWS.size, 1.0), scale=10.0)
    np.testing.assert_allclose(found.parameters, 0.0, atol=1e-4)
    assert found.effective_parameters < 1e-3


def test_the_balance_is_that_of_ridge_regression() -> None:
    # closed form: (X'WX + 1/width^2)^-1 X'W y, its hat matrix' trace the effective number
    width, weight = 0.1, 5.0
    design = np.stack([np.ones(ROWS.size), ROWS], axis=1)
    curvature = weight * design.T @ design
    system = curvature + np.eye(2) / width**2
    expected = np.linalg.solve(system, weight * design.T @ (design @ TRUE))
    found = solve(line, prior(width), np.full(ROWS.size, weight), scale=1e3)
    np.testing.assert_allclose(found.parameters, expected, rtol=1e-4)
    assert found.effective_parameters == pytest.approx(np.trace(np.linalg.solve(system, curvature)), rel=1e-4)


def test_an_outlier_hardly_pulls() -> None:
    broken = np.zeros(ROWS.size)
    broken[7] = 50.0
    robust = solve(lambda p: line(p) - broken, prior(100.0), np.full(ROWS.size, 100.0), scale=0.05)
    np.testing.assert_allclose(robust.parameters, TRUE, atol=0.01)


def test_a_start_changes_the_steps_and_not_the_end() -> None:
    weights = np.full(ROWS.size, 5.0)
    cold = solve(line, prior(0.1), weights, scale=0.05)
    warm = solve(line, prior(0.1), weights, scale=0.05, start=cold.parameters)
    np.testing.assert_allclose(warm.parameters, cold.parameters, atol=1e-3)
    assert warm.iterations <= 1 < cold.iterations


def test_a_range_is_not_left() -> None:
    found = solve(line, prior(100.0, reach=0.1), np.full(ROWS.size, 100.0), scale=10.0)
    assert np.all(np.abs(found.parameters) <= 0.1)
    assert found.effective_parameters < 2.0


def test_the_loss_is_a_square_near_zero_and_a_line_far_off() -> None:
    near, far, further = robust_loss(np.array([1e-4, 10.0, 20.0]), 0.1)
    assert near == pytest.approx(0.5e-8, rel=1e-3)
    assert further - far == pytest.approx(0.1 * 10.0, rel=1e-2)


def test_a_band_holds_what_the_others_say() -> None:
    measured, predicted = np.array([1.0, 1.1, 0.9, 1.0, 1.0, 1.3]), np.ones(6)
    families, kinds = ["a", "a", "a", "b", "b", "b"], ["dense"] * 6
    # family a is within b's 0.3, family b has two of three within a's 0.1
    assert coverage_fraction(measured, predicted, families, kinds) == pytest.approx((1.0 + 2.0 / 3.0) / 2.0)
    assert half_width_fraction(measured[:3], predicted[:3], families[:3]) == pytest.approx(0.1)
    assert np.isnan(coverage_fraction(measured[:3], predicted[:3], families[:3], kinds[:3]))


def test_order_counts_pairs_of_one_model_that_differ() -> None:
    measured = np.array([1.0, 1.01, 2.0, 4.0, 8.0])
    predicted = np.array([1.0, 0.5, 4.0, 2.0, 8.0])
    found = ordering(measured, predicted, ["m", "m", "m", "m", "other"])
    # of the six pairs of m, one lies within the noise and one is swapped
    assert (found.pairs, found.right_fraction) == (5, pytest.approx(0.8))
    assert found.spearman == pytest.approx(0.8)
    assert ordering(measured[:2], predicted[:2], ["m", "m"]).right_fraction is None


TEXT = """\
figures:
  power_exponent:
    {value: 0.55, low: 0.4, high: 0.7, source: a, basis: measured, as_of: 2026-11-30, verified: true,
     note: "Rate over power. Mostly a prior: few measured rows determine it."}
  power_exponent_other:
    {value: 1, low: 1, high: 1, source: a, basis: measured, as_of: 2026-11-30, verified: true,
     note: "Kept."}
"""


def test_a_fit_is_written_with_what_it_rests_on_and_again_without_repeating_itself() -> None:
    once = with_figures(TEXT, [Evidence("power_exponent", 0.58123, 0.4, 0.7, 0.1, ("a", "b", "c"))])
    assert "{value: 0.581, low: 0.4, high: 0.7, source: a, basis: estimate" in once
    assert (
        'verified: false,\n     note: "Rate over power. In the joint fit rows determine 10 % of it, above all a, b and c."}'
        in once
    )
    assert TEXT[TEXT.index("  power_exponent_other") :] in once
    twice = with_figures(once, [Evidence("power_exponent", 0.6, 0.4, 0.7, 0.5, ())])
    assert "{value: 0.6, low: 0.4, high: 0.7, source: a, basis: measured" in twice
    assert 'note: "Rate over power. In the joint fit rows determine 50 % of it."' in twice


def test_a_constant_that_the_file_lacks_is_our_mistake() -> None:
    with pytest.raises(AssertionError, match="no figure nowhere"):
        with_figures(TEXT, [Evidence("nowhere", 1.0, 1.0, 1.0, 0.0, ())])
