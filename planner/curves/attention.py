"""Time of measured attention: whole sequences, forward and with backward, and decode against a cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from planner.arrays import Floats


@dataclass(frozen=True, slots=True)
class AttentionConstants:
    """What a fit of attention over whole sequences found; every field broadcasts to shape (n,).

    Attributes:
        share_of_peak_fraction: Share of the 16-bit peak that endless sequences sustain.
        sequence_constant_tokens: Length of a sequence at which that is halved.
        fill_rows: Rows of queries (sequences x heads x tokens) at which it is halved: fewer leave
            multiprocessors without work.
        fixed_s: Start and end of the kernels, whatever their size.
    """

    share_of_peak_fraction: Floats
    sequence_constant_tokens: Floats
    fill_rows: Floats
    fixed_s: Floats

    @classmethod
    def from_values(cls, values: Mapping[str, float]) -> AttentionConstants:
        """The constants of a profile, by their names."""
        return cls(**{one.name: np.asarray(values[one.name], np.float64) for one in fields(cls)})


@dataclass(frozen=True, slots=True)
class DecodeConstants:
    """What a fit of one new token against a cache found; every field broadcasts to shape (n,).

    Attributes:
        memory_share_fraction: Share of the datasheet's memory rate at which keys and values are read.
        fixed_s: Start and end of the kernels, whatever their size.
        serial_s: Time for each cached token that nothing hides, with one block and a short cache.
        serial_half_tokens: Cached tokens at which splitting along the cache has halved that.
        blocks_exponent: Power with which more blocks (sequences x key/value heads) hide it.
        crowded_blocks: Blocks from which the kernel no longer splits the cache.
        crowded_share_ratio: Factor on the memory share from there on.
    """

    memory_share_fraction: Floats
    fixed_s: Floats
    serial_s: Floats
    serial_half_tokens: Floats
    blocks_exponent: Floats
    crowded_blocks: Floats
    crowded_share_ratio: Floats

    @classmethod
    def from_values(cls, values: Mapping[str, float]) -> DecodeConstants:
        """The constants of a profile, by their names."""
        return cls(**{one.name: np.asarray(values[one.name], np.float64) for one in fields(cls)})


def causal_attention_flop(
    *, sequences: Floats, heads: Floats, sequence_tokens: Floats, head_dim: Floats, passes: Floats
) -> Floats:
    """FLOP of scores and weighted values under a causal mask, the masked half left out.

    Args:
        sequences: Sequences at once.
        heads: Query heads.
        sequence_tokens: Length of one sequence.
        head_dim: Width of a head.
        passes: 1 for forward; 3.5 with backward, which makes five products where forward makes two.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        The count of FlashAttention's own benchmark: 4 b s^2 h d, halved for the mask.

    >>> causal_attention_flop(sequences=np.array([1.0]), heads=np.array([2.0]), sequence_tokens=np.array([10.0]),
    ...     head_dim=np.array([4.0]), passes=np.array([1.0]))
    array([1600.])
    """
    return np.asarray(2.0 * sequences * heads * sequence_tokens * sequence_tokens * head_dim * passes)


def attention_kernel_time_s(
    *,
    attention_flop: Floats,
    sequence_tokens: Floats,
    query_rows: Floats,
    peak_16bit_flop_per_s: Floats,
    constants: AttentionConstants,
) -> Floats:
    """Time of fused causal attention over whole sequences.

    Head width is none of the arguments: the measured heads are all of one width, which the profile names.

    Args:
        attention_flop: See `causal_attention_flop`; with backward where the constants are of both passes.
        sequence_tokens: Length of one sequence.
        query_rows: Sequences x query heads x tokens.
        peak_16bit_flop_per_s: Dense 16-bit peak.
        constants: What the fit found.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> half = AttentionConstants.from_values({"share_of_peak_fraction": 0.5, "sequence_constant_tokens": 512.0,
    ...     "fill_rows": 0.0, "fixed_s": 0.0})
    >>> attention_kernel_time_s(attention_flop=np.array([1e12]), sequence_tokens=np.array([512.0]),
    ...     query_rows=np.array([4096.0]), peak_16bit_flop_per_s=np.array([1e15]), constants=half)
    array([0.004])
    """
    c = constants
    body = attention_flop / (peak_16bit_flop_per_s * c.share_of_peak_fraction)
    body = body * (1.0 + c.sequence_constant_tokens / sequence_tokens) * (1.0 + c.fill_rows / query_rows)
    return np.asarray(c.fixed_s + body)


def decode_attention_time_s(
    *,
    cache_bytes: Floats,
    cached_tokens: Floats,
    blocks: Floats,
    memory_bytes_per_s: Floats,
    constants: DecodeConstants,
) -> Floats:
    """Time of attention of one new token a sequence, which is bound by reading keys and values.

    Args:
        cache_bytes: Keys and values of all sequences that the device reads.
        cached_tokens: Length of one sequence's cache.
        blocks: Sequences x key/value heads on the device.
        memory_bytes_per_s: Datasheet rate of the device memory.
        constants: What the fit found.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> plain = DecodeConstants.from_values({"memory_share_fraction": 0.8, "fixed_s": 0.001, "serial_s": 0.0,
    ...     "serial_half_tokens": 1.0, "blocks_exponent": 0.0, "crowded_blocks": 100.0, "crowded_share_ratio": 0.5})
    >>> decode_attention_time_s(cache_bytes=np.array([8e9, 8e9]), cached_tokens=np.array([1e4, 1e4]),
    ...     blocks=np.array([8.0, 512.0]), memory_bytes_per_s=np.array([1e12]), constants=plain)
    array([0.011, 0.021])
    """
    c = constants
    ratio = np.where(blocks < c.crowded_blocks, 1.0, c.crowded_share_ratio)
    reading = cache_bytes / (memory_bytes_per_s * c.memory_share_fraction * ratio)
    serial = c.serial_s * cached_tokens / (1.0 + cached_tokens / c.serial_half_tokens)
    return np.asarray(c.fixed_s + serial / blocks**c.blocks_exponent + reading)
