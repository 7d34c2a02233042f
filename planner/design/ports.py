"""Ports: what a switch offers at a link's rate, and how one tier of switches spreads over the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from planner.errors import DesignError, Problem, Remedy


def refusal(message: str, *remedies: str | Remedy, key: str = "network") -> DesignError:
    """The error of a design that can't be built, with every remedy known."""
    found = tuple(one if isinstance(one, Remedy) else Remedy(one) for one in remedies)
    return DesignError(Problem(message, key=key, remedies=found))


@dataclass(frozen=True, slots=True)
class SwitchPorts:
    """The front of a switch.

    A cage is one opening for a module. A twin-port cage has two ports of its own, each with its own
    connector and cable (`ports_per_cage` 2); a single-port cage may still be broken out into several
    links (`links_per_cage_max`). A switch with co-packaged optics has fixed ports and takes no module:
    count its ports as cages and set `pluggable` false.
    """

    id: str
    cages: int
    cage_rate_gbit_per_s: float
    links_per_cage_max: int
    ports_per_cage: int = 1
    pluggable: bool = True

    def links_per_cage(self, link_rate_gbit_per_s: float) -> int:
        """Links of one rate that a cage carries; an error when one link is faster than the cage.

        >>> SwitchPorts("twin", 32, 800.0, 2, ports_per_cage=2).links_per_cage(400.0)
        2
        """
        fits = floor(self.cage_rate_gbit_per_s / link_rate_gbit_per_s + 1e-9)
        if fits < 1:
            raise refusal(
                f"a link needs {link_rate_gbit_per_s:,.0f} Gbit/s, a port of {self.id} has "
                f"{self.cage_rate_gbit_per_s:,.0f} Gbit/s",
                f"a switch with ports of {link_rate_gbit_per_s:,.0f} Gbit/s or more",
                "more planes, which divide the NIC's rate",
                "a slower NIC",
            )
        return min(self.links_per_cage_max, fits)

    def radix(self, link_rate_gbit_per_s: float) -> int:
        """Ports at a link's rate.

        >>> SwitchPorts("64x800G", 64, 800.0, 2).radix(400.0)
        128
        """
        return self.cages * self.links_per_cage(link_rate_gbit_per_s)

    def links_per_port(self, link_rate_gbit_per_s: float) -> int:
        """Links that share one connector, and so one cable, when both ends are switches of this kind.

        A 2 x 400G twin cage has a connector for each 400G link; an 800G port carries two such links.

        >>> SwitchPorts("twin", 32, 800.0, 2, ports_per_cage=2).links_per_port(400.0)
        1
        >>> SwitchPorts("64x800G", 64, 800.0, 2).links_per_port(400.0)
        2
        """
        return max(1, self.links_per_cage(link_rate_gbit_per_s) // self.ports_per_cage)


@dataclass(frozen=True, slots=True)
class FanOut:
    """How lower switches reach upper ones: every lower switch has `links_each` to each upper switch."""

    uppers: int
    links_each: tuple[int, ...]


def fan_out(
    *, lowers: Sequence[tuple[int, int]], uplinks_max: int, upper_ports: int, uppers_min: int = 1
) -> FanOut | None:
    """Fewest upper switches that every lower switch reaches with equally many links.

    `lowers` holds (switches, uplinks wanted) for each kind of lower switch. With all uplink ports wanted
    this is the smallest divisor of the uplinks that is at least lowers x uplinks / ports: 24 leaves with
    32 uplinks need 12 spines of 64 ports by count, but 32 / 12 is no whole number, so 16 are built.
    None when even one link from each lower switch is more than an upper switch has ports.

    Source:
        topo-spine-divisor (reproduces the counts of the reference architectures tried).

    >>> fan_out(lowers=[(24, 32)], uplinks_max=32, upper_ports=64)
    FanOut(uppers=16, links_each=(2,))
    """
    for uppers in range(uppers_min, uplinks_max + 1):
        each = tuple(-(-wanted // uppers) for _, wanted in lowers)
        taken = sum(count * links for (count, _), links in zip(lowers, each, strict=True))
        if max(each) * uppers <= uplinks_max and taken <= upper_ports:
            return FanOut(uppers, each)
    return None
