"""Laws of the networks beside the fabric: ports balance in any size, more hosts never take fewer switches."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.design.beside import Beside
from planner.design.beside_wiring import beside_wiring
from planner.design.frontend import PairedNetwork, PairedRequest, design_out_of_band, design_paired
from planner.design.management import Consoles, Management
from planner.design.ports import SwitchPorts
from planner.design.racks import Floor, RackLayout, RackLimits, ServerLoad, SwitchLoad, design_racks
from planner.design.wiring import TierWiring

RADICES = (32, 64, 128, 256)
OOB_PORTS = 48


def _network(hosts: int, radix: int, extra: int, ratio: float) -> PairedNetwork:
    return design_paired(
        PairedRequest(
            id="inband", hosts=hosts, port_rate_gbit_per_s=200.0, leaf=SwitchPorts("any", radix, 200.0, 1),
            extra_ports=extra, oversubscription=ratio,
        )
    )  # fmt: skip


def _drawn(hosts: int, radix: int, ratio: float) -> tuple[Beside, RackLayout]:
    """A cluster of so many hosts with out-of-band switches, which join the in-band network too."""
    reached = (Consoles("node", hosts, 4),)
    oob = design_out_of_band(cables=4 * hosts, ports_per_switch=OOB_PORTS)
    inband = _network(hosts, radix, oob.uplinks, ratio)
    made = Beside(
        storage=None, inband=inband, storage_network=None, oob=oob, management=Management(0, 0, 0, ""),
        host_ports=2, block_ports=0, storage_manager_links=0, consoles=reached, uplink_rate_gbit_per_s=100.0,
    )  # fmt: skip
    loads = [
        SwitchLoad(tier=kind, count=count, rack_units=1, power_kw=0.5)
        for kind, count in (*made.switch_counts, ("oob", oob.switches))
    ]
    layout = design_racks(
        servers=[ServerLoad(id="any", count=hosts, rack_units=8, power_kw=10.0)], switches=loads,
        limits=RackLimits(rack_units=42, power_kw=44.0), floor_plan=Floor(racks_per_row=12),
    )  # fmt: skip
    return made, layout


def _degree(wired: tuple[TierWiring, ...], kind: str, items: int, *, lower: bool) -> np.ndarray:
    """Links of every item of a kind, at the lower or the upper end of its bundles."""
    found = np.zeros(items)
    for one in wired:
        if (one.lower_kind if lower else one.upper_kind) == kind:
            found += np.bincount(one.lower if lower else one.upper, weights=one.links, minlength=items)
    return found


@settings(max_examples=60, deadline=None)
@given(
    hosts=st.integers(1, 1500), radix=st.sampled_from(RADICES), ratio=st.sampled_from((1.0, 1.33, 3.0)),
)  # fmt: skip
def test_ports_of_paired_switches_balance(hosts: int, radix: int, ratio: float) -> None:
    made, layout = _drawn(hosts, radix, ratio)
    network = made.inband
    assert network is not None
    wired = next(one.wirings for one in beside_wiring(made, layout, hosts) if one.network == "inband")
    assert sum(one.total for one in wired) == network.cables
    down = _degree(wired, "inband", network.leaves, lower=False)
    up = _degree(wired, "inband", network.leaves, lower=True)
    assert down.max() <= network.ports_down + network.peer_links
    assert (down + up).max() <= radix
    if network.spines:
        spine = _degree(wired, "inband-spine", network.spines, lower=False)
        above = _degree(wired, "inband-spine", network.spines, lower=True)
        assert spine.sum() == up.sum() == network.leaf_spine_links
        assert (spine + above).max() <= radix
        assert np.unique(up).size == 1
        assert network.oversubscription <= ratio + 1e-9
    if network.cores:
        core = _degree(wired, "inband-core", network.cores, lower=False)
        assert core.max() <= radix
        assert core.sum() == network.spine_core_links


@settings(max_examples=40, deadline=None)
@given(hosts=st.integers(1, 1500))
def test_every_host_is_on_two_switches_of_one_pair(hosts: int) -> None:
    made, layout = _drawn(hosts, 64, 3.0)
    wired = next(one.wirings for one in beside_wiring(made, layout, hosts) if one.network == "inband")
    links = next(one for one in wired if one.tier == "node-inband")
    order = np.lexsort((links.upper, links.lower))
    pairs = links.upper[order].reshape(hosts, 2)
    assert (pairs[:, 0] % 2 == 0).all()
    assert (pairs[:, 1] == pairs[:, 0] + 1).all()


@settings(max_examples=40, deadline=None)
@given(hosts=st.integers(1, 1500))
def test_every_management_port_has_a_port_of_a_switch(hosts: int) -> None:
    made, layout = _drawn(hosts, 64, 3.0)
    assert made.oob is not None
    wired = next(one.wirings for one in beside_wiring(made, layout, hosts) if one.network == "oob")
    taken = _degree(wired, "oob", made.oob.switches, lower=False)
    assert taken.sum() == made.oob.cables == 4 * hosts
    assert taken.max() <= OOB_PORTS


@settings(max_examples=60, deadline=None)
@given(
    hosts=st.integers(1, 3000), more=st.integers(0, 500), radix=st.sampled_from(RADICES[1:]),
)  # fmt: skip
def test_more_hosts_never_take_fewer_leaves_or_cables(hosts: int, more: int, radix: int) -> None:
    fewer, larger = _network(hosts, radix, 0, 3.0), _network(hosts + more, radix, 0, 3.0)
    assert larger.leaves >= fewer.leaves
    assert larger.host_links >= fewer.host_links
