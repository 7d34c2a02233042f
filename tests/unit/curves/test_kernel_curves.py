"""The curves of attention, transfers and overlap."""

from __future__ import annotations

import numpy as np
import pytest

from planner.curves.attention import (
    AttentionConstants,
    DecodeConstants,
    attention_kernel_time_s,
    causal_attention_flop,
    decode_attention_time_s,
)
from planner.curves.memory import transfer_time_s
from planner.curves.overlap import (
    OverlapConstants,
    collective_slowdown,
    gemm_slowdown,
    overlap_hidden_fraction,
)


def test_longer_sequences_come_nearer_the_sustained_share() -> None:
    constants = AttentionConstants.from_values(
        {
            "share_of_peak_fraction": 0.6,
            "sequence_constant_tokens": 300.0,
            "fill_rows": 6000.0,
            "fixed_s": 1e-5,
        }
    )
    tokens = 2.0 ** np.arange(9, 21)
    flop = causal_attention_flop(sequences=np.ones(12), heads=np.full(12, 32.0), sequence_tokens=tokens,
                                 head_dim=np.full(12, 128.0), passes=np.ones(12))  # fmt: skip
    time = attention_kernel_time_s(attention_flop=flop, sequence_tokens=tokens, query_rows=32.0 * tokens,
                                   peak_16bit_flop_per_s=np.array(1e15), constants=constants)  # fmt: skip
    share = flop / time / 1e15
    assert (np.diff(share) > 0).all()
    assert share[-1] == pytest.approx(0.6, rel=0.001)


def test_decode_falls_back_once_blocks_crowd() -> None:
    constants = DecodeConstants.from_values(
        {"memory_share_fraction": 0.9, "fixed_s": 0.0, "serial_s": 0.0, "serial_half_tokens": 1e4,
         "blocks_exponent": 0.3, "crowded_blocks": 180.0, "crowded_share_ratio": 0.5}
    )  # fmt: skip
    blocks = np.array([179.0, 180.0])
    time = decode_attention_time_s(cache_bytes=np.array([1e9]), cached_tokens=np.array([1e4]), blocks=blocks,
                                   memory_bytes_per_s=np.array([4e12]), constants=constants)  # fmt: skip
    assert time[1] == pytest.approx(2 * time[0])


def test_half_the_rate_of_a_transfer_is_reached_at_its_size() -> None:
    moved = np.array([1.0, 5e5, 1e9])
    time = transfer_time_s(moved_bytes=moved, rate_bytes_per_s=np.array(5e10), half_rate_bytes=np.array(5e5))
    np.testing.assert_allclose(moved[1:] / time[1:], [2.5e10, 5e10], rtol=1e-3)
    assert time[0] == pytest.approx(5e5 / 5e10, rel=1e-5), "a byte takes the start alone"


def test_overlap_curves_run_from_their_small_to_their_large_end() -> None:
    values = {"half_bytes": 1e8, "hidden_small_fraction": -0.1, "hidden_large_fraction": 0.8,
              "gemm_slowdown_small": 1.0, "gemm_slowdown_large": 1.4, "collective_slowdown_small": 2.0,
              "collective_slowdown_large": 1.1}  # fmt: skip
    constants = OverlapConstants.from_values(values)
    ends = np.array([0.0, 1e15])
    for curve, name in ((overlap_hidden_fraction, "hidden"), (gemm_slowdown, "gemm_slowdown"),
                        (collective_slowdown, "collective_slowdown")):  # fmt: skip
        suffix = "_fraction" if name == "hidden" else ""
        found = curve(message_bytes=ends, constants=constants)
        want = [values[f"{name}_small{suffix}"], values[f"{name}_large{suffix}"]]
        assert found == pytest.approx(want, rel=1e-5, abs=1e-5)
