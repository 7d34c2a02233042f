"""Servers of several kinds in one plan: what joins them, what is refused, and that every count is each kind's own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from planner.catalog.store import Catalog, open_catalog
from planner.design.cluster import Cluster, draw_cluster
from planner.design.kinds import joinable, node_front, node_shape, spanning_workloads, unlike_nodes
from planner.design.misfits import refuse_misfits
from planner.errors import DesignError
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_scenario, load_text
from planner.scenario.parts import Parts, resolve
from planner.scenario.remedies import applied

NAME = "b200-h200-disaggregated"
TRAY_A = "{id: a, server: gb200-nvl72, gpus: 72}"


@cache
def shelf() -> Catalog:
    return open_catalog()


def parts_of(*changes: str, name: str = NAME) -> Parts:
    return resolve(load_scenario(name, changes=changes), shelf())


@cache
def evaluated(*changes: str) -> Evaluation:
    found = evaluate(load_scenario(NAME, changes=changes), shelf())
    assert found.built is not None, found.refusal
    return found


def alone(server: str) -> Evaluation:
    return evaluated(
        f"cluster.groups=[{{id: one, server: {server}, gpus: 256}}]", "workloads.chat.disaggregated=null"
    )


def racks_of(cluster: Cluster, server: str) -> tuple[int, int]:
    group = next(one for one in cluster.layout.groups if one.id == server)
    return group.racks, group.items


def test_kinds_and_machines_are_counted_apart() -> None:
    parts = parts_of(
        "cluster.groups=[{id: a, server: hgx-h200, gpus: 64}, {id: b, server: dgx-h200, gpus: 64}, "
        "{id: c, server: hgx-b200, gpus: 64}, {id: d, server: hgx-h200, gpus: 32}]"
    )
    assert [one.server.item.id for one in parts.kinds] == ["hgx-h200", "dgx-h200", "hgx-b200"]
    assert [one.server.item.id for one in parts.machines] == ["hgx-h200", "hgx-b200"]
    assert [parts.servers_of(one) for one in parts.kinds] == [12, 8, 8]


def test_like_nodes_share_a_fabric_and_every_node_has_a_rack_of_its_kind() -> None:
    parts = parts_of()
    assert joinable(parts) is parts.groups[0] and not unlike_nodes(parts)
    assert node_shape(parts.groups[1]) == (8, 8)
    cluster = draw_cluster(parts)
    assert cluster.nodes == 64 and cluster.fabric.node_leaf_links == 512
    # 14.3 kW each against 25 kW of air: one B200 a rack, and two H200 of 10.2 kW
    assert racks_of(cluster, "hgx-b200") == (32, 32) and racks_of(cluster, "hgx-h200") == (16, 32)
    assert len(cluster.layout.node_rack) == 64


def test_groups_of_one_kind_share_their_racks() -> None:
    together = draw_cluster(parts_of("cluster.groups=[{id: a, server: hgx-h200, gpus: 48}]"))
    apart = draw_cluster(
        parts_of("cluster.groups=[{id: a, server: hgx-h200, gpus: 24}, {id: b, server: hgx-h200, gpus: 24}]")
    )
    assert racks_of(apart, "hgx-h200") == racks_of(together, "hgx-h200") == (3, 6)


def test_adapters_of_another_rate_are_refused_with_the_wish_that_joins_them() -> None:
    parts = parts_of("cluster.groups.new.server=hgx-b300")
    [problem] = unlike_nodes(parts)
    assert "800 and 400 Gbit/s" in problem.message and "OSFP224 and OSFP" in problem.message
    with pytest.raises(DesignError, match="can't share a fabric"):
        draw_cluster(parts)
    wishes = [one for one in problem.offered if one.edits]
    assert [one.value for one in wishes] == ["connectx-8-800g", "connectx-7-400g"]
    for wish in wishes:
        mended = resolve(applied(parts.loaded, wish), shelf())
        assert not unlike_nodes(mended) and draw_cluster(mended).nodes == 64


def test_nodes_of_another_shape_are_refused_without_a_wish_for_adapters() -> None:
    parts = parts_of("cluster.groups.there.server=gb200-nvl72", "cluster.groups.there.gpus=288",
                     "site.cooling=direct-liquid")  # fmt: skip
    [problem] = unlike_nodes(parts)
    assert (
        "8 and 4 GPUs in a node" in problem.message
        and "8 and 72 GPUs in a scale-up domain" in problem.message
    )
    assert not any(one.edits for one in problem.offered)
    assert problem.place is not None and "groups.there.server" in str(problem.place)


def test_without_switches_adapters_have_to_speak_alike() -> None:
    parts = parts_of("network.topology=torus", "network.leaf.switch=null", "network.spine.switch=null",
                     "network.leaf.oversubscription=1", "network.behaviour=null")  # fmt: skip
    assert node_front(parts, parts.groups[0]).protocols
    assert node_front(parts_of(), parts_of().groups[0]).protocols == ()


def test_training_over_two_kinds_is_refused_and_every_edit_mends_it() -> None:
    groups = "cluster.groups=[{id: main, server: hgx-h200, gpus: 512}, {id: b, server: hgx-b200, gpus: 512}]"
    parts = parts_of(groups, "money.rental=null", name="h200-1024-ndr")
    training = [one for one in spanning_workloads(parts) if "trains over all GPUs" in one.message]
    assert training and "'main' (hgx-h200) and 'b' (hgx-b200)" in training[0].message
    with pytest.raises(DesignError, match="not of one kind"):
        refuse_misfits(parts)
    edits = [one for one in training[0].offered if one.edits]
    assert len(edits) == 2
    for one in edits:
        assert not spanning_workloads(resolve(applied(parts.loaded, one), shelf()))


def test_serving_over_two_kinds_is_refused_and_separate_pools_are_offered() -> None:
    parts = parts_of("workloads.chat.disaggregated=null")
    [problem] = spanning_workloads(parts)
    first = problem.offered[0]
    assert first.edits == ((("workloads", 0, "disaggregated"), "auto"),)
    assert not spanning_workloads(resolve(applied(parts.loaded, first), shelf()))


def test_boxes_with_the_same_machine_train_together() -> None:
    groups = "cluster.groups=[{id: main, server: hgx-h200, gpus: 512}, {id: b, server: dgx-h200, gpus: 512}]"
    found = evaluate(load_scenario("h200-1024-ndr", changes=[groups]), shelf())
    assert found.built is not None, found.refusal
    ledger = found.ledger
    plain = evaluate(load_scenario("h200-1024-ndr"), shelf()).ledger
    key = "performance.training.step_s"
    assert ledger.scalar(key) == pytest.approx(plain.scalar(key), rel=0.02)
    assert ledger.scalar("bom.hgx-h200.designed") == ledger.scalar("bom.dgx-h200.designed") == 64


def test_groups_of_another_size_become_whole_servers_in_the_edit() -> None:
    text = """
name: racks beside boxes
workloads: [{id: job, kind: training, model: llama-3.1-8b}]
cluster: {groups: [{id: a, server: gb200-nvl72, gpus: 72}, {id: b, server: hgx-b200, gpus: 80}]}
network: {topology: none}
site: {location: us-virginia, cooling: direct-liquid}
"""
    parts = resolve(load_text(text, Path("mixed.yaml")), shelf())
    [problem] = spanning_workloads(parts)
    first = problem.offered[0]
    assert dict(first.edits) == {
        ("cluster", "groups", 1, "server"): "gb200-nvl72", ("cluster", "groups", 1, "gpus"): 144,
    }  # fmt: skip


@pytest.mark.parametrize("server", ["hgx-b200", "hgx-h200"])
def test_a_kind_counts_costs_and_draws_in_a_mixed_plan_what_it_does_alone(server: str) -> None:
    mixed, own = evaluated(), alone(server)
    for key in (
        f"bom.{server}.designed", f"bom.{server}.count", f"capex.{server}_usd", f"price.{server}.price_usd",
        f"power.{server}.idle_w", f"power.{server}.peak_w", f"watts.{server}.max_w", f"bom.bluefield-3.{server}.count",
        f"capex.bluefield-3.{server}_usd", f"power.rack.{server}.servers", f"power.rack.{server}.peak_w",
    ):  # fmt: skip
        assert mixed.ledger.scalar(key) == pytest.approx(own.ledger.scalar(key), rel=1e-12), key
    assert mixed.built is not None and own.built is not None
    assert racks_of(mixed.built.cluster, server) == racks_of(own.built.cluster, server)


def test_totals_of_a_mixed_plan_are_the_sums_of_its_kinds() -> None:
    mixed = evaluated()
    parts = [alone(one) for one in ("hgx-b200", "hgx-h200")]
    for key in ("capex.servers_usd", "capex.nics_usd", "cluster.gpus", "design.fabric.links"):
        assert mixed.ledger.scalar(key) == pytest.approx(
            sum(one.ledger.scalar(key) for one in parts), rel=1e-12
        ), key
    nameplate = sum(mixed.ledger.scalar(f"watts.{one}.max_w") * 32 for one in ("hgx-b200", "hgx-h200"))
    network = mixed.ledger.scalar("power.it_nameplate_w") - nameplate
    assert 0 < network < 0.1 * nameplate
    for key in ("power.it_idle_w", "power.it_peak_w"):
        servers = sum(
            one.ledger.scalar(f"power.{server}.{key.split('_')[1]}_w")
            for one, server in zip(parts, ("hgx-b200", "hgx-h200"), strict=True)
        )
        rest = mixed.ledger.scalar(key) - servers
        assert 0 < rest < 0.2 * servers, key
    # a kind taken for all would be far off
    assert mixed.ledger.scalar("capex.servers_usd") != pytest.approx(
        2 * parts[0].ledger.scalar("capex.servers_usd"), rel=0.05
    )


def test_liquid_heat_is_each_kinds_own() -> None:
    found = evaluate(
        load_scenario(
            NAME,
            changes=[
                "cluster.groups.new.server=mi355x-8way", "site.cooling=direct-liquid", "network.nic=connectx-7-400g",
            ],
        ),
        shelf(),
    )  # fmt: skip
    assert found.built is not None, found.refusal
    ledger = found.ledger
    total = ledger.scalar("power.it_w")
    liquid = 0.0
    for kind in found.parts.kinds:
        key = f"watts.{kind.server.item.id}.liquid_fraction"
        share = ledger.scalar(key if key in ledger else "cooling.liquid_fraction")
        liquid += ledger.scalar(f"power.{kind.server.item.id}.typical_w") * share / total
    assert ledger.scalar("power.cooling.liquid_fraction") == pytest.approx(liquid)


def test_front_ends_of_several_kinds_run_at_the_slowest() -> None:
    fast = evaluated(
        "cluster.groups=[{id: one, server: hgx-b300, gpus: 256}]", "workloads.chat.disaggregated=null",
        "network.nic=connectx-7-400g",
    )  # fmt: skip
    both = evaluated("cluster.groups.new.server=hgx-b300", "network.nic=connectx-7-400g")
    key = "design.inband.link_gbit_per_s"
    assert both.ledger.scalar(key) == evaluated().ledger.scalar(key) <= fast.ledger.scalar(key)
