"""Media: what may join two cages, with reach, power, price and light per link."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MediumKind(StrEnum):
    """Kinds in the order they are preferred where a price is missing."""

    DAC = "dac"
    ACC = "acc"
    AEC = "aec"
    AOC = "aoc"
    TRANSCEIVER_PAIR = "transceiver-pair"

    @property
    def is_copper(self) -> bool:
        """Whether current, not light, carries the bits."""
        return self in {MediumKind.DAC, MediumKind.ACC, MediumKind.AEC}

    @property
    def is_assembly(self) -> bool:
        """Whether both ends are fixed to the cable and bought with it."""
        return self is not MediumKind.TRANSCEIVER_PAIR


@dataclass(frozen=True, slots=True)
class Price:
    """A price in USD with its P10 and P90."""

    low_usd: float
    typ_usd: float
    high_usd: float

    def times(self, factor: float) -> Price:
        """The price of so many."""
        return Price(self.low_usd * factor, self.typ_usd * factor, self.high_usd * factor)

    def plus(self, other: Price) -> Price:
        """Both together, as if they rose and fell together."""
        return Price(
            self.low_usd + other.low_usd, self.typ_usd + other.typ_usd, self.high_usd + other.high_usd
        )


FREE = Price(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class MediumEnd:
    """What goes into one cage: its rate, its power, and its price where it is bought apart (a module)."""

    rate_gbit_per_s: float
    power_w: float
    price: Price | None = None
    part: str = ""


@dataclass(frozen=True, slots=True)
class Medium:
    """A way to join two cages.

    For an assembly (DAC, ACC, AEC, AOC) `cable_price` is that of the whole; its ends have no price. For a
    transceiver pair the ends are modules and `cable_price` plus `usd_per_m` is the fibre between them.
    `lower` is the end nearer the node.

    Attributes:
        fibres: Fibres of one link, both directions together; 0 in copper and in active cables.
        wavelengths: Colours on each of them.
        optics: Class of the optics, such as DR or FR, or how it is otherwise known; for people.
    """

    id: str
    kind: MediumKind
    reach_m: float
    lower: MediumEnd
    upper: MediumEnd
    cable_price: Price | None = None
    usd_per_m: float = 0.0
    fibres: int = 0
    wavelengths: int = 1
    optics: str = ""


@dataclass(frozen=True, slots=True)
class Cage:
    """A cage at one end of a tier's links: its rate, the links it carries, whether it takes a module."""

    rate_gbit_per_s: float
    links: int
    pluggable: bool = True
