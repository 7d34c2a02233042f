"""Toruses and meshes of domains."""

from __future__ import annotations

import pytest

from planner.design.meshes import Mesh, Torus, torus_of


@pytest.mark.parametrize(
    ("nodes", "dimensions"),
    [(4096, (16, 16, 16)), (9216, (24, 24, 16)), (64, (4, 4, 4)), (128, (8, 4, 4)), (2, (2, 1, 1))],
)
def test_dimensions_are_as_near_to_a_cube_as_the_factors_allow(
    nodes: int, dimensions: tuple[int, int, int]
) -> None:
    """4,096 and 9,216 are pods that run (topo-ocs-torus)."""
    torus = torus_of(nodes, ports=6)
    assert torus is not None
    assert torus.dimensions == dimensions


def test_few_ports_make_fewer_dimensions() -> None:
    plane, ring = torus_of(64, ports=5), torus_of(64, ports=2)
    assert plane == Torus((8, 8, 1), (1, 1, 0))
    assert ring == Torus((64, 1, 1), (1, 0, 0))
    assert torus_of(64, ports=1) is None


def test_ports_left_over_widen_the_longest_dimension() -> None:
    torus = torus_of(128, ports=8)
    assert torus == Torus((8, 4, 4), (2, 1, 1))
    assert torus.ports_used == 8
    assert torus.all_links == 128 * 4


def test_a_prime_number_of_nodes_is_a_ring() -> None:
    torus = torus_of(127, ports=8)
    assert torus == Torus((127, 1, 1), (4, 0, 0))
    assert torus.bisection_links == 8


@pytest.mark.parametrize(("size", "mean"), [(2, 1.0), (4, 4 / 3)])
def test_mean_hops_of_a_ring_are_those_counted_by_hand(size: int, mean: float) -> None:
    """A ring of four has neighbours at 1, 2 and 1."""
    assert Torus((size, 1, 1), (1, 0, 0)).hops_mean == pytest.approx(mean)


def test_halves_of_an_odd_mesh_are_joined_by_all_pairs_between_them() -> None:
    assert Mesh(5, 5, 3, 1).bisection_links == 2 * 3 * 3
    assert Mesh(5, 5, 3, 1).all_links == 10 * 3
