"""Fits of attention, memory, power and overlap on a saved run, and what is refused."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.errors import CalibrationError
from planner.measure.fit.attention import AttentionMachine, fit_attention, fit_attentions
from planner.measure.fit.memory import fit_memories, fit_memory
from planner.measure.fit.overlap import fit_overlap, fit_overlaps
from planner.measure.fit.power import fit_power_state, fit_power_states
from planner.measure.fit.rows import (
    AttentionRow,
    MemoryRow,
    OverlapRow,
    PowerRow,
    Rows,
    bench_rows,
)

DATA = Path(__file__).parent / "data" / "h200-x2.json.gz"
MACHINE = AttentionMachine(989e12, 4.8e12)
H200 = {"memory_bytes_per_s": 4.8e12, "cache_bytes": 60 * 2**20}


@pytest.fixture(scope="module")
def sections() -> Any:
    return json.loads(gzip.decompress(DATA.read_bytes()))["sections"]


@pytest.fixture(scope="module")
def h200(sections: Any) -> Rows:
    return bench_rows(sections, usable=True)


def test_measured_attention_is_met_closely_on_points_left_out_too(h200: Rows) -> None:
    fits, refused = fit_attentions(h200.of(AttentionRow), MACHINE)
    assert not refused
    assert {(fit.family, fit.implementation) for fit in fits} == {
        ("decode", "flash"), ("forward", "flash"), ("forward", "cudnn"), ("forward_backward", "flash"),
        ("forward_backward", "cudnn"),
    }  # fmt: skip
    for fit in fits:
        assert (fit.values is None) == (fit.family == "decode") == (fit.decode is not None)
        assert fit.errors.median_fraction <= 0.06  # the aim set for these fits
        assert fit.left_out.median_fraction <= 0.06
        assert fit.left_out.p90_fraction <= 0.20


def test_the_count_of_blocks_where_decode_stops_splitting_lies_between_measured_ones(h200: Rows) -> None:
    rows = [row for row in h200.of(AttentionRow) if row.family == "decode"]
    fit = fit_attention(rows, MACHINE)
    assert 64 < fit.decode.crowded_blocks < 512
    assert fit.decode.crowded_share_ratio < 0.8
    few = fit_attention([row for row in rows if row.sequences * row.kv_heads < 512], MACHINE)
    assert few.decode.crowded_share_ratio == 1 or few.decode.crowded_blocks < 64


def test_attention_without_lengths_or_mask_is_refused(h200: Rows) -> None:
    rows = [row for row in h200.of(AttentionRow) if row.family == "forward" and row.implementation == "cudnn"]
    with pytest.raises(CalibrationError, match="points, and a fit needs"):
        fit_attention(rows[:3], MACHINE)
    with pytest.raises(CalibrationError, match="three lengths"):
        fit_attention([replace(row, tokens=1024) for row in rows], MACHINE)
    with pytest.raises(CalibrationError, match="causal mask"):
        fit_attention([replace(rows[0], causal=False), *rows[1:]], MACHINE)
    with pytest.raises(CalibrationError, match="type is fp8"):
        fit_attention([replace(row, dtype="fp8") for row in rows], MACHINE)


def test_memory_rates_and_their_shares_are_those_measured(h200: Rows) -> None:
    fits, refused = fit_memories(h200.of(MemoryRow), **H200)
    by = {(fit.family, fit.pinned, fit.gpus_active): fit for fit in fits}
    assert by["h2d", True, 1].rate_gbyte_per_s == pytest.approx(55.4, rel=0.01)  # its largest size
    assert by["device_copy", None, 2].share_of_datasheet_fraction == pytest.approx(
        0.8895, rel=0.01
    )  # its largest
    assert by["device_copy", None, 2].notes == ("1 left out, within the cache",)
    assert by["h2d", False, 1].rate_gbyte_per_s < 20
    assert by["h2d", True, 1].share_of_datasheet_fraction is None
    # Copies between devices were timed with a start of 2.3 ms, which hides the link's rate.
    assert [problem.key for problem in refused] == ["memory peer", "memory peer_both_ways"]
    assert all("the times are those of the start" in str(problem) for problem in refused)


def test_transfers_of_two_sizes_or_within_the_cache_are_refused(h200: Rows) -> None:
    rows = [row for row in h200.of(MemoryRow) if row.family == "device_read"]
    with pytest.raises(CalibrationError, match="needs 3 sizes"):
        fit_memory(rows[-2:], **H200)
    with pytest.raises(CalibrationError, match="0 points beyond the cache"):
        fit_memory(rows, memory_bytes_per_s=4.8e12, cache_bytes=1e12)


def test_power_states_carry_means_limits_and_the_spread_over_devices(h200: Rows) -> None:
    fits, _ = fit_power_states(h200.of(PowerRow))
    by = {fit.state: fit for fit in fits}
    assert list(by) == ["idle", "gemm", "memory", "collectives"]
    assert by["gemm"].mean_w == pytest.approx((695.5 + 690.4) / 2)
    assert by["gemm"].power_capped_fraction == 1
    assert by["idle"].share_of_limit_fraction == pytest.approx(118.4 / 700, rel=1e-3)
    assert by["gemm"].errors.worst_fraction == pytest.approx(0.5 * 5.1 / 690.4, rel=0.02)


def test_power_of_a_moment_or_of_a_module_is_refused(h200: Rows) -> None:
    rows = [row for row in h200.of(PowerRow) if row.state == "gemm"]
    with pytest.raises(CalibrationError, match="fewer than 10 samples"):
        fit_power_state([replace(rows[0], samples=3)])
    with pytest.raises(CalibrationError, match="limit is 700 W"):
        fit_power_state([replace(row, mean_w=1500.0) for row in rows])


def test_large_messages_hide_more_than_small_ones_on_measured_overlap(h200: Rows) -> None:
    fits, refused = fit_overlaps(h200.of(OverlapRow))
    assert not refused
    assert [fit.op for fit in fits] == ["all_gather", "all_reduce", "reduce_scatter"]
    for fit in fits:
        values = fit.values
        assert values.hidden_large_fraction > values.hidden_small_fraction + 0.5
        assert values.collective_slowdown_small > 1.7 > values.collective_slowdown_large
        assert fit.hidden_errors.median_fraction < 0.1  # two shapes of product lie up to 0.3 apart
        assert fit.collective_errors.p90_fraction < 0.15
    assert fits[2].notes == ("1 left out, one load far shorter than the other",)


def test_overlap_of_two_sizes_is_refused(h200: Rows) -> None:
    rows = [row for row in h200.of(OverlapRow) if row.op == "all_reduce"]
    with pytest.raises(CalibrationError, match="fewer than 3 sizes"):
        fit_overlap([row for row in rows if row.message_bytes > 2**27])


def test_a_result_that_is_no_gpu_measurement_or_wrong_is_refused(sections: Any) -> None:
    with pytest.raises(CalibrationError, match="backend gloo"):
        bench_rows(sections, usable=False, backend="gloo")
    first = dict(sections["gemm"][0])
    bad = {**first, "error": "wrong result: relative error 0.3"}
    damaged = {key: value for key, value in first.items() if key != "median_us"}
    with pytest.raises(CalibrationError) as caught:
        bench_rows({"gemm": [first, bad, damaged]}, usable=True)
    assert [problem.key for problem in caught.value.problems] == ["gemm[1]", "gemm[2]"]
    out = bench_rows({"gemm": [{**first, "error": "CUDA out of memory"}]}, usable=True)
    assert out.rows == () and "out of memory" in out.notes[0]
