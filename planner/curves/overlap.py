"""A collective beside matrix products, as measured: what is hidden, and how much each slows the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from planner.arrays import Floats


@dataclass(frozen=True, slots=True)
class OverlapConstants:
    """What a fit of one collective beside products found; every field broadcasts to shape (n,).

    Attributes:
        half_bytes: Message at which the change from small to large messages is half done.
        hidden_small_fraction, hidden_large_fraction: Share of the shorter load that the longer one hides,
            for the smallest and for endless messages. Below 0 the two together take longer than in turn.
        gemm_slowdown_small, gemm_slowdown_large: Time of the products beside the collective over alone.
        collective_slowdown_small, collective_slowdown_large: Time of the collective beside products over alone.
    """

    half_bytes: Floats
    hidden_small_fraction: Floats
    hidden_large_fraction: Floats
    gemm_slowdown_small: Floats
    gemm_slowdown_large: Floats
    collective_slowdown_small: Floats
    collective_slowdown_large: Floats

    @classmethod
    def from_values(cls, values: Mapping[str, float]) -> OverlapConstants:
        """The constants of a profile, by their names."""
        return cls(**{one.name: np.asarray(values[one.name], np.float64) for one in fields(cls)})


def large_message_fraction(*, message_bytes: Floats, half_bytes: Floats) -> Floats:
    """How far a message lies on the way from small to large, 0 to 1.

    Args:
        message_bytes: Size as nccl-tests counts it.
        half_bytes: Size that lies in the middle.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> large_message_fraction(message_bytes=np.array([0.0, 100.0, 300.0]), half_bytes=np.array([100.0]))
    array([0.  , 0.5 , 0.75])
    """
    return np.asarray(message_bytes / (message_bytes + half_bytes))


def overlap_hidden_fraction(*, message_bytes: Floats, constants: OverlapConstants) -> Floats:
    """Share of the shorter of two equal loads that vanishes behind the other.

    Args:
        message_bytes: Size of one collective.
        constants: What the fit found.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> found = OverlapConstants.from_values({"half_bytes": 100.0, "hidden_small_fraction": 0.0,
    ...     "hidden_large_fraction": 0.8, "gemm_slowdown_small": 1.0, "gemm_slowdown_large": 1.4,
    ...     "collective_slowdown_small": 2.0, "collective_slowdown_large": 1.0})
    >>> overlap_hidden_fraction(message_bytes=np.array([100.0]), constants=found)
    array([0.4])
    """
    return _between(
        message_bytes, constants, constants.hidden_small_fraction, constants.hidden_large_fraction
    )


def gemm_slowdown(*, message_bytes: Floats, constants: OverlapConstants) -> Floats:
    """Time of products beside a running collective over their time alone.

    Args:
        message_bytes, constants: See `overlap_hidden_fraction`.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> found = OverlapConstants.from_values({"half_bytes": 100.0, "hidden_small_fraction": 0.0,
    ...     "hidden_large_fraction": 0.8, "gemm_slowdown_small": 1.0, "gemm_slowdown_large": 1.4,
    ...     "collective_slowdown_small": 2.0, "collective_slowdown_large": 1.0})
    >>> gemm_slowdown(message_bytes=np.array([100.0]), constants=found)
    array([1.2])
    """
    return _between(message_bytes, constants, constants.gemm_slowdown_small, constants.gemm_slowdown_large)


def collective_slowdown(*, message_bytes: Floats, constants: OverlapConstants) -> Floats:
    """Time of a collective beside running products over its time alone.

    Args:
        message_bytes, constants: See `overlap_hidden_fraction`.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> found = OverlapConstants.from_values({"half_bytes": 100.0, "hidden_small_fraction": 0.0,
    ...     "hidden_large_fraction": 0.8, "gemm_slowdown_small": 1.0, "gemm_slowdown_large": 1.4,
    ...     "collective_slowdown_small": 2.0, "collective_slowdown_large": 1.0})
    >>> collective_slowdown(message_bytes=np.array([100.0]), constants=found)
    array([1.5])
    """
    return _between(message_bytes, constants, constants.collective_slowdown_small,
                    constants.collective_slowdown_large)  # fmt: skip


def _between(message_bytes: Floats, constants: OverlapConstants, small: Floats, large: Floats) -> Floats:
    way = large_message_fraction(message_bytes=message_bytes, half_bytes=constants.half_bytes)
    return np.asarray(small + (large - small) * way)
