"""What reports say of a plan with servers of several kinds."""

from __future__ import annotations

from functools import cache

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.present.view.faults import blast_radius
from planner.present.view.forms import form, node_counts
from planner.present.view.outcomes import headlines
from planner.present.view.racks import floor_figure
from planner.present.view.reading import Reading
from planner.present.view.serving import serving_tables
from planner.present.view.shares import published_table
from planner.present.view.topology import topology_figure
from planner.scenario.load import load_scenario


@cache
def reading(*changes: str) -> Reading:
    found: Evaluation = evaluate(load_scenario("b200-h200-disaggregated", changes=changes), open_catalog())
    assert found.built is not None, found.refusal
    return Reading(found, found.built)


def test_every_kind_of_node_is_named_with_its_count() -> None:
    found = reading()
    assert [count for _, count in node_counts(found)] == [32, 32]
    _, drawn = form(found)
    [node] = [one for one in drawn["tiers"] if one["tier"] == "node"]
    assert "HGX B200" in node["name"] and "HGX H200" in node["name"]
    assert node["count"] == "32 x hgx-b200, 32 x hgx-h200"


def test_a_grid_names_every_kind_too() -> None:
    found = reading(
        "network.topology=torus",
        "network.leaf={}",
        "network.spine={}",
        "network.behaviour=ethernet-ecmp-tuned",
    )
    _, drawn = form(found)
    lines = " / ".join(drawn["lines"])
    assert drawn["form"] == "grid" and "32 x HGX B200" in lines and "32 x HGX H200" in lines
    rows = topology_figure(found).table.rows  # type: ignore[union-attr]
    assert len(rows) >= 1


def test_racks_and_failures_are_each_kinds_own() -> None:
    found = reading()
    racks = {row[0].text: row for row in floor_figure(found).table.rows}  # type: ignore[union-attr]
    assert racks["hgx-b200"][1].value == 32 and racks["hgx-h200"][1].value == 16
    fails = {row[0].text: row[3].value for row in blast_radius(found).rows}
    assert fails["Rack of hgx-b200"] == 8 and fails["Rack of hgx-h200"] == 16


def test_published_shares_of_boxes_stand_beside_boxes() -> None:
    table = published_table(reading())
    assert table is not None
    said = " ".join(row[0].text for row in table.rows)
    assert "Modules, cables and fibre for a GPU" in said and "Network for a GPU" not in said


def test_assignments_that_serve_alike_are_said_to() -> None:
    found = reading("cluster.groups.new.server=hgx-h100", "cluster.groups.there.gpus=128", "cluster.groups.new.gpus=384",
                    "workloads.chat.disaggregated={prefill_replicas: 1, prefill_replica_gpus: 1}")  # fmt: skip
    served = found.built.performance.served[0]
    table = next(one for one in serving_tables(found, served) if one.id == "pools-chat")
    gain = found.value("performance.serving.pools.assignment_gain_fraction")
    assert ("no better than prefill on" in table.caption) is (gain < 0.001)


def test_the_table_of_pools_compares_kinds_and_assignments() -> None:
    found = reading()
    served = found.built.performance.served[0]
    table = next(one for one in serving_tables(found, served) if one.id == "pools-chat")
    assert "they pay" in table.caption and "each kind of GPU by itself" in table.caption
    assert "prefill on B200" in table.caption and "against prefill on H200" in table.caption
    labels = [row[0].text for row in table.rows]
    assert any(one.startswith("Output tokens of a GPU that does both, B200") for one in labels)
    assert any(one.startswith("Output tokens of a GPU with prefill on H200") for one in labels)


def test_gpus_that_neither_pool_uses_are_said_beside_the_throughput() -> None:
    def said(*changes: str) -> str:
        found = reading(*changes)
        [throughput] = [
            one for one in headlines(found.evaluation) if one.key == "outcome.serving_output_tokens_per_s"
        ]
        return throughput.note

    # eight H200 can't decode what more than a few B200 compute
    few = "cluster.groups.there.gpus=8"
    idle = round(reading(few).value("performance.serving.pools.idle_gpus"))
    assert idle > 200 and f"{idle:,} GPUs are in neither pool" in said(few)
    assert "neither pool" not in said()
