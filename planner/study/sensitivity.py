"""How much of a result's variance comes from which input: Sobol indices, from any model of independent factors.

Two hypercubes A and B of scores are drawn. For each factor the model also runs on A with that factor's scores taken
from B. First-order indices are Saltelli's estimator, totals Jansen's.

Source:
    Saltelli et al. 2010, Computer Physics Communications 181, table 2, rows (b) and (f) (recalled); checked in the
    tests on functions whose indices are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats

Model = Callable[[Floats], Floats]
"""Results of shape (rows,) from scores of shape (rows, columns)."""


@dataclass(frozen=True, slots=True)
class Indices:
    """Sobol indices of factors, in order, with standard errors; zeros where the result never varies.

    Attributes:
        first: Share of the variance that goes if the factor alone is known.
        total: Share that stays if all but the factor is known.
    """

    first: Floats
    first_error: Floats
    total: Floats
    total_error: Floats


def sobol_indices(model: Model, first: Floats, second: Floats, factors: Sequence[Sequence[int]]) -> Indices:
    """Sobol indices of sets of columns.

    Args:
        model: The function, called once with all rows.
        first: Scores A, shape (rows, columns).
        second: Scores B of the same shape, independent of A.
        factors: Columns of each factor; columns of one factor may depend on each other, those of two may not.

    Returns:
        Arrays of shape (factors,).

    >>> random = np.random.default_rng(2)
    >>> a, b = random.standard_normal((2, 20_000, 2))
    >>> found = sobol_indices(lambda z: 3.0 * z[:, 0] + z[:, 1], a, b, [[0], [1]])
    >>> found.first.round(1), found.total.round(1)
    (array([0.9, 0.1]), array([0.9, 0.1]))
    """
    mixed = [exchanged(first, second, columns) for columns in factors]
    results = model(np.concatenate([first, second, *mixed])).reshape(-1, len(first))
    return indices_of(results[0], results[1], results[2:])


def exchanged(first: Floats, second: Floats, columns: Sequence[int]) -> Floats:
    """The first scores with some columns of the second."""
    found = first.copy()
    found[:, list(columns)] = second[:, list(columns)]
    return found


def indices_of(at_first: Floats, at_second: Floats, at_mixed: Floats) -> Indices:
    """Indices from the model's results.

    Args:
        at_first: Shape (rows,), of scores A.
        at_second: Of scores B.
        at_mixed: Shape (factors, rows), of A with one factor's columns of B.
    """
    both = np.concatenate([at_first, at_second])
    variance = both.var()
    if variance <= (1e-12 * np.abs(both).max(initial=0.0)) ** 2:
        none = np.zeros(len(at_mixed))
        return Indices(none, none, none, none)
    # centred, which changes no expectation and takes most of the noise away
    first_terms = (at_second - both.mean()) * (at_mixed - at_first) / variance
    total_terms = (at_first - at_mixed) ** 2 / (2.0 * variance)
    return Indices(
        first_terms.mean(axis=1), _error(first_terms), total_terms.mean(axis=1), _error(total_terms)
    )


def _error(terms: Floats) -> Floats:
    return np.asarray(terms.std(axis=1, ddof=1) / np.sqrt(terms.shape[1]))
