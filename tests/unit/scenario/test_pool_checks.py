"""Wishes for separate pools that can't be: sizes, room, names; each with its place and a value that mends it."""

from __future__ import annotations

from functools import cache

import pytest

from planner.catalog.store import Catalog, open_catalog
from planner.errors import Problem, Remedy, ScenarioError
from planner.scenario.load import load_scenario
from planner.scenario.parts import resolve
from planner.scenario.remedies import applied

NAME, WISH = "b200-h200-disaggregated", "workloads.chat.disaggregated"


@cache
def shelf() -> Catalog:
    return open_catalog()


def problems(wish: str, *changes: str) -> tuple[Problem, ...]:
    try:
        resolve(load_scenario(NAME, changes=[f"{WISH}={{{wish}}}", *changes]), shelf())
    except ScenarioError as error:
        return error.problems
    return ()


@pytest.mark.parametrize(
    "wish",
    [
        "prefill_replica_gpus: 8, decode_replica_gpus: 8",
        "prefill_group: new, decode_group: there, prefill_replicas: 32, prefill_replica_gpus: 8",
        "prefill_replicas: 256, decode_replicas: 32, decode_replica_gpus: 8",
    ],
)
def test_what_fits_is_taken(wish: str) -> None:
    assert problems(wish) == ()


@pytest.mark.parametrize(
    ("wish", "said", "field"),
    [
        ("prefill_replica_gpus: 3", "replicas fill one evenly", "prefill_replica_gpus"),
        ("decode_replica_gpus: 16", "a replica stays inside one", "decode_replica_gpus"),
        ("decode_replica_gpus: 1000000", "a replica stays inside one", "decode_replica_gpus"),
        ("prefill_replica_gpus: 0", "must be 1 or more", "prefill_replica_gpus"),
        ("prefill_replica_gpus: -2", "must be 1 or more", "prefill_replica_gpus"),
        ("prefill_replica_gpus: 1.5", "whole", "prefill_replica_gpus"),
        ("decode_replica_gpus: two", "must be a number", "decode_replica_gpus"),
        ("decode_replica_gpus: true", "", "decode_replica_gpus"),
        ("decode_replica_gpu: 2", "nearest: decode_replica_gpus", "decode_replica_gpu"),
        ("prefill_replicas: 300", "is 300 of 1 GPU each, and the largest kind has 256", "prefill_replicas"),
        (
            "prefill_group: new, decode_group: there, decode_replicas: 65, decode_replica_gpus: 4",
            "is 65 of 4 GPUs each, and group 'there' has 256",
            "decode_replicas",
        ),
    ],
)
def test_what_does_not_is_said_with_its_field(wish: str, said: str, field: str) -> None:
    found = problems(wish)
    assert len(found) == 1 and said in str(found[0]) and found[0].key.endswith(field)
    assert found[0].remedy or "must be" in found[0].message


def test_pools_of_one_kind_share_its_gpus_and_pools_of_two_kinds_have_one_each() -> None:
    one = "cluster.groups.there.server=hgx-b200"
    fours = "prefill_replica_gpus: 4, decode_replica_gpus: 4"
    assert problems(f"prefill_replicas: 120, decode_replicas: 8, {fours}", one) == ()
    [found] = problems(f"prefill_replicas: 120, decode_replicas: 9, {fours}", one)
    assert "set replicas of both pools take 516 GPUs, and the workload has 512" in found.message
    # on a small kind and a large one, both pools want the large one
    [found] = problems(f"prefill_replicas: 40, decode_replicas: 40, {fours}", "cluster.groups.there.gpus=128")
    assert (
        "the workload has 384, 256 and 128 of a kind" in found.message
        and found.key == "workloads.0.disaggregated"
    )


def test_a_share_of_the_time_leaves_less_room() -> None:
    wish = "prefill_group: new, decode_group: there, prefill_replica_gpus: 8"
    assert problems(wish, "workloads.chat.share_fraction=0.5") == ()
    [found] = problems(wish, "workloads.chat.share_fraction=0.01")
    assert "is 8, and group 'new' has 2 GPUs for the workload" in found.message


def test_everything_wrong_is_said_at_once() -> None:
    found = problems(
        "prefill_group: nw, decode_group: there, prefill_replica_gpus: 5, decode_replica_gpus: 9"
    )
    said = " ".join(str(one) for one in found)
    # a pool on a group that isn't there has no domain to fit
    assert "nearest: new" in said and "is 9" in said and len(found) == 2


def test_offered_values_mend_it() -> None:
    loaded = load_scenario(
        NAME, changes=[f"{WISH}={{prefill_group: new, decode_group: there, prefill_replicas: 300}}"]
    )
    with pytest.raises(ScenarioError) as caught:
        resolve(loaded, shelf())
    [fix] = caught.value.problems[0].offered
    assert fix == Remedy("256", ("workloads", 0, "disaggregated", "prefill_replicas"), 256)
    assert resolve(applied(loaded, fix), shelf()).gpus == 512
