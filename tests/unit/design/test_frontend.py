"""In-band, storage and out-of-band networks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.design.frontend import PairedRequest, design_out_of_band, design_paired
from planner.design.ports import SwitchPorts
from planner.errors import DesignError

STORAGE = PairedRequest(
    id="storage", hosts=127, port_rate_gbit_per_s=200.0, leaf=SwitchPorts("w", 64, 800.0, 4)
)


def test_one_pair_serves_what_its_ports_allow() -> None:
    built = design_paired(STORAGE)
    assert (built.leaves, built.spines, built.host_links, built.cables) == (2, 0, 254, 256)


def test_more_hosts_get_pairs_and_at_least_two_spines() -> None:
    built = design_paired(replace(STORAGE, hosts=2048))
    assert built.leaves % 2 == 0
    assert built.leaves * 192 >= built.host_links == 4096  # 3:1 of 256 ports: 192 down
    assert built.spines >= 2
    assert built.oversubscription <= 3.0


def test_the_reference_pods_in_band_and_out_of_band_counts() -> None:
    """DGX BasePOD with 4 and 8 nodes: 2 x 64-port 100G switches, 1 and 2 x 48-port 1G switches."""
    sn4600c = SwitchPorts("sn4600c", 64, 100.0, 1)
    for nodes, cat6, oob_switches in ((4, 29, 1), (8, 45, 2)):
        oob = design_out_of_band(cables=cat6, ports_per_switch=48)
        assert oob.switches == oob_switches
        inband = design_paired(
            PairedRequest(
                id="inband",
                hosts=nodes + 5,
                port_rate_gbit_per_s=100.0,
                leaf=sn4600c,
                extra_ports=oob.uplinks,
            )
        )
        assert (inband.leaves, inband.spines, inband.peer_links) == (2, 0, 2)
        assert inband.host_links == 2 * nodes + 10
        assert inband.extra_links == 2 * oob_switches


def test_nothing_to_join_needs_no_switch() -> None:
    assert design_paired(replace(STORAGE, hosts=0)).switches == 0
    assert design_out_of_band(cables=0, ports_per_switch=48).switches == 0


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(DesignError, match="even number"):
        design_paired(replace(STORAGE, ports_per_host=3))
    with pytest.raises(DesignError, match="three layers of 16 ports"):
        design_paired(replace(STORAGE, hosts=100_000, leaf=SwitchPorts("s", 16, 200.0, 1)))
    with pytest.raises(DesignError, match="management ports"):
        design_out_of_band(cables=5, ports_per_switch=1)
