"""Factors between the units of files and the units of the core.

Decimal prefixes for rates and money, binary ones for memory sizes; bits become bytes here and nowhere else.
"""

from __future__ import annotations

from typing import Final

BITS_PER_BYTE: Final = 8.0
KILO: Final = 1e3
MEGA: Final = 1e6
GIGA: Final = 1e9
TERA: Final = 1e12
KIB: Final = 2.0**10
MIB: Final = 2.0**20
GIB: Final = 2.0**30
HOURS_PER_YEAR: Final = 8760.0
MONTHS_PER_YEAR: Final = 12.0
HOURS_PER_MONTH: Final = HOURS_PER_YEAR / MONTHS_PER_YEAR
SECONDS_PER_HOUR: Final = 3600.0
SECONDS_PER_DAY: Final = 86400.0
DAYS_PER_YEAR: Final = 365.0


def bytes_per_s(gbit_per_s: float) -> float:
    """Rate in byte/s of a rate in Gbit/s.

    >>> bytes_per_s(400.0)
    50000000000.0
    """
    return gbit_per_s * GIGA / BITS_PER_BYTE
