"""All-reduces of serving replicas as tables over message size, so that a step costs a look-up."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.performance.collectives import AllReduce, Link, all_reduce_time_s
from planner.performance.engine_reduce import EngineReduce, SpanningReduce

LEAST_POWER: Final = 8
MOST_POWER: Final = 32
SIZES: Final[Floats] = np.exp2(np.arange(LEAST_POWER, MOST_POWER + 1, dtype=np.float64))
"""Message sizes of the table, bytes; measured tables have the same ones."""


class ReduceTables:
    """Times of all-reduces of several groups. No dataclass: a cut of draws leaves it whole.

    Between two sizes time runs straight, below the smallest it stays, above the largest it runs on.

    Attributes:
        times_s: Shape (groups, sizes).
    """

    __slots__ = ("_flat", "times_s")

    def __init__(self, times_s: Floats) -> None:
        self.times_s = times_s
        self._flat = np.ascontiguousarray(times_s).ravel()

    def time_s(self, *, message_bytes: Floats, group: NDArray[np.intp]) -> Floats:
        """Time of one all-reduce.

        Args:
            message_bytes: Buffer on each rank.
            group: Row of the table for each message, integers.

        Returns:
            Seconds, of the shape that both broadcast to.

        >>> line = ReduceTables(SIZES[None, :] * 1e-9)
        >>> line.time_s(message_bytes=np.array([1.0, 3e6]), group=np.array([0])).round(9)
        array([2.56e-07, 3.00e-03])
        """
        size = np.maximum(message_bytes, SIZES[0])
        # the exponent of a number is its octave, and far cheaper than a logarithm
        octave = np.minimum(np.frexp(size)[1] - 1, MOST_POWER - 1)
        low = np.ldexp(1.0, octave)
        place = group * SIZES.size + (octave - LEAST_POWER)
        below = self._flat.take(place)
        return np.asarray(below + (self._flat.take(place + 1) - below) * (size / low - 1.0))


def reduce_tables(
    link: Link | EngineReduce | SpanningReduce, *, ranks: Floats, gain_ratio: Floats
) -> tuple[ReduceTables, int]:
    """Tables for groups of the given sizes, and how many draws of the link each has.

    The row of group g in draw d is g x draws + d; measured kernels have one draw.

    Args:
        link: Measured curves of the engine, or a link's figures.
        ranks: Ranks of each group, shape (groups,).
        gain_ratio: Of reduction in the switch, for a link's figures alone.
    """
    members = np.asarray(ranks, dtype=float).reshape(-1, 1, 1)
    if not isinstance(link, Link):
        # The band of the curves is a factor of its own, so the table is the curve itself.
        curve = replace(link, ratio=np.ones(1)) if isinstance(link, EngineReduce) else link
        return ReduceTables(curve.time_s(message_bytes=SIZES[None, :], ranks=members[:, 0])), 1
    parts = (link.bytes_per_s, link.start_s, link.hop_s, link.half_rate_bytes, gain_ratio)
    *figures, gain = (np.asarray(part, dtype=float).reshape(1, -1, 1) for part in parts)
    times = all_reduce_time_s(
        message_bytes=SIZES[None, None, :], ranks=members, link=Link(*figures),
        algorithm=AllReduce.IN_NETWORK, gain_ratio=gain,
    )  # fmt: skip
    times = np.where(members > 1.0, times, 0.0)
    return ReduceTables(times.reshape(-1, SIZES.size)), times.shape[1]
