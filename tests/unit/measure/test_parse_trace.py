"""Profiler traces and step tables in, spans out; damage is named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.measure.parse.points import LogError
from planner.measure.parse.trace import read_traces
from planner.measure.parse.trace_spans import COLLECTIVE, COMPUTE, MEMORY, Span, length, union, without

DATA = Path(__file__).with_name("data")
REAL = [DATA / f"trace-h200-x2-rank{rank}.json.gz" for rank in (0, 1)]
TABLE = """# two ranks, one step
rank,kind,name,start_us,duration_us,bytes,group_size
0,compute,gemm,0,100,,
0,collective,all-reduce,100,50,1048576,2
1,compute,gemm,0,130,,
1,collective,all-reduce,130,20,1048576,2
1,memory,h2d,150,10,4096,
"""


def event(cat: str, name: str, ts: Any, dur: Any, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur, "args": args}


def written(tmp_path: Path, events: list[Any], name: str = "rank0.json", **top: Any) -> Path:
    path = tmp_path / name
    path.write_text(json.dumps({"schemaVersion": 1, **top, "traceEvents": events}))
    return path


def test_a_real_trace_tells_rank_kinds_sizes_and_groups() -> None:
    first, second = read_traces(REAL[::-1])
    assert (first.rank, second.rank) == (0, 1)
    assert (len(first.of(COMPUTE)), len(second.of(COMPUTE))) == (8, 32)
    assert [span.op for span in first.of(COLLECTIVE)] == [
        "all_reduce",
        "all_gather",
        "reduce_scatter",
        "sendrecv",
    ] * 2
    # 32 Mi bf16 elements on the larger side of each, as nccl-tests counts; the send moves half of them
    assert [span.bytes for span in first.of(COLLECTIVE)][:4] == [1 << 26, 1 << 26, 1 << 26, 1 << 25]
    assert {span.ranks for span in first.of(COLLECTIVE)} == {2}
    assert {span.members for span in first.of(COLLECTIVE)} == {(0, 1)}
    assert [
        span.peer for trace in (first, second) for span in trace.of(COLLECTIVE) if span.op == "sendrecv"
    ] == [1, 1, 0, 0]
    assert {span.op for span in first.of(MEMORY)} >= {"Memcpy HtoD"}


def test_older_profilers_have_sizes_on_the_hosts_event_alone(tmp_path: Path) -> None:
    told = {"Collective name": "_allgather_base", "In msg nelems": 512, "Out msg nelems": 4096, "dtype": "Float",
            "Group size": 8, "External id": 77, "Process Group Ranks": "[0, 1, ...]", "Global rank start": 0,
            "Global rank stride": 4}  # fmt: skip
    path = written(tmp_path, [
        event("cpu_op", "record_param_comms", 1, 5, **told),
        event("kernel", "ncclKernel_AllGather_RING_LL_Sum_int8_t", 10, 20, **{"External id": 77}),
    ])  # fmt: skip
    (span,) = read_traces([path])[0].spans
    assert (span.op, span.bytes, span.ranks) == ("all_gather", 4096 * 4, 8)
    assert span.members == tuple(range(0, 32, 4))


def test_kernels_of_rccl_and_of_serving_engines_are_collectives(tmp_path: Path) -> None:
    names = ["ncclDevKernel_Generic_4", "void vllm::cross_device_reduce_2stage<bf16, 8>", "ampere_gemm_bf16",
             "multimem_all_reduce_kernel"]  # fmt: skip
    path = written(tmp_path, [event("kernel", name, place, 1.5) for place, name in enumerate(names)])
    kinds = [span.kind for span in read_traces([path])[0].spans]
    assert kinds == [COLLECTIVE, COLLECTIVE, COMPUTE, COLLECTIVE]
    assert [span.op for span in read_traces([path])[0].of(COLLECTIVE)] == [
        "collective",
        "all_reduce",
        "all_reduce",
    ]


def test_the_rank_comes_from_the_file_then_from_its_name(tmp_path: Path) -> None:
    one = [event("kernel", "gemm", 0, 1)]
    told = written(
        tmp_path, one, "rank3.json", distributedInfo={"backend": "nccl", "rank": 5, "world_size": 8}
    )
    named = written(tmp_path, one, "worker_rank_3.pt.trace.json")
    assert [trace.rank for trace in read_traces([told, named])] == [3, 5]
    alone = written(tmp_path, one, "trace.json")
    assert read_traces([alone])[0].rank == 0
    with pytest.raises(LogError, match=r"trace\.json: doesn't tell its rank"):
        read_traces([told, alone])
    with pytest.raises(LogError, match=r"is of rank 5, and so is"):
        read_traces([told, told])


def test_profiler_steps_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, [
        event("user_annotation", "ProfilerStep#3", 0, 9), event("user_annotation", "ProfilerStep#4", 9, 9),
        event("kernel", "gemm", 0, 1),
    ])  # fmt: skip
    assert read_traces([path])[0].steps == 2


def test_a_table_is_read_by_rank(tmp_path: Path) -> None:
    path = tmp_path / "step.csv"
    path.write_text(TABLE)
    first, second = read_traces([path])
    assert first.of(COLLECTIVE) == [Span(COLLECTIVE, "all_reduce", 100.0, 50.0, 1 << 20, 2)]
    assert second.window == (0.0, 160.0)


DAMAGED = [
    (TABLE.replace("1,compute", "1,computing"), r"step\.csv:5: kind is 'computing'; it must be one of compute"),
    (TABLE.replace("130,20", "130,-20"), r"step\.csv:6: duration_us is -20"),
    (TABLE.replace("0,compute,gemm,0", "0,compute,gemm,soon"), r"step\.csv:3: start_us is 'soon', not a number"),
    (TABLE.replace("1,memory,h2d", "1,memory"), r"step\.csv:7: 6 columns where the header names 7"),
    (TABLE.replace("start_us", "begin"), r"step\.csv:2: column missing: start_us"),
    ("rank,kind,op,start_us,duration_us\n", r"step\.csv: holds no row"),
    ("hello\n", r"step\.csv:1: is neither a profiler's JSON trace nor a table"),
    ('{"traceEvents": [\n {"ph": "X", "cat": "kernel",', r"step\.csv:2: JSON is damaged or cut at offset \d+"),
    ('{"traceEvents": 4}', r"step\.csv:1: has no list 'traceEvents'"),
    ('{"traceEvents": []}', r"step\.csv: holds nothing that ran on a GPU"),
    ('{"traceEvents": [{"ph": "X", "cat": "kernel", "ts": 1}]}', r"traceEvents\[0\]: ts is 1 and dur None"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "said"), DAMAGED)
def test_damage_is_named_with_file_line_and_reason(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "step.csv"
    path.write_text(content)
    with pytest.raises(LogError, match=said):
        read_traces([path])


def test_every_damaged_file_is_named_at_once(tmp_path: Path) -> None:
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(gzip.compress(b'{"traceEvents": []}')[:-9])
    with pytest.raises(LogError) as caught:
        read_traces([cut, tmp_path / "missing.json"])
    assert [problem.path.name for problem in caught.value.problems] == ["cut.json.gz", "missing.json"]


SPANS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda pair: (pair[0], pair[0] + pair[1]))
)


@given(SPANS, SPANS)
def test_intervals_agree_with_counting_every_tick(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    def ticks(intervals: list[tuple[float, float]] | list[tuple[int, int]]) -> set[int]:
        return {tick for start, end in intervals for tick in range(int(start), int(end))}

    left = without(union(first), union(second))
    assert ticks(left) == ticks(first) - ticks(second)
    assert length(left) == len(ticks(left))


def test_intervals_add_up() -> None:
    whole, hole = union([(0, 10), (5, 20), (30, 40)]), union([(8, 12), (15, 35)])
    assert whole == [(0, 20), (30, 40)]
    assert without(whole, hole) == [(0, 8), (12, 15), (35, 40)]
    shared = length(whole) - length(without(whole, hole))
    assert length(union([*whole, *hole])) == length(whole) + length(hole) - shared
