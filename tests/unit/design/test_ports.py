"""Port arithmetic of a switch and of one tier over the next."""

from __future__ import annotations

import pytest

from planner.design.ports import FanOut, SwitchPorts, fan_out
from planner.errors import DesignError


@pytest.mark.parametrize(("rate", "radix"), [(800.0, 64), (400.0, 128), (200.0, 256), (100.0, 256)])
def test_radix_follows_the_rate_up_to_the_links_a_cage_allows(rate: float, radix: int) -> None:
    assert SwitchPorts("w", 64, 800.0, 4).radix(rate) == radix


def test_a_link_faster_than_the_cage_is_refused() -> None:
    with pytest.raises(DesignError, match=r"needs 1,600 Gbit/s, a port of w has 800 Gbit/s"):
        SwitchPorts("w", 64, 800.0, 4).radix(1600.0)


def test_a_twin_port_has_a_cable_for_each_port() -> None:
    twin = SwitchPorts("t", 32, 800.0, 4, ports_per_cage=2)
    assert (twin.links_per_port(400.0), twin.links_per_port(200.0)) == (1, 2)


def test_more_lower_switches_than_ports_cannot_be_joined() -> None:
    assert fan_out(lowers=[(65, 32)], uplinks_max=32, upper_ports=64) is None


def test_spare_uplink_ports_are_used_where_they_save_a_spine() -> None:
    """21 uplinks wanted and 22 there: two spines with 11 links each, not three with 7."""
    assert fan_out(lowers=[(4, 21)], uplinks_max=22, upper_ports=64) == FanOut(2, (11,))
