"""The only place where a number becomes text."""

from __future__ import annotations

import math
from typing import Final

NOTHING: Final = "–"
_SCALES: Final = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def digits_supported(value: float, low: float | None, high: float | None) -> int:
    """Significant digits that a range supports, 2 to 4; 3 without a range.

    >>> digits_supported(1.7264, 1.6, 1.8), digits_supported(2.32, 2.318, 2.322)
    (3, 4)
    """
    if low is None or high is None or high <= low or value == 0:
        return 3
    relative = (high - low) / 2 / abs(value)
    return min(4, max(2, math.ceil(-math.log10(relative)) + 1)) if relative > 0 else 3


def significant(value: float, digits: int = 3) -> str:
    """Plain decimal text with so many significant digits and thousands separated.

    >>> significant(46812345.0), significant(0.012345), significant(58.61), significant(0.0), significant(1.648e-6)
    ('46,800,000', '0.0123', '58.6', '0', '1.65e-06')
    """
    if not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    if abs(value) < 1e-4:
        return f"{value:.{digits - 1}e}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    return f"{rounded:,.{max(0, places)}f}"


def short(value: float, digits: int = 3) -> str:
    """At most six characters, with k, M, B for large values.

    >>> short(46812345.0), short(2.318), short(1024.0), short(0.0123), short(384200.0), short(-2.1)
    ('46.8M', '2.32', '1,024', '0.0123', '384k', '-2.10')
    """
    if not math.isfinite(value):
        return NOTHING
    size = abs(value)
    if size < 1e4:
        text = f"{value:,.0f}" if size >= 10**digits else significant(value, digits)
        return text if len(text) <= 6 else significant(value, digits - 1)
    for scale, letter in _SCALES:
        # a value that rounds to 1000 of the next smaller unit is 1 of this one
        if size >= scale * 0.9995:
            return significant(value / scale, digits) + letter
    return significant(value, digits)


def plain(value: float) -> str:
    """A given number as it was written: up to six significant digits, no trailing zeros.

    >>> plain(312667.0), plain(0.0892), plain(3.6e11), plain(1.262e-05), plain(60.0)
    ('312,667', '0.0892', '3.6e+11', '1.262e-05', '60')
    """
    if not math.isfinite(value):
        return NOTHING
    if 1e3 <= abs(value) < 1e9 and value == round(value):
        return f"{value:,.0f}"
    return f"{value:.6g}"


def percent(fraction: float, places: int = 1) -> str:
    """Share as a percentage without its sign.

    >>> percent(0.3824)
    '38.2'
    """
    return f"{fraction * 100:.{places}f}" if math.isfinite(fraction) else NOTHING


def out_of_100(share: float) -> str:
    """Odds as the report says them; rounding never makes a chance a certainty.

    >>> out_of_100(0.03), out_of_100(0.714), out_of_100(1.0), out_of_100(0.998), out_of_100(0.004), out_of_100(0.0)
    ('3 of 100', '71 of 100', '100 of 100', 'over 99 of 100', 'under 1 of 100', '0 of 100')
    """
    if 0.995 <= share < 1:
        return "over 99 of 100"
    if 0 < share < 0.005:
        return "under 1 of 100"
    return f"{share * 100:.0f} of 100"


def count(value: float) -> str:
    """Whole number with thousands separated.

    >>> count(16384.0), count(-0.0)
    ('16,384', '0')
    """
    return f"{value + 0.0:,.0f}" if math.isfinite(value) else NOTHING


def money(usd: float, digits: int = 3) -> str:
    """Amount of money with its unit.

    >>> money(46812345.0), money(2.318), money(950.0)
    ('46.8 M USD', '2.32 USD', '950 USD')
    """
    if not math.isfinite(usd):
        return NOTHING
    if abs(usd) >= 0.9995e9:
        return f"{significant(usd / 1e9, digits)} B USD"
    if abs(usd) >= 0.9995e6:
        return f"{significant(usd / 1e6, digits)} M USD"
    if abs(usd) >= 0.9995e4:
        return f"{significant(usd / 1e3, digits)} k USD"
    return f"{significant(usd, digits)} USD"


def quantity(value: float, unit: str, digits: int = 3) -> str:
    """A ledger value with its unit, scaled to what people read.

    >>> quantity(1726400.0, "W"), quantity(0.382, "fraction"), quantity(1024.0, "1"), quantity(2.318, "USD/GPU-h")
    ('1.73 MW', '38.2 %', '1,024', '2.32 USD/GPU-h')
    >>> quantity(3e9, "byte"), quantity(6.8e11, "byte/s"), quantity(12.0, "byte/parameter")
    ('3.00 GB', '680 GB/s', '12.0 B/parameter')
    """
    value += 0.0  # a negative zero is zero
    if not math.isfinite(value):
        return NOTHING
    if unit == "1":
        return count(value) if value == round(value) and abs(value) < 1e12 else significant(value, digits)
    if unit == "USD":
        return money(value, digits)
    if unit.startswith("fraction"):
        return f"{significant(value * 100, digits)} %{unit.removeprefix('fraction').replace('/', ' a ')}"
    if unit == "flag":
        return "yes" if value else "no"
    if unit == "month":
        return f"{value:g}"
    if unit == "s" and 0 < abs(value) < 1:
        return duration(value)
    for base in ("W", "byte/s", "byte", "FLOP/s", "FLOP"):
        if unit == base:
            return _prefixed(value, unit, digits)
    if unit.startswith("USD/year"):
        return f"{money(value, digits)} a year"
    return f"{significant(value, digits)} {_symbol(unit)}"


def given(value: float, unit: str) -> str:
    """A given number with all the digits it was written with, and its unit in what people read.

    >>> given(0.07, "fraction"), given(3e9, "byte"), given(6.8e11, "byte/s"), given(312667.0, "USD"), given(5.4, "1")
    ('7 %', '3 GB', '680 GB/s', '312,667 USD', '5.4')
    >>> given(9e-6, "s"), given(600.0, "s"), given(34.0, "byte/parameter"), given(0.0025, "fraction/doubling")
    ('9 us', '600 s', '34 B/parameter', '0.25 % a doubling')
    """
    if not math.isfinite(value):
        return NOTHING
    if unit.startswith("fraction"):
        return f"{plain(value * 100)} %{unit.removeprefix('fraction').replace('/', ' a ')}"
    if unit == "flag":
        return "yes" if value else "no"
    if unit in ("1", "month"):
        return plain(value)
    if unit == "s" and 0 < abs(value) < 1:
        scale, small = (1e-3, "ms") if abs(value) >= 1e-3 else (1e-6, "us")
        return f"{plain(value / scale)} {small}"
    if unit in ("W", "byte/s", "byte", "FLOP/s", "FLOP"):
        for scale, prefix in _PREFIXES:
            if abs(value) >= scale:
                return f"{plain(value / scale)} {prefix}{_symbol(unit)}"
    return f"{plain(value)} {_symbol(unit)}"


_PREFIXES: Final = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def _symbol(unit: str) -> str:
    return f"B{unit.removeprefix('byte')}" if unit == "byte" or unit.startswith("byte/") else unit


def _prefixed(value: float, unit: str, digits: int) -> str:
    unit = _symbol(unit)
    for scale, prefix in _PREFIXES:
        if abs(value) >= scale * 0.9995:
            return f"{significant(value / scale, digits)} {prefix}{unit}"
    return f"{significant(value, digits)} {unit}"


def duration(seconds: float) -> str:
    """Time in the unit that gives a readable number.

    >>> duration(0.0123), duration(9.42), duration(5400), duration(200000)
    ('12.3 ms', '9.42 s', '1.50 h', '2.31 days')
    """
    if not math.isfinite(seconds):
        return NOTHING
    for scale, unit in ((86400.0, "days"), (3600.0, "h"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if (abs(seconds) >= scale and not (unit == "h" and abs(seconds) < 5400)) or unit == "us":
            return f"{significant(seconds / scale)} {unit}"
    raise AssertionError(seconds)


def signed(value: float, digits: int = 3) -> str:
    """Change with its sign; ``=`` where the digits shown don't differ from zero.

    >>> signed(-2.1), signed(1.2), signed(0.0)
    ('-2.10', '+1.20', '=')
    """
    if value == 0 or not math.isfinite(value):
        return "="
    return f"{'+' if value > 0 else '-'}{short(abs(value), digits)}"


def written(value: float | str | bool | None) -> str:
    """A scenario's value as a person writes it: all its digits, thousands separated, no unit.

    >>> written(16384), written(0.02), written(60000000.0), written(None), written("air"), written(True)
    ('16,384', '0.02', '60,000,000', '–', 'air', 'yes')
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return NOTHING
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.10g}"
