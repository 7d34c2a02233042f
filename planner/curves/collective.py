"""Time of a collective over message size: up to a few regimes, each a start, a ramp and a rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats


@dataclass(frozen=True, slots=True)
class Regime:
    """One protocol or algorithm of the library, from a message size on.

    Attributes:
        from_bytes: Smallest message of the regime; the first one reaches down to nothing.
        start_s: Time of a message of no bytes.
        ramp_s_per_sqrt_byte: What pipelines that fill add; it fades against the rate as messages grow.
        s_per_byte: Inverse of the rate that an endless message reaches, per byte of message.
    """

    from_bytes: float
    start_s: float
    ramp_s_per_sqrt_byte: float
    s_per_byte: float


@dataclass(frozen=True, slots=True)
class Curves:
    """Several curves side by side, padded to one number of regimes; every array has shape (curves, regimes).

    Attributes:
        from_bytes: Smallest message of each regime; infinite where a curve has fewer regimes.
        start_s, ramp_s_per_sqrt_byte, s_per_byte: See `Regime`.
        least_s: Longest time of any smaller message, so that more bytes never take less time.
    """

    from_bytes: Floats
    start_s: Floats
    ramp_s_per_sqrt_byte: Floats
    s_per_byte: Floats
    least_s: Floats


def stack_curves(curves: Sequence[Sequence[Regime]]) -> Curves:
    """Curves as arrays.

    Args:
        curves: Regimes of each curve, one or more, by rising message size.

    >>> stacked = stack_curves([[Regime(0, 1e-5, 0, 1e-9), Regime(1e6, 0, 0, 1e-9)], [Regime(0, 2e-5, 0, 2e-9)]])
    >>> stacked.from_bytes.shape, stacked.least_s[0].round(6)
    ((2, 2), array([0.     , 0.00101]))
    """
    width = max(len(regimes) for regimes in curves)
    table = np.zeros((len(curves), width, 4))
    table[:, :, 0] = np.inf
    for place, regimes in enumerate(curves):
        for column, one in enumerate(regimes):
            border = 0.0 if column == 0 else one.from_bytes
            table[place, column] = (border, one.start_s, one.ramp_s_per_sqrt_byte, one.s_per_byte)
    first, start, ramp, slope = (table[:, :, column] for column in range(4))
    least = np.zeros_like(first)
    for column in range(1, width):
        end = np.where(np.isfinite(first[:, column]), first[:, column], 0.0)
        before = start[:, column - 1] + ramp[:, column - 1] * np.sqrt(end) + slope[:, column - 1] * end
        least[:, column] = np.maximum(before, least[:, column - 1])
    return Curves(first, start, ramp, slope, least)


def curve_time_s(curves: Curves, *, curve: np.ndarray, message_bytes: Floats) -> Floats:
    """Time of messages on the curves named.

    Args:
        curves: The curves.
        curve: Index of the curve of each message, integers.
        message_bytes: Sizes; they broadcast with `curve`.

    Returns:
        Seconds, of the shape that both broadcast to; never less for more bytes.

    Source:
        Form chosen on the one-node NCCL tables (aiconfigurator-nccl): median error 2 to 3 %.

    >>> one = stack_curves([[Regime(0, 1e-5, 1e-9, 1e-11)]])
    >>> curve_time_s(one, curve=np.array([0]), message_bytes=np.array([1e8])).round(9)
    array([0.00102])
    """
    curve, message_bytes = np.broadcast_arrays(curve, message_bytes)
    regime = np.zeros(curve.shape, dtype=np.intp)
    for column in range(1, curves.from_bytes.shape[1]):
        regime += message_bytes >= curves.from_bytes[curve, column]
    place = (curve, regime)
    root = curves.ramp_s_per_sqrt_byte[place] * np.sqrt(message_bytes)
    time = curves.start_s[place] + root + curves.s_per_byte[place] * message_bytes
    return np.asarray(np.maximum(time, curves.least_s[place]))
