"""Replicas for a load over the day: how many are needed, how many run, and what autoscaling saves.

A day is cut into steps of five minutes, between whose hours the load runs straight. Days repeat.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.units import SECONDS_PER_HOUR

STEPS_PER_HOUR: Final = 12
DAY_STEPS: Final = 24 * STEPS_PER_HOUR
STEP_S: Final = SECONDS_PER_HOUR / STEPS_PER_HOUR


def day_requests_per_s(
    *, peak_requests_per_s: Floats, hourly_fraction: Floats, utc_offset_hours: Floats
) -> Floats:
    """Load over a day in UTC, in steps of five minutes.

    Args:
        peak_requests_per_s: Of the busiest hour, shape (n,).
        hourly_fraction: The 24 hours of a local day over the busiest one, each at its full hour, shape (24,).
        utc_offset_hours: Local time less UTC, shape (n,).

    Returns:
        Shape (n, 288), from midnight UTC.

    >>> day = day_requests_per_s(peak_requests_per_s=np.array([100.0]), hourly_fraction=np.arange(24.0) / 23.0,
    ...     utc_offset_hours=np.array([1.0]))
    >>> day.shape, float(day[0, 22 * 12])
    ((1, 288), 100.0)
    """
    local = np.arange(DAY_STEPS) / STEPS_PER_HOUR + np.reshape(utc_offset_hours, (-1, 1))
    hours = np.arange(hourly_fraction.size)
    shape = np.interp(local, hours, hourly_fraction, period=float(hourly_fraction.size))
    return np.asarray(np.reshape(peak_requests_per_s, (-1, 1)) * shape)


def replicas_needed(*, requests_per_s: Floats, replica_requests_per_s: Floats) -> Floats:
    """Whole replicas that carry a load within the objective, at least one.

    Args:
        requests_per_s: Load.
        replica_requests_per_s: What one replica carries within the objective, above zero.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> replicas_needed(requests_per_s=np.array([0.0, 10.0, 10.1]), replica_requests_per_s=np.array([2.0]))
    array([1., 5., 6.])
    """
    # a load that is a whole number of replicas must not ask for one more by rounding
    return np.maximum(np.ceil(requests_per_s / replica_requests_per_s - 1e-9), 1.0)


def running_replicas(*, needed: Floats, startup_s: float) -> Floats:
    """Replicas that run or start, where each has to be asked for its start-up time ahead.

    A replica is paid from the moment it is asked for, so at any time as many run as will be needed within the
    start-up time. Scaling down is at once, and the day's curve is known ahead: what an unforeseen surge needs comes
    on top.

    Args:
        needed: Replicas needed over a day that repeats, shape (..., 288).
        startup_s: From asking for a replica until it serves.

    Returns:
        Shape of `needed`.

    >>> needed = np.ones(288)
    >>> needed[144:] = 3.0
    >>> running_replicas(needed=needed, startup_s=900.0)[[140, 141, 144]]
    array([1., 3., 3.])
    """
    ahead = min(int(np.ceil(startup_s / STEP_S - 1e-9)), DAY_STEPS - 1)
    doubled = np.concatenate([needed, needed[..., :ahead]], axis=-1)
    windows = np.lib.stride_tricks.sliding_window_view(doubled, ahead + 1, axis=-1)
    return np.asarray(windows.max(axis=-1))


def whole_servers(*, replicas: Floats, replica_gpus: Floats, server_gpus: Floats) -> Floats:
    """Servers that hold so many replicas, none of which spans two of them.

    Args:
        replicas: Replicas of one region.
        replica_gpus: Accelerators of one, at most the server's.
        server_gpus: Accelerators of a server.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> whole_servers(replicas=np.array([5.0]), replica_gpus=np.array([4.0]), server_gpus=np.array([8.0]))
    array([3.])
    """
    return np.ceil(replicas / np.floor(server_gpus / replica_gpus))
