"""Fits measured attention to `planner.curves.attention`, one fit for each pass and implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from planner.arrays import Floats
from planner.catalog.profile_kernels import AttentionFit, AttentionValues, DecodeValues, FitErrors
from planner.curves.attention import (
    AttentionConstants,
    DecodeConstants,
    attention_kernel_time_s,
    causal_attention_flop,
    decode_attention_time_s,
)  # fmt: skip
from planner.errors import CalibrationError, Problem
from planner.measure.fit.descent import Guess, fit_positive
from planner.measure.fit.rows import AttentionRow
from planner.measure.fit.score import fit_errors, left_out, refuse, significant, span
from planner.units import GIGA, TERA

FORWARD, BOTH, DECODE = "forward", "forward_backward", "decode"
PASSES: Mapping[str, float] = {FORWARD: 1.0, BOTH: 3.5}
"""Products over those of forward; backward makes five where forward makes two."""
ELEMENT_BYTES: Mapping[str, float] = {"bf16": 2.0, "fp16": 2.0}
LEAST_POINTS = 6
"""Four constants, and a fifth of the points is left out."""
LEAST_DECODE_POINTS = 12
"""Seven constants."""
NEGLIGIBLE = 0.005
"""A term that changes no point by more is left away."""
GUESSES: Mapping[str, Guess] = {
    "share_of_peak_fraction": Guess(0.5, 0.01, 1.0),
    "sequence_constant_tokens": Guess(300.0, 1.0, 1e5),
    "fill_rows": Guess(1e4, 1.0, 1e8),
    "fixed_s": Guess(1e-5, 1e-7, 1e-2),
}
DECODE_GUESSES: Mapping[str, Guess] = {
    "memory_share_fraction": Guess(0.85, 0.02, 1.0),
    "fixed_s": Guess(8e-6, 1e-7, 1e-3),
    "serial_s": Guess(2e-9, 1e-13, 1e-6),
    "serial_half_tokens": Guess(1e4, 100.0, 1e7),
    "blocks_exponent": Guess(0.5, 1e-3, 2.0),
    "crowded_share_ratio": Guess(0.8, 0.05, 1.5),
}
NEVER_CROWDED = 1e12


@dataclass(frozen=True, slots=True)
class AttentionMachine:
    """What the shares refer to, from the catalog.

    Attributes:
        peak_16bit_flop_per_s: Dense 16-bit peak.
        memory_bytes_per_s: Datasheet rate of the device memory.
    """

    peak_16bit_flop_per_s: float
    memory_bytes_per_s: float


def fit_attentions(
    rows: Sequence[AttentionRow], machine: AttentionMachine
) -> tuple[tuple[AttentionFit, ...], tuple[Problem, ...]]:
    """All fits that the rows allow, and why the others are refused.

    Raises:
        CalibrationError: None can be fitted.
    """
    fits: list[AttentionFit] = []
    refused: list[Problem] = []
    for key in sorted({_group(row) for row in rows}):
        try:
            fits.append(fit_attention([row for row in rows if _group(row) == key], machine))
        except CalibrationError as error:
            refused.extend(error.problems)
    if not fits:
        raise CalibrationError(refused or [Problem("no attention to fit", key="attention")])
    return tuple(fits), tuple(refused)


def _group(row: AttentionRow) -> tuple[str, str, str, int]:
    return row.family, row.implementation, row.dtype, row.head_dim


def fit_attention(rows: Sequence[AttentionRow], machine: AttentionMachine) -> AttentionFit:
    """One fit of one pass by one implementation, at one width of heads.

    Raises:
        CalibrationError: The points can't carry the fit.
    """
    _check(rows)
    test = np.array([left_out(row.sequences, row.tokens, row.heads, row.kv_heads) for row in rows])
    if not test.any() or test.all():
        test = np.arange(len(rows)) % 5 == 2
    tested = [row for row, out in zip(rows, test, strict=True) if out]
    trained = [row for row, out in zip(rows, test, strict=True) if not out]
    first, decode = rows[0], rows[0].family == DECODE
    fit = _fit_decode if decode else _fit_whole
    values, partial = fit(rows, machine), fit(trained, machine)
    return AttentionFit(
        family=first.family,
        implementation=first.implementation,
        dtype=first.dtype,
        mode=", ".join(sorted({row.mode for row in rows})),
        causal=first.causal,
        head_dim=first.head_dim,
        peak_16bit_tflop_per_s=machine.peak_16bit_flop_per_s / TERA,
        memory_gbyte_per_s=machine.memory_bytes_per_s / GIGA,
        values=values if isinstance(values, AttentionValues) else None,
        decode=values if isinstance(values, DecodeValues) else None,
        tokens=span([row.tokens for row in rows]),
        heads=span([row.heads for row in rows]),
        kv_heads=span([row.kv_heads for row in rows]),
        sequences=span([row.sequences for row in rows]),
        errors=_errors(values, rows, machine),
        left_out=_errors(partial, tested, machine),
    )


def _check(rows: Sequence[AttentionRow]) -> None:
    if not rows:
        raise refuse("attention", "no points")
    first = rows[0]
    what = f"attention {first.family} by {first.implementation}"
    if first.dtype not in ELEMENT_BYTES:
        raise refuse(what, f"the type is {first.dtype}, and only 16-bit attention has a form",
                     f"measure {' or '.join(ELEMENT_BYTES)}")  # fmt: skip
    if first.family not in (*PASSES, DECODE):
        raise refuse(what, "no such pass", f"known: {', '.join((*PASSES, DECODE))}")
    if first.family in PASSES and not all(row.causal for row in rows):
        raise refuse(what, "the FLOP counted are those of a causal mask, and some points have none")
    least = LEAST_DECODE_POINTS if first.family == DECODE else LEAST_POINTS
    if len(rows) < least:
        raise refuse(what, f"{len(rows)} points, and a fit needs {least}", "measure without --quick")
    if len({row.tokens for row in rows}) < 3:
        raise refuse(what, "fewer than three lengths, so nothing says how the rate grows with length")


def _fit_whole(rows: Sequence[AttentionRow], machine: AttentionMachine) -> AttentionValues:
    found = _pruned(lambda constants: _whole_times(constants, rows, machine), GUESSES, _seconds(rows),
                    ("fixed_s", "fill_rows", "sequence_constant_tokens"))  # fmt: skip
    return AttentionValues(**{name: significant(found.get(name, 0.0)) for name in GUESSES})


def _fit_decode(rows: Sequence[AttentionRow], machine: AttentionMachine) -> DecodeValues:
    """The number of blocks from which the cache is no longer split is tried at every gap between measured ones."""
    counts = sorted({row.sequences * row.kv_heads for row in rows})
    gaps = [float(np.sqrt(low * high)) for low, high in pairwise(counts)]
    measured = _seconds(rows)
    best: tuple[float, dict[str, float]] | None = None
    for crowded in (NEVER_CROWDED, *gaps):

        def times(constants: Mapping[str, Any], crowded: float = crowded) -> Floats:
            return _decode_times({**constants, "crowded_blocks": crowded}, rows, machine)

        guesses = dict(DECODE_GUESSES)
        if crowded == NEVER_CROWDED:
            del guesses["crowded_share_ratio"]
        found = fit_positive(times, guesses, measured)
        cost = float(np.mean(np.abs(np.log(times(found) / measured))))
        # Each constant more has to earn its place.
        cost *= 1.0 if crowded == NEVER_CROWDED else 1.05
        if best is None or cost < best[0]:
            best = cost, {"crowded_share_ratio": 1.0, **found, "crowded_blocks": crowded}
    assert best is not None
    return DecodeValues(**{name: significant(value) for name, value in best[1].items()})


def _pruned(
    predict: Callable[[Mapping[str, Any]], Floats],
    guesses: Mapping[str, Guess],
    measured: Floats,
    optional: Sequence[str],
) -> dict[str, float]:
    """A fit without the terms that no point feels."""
    left = dict(guesses)
    while True:
        found = fit_positive(predict, left, measured)
        full = predict(found)
        for name in optional:
            if name in found:
                without = predict({key: value for key, value in found.items() if key != name})
                if float(np.max(np.abs(without / full - 1.0))) < NEGLIGIBLE:
                    del left[name]
                    break
        else:
            return found


def _seconds(rows: Sequence[AttentionRow]) -> Floats:
    return np.array([row.time_us for row in rows]) * 1e-6


def _column(rows: Sequence[AttentionRow], name: str) -> Floats:
    return np.array([getattr(row, name) for row in rows], np.float64)


def _whole_times(
    constants: Mapping[str, Any], rows: Sequence[AttentionRow], machine: AttentionMachine
) -> Floats:
    sequences, heads, tokens = (_column(rows, name) for name in ("sequences", "heads", "tokens"))
    flop = causal_attention_flop(sequences=sequences, heads=heads, sequence_tokens=tokens,
                                 head_dim=_column(rows, "head_dim"),
                                 passes=np.asarray(PASSES[rows[0].family]))  # fmt: skip
    return attention_kernel_time_s(
        attention_flop=flop,
        sequence_tokens=tokens,
        query_rows=sequences * heads * tokens,
        peak_16bit_flop_per_s=np.asarray(machine.peak_16bit_flop_per_s),
        constants=AttentionConstants.from_values({name: float(constants.get(name, 0.0)) for name in GUESSES}),
    )


def _decode_times(
    constants: Mapping[str, Any], rows: Sequence[AttentionRow], machine: AttentionMachine
) -> Floats:
    blocks, tokens = _column(rows, "sequences") * _column(rows, "kv_heads"), _column(rows, "tokens")
    # Keys and values.
    cache = 2.0 * ELEMENT_BYTES[rows[0].dtype] * blocks * tokens * _column(rows, "head_dim")
    return decode_attention_time_s(
        cache_bytes=cache,
        cached_tokens=tokens,
        blocks=blocks,
        memory_bytes_per_s=np.asarray(machine.memory_bytes_per_s),
        constants=DecodeConstants.from_values({"crowded_share_ratio": 1.0, **constants}),
    )


def _errors(
    values: AttentionValues | DecodeValues, rows: Sequence[AttentionRow], machine: AttentionMachine
) -> FitErrors:
    times = _decode_times if isinstance(values, DecodeValues) else _whole_times
    named = [f"{row.sequences} x {row.tokens} tokens, {row.heads}/{row.kv_heads} heads" for row in rows]
    return fit_errors(times(values.model_dump(), rows, machine), _seconds(rows), named)
