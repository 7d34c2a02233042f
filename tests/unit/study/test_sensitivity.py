"""Sobol indices of functions whose indices are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from planner.arrays import Floats
from planner.study.risk_sampling import normal_scores
from planner.study.sensitivity import exchanged, indices_of, sobol_indices

ROWS = 8192


def pair(columns: int, seed: int = 1, **said: object) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    return normal_scores(ROWS, columns, random, **said), normal_scores(ROWS, columns, random, **said)  # type: ignore[arg-type]


def angles(scores: Floats) -> Floats:
    """Normal scores as even draws between -pi and pi."""
    from statistics import NormalDist

    share = np.vectorize(NormalDist().cdf)(scores)
    return np.asarray((2.0 * share - 1.0) * np.pi)


def ishigami(scores: Floats) -> Floats:
    x = angles(scores)
    return np.asarray(np.sin(x[:, 0]) + 7.0 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0]))


def test_the_ishigami_function() -> None:
    """Ishigami and Homma 1990 with a = 7, b = 0.1: variances by parts from the closed form."""
    a, b = 7.0, 0.1
    one = 0.5 * (1.0 + b * np.pi**4 / 5.0) ** 2
    two = a**2 / 8.0
    both = b**2 * np.pi**8 * (1.0 / 18.0 - 1.0 / 50.0)
    whole = one + two + both
    found = sobol_indices(ishigami, *pair(3), [[0], [1], [2]])
    first, total = np.array([one, two, 0.0]) / whole, np.array([one + both, two, both]) / whole
    np.testing.assert_allclose(first, [0.3139, 0.4424, 0.0], atol=5e-5)
    np.testing.assert_allclose(total, [0.5576, 0.4424, 0.2437], atol=5e-5)
    # four standard errors, as the estimate itself states them
    assert (np.abs(found.first - first) < 4 * found.first_error + 1e-9).all()
    assert (np.abs(found.total - total) < 4 * found.total_error + 1e-9).all()
    assert found.first_error.max() < 0.02 and found.total_error.max() < 0.02


def test_shares_of_an_additive_model_are_its_variances_and_add_up() -> None:
    weights = np.array([3.0, 2.0, 1.0, 0.0])
    found = sobol_indices(lambda z: 1000.0 + z @ weights, *pair(4), [[0], [1], [2], [3]])
    expected = weights**2 / (weights**2).sum()
    np.testing.assert_allclose(found.first, expected, atol=0.03)
    np.testing.assert_allclose(found.total, expected, atol=0.03)
    assert found.total[3] == 0.0 and found.first[3] == 0.0


def test_factors_may_be_sets_of_columns_that_depend_on_each_other() -> None:
    """x and y correlate with 0.6: their sum has the variance 2 + 2 * 0.6, the third factor 1."""
    first, second = pair(3, correlated=[((0, 1), 0.6)])
    found = sobol_indices(lambda z: z.sum(axis=1), first, second, [[0, 1], [2]])
    np.testing.assert_allclose(found.total, [3.2 / 4.2, 1.0 / 4.2], atol=0.03)


def test_a_product_is_all_working_together() -> None:
    found = sobol_indices(lambda z: z[:, 0] * z[:, 1], *pair(2), [[0], [1]])
    np.testing.assert_allclose(found.first, 0.0, atol=0.06)
    np.testing.assert_allclose(found.total, 1.0, atol=0.08)


@pytest.mark.parametrize("constant", [0.0, 7.0, 1e12])
def test_what_never_varies_has_no_shares(constant: float) -> None:
    model: Callable[[Floats], Floats] = lambda z: np.full(len(z), constant)  # noqa: E731
    found = sobol_indices(model, *pair(2), [[0], [1]])
    assert found.first.tolist() == found.total.tolist() == [0.0, 0.0]


def test_stated_errors_are_the_spread_over_seeds() -> None:
    def model(z: Floats) -> Floats:
        return 2.0 * z[:, 0] + z[:, 1]

    random = np.random.default_rng(0)
    runs = []
    for _ in range(60):
        first, second = random.standard_normal((2, 512, 2))
        mixed = np.stack([model(exchanged(first, second, [at])) for at in (0, 1)])
        runs.append(indices_of(model(first), model(second), mixed))
    for name in ("first", "total"):
        spread = np.std([getattr(run, name) for run in runs], axis=0)
        said = np.mean([getattr(run, f"{name}_error") for run in runs], axis=0)
        # the spread of 60 runs is itself known to a tenth; a shared variance makes the stated error the larger
        assert (spread < 1.4 * said).all() and (spread > 0.3 * said).all()
