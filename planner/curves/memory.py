"""Time of a measured transfer: on the device, and between device and host."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats


def transfer_time_s(*, moved_bytes: Floats, rate_bytes_per_s: Floats, half_rate_bytes: Floats) -> Floats:
    """Time of one transfer: a start, then a steady rate.

    Args:
        moved_bytes: Bytes moved; a copy on the device counts them twice, read and written.
        rate_bytes_per_s: Rate of an endless transfer.
        half_rate_bytes: Size that reaches half of it.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> transfer_time_s(moved_bytes=np.array([1e6]), rate_bytes_per_s=np.array([1e9]), half_rate_bytes=np.array([1e6]))
    array([0.002])
    """
    return np.asarray((moved_bytes + half_rate_bytes) / rate_bytes_per_s)
