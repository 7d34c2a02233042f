"""Outdoor air through a year: dry-bulb and wet-bulb temperature by month, time of day and weather.

A place is four numbers and a humidity: a yearly mean, a sine over the seasons, a sine over the day and
a normal spread of warmer and colder days. That gives hours by temperature within about a degree of
station records where seasons are regular; it has no heat waves longer than a day.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats

MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
MONTH_SHARES = np.array(MONTH_DAYS) / float(sum(MONTH_DAYS))
"""Share of the year's hours in each month."""
_TIMES_OF_DAY = 8
_WEATHER = np.array([-1.4633, -0.5987, 0.0, 0.5987, 1.4633])
"""Middles of five equally likely parts of a normal distribution, stretched to a spread of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Climate:
    """A place's air. Arrays of shape (n,).

    Attributes:
        mean_c: Dry-bulb temperature, yearly mean.
        seasonal_swing_k: Half of the warmest less the coldest month's mean.
        daily_swing_k: Half of the daily range.
        weather_swing_k: Standard deviation of daily means about the season.
        relative_humidity_fraction: Yearly mean, of whole days.
        warmest_month: 1 is January.
    """

    mean_c: Floats
    seasonal_swing_k: Floats
    daily_swing_k: Floats
    weather_swing_k: Floats
    relative_humidity_fraction: Floats
    warmest_month: int = 7


@dataclass(frozen=True, slots=True)
class OutdoorAir:
    """Temperatures of shape (n, 12, 40): the 40 of a month are equally long."""

    dry_bulb_c: Floats
    wet_bulb_c: Floats

    @property
    def hottest_c(self) -> Floats:
        """Highest dry-bulb temperature, shape (n,); about 18 hours a year are as hot."""
        return np.asarray(self.dry_bulb_c.max(axis=(1, 2)))


def by_month(hours: Floats) -> Floats:
    """Monthly means, shape (n, 12), of something of shape (n, 12, 40)."""
    return np.asarray(hours.mean(axis=2))


def by_year(months: Floats) -> Floats:
    """Yearly means, shape (n,), of monthly ones; months count by their days.

    >>> by_year(np.ones((1, 12)))
    array([1.])
    """
    return np.asarray(months @ MONTH_SHARES)


def outdoor_air(climate: Climate) -> OutdoorAir:
    """Air of a typical year.

    Vapour stays the same through a day, so humidity falls as the day warms.

    >>> mild = Climate(mean_c=np.array([10.0]), seasonal_swing_k=np.array([10.0]),
    ...     daily_swing_k=np.array([5.0]), weather_swing_k=np.array([0.0]),
    ...     relative_humidity_fraction=np.array([0.7]))
    >>> air = outdoor_air(mild)
    >>> air.hottest_c.round(1), by_month(air.dry_bulb_c)[0, [0, 6]].round(1)
    (array([25.]), array([-0., 20.]))
    """
    months = np.arange(12) - (climate.warmest_month - 1)
    season = np.cos(2.0 * np.pi * months / 12.0)[None, :, None, None]
    day = np.cos(2.0 * np.pi * np.arange(_TIMES_OF_DAY) / _TIMES_OF_DAY)[None, None, :, None]
    weather = _WEATHER[None, None, None, :]
    mean, seasonal, daily, spread, humidity = (
        one[:, None, None, None]
        for one in (
            climate.mean_c, climate.seasonal_swing_k, climate.daily_swing_k, climate.weather_swing_k,
            climate.relative_humidity_fraction,
        )
    )  # fmt: skip
    of_day = mean + seasonal * season + spread * weather
    dry = of_day + daily * day
    vapour = humidity * saturation_kpa(of_day) / saturation_kpa(dry)
    wet = wet_bulb_c(dry_bulb_c=dry, relative_humidity_fraction=vapour)
    shape = (dry.shape[0], 12, -1)
    return OutdoorAir(dry.reshape(shape), wet.reshape(shape))


def saturation_kpa(temperature_c: Floats) -> Floats:
    """Vapour pressure of saturated air over water.

    Source:
        The Magnus form with Alduchov and Eskridge's constants (1996), 0.4 % between -40 and 50 C.

    >>> saturation_kpa(np.array([20.0])).round(3)
    array([2.333])
    """
    return np.asarray(0.61094 * np.exp(17.625 * temperature_c / (temperature_c + 243.04)))


def wet_bulb_c(*, dry_bulb_c: Floats, relative_humidity_fraction: Floats) -> Floats:
    """Temperature to which evaporating water cools air, at sea level.

    Source:
        Stull (2011), Wet-bulb temperature from relative humidity and air temperature, equation 1: within
        1 K between 5 and 99 % and -20 and 50 C.

    >>> wet_bulb_c(dry_bulb_c=np.array([20.0]), relative_humidity_fraction=np.array([0.5])).round(1)
    array([13.7])
    """
    percent = 100.0 * np.clip(relative_humidity_fraction, 0.05, 0.99)
    wet = (
        dry_bulb_c * np.arctan(0.151977 * np.sqrt(percent + 8.313659))
        + np.arctan(dry_bulb_c + percent)
        - np.arctan(percent - 1.676331)
        + 0.00391838 * percent**1.5 * np.arctan(0.023101 * percent)
        - 4.686035
    )
    return np.asarray(np.minimum(wet, dry_bulb_c))
