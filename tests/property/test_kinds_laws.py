"""Laws of plans with several groups: kinds are what counts, not how groups are written."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.catalog.store import Catalog, open_catalog
from planner.design.cluster import draw_cluster
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_scenario
from planner.scenario.parts import resolve

NAME = "b200-h200-disaggregated"
SERVERS = ("hgx-h100", "hgx-h200", "hgx-b200", "dgx-h200")


@cache
def shelf() -> Catalog:
    return open_catalog()


@cache
def evaluated(groups: str, *changes: str) -> Evaluation:
    found = evaluate(load_scenario(NAME, changes=[f"cluster.groups={groups}", *changes]), shelf())
    assert found.built is not None, found.refusal
    return found


def written(*groups: tuple[str, str, int]) -> str:
    return (
        f"[{', '.join(f'{{id: {name}, server: {server}, gpus: {gpus}}}' for name, server, gpus in groups)}]"
    )


def same(one: Evaluation, other: Evaluation) -> None:
    """Every line of both has the same value."""
    assert set(one.ledger.lines) == set(other.ledger.lines)
    for key in one.ledger.lines:
        assert one.ledger.value(key) == pytest.approx(other.ledger.value(key), rel=1e-12, abs=1e-12), key


@settings(max_examples=6, deadline=None)
@given(sizes=st.tuples(st.integers(4, 24), st.integers(4, 24)), server=st.sampled_from(SERVERS[:3]))
def test_two_groups_of_one_server_are_one_group(sizes: tuple[int, int], server: str) -> None:
    first, second = (8 * one for one in sizes)
    apart = evaluated(written(("a", server, first), ("b", server, second)))
    swapped = evaluated(written(("b", server, second), ("a", server, first)))
    whole = evaluated(written(("a", server, first + second)))
    same(apart, whole)
    same(apart, swapped)


@settings(max_examples=5, deadline=None)
@given(sizes=st.tuples(st.integers(4, 16), st.integers(4, 16)))
def test_the_order_of_kinds_changes_no_count_watt_or_token(sizes: tuple[int, int]) -> None:
    first, second = (8 * one for one in sizes)
    one = evaluated(written(("a", "hgx-h200", first), ("b", "hgx-b200", second)))
    two = evaluated(written(("b", "hgx-b200", second), ("a", "hgx-h200", first)))
    for key in (
        "performance.serving.output_tokens_per_s_per_gpu", "outcome.ttft_p99_s", "outcome.tpot_p99_s",
        "outcome.waiting_fraction", "outcome.gpu_utilisation_fraction", "capex.servers_usd", "power.hgx-h200.typical_w",
        "power.hgx-b200.typical_w", "performance.availability_fraction", "performance.serving.pools.gain_fraction",
        "bom.hgx-h200.count", "bom.hgx-b200.count", "design.fabric.links",
    ):  # fmt: skip
        assert one.ledger.scalar(key) == pytest.approx(two.ledger.scalar(key), rel=1e-9), key


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SERVERS), st.integers(1, 40)), min_size=1, max_size=5))
def test_servers_racks_and_nodes_add_up_over_kinds(groups: list[tuple[str, int]]) -> None:
    named = [(f"g{index}", server, 8 * number) for index, (server, number) in enumerate(groups)]
    parts = resolve(load_scenario(NAME, changes=[f"cluster.groups={written(*named)}"]), shelf())
    cluster = draw_cluster(parts)
    assert sum(parts.servers_of(one) for one in parts.kinds) == sum(number for _, number in groups)
    assert cluster.nodes == sum(number for _, number in groups) == len(cluster.layout.node_rack)
    for kind in parts.kinds:
        own = kind.server.item.id
        alone = resolve(
            load_scenario(
                NAME, changes=[f"cluster.groups={written(('one', own, 8 * parts.servers_of(kind)))}"]
            ),
            shelf(),
        )
        racks = [
            next(group.racks for group in drawn.layout.groups if group.id == own)
            for drawn in (cluster, draw_cluster(alone))
        ]
        assert racks[0] == racks[1]
