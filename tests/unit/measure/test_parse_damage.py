"""Hostile and odd files: each is refused in words, within moments, and none by a fault of ours."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.errors import CalibrationError
from planner.measure.fit.rows import bench_rows
from planner.measure.parse import LogError, read_points
from planner.measure.parse.trace import read_traces

HERE = Path(__file__).parent
LOG = (HERE / "logs" / "all_reduce_h100_8.log").read_text(encoding="utf-8")
HEAD = "op,dtype,num_gpus,num_nodes,message_bytes,latency_us"
TRACE_HEAD = "rank,kind,op,start_us,duration_us"
Document = dict[str, Any]


@pytest.fixture(scope="module")
def saved() -> str:
    return gzip.decompress((HERE / "data" / "h200-x2.json.gz").read_bytes()).decode()


def refusal(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LogError) as caught:
        read_points(path)
    return str(caught.value)


def half(row: str) -> str:
    """A row cut within its data type."""
    return row[: row.index("float") + 2]


@pytest.mark.parametrize(
    "line", ["a-" * 100_000, "[1,0]:" * 50_000, "9" * 100_000 + " 4 float 1", "x" * 2_000_000]
)
def test_a_line_longer_than_any_row_is_passed_over_at_once(line: str, tmp_path: Path) -> None:
    began = time.monotonic()
    assert "lines of more than 4,000 characters" in refusal(tmp_path / "odd.log", f"{line}\n")
    # without the limit the first of these takes a minute
    assert time.monotonic() - began < 5.0


def test_a_log_that_ends_within_a_row_keeps_the_rows_before(tmp_path: Path) -> None:
    whole = [line for line in LOG.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    cut = LOG[: LOG.index(whole[3])] + half(whole[3])
    path = tmp_path / "all_reduce.log"
    path.write_text(cut, encoding="utf-8")
    found = read_points(path)
    assert len({point.bytes for point in found.collectives}) == 3
    assert any("cut before their end" in note for note in found.notes)


def test_half_a_row_in_the_middle_is_still_damage(tmp_path: Path) -> None:
    whole = [line for line in LOG.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    damaged = LOG.replace(whole[3], half(whole[3]))
    assert "third column is no data type" in refusal(tmp_path / "all_reduce.log", damaged)


@pytest.mark.parametrize("text", ['{"a":' * 100_000, '{"kind": "bench", "x": ' + "9" * 5000 + "}"])
def test_json_beyond_what_can_be_read_is_refused(text: str, tmp_path: Path) -> None:
    assert "nested too deep" in (said := refusal(tmp_path / "odd.json", text)) or "can't be read" in said


def test_a_folder_is_refused_without_numbers_of_errors(tmp_path: Path) -> None:
    with pytest.raises(LogError) as caught:
        read_points(tmp_path)
    assert str(caught.value) == f"{tmp_path}: can't be read: Is a directory"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("all_reduce,bf16,8,1,1024,1e-300", "latency_us is 1e-300; it must be from 0.001"),
        ("all_reduce,bf16,8,1,1024,1e300", "latency_us is 1e300"),
        ("all_reduce,bf16,8,1,1024,nan", "latency_us is nan"),
        (f"all_reduce,bf16,8,1,{10**30},5", "message_bytes is 1000"),
        ("all_reduce,bf16,8,1," + "9" * 5000 + ",5", "not a whole number"),
        ("all_reduce,bf16,8,64,1024,5", "num_nodes is 64, and num_gpus 8"),
        ("a" * 200_000 + ",bf16,8,1,1024,5", "can't be read as CSV"),
    ],
)
def test_a_row_beyond_reason_is_named_with_its_line(row: str, reason: str, tmp_path: Path) -> None:
    said = refusal(tmp_path / "odd.csv", f"{HEAD}\n{row}\n")
    assert "odd.csv:2: " in said
    assert reason in said
    assert len(said) < 400


def _with(section: str, **fields: Any) -> Callable[[Document], None]:
    return lambda document: document["sections"][section][0].update(fields)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_with("nccl", hosts=0), "nccl[0]: hosts is 0"),
        (_with("nccl", size_bytes=-1), "nccl[0]: size_bytes is -1"),
        (_with("nccl", ranks="x"), "nccl[0]: ranks is 'x'"),
        (_with("nccl", median_us=-3.0), "nccl[0]: median_us is -3.0"),
        (_with("gemm", m=10**40), "gemm[0]: m is 1"),
        (lambda document: document["sections"].update(power=5), "section 'power' is no list of points"),
        (lambda document: document["sections"].update(memory=[None]), "memory[0] is None, and no point"),
        (lambda document: document["environment"].update(devices=["x"]), "environment.devices is ['x']"),
        (lambda document: document["environment"].update(variables=[1]), "environment.variables is [1]"),
    ],
)
def test_a_result_of_the_wrong_shape_is_refused(
    change: Callable[[Document], None], reason: str, saved: str, tmp_path: Path
) -> None:
    document = json.loads(saved)
    change(document)
    assert reason in refusal(tmp_path / "odd.json", json.dumps(document))


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("attention", "batch", 0), ("attention", "heads", -1), ("attention", "length", 1e300),
        ("memory", "moved_bytes", 0), ("memory", "gpus_active", -1), ("memory", "size_bytes", None),
        ("overlap", "ranks", 1), ("power", "samples", -1), ("power", "mean_power_w", float("inf")),
        ("power", "clock_reason_fraction", []),
    ],
)  # fmt: skip
def test_a_figure_that_no_fit_can_take_is_refused_with_its_place(
    section: str, field: str, value: object, saved: str
) -> None:
    sections = json.loads(saved)["sections"]
    sections[section][2][field] = value
    with pytest.raises(CalibrationError) as caught:
        bench_rows(sections, usable=True)
    assert f"{section}[2]" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("deep.json", '{"traceEvents":' + "[" * 100_000, "nested too deep"),
        ("wide.csv", f"{TRACE_HEAD}\n{'a' * 200_000},compute,x,0,1\n", "can't be read as CSV"),
        ("late.csv", f"{TRACE_HEAD}\n0,compute,x,1e308,1e308\n", "late.csv:2: duration_us is '1e308'"),
    ],
)
def test_a_trace_beyond_reason_is_refused(name: str, text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LogError) as caught:
        read_traces([path])
    assert reason in str(caught.value)
