"""A log between boxes, calibrated: what was measured is predicted, other counts are scaled from it."""

from __future__ import annotations

import numpy as np
import pytest

from planner.catalog.schema import Accelerator, FabricBehaviour, ScaleUp
from planner.catalog.store import Catalog, open_catalog
from planner.cli.app import run_app
from planner.evaluate import evaluate
from planner.performance.collective_model import CollectiveModel, Network, System
from planner.performance.collectives import Collective
from planner.performance.group_curves import Rung
from planner.resources import shipped
from planner.scenario.load import load_scenario
from planner.study.bands import with_ranges

SIZES = np.array([2.0**power for power in range(14, 31, 2)])
MEASURED_S = 80e-6 + SIZES * 1.875 / 150e9
OPERATIONS = {
    "all_reduce": Collective.ALL_REDUCE, "all_gather": Collective.ALL_GATHER, "alltoall": Collective.ALL_TO_ALL,
    "reduce_scatter": Collective.REDUCE_SCATTER, "sendrecv": Collective.SEND_RECEIVE,
}  # fmt: skip


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The catalog beside a folder with a profile of 16 H200 in two boxes."""
    folder = tmp_path_factory.mktemp("shelf")
    (folder / "profiles").mkdir()
    rows = ["gpu,op,dtype,num_gpus,num_nodes,message_bytes,latency_us,library,row_version"]
    for operation in OPERATIONS:
        rows += [
            f"h200,{operation},bfloat16,16,2,{size:.0f},{time * 1e6:.4f},nccl,2.28.9"
            for size, time in zip(SIZES, MEASURED_S, strict=True)
        ]
    (folder / "two.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    output = folder / "profiles" / "h200-sxm-141gb.lab.yaml"
    assert run_app(["calibrate", str(folder / "two.csv"), "--as-of", "2026-05-01", "-o", str(output)]) == 0
    return open_catalog([folder])


def model(catalog: Catalog) -> CollectiveModel:
    entry = catalog.entry(Accelerator, "h200-sxm-141gb")
    network = Network(catalog.entry(FabricBehaviour, "spectrum-x"), 50e9, np.inf, 32.0)
    return CollectiveModel(System(catalog, entry, catalog.entry(ScaleUp, "nvlink-4"), 8, 8, network))


@pytest.mark.parametrize("operation", OPERATIONS.values())
def test_the_measured_group_is_predicted_as_measured(measured: Catalog, operation: Collective) -> None:
    found = model(measured).predict(operation, message_bytes=SIZES, ranks=16, nodes=2)
    assert (found.rung, found.profile) == (Rung.MEASURED, "h200-sxm-141gb.lab")
    assert found.how == "measured between these boxes"
    assert not found.extrapolated.any()
    # what the fit and the table's rounding leave
    np.testing.assert_allclose(found.time_s, MEASURED_S, rtol=1e-3)


@pytest.mark.parametrize(
    ("ranks", "nodes", "beyond"), [(64, 8, True), (32, 4, True), (8, 2, False), (4, 2, False)]
)
def test_other_counts_are_scaled_from_it(measured: Catalog, ranks: int, nodes: int, beyond: bool) -> None:
    found = model(measured).predict(Collective.ALL_REDUCE, message_bytes=SIZES, ranks=ranks, nodes=nodes)
    plain = model(open_catalog()).predict(
        Collective.ALL_REDUCE, message_bytes=SIZES, ranks=ranks, nodes=nodes
    )
    assert (found.rung, found.profile) == (Rung.SCALED, "h200-sxm-141gb.lab")
    assert found.how == "scaled from a measured group of boxes"
    assert found.extrapolated.all() == beyond
    assert plain.rung is Rung.PHYSICS
    own = model(open_catalog()).predict(Collective.ALL_REDUCE, message_bytes=SIZES, ranks=16, nodes=2)
    np.testing.assert_allclose(found.time_s / plain.time_s, MEASURED_S / own.time_s, rtol=1e-3)


def test_sizes_beyond_those_measured_are_flagged(measured: Catalog) -> None:
    sizes = np.array([2.0**10, 2.0**14, 2.0**30, 2.0**33])
    found = model(measured).predict(Collective.ALL_REDUCE, message_bytes=sizes, ranks=16, nodes=2)
    assert found.extrapolated.tolist() == [True, False, False, True]
    assert np.all(np.diff(found.time_s) > 0.0)


def test_what_was_not_measured_stands_on_physics(measured: Catalog) -> None:
    found = model(measured).predict(Collective.BROADCAST, message_bytes=SIZES, ranks=16, nodes=2)
    assert found.rung is Rung.PHYSICS
    assert "outside from NIC rate" in found.how


def test_inside_a_box_nothing_changes(measured: Catalog) -> None:
    for ranks in (2, 8):
        with_it, without = (
            model(catalog).predict(Collective.ALL_REDUCE, message_bytes=SIZES, ranks=ranks)
            for catalog in (measured, open_catalog())
        )
        np.testing.assert_array_equal(with_it.time_s, without.time_s)
        assert with_it.profile == without.profile


def test_a_network_of_another_accelerator_is_not_told_by_it(measured: Catalog) -> None:
    h100 = measured.entry(Accelerator, "h100-sxm5-80gb")
    network = Network(measured.entry(FabricBehaviour, "spectrum-x"), 50e9, np.inf, 32.0)
    system = System(measured, h100, measured.entry(ScaleUp, "nvlink-4"), 8, 8, network)
    found = CollectiveModel(system).predict(Collective.ALL_REDUCE, message_bytes=SIZES, ranks=16, nodes=2)
    assert found.rung is Rung.PHYSICS


def test_a_scenario_takes_it_and_its_ranges_too(measured: Catalog) -> None:
    loaded = load_scenario(shipped("templates") / "scenarios" / "h200-1024-ndr.yaml")
    key = "performance.training.step_s"
    plain = evaluate(loaded, open_catalog()).ledger.value(key)[0]
    found = with_ranges(evaluate(loaded, measured), (key,), draws=31)
    step = found.ledger.value(key)[0]
    assert step != pytest.approx(plain, rel=1e-4)
    low, high = found.ranges[key].p10, found.ranges[key].p90
    assert low < step < high
