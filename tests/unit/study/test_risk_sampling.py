"""Hypercubes, scores and their rank correlation."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from planner.study.risk_sampling import latin_hypercube, normal_quantile, normal_scores, with_rank_correlation


def test_the_quantile_is_the_standard_librarys() -> None:
    tails = np.geomspace(1e-15, 0.5, 300)
    p = np.concatenate([tails, 1.0 - tails, np.linspace(0.02, 0.98, 97)])
    expected = np.array([NormalDist().inv_cdf(one) for one in p])
    # both are ratios of polynomials of the same algorithm, in another order of sums
    np.testing.assert_allclose(normal_quantile(p), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 5), (97, 3)])
def test_every_column_has_one_point_in_each_slice(rows: int, columns: int) -> None:
    points = latin_hypercube(rows, columns, np.random.default_rng(0))
    slices = np.sort(np.floor(points * rows).astype(int), axis=0)
    assert (slices == np.arange(rows)[:, None]).all()


@pytest.mark.parametrize("correlation", [-0.4, 0.0, 0.5, 0.9])
def test_ranks_correlate_as_asked_and_each_column_keeps_its_values(correlation: float) -> None:
    scores = normal_scores(2000, 5, np.random.default_rng(1))
    target = np.full((3, 3), correlation) + (1.0 - correlation) * np.eye(3)
    found = with_rank_correlation(scores[:, 1:4], target)
    np.testing.assert_array_equal(np.sort(found, axis=0), np.sort(scores[:, 1:4], axis=0))
    have = np.corrcoef(found, rowvar=False)
    # 0.01: only whole ranks can be exchanged
    np.testing.assert_allclose(have, target, atol=0.01)


def test_sets_correlate_within_and_not_between() -> None:
    sets = (((0, 3), 0.8), ((1, 4, 5), 0.5))
    scores = normal_scores(4000, 6, np.random.default_rng(2), correlated=sets)
    have = np.corrcoef(scores, rowvar=False)
    assert have[0, 3] == pytest.approx(0.8, abs=0.01)
    assert have[1, 5] == pytest.approx(0.5, abs=0.01)
    others = [have[0, 1], have[2, 3], have[3, 4], have[2, 5]]
    # four standard errors of an independent sample, 4 / sqrt(4000)
    assert np.abs(others).max() < 0.064
    for column in scores.T:
        slices = np.floor([NormalDist().cdf(one) * 4000 for one in column]).astype(int)
        assert len(set(slices)) == 4000


def test_the_same_seed_gives_the_same_scores_and_another_others() -> None:
    first, again, other = (normal_scores(50, 4, np.random.default_rng(seed)) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_hypercube_knows_a_mean_better_than_plain_draws() -> None:
    weights = np.arange(1.0, 9.0)
    cubes = [(normal_scores(64, 8, np.random.default_rng(seed)) @ weights).mean() for seed in range(40)]
    plain = [(np.random.default_rng(seed).standard_normal((64, 8)) @ weights).mean() for seed in range(40)]
    assert np.std(cubes) < 0.2 * np.std(plain)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_fewer_rows_than_columns_still_keep_their_values(rows: int) -> None:
    scores = normal_scores(rows, 6, np.random.default_rng(3), correlated=[(tuple(range(6)), 0.5)])
    plain = normal_scores(rows, 6, np.random.default_rng(3))
    np.testing.assert_array_equal(np.sort(scores, axis=0), np.sort(plain, axis=0))
