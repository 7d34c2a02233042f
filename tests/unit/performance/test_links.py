"""Collectives over one or several domains, and their corrections by what was measured between boxes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from planner.performance.assumed import rows
from planner.performance.collectives import Collective, Link
from planner.performance.group_curves import DomainCurves
from planner.performance.links import (
    RATIO_SIZES_BYTES,
    Links,
    NetworkRatios,
    exchange_time_s,
    group_time_s,
    inside_time_s,
)

ZERO, ONE, EIGHT = np.array([0.0]), np.array([1.0]), np.array([8.0])
RAIL = Link(np.array([50e9]), ZERO, ZERO, ZERO)
SIZE = np.array([2.0**30])


def time_s(links: Links, operation: Collective, ranks: float, near: float = 8.0) -> float:
    return float(
        group_time_s(
            links, operation, message_bytes=SIZE, ranks=np.array([ranks]), ranks_per_domain=np.array([near])
        )[0]
    )


@pytest.fixture
def links(curves_of_a_link: Callable[..., DomainCurves], links_on_rails: Callable[..., Links]) -> Links:
    return links_on_rails(curves_of_a_link(), RAIL)


def test_a_group_inside_one_domain_never_leaves_it(links: Links) -> None:
    for operation in Collective:
        if operation is not Collective.ALL_TO_ALL:
            expected = links.inside.time_s(operation, message_bytes=SIZE, ranks=EIGHT)[0]
            assert time_s(links, operation, 8) == expected


def test_one_rank_a_domain_is_the_rail_alone(links: Links) -> None:
    # 2 (4-1)/4 of a GiB at 50 GB/s
    assert time_s(links, Collective.ALL_REDUCE, 4, near=1) == pytest.approx(1.5 * 2**30 / 50e9)
    assert time_s(links, Collective.SEND_RECEIVE, 2, near=1) == pytest.approx(2**30 / 50e9)


def test_a_send_to_another_domain_takes_the_rail(links: Links) -> None:
    assert time_s(links, Collective.SEND_RECEIVE, 16) == pytest.approx(2**30 / 50e9)
    assert time_s(links, Collective.SEND_RECEIVE, 8) < 0.3 * 2**30 / 50e9


def test_a_slower_domain_slows_what_happens_inside(
    curves_of_a_link: Callable[..., DomainCurves], links_on_rails: Callable[..., Links]
) -> None:
    slow = links_on_rails(curves_of_a_link(), RAIL, inside_ratio=np.array([1.0, 1.3]))
    plain, slower = inside_time_s(slow, Collective.ALL_GATHER, message_bytes=SIZE, ranks=EIGHT)
    assert slower == pytest.approx(1.3 * plain)


def test_an_exchange_is_set_by_its_slower_part(links: Links) -> None:
    layout = {"message_bytes": SIZE, "ranks": np.array([16.0]), "ranks_per_domain": EIGHT}
    far = exchange_time_s(links, **layout, outside_bytes_ratio=ONE)[0]
    assert far == pytest.approx(0.5 * 2**30 / 50e9)
    near = exchange_time_s(links, **layout, outside_bytes_ratio=np.array([1e-6]))[0]
    stays = links.inside.time_s(Collective.ALL_TO_ALL, message_bytes=SIZE / 2, ranks=EIGHT)[0]
    assert near == pytest.approx(stays)


def ratios(*by_draw: float) -> NetworkRatios:
    """An all-reduce that took so many times as long at 1 KiB, and as predicted at the largest size."""
    table = np.array([np.geomspace(first, 1.0, len(RATIO_SIZES_BYTES)) for first in by_draw])
    return NetworkRatios(
        ratios=table[:, None, :],
        groups={Collective.ALL_REDUCE: (16, 2)},
        profiles={Collective.ALL_REDUCE: "lab"},
        spans_bytes={Collective.ALL_REDUCE: (1024.0, 2.0**34)},
    )


def test_a_ratio_is_interpolated_between_sizes_and_stays_beyond_them() -> None:
    sizes = np.array([1.0, 1024.0, 2.0**22, 2.0**34, 2.0**40])
    np.testing.assert_allclose(ratios(4.0).ratio(Collective.ALL_REDUCE, sizes), [4, 4, 2, 1, 1])
    np.testing.assert_array_equal(ratios(4.0).ratio(Collective.ALL_GATHER, sizes), [1.0])
    np.testing.assert_array_equal(NetworkRatios().ratio(Collective.ALL_REDUCE, sizes), [1.0])


def test_every_draw_has_its_own_ratio_and_the_first_can_be_cut_off() -> None:
    table = ratios(4.0, 9.0, 16.0)
    np.testing.assert_allclose(table.ratio(Collective.ALL_REDUCE, np.array([2.0**22])), [2, 3, 4])
    np.testing.assert_allclose(
        table.ratio(Collective.ALL_REDUCE, np.array([2.0**22, 2.0**34, 1024.0])), [2, 1, 16]
    )
    cut = rows(table, 1)
    np.testing.assert_allclose(cut.ratio(Collective.ALL_REDUCE, np.array([2.0**22, 1024.0])), [2, 4])
    assert cut.groups == table.groups


def test_a_measured_ratio_moves_what_leaves_a_domain_and_nothing_else(
    curves_of_a_link: Callable[..., DomainCurves], links_on_rails: Callable[..., Links]
) -> None:
    plain = links_on_rails(curves_of_a_link(), RAIL)
    slower = Links(**{name: getattr(plain, name) for name in plain.__slots__} | {"measured": ratios(4.0)})
    by = ratios(4.0).ratio(Collective.ALL_REDUCE, SIZE)[0]
    assert by > 1.1
    assert time_s(slower, Collective.ALL_REDUCE, 16) == pytest.approx(
        by * time_s(plain, Collective.ALL_REDUCE, 16)
    )
    assert time_s(slower, Collective.ALL_REDUCE, 8) == time_s(plain, Collective.ALL_REDUCE, 8)
    assert time_s(slower, Collective.ALL_GATHER, 16) == time_s(plain, Collective.ALL_GATHER, 16)
