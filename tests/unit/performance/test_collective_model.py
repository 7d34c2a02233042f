"""Predictions of a named system: time, rates, band, rung, and what limits them."""

from __future__ import annotations

import time

import numpy as np
import pytest

from planner.catalog.schema import Accelerator, FabricBehaviour, ScaleUp
from planner.catalog.store import open_catalog
from planner.performance.collective_model import CollectiveModel, Network, System
from planner.performance.collectives import Collective, bus_factor
from planner.performance.group_curves import Rung

CATALOG = open_catalog()
SIZES = 2.0 ** np.arange(10, 34)
BIG = np.array([2.0**32])


def system(
    accelerator: str = "h100-sxm5-80gb", *, domain: int = 8, nic: float | None = 50e9, gain: float = 1.0,
    host: float = np.inf, oversubscription: float = 1.0, staged: bool = False,
) -> System:  # fmt: skip
    entry = CATALOG.entry(Accelerator, accelerator)
    scaleup = CATALOG.entry(ScaleUp, entry.item.scaleup) if entry.item.scaleup else None
    network = None
    if nic is not None:
        network = Network(
            CATALOG.entry(FabricBehaviour, "spectrum-x"),
            nic,
            host,
            4.0,
            oversubscription,
            reduction_gain_ratio=gain,
        )
    return System(CATALOG, entry, scaleup, domain, domain, network, staged=staged)


@pytest.mark.parametrize("operation", list(Collective))
@pytest.mark.parametrize(("ranks", "nodes"), [(2, 1), (8, 1), (6, 1), (2, 2), (16, 2), (512, 64)])
def test_a_prediction_is_whole_whatever_is_asked(operation: Collective, ranks: int, nodes: int) -> None:
    found = CollectiveModel(system()).predict(operation, message_bytes=SIZES, ranks=ranks, nodes=nodes)
    assert np.all(np.diff(found.time_s) >= 0.0)
    assert np.all((found.low_s > 0.0) & (found.low_s < found.time_s) & (found.time_s < found.high_s))
    np.testing.assert_allclose(found.algbw_bytes_per_s, SIZES / found.time_s)
    factor = bus_factor(operation, ranks=np.array([float(ranks)]))[0]
    np.testing.assert_allclose(found.busbw_bytes_per_s, found.algbw_bytes_per_s * factor)
    assert len(found.limited_by) == len(found.extrapolated) == len(SIZES)
    assert found.how
    assert found.algorithm
    # between boxes the profile is that of the part inside one
    assert bool(found.profile) == (ranks > nodes or found.rung is not Rung.PHYSICS)


def test_bands_widen_down_the_ladder() -> None:
    def width(accelerator: str, ranks: int, nodes: int = 1) -> float:
        found = CollectiveModel(system(accelerator)).predict(
            Collective.ALL_REDUCE, message_bytes=BIG, ranks=ranks, nodes=nodes
        )
        return float(found.high_s[0] / found.time_s[0])

    assert width("h100-sxm5-80gb", 8) < width("h200-sxm-141gb", 8) < width("mi300x", 8)
    assert width("h100-sxm5-80gb", 16, 2) > width("h100-sxm5-80gb", 8)


def test_a_measured_size_is_no_extrapolation_and_one_beyond_is() -> None:
    found = CollectiveModel(system()).predict(
        Collective.ALL_REDUCE, message_bytes=np.array([64.0, 2.0**20, 2.0**29, 2.0**40]), ranks=8
    )
    assert found.extrapolated.tolist() == [True, False, False, True]


def test_groups_larger_than_any_measured_are_flagged_at_every_size() -> None:
    found = CollectiveModel(system("gb200", domain=72)).predict(
        Collective.ALL_REDUCE, message_bytes=SIZES, ranks=72
    )
    assert found.extrapolated.all()
    assert "extrapolated from 8 to 72 ranks" in found.how


def test_a_group_between_measured_ones_is_scaled() -> None:
    found = CollectiveModel(system()).predict(Collective.ALL_REDUCE, message_bytes=BIG, ranks=6)
    assert found.rung is Rung.SCALED
    assert found.how.startswith("between measured groups")


def test_sums_outside_the_switch_are_a_reduce_scatter_and_an_all_gather() -> None:
    model = CollectiveModel(system())
    found = model.predict(Collective.ALL_REDUCE, message_bytes=BIG, ranks=8, in_network=False)
    parts = [
        model.predict(one, message_bytes=BIG, ranks=8).time_s[0]
        for one in (Collective.REDUCE_SCATTER, Collective.ALL_GATHER)
    ]
    assert found.time_s[0] == pytest.approx(sum(parts), rel=1e-3)
    assert (found.algorithm, found.rung) == ("ring", Rung.SCALED)
    gather = model.predict(Collective.ALL_GATHER, message_bytes=BIG, ranks=8, in_network=False)
    assert gather.rung is Rung.MEASURED, "nothing is summed, so nothing changes"
    assert found.time_s[0] > model.predict(Collective.ALL_REDUCE, message_bytes=BIG, ranks=8).time_s[0]


def limit(built: System, size: float, ranks: int = 64, nodes: int = 8) -> str:
    found = CollectiveModel(built).predict(
        Collective.ALL_REDUCE, message_bytes=np.array([size]), ranks=ranks, nodes=nodes
    )
    return found.limited_by[0]


def test_what_limits_a_collective_is_named() -> None:
    assert limit(system(), 1024.0) == "latency"
    assert limit(system(), 1024.0, 8, 1) == "latency"
    assert limit(system(), 2.0**33, 8, 1) == "scale-up link"
    assert limit(system("h200-sxm-141gb", staged=True), 2.0**33, 2, 1) == "host memory"
    assert limit(system(nic=12.5e9), 2.0**33) == "NIC"
    assert limit(system(nic=50e9, host=12e9), 2.0**33) == "host slot"
    assert limit(system(nic=400e9), 2.0**33) == "scale-up link"
    assert limit(system(nic=12.5e9, oversubscription=16.0), 2.0**33) == "uplinks"


def test_an_exchange_is_limited_where_most_of_its_bytes_go() -> None:
    def limits(built: System, operation: Collective) -> str:
        return CollectiveModel(built).predict(operation, message_bytes=BIG, ranks=64, nodes=8).limited_by[0]

    # of 8 boxes 4 share a leaf: 4 of 7 peers of an exchange stand elsewhere, and 1 of 4 neighbours
    assert limits(system(oversubscription=2.0), Collective.ALL_TO_ALL) == "uplinks"
    assert limits(system(oversubscription=2.0), Collective.ALL_GATHER) != "uplinks"
    # cards on PCIe: a send between boxes never takes the slow link inside
    assert limits(system("l40s"), Collective.SEND_RECEIVE) == "NIC"
    assert limits(system("l40s"), Collective.ALL_GATHER) == "scale-up link"


def test_switches_of_the_network_that_add_up_quicken_sums() -> None:
    times = [
        CollectiveModel(system(nic=12.5e9, gain=gain))
        .predict(Collective.ALL_REDUCE, message_bytes=BIG, ranks=64, nodes=8)
        .time_s[0]
        for gain in (1.0, 1.6)
    ]
    assert times[0] / times[1] == pytest.approx(1.6, rel=0.02)


def test_one_call_is_a_batch_of_one() -> None:
    model = CollectiveModel(system())
    whole = model.predict(Collective.ALL_TO_ALL, message_bytes=SIZES, ranks=32, nodes=4)
    apart = [
        model.predict(Collective.ALL_TO_ALL, message_bytes=np.array([size]), ranks=32, nodes=4).time_s[0]
        for size in SIZES
    ]
    np.testing.assert_allclose(whole.time_s, apart, rtol=1e-12)


@pytest.mark.parametrize(("ranks", "nodes"), [(8, 1), (64, 8)])
def test_a_million_times_take_a_second(ranks: int, nodes: int) -> None:
    model = CollectiveModel(system())
    sizes = np.geomspace(1024.0, 2.0**33, 1_000_000)
    links = model.links(nodes)
    began = time.process_time()
    model._time_s(links, Collective.ALL_REDUCE, sizes, ranks, 8, None)
    # the issue asks for 1 s on one core; the rest is for a busy machine
    assert time.process_time() - began < 1.5
