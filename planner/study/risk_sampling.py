"""Latin hypercubes of normal scores, and the rank correlation of their columns (Iman and Conover).

Every function is of arrays and a seed alone; what the columns mean is the business of `planner.study.risk_inputs`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from planner.arrays import Floats

Z90 = 1.2815515655446004
"""Standard normal quantile of 90 %."""


def latin_hypercube(rows: int, columns: int, random: np.random.Generator) -> Floats:
    """One point in each of ``rows`` equal slices of every column, in an order of its own; shape (rows, columns).

    >>> points = latin_hypercube(4, 2, np.random.default_rng(1))
    >>> np.sort((points * 4).astype(int), axis=0).T.tolist()
    [[0, 1, 2, 3], [0, 1, 2, 3]]
    """
    slices = np.argsort(random.random((rows, columns)), axis=0)
    return np.asarray((slices + random.random((rows, columns))) / rows)


def normal_scores(
    rows: int,
    columns: int,
    random: np.random.Generator,
    *,
    correlated: Iterable[tuple[tuple[int, ...], float]] = (),
) -> Floats:
    """A Latin hypercube of standard normal scores.

    Args:
        rows: Draws, 2 or more.
        columns: Independent variables.
        random: Where the draws come from.
        correlated: Sets of columns, and the correlation of the scores of any two columns of a set.

    Returns:
        Shape (rows, columns); every column has one score in each of ``rows`` slices of equal probability.
    """
    scores = normal_quantile(latin_hypercube(rows, columns, random))
    for together, correlation in correlated:
        target = np.full((len(together), len(together)), correlation)
        np.fill_diagonal(target, 1.0)
        at = list(together)
        scores[:, at] = with_rank_correlation(scores[:, at], target)
    return scores


def with_rank_correlation(scores: Floats, target: Floats) -> Floats:
    """The same columns, each in another order, so that they correlate as the target says.

    The values of a column stay what they were; only their pairing changes.

    Args:
        scores: Shape (rows, columns), independent columns of normal scores.
        target: Correlation matrix, positive definite.

    Source:
        iman-conover-1982.

    >>> random = np.random.default_rng(3)
    >>> found = with_rank_correlation(random.standard_normal((4000, 2)), np.array([[1.0, 0.7], [0.7, 1.0]]))
    >>> float(np.corrcoef(found.T)[0, 1].round(2))
    0.7
    """
    rows, columns = scores.shape
    want = np.linalg.cholesky(target)
    pattern = scores @ want.T
    if rows > 2 * columns:
        # what the columns correlate by chance is taken out; fewer rows don't tell it from nothing
        have = np.linalg.cholesky(np.corrcoef(scores, rowvar=False))
        pattern = scores @ np.linalg.solve(have.T, want.T)
    ranks = np.argsort(np.argsort(pattern, axis=0), axis=0)
    return np.asarray(np.take_along_axis(np.sort(scores, axis=0), ranks, axis=0))


_CENTRE_TOP = (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
               13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608)  # fmt: skip
_CENTRE_BOTTOM = (5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
                  5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0)  # fmt: skip
_TAIL_TOP = (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
             3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734)  # fmt: skip
_TAIL_BOTTOM = (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
                0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0)  # fmt: skip
_FAR_TOP = (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
            0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772)  # fmt: skip
_FAR_BOTTOM = (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
               0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0)  # fmt: skip


def normal_quantile(p: Floats) -> Floats:
    """Inverse of the standard normal distribution: relative error about 1e-16 for 0 < p < 1.

    Source:
        wichura-1988 (algorithm AS 241, PPND16: ratios of polynomials in the centre and the tails).

    >>> normal_quantile(np.array([0.5, 0.9, 1e-4])).round(6)
    array([ 0.      ,  1.281552, -3.719016])
    """
    away = p - 0.5
    squared = 0.180625 - away * away
    found = away * np.polyval(_CENTRE_TOP, squared) / np.polyval(_CENTRE_BOTTOM, squared)
    outside = squared < 0
    if outside.any():
        found[outside] = _tail_quantile(np.minimum(p[outside], 1.0 - p[outside])) * np.sign(away[outside])
    return np.asarray(found)


def _tail_quantile(upper: Floats) -> Floats:
    """Distance from the middle at which only so much is left."""
    depth = np.sqrt(-np.log(upper))
    near, far = depth - 1.6, depth - 5.0
    return np.asarray(
        np.where(
            depth <= 5.0,
            np.polyval(_TAIL_TOP, near) / np.polyval(_TAIL_BOTTOM, near),
            np.polyval(_FAR_TOP, far) / np.polyval(_FAR_BOTTOM, far),
        )
    )
