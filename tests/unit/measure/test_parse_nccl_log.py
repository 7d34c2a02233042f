"""nccl-tests logs of every shape, and what is said of damaged ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.measure.parse import LogError, Measurements, read_points
from planner.measure.parse.nccl_log import split_prefix

LOGS = Path(__file__).parent / "logs"
EXPECTED = {
    # file: points, {(op, dtype, ranks, nodes, mode)}, device
    "all_reduce_h100_8.log": (18, {("all_reduce", "fp32", 8, 1, "eager")}, "NVIDIA H100 80GB HBM3"),
    "all_gather_2_nodes.json": (8, {("all_gather", "fp32", 16, 2, "eager")}, "NVIDIA H100 80GB HBM3"),
    "all_gather_a100_wrapped_80.log": (18, {("all_gather", "int8", 8, 1, "eager")}, "NVIDIA A100-SXM4-80GB"),
    "alltoall_truncated.log": (9, {("all_to_all", "fp32", 8, 1, "eager")}, "NVIDIA H100 80GB HBM3"),
    "built_without_mpi_then_with.log": (2, {("all_reduce", "fp32", 8, 1, "eager")}, "NVIDIA H100 80GB HBM3"),
    "gb200_per_iteration_timestamps.log": (8, {("all_reduce", "fp32", 4, 1, "eager")}, "NVIDIA GB200"),
    "kubectl_graph_colour_crlf.log": (12, {("all_reduce", "fp32", 2, 2, "graph")}, "NVIDIA H100 80GB HBM3"),
    "no_device_lines_not_validated.log": (14, {("all_reduce", "fp32", 16, 2, "eager")}, ""),
    "reduce_scatter_mpi_tags_nccl_info.log": (
        14,
        {("reduce_scatter", "fp32", 16, 2, "eager")},
        "NVIDIA H100 80GB HBM3",
    ),
    "slurm_labels_other_programs.log": (
        56,
        {
            (op, "fp32", 16, 2, "eager")
            for op in ("all_to_all", "broadcast", "reduce", "sendrecv", "gather", "scatter", "hypercube")
        },
        "NVIDIA B200",
    ),
    "sweep_1_2_4_nodes.log": (
        24,
        {("all_reduce", "bf16", 8 * n, n, "eager") for n in (1, 2, 4)},
        "NVIDIA H200",
    ),
    "v100_error_column.log": (
        28,
        {("all_gather", "fp32", 8, 1, "eager"), ("all_reduce", "fp16", 8, 1, "eager")},
        "Tesla V100-SXM2-32GB",
    ),
    "wrong_results_64_ranks.log": (7, {("all_reduce", "bf16", 64, 8, "eager")}, "NVIDIA H100 80GB HBM3"),
}
HEADER = """\
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#  Rank  0 Group  0 Pid   6899 on secret-host device  0 [0000:04:00] NVIDIA H200
#  Rank  1 Group  0 Pid   6899 on secret-host device  1 [0000:05:00] NVIDIA H200
"""
ROW = "   134217728      33554432     float     sum      -1    857.6  156.51  156.51      0    819.6  163.76  163.76      0\n"


def parsed(folder: Path, text: str, name: str = "a.log") -> Measurements:
    path = folder / name
    path.write_text(text)
    return read_points(path)


def test_every_log_in_the_folder_is_expected_here() -> None:
    files = {path.name for path in LOGS.iterdir()} - {"README.md", "damaged.log"}
    assert files == set(EXPECTED)
    assert len(files) >= 10


@pytest.mark.parametrize("name", EXPECTED)
def test_a_log_gives_its_points(name: str) -> None:
    points, kinds, device = EXPECTED[name]
    found = read_points(LOGS / name)
    assert {(p.op, p.dtype, p.ranks, p.nodes, p.mode) for p in found.collectives} == kinds
    assert len(found.collectives) == points
    assert found.device == device


@pytest.mark.parametrize("name", EXPECTED)
def test_no_host_name_is_kept(name: str) -> None:
    assert not any(host in repr(read_points(LOGS / name)) for host in ("node-a", "dgx-7", "host-0"))


def test_a_damaged_log_gives_file_line_and_reason_of_every_damage() -> None:
    with pytest.raises(LogError) as caught:
        read_points(LOGS / "damaged.log")
    assert [problem.line for problem in caught.value.problems] == [19, 20, 21]
    assert f"{LOGS / 'damaged.log'}:19: '#####' is no number" in str(caught.value)
    assert "time and algbw contradict" in caught.value.problems[1].message


def test_a_row_gives_both_sides_with_its_line(tmp_path: Path) -> None:
    outside, inside = parsed(tmp_path, HEADER + ROW).collectives
    assert (outside.bytes, outside.ranks, outside.nodes, outside.source_line) == (134217728, 2, 1, 5)
    assert (outside.in_place, inside.in_place) == (False, True)
    assert (outside.time_s, inside.time_s) == pytest.approx((857.6e-6, 819.6e-6))


@pytest.mark.parametrize("end", range(len(ROW)))
def test_a_row_cut_anywhere_gives_true_points_or_none(tmp_path: Path, end: int) -> None:
    try:
        found = parsed(tmp_path, HEADER + ROW + ROW[:end])
    except LogError as error:
        assert [problem.line for problem in error.problems] == [6]
        return
    times = [point.time_s for point in found.collectives]
    assert set(times) <= {857.6e-6, 857.6 / 1e6, 819.6 / 1e6}


@pytest.mark.parametrize("width", [80, 100, 60])
def test_a_wrapped_row_is_joined(tmp_path: Path, width: int) -> None:
    whole = parsed(tmp_path, HEADER + ROW + ROW)
    broken = parsed(tmp_path, HEADER + (ROW[:width] + "\n" + ROW[width:]) * 2)
    assert [p.time_s for p in broken.collectives] == [p.time_s for p in whole.collectives]


@pytest.mark.parametrize("place", [ROW.index("-1") + 2, ROW.index("156.51") + 6, ROW.index("0    819") + 1])
def test_a_message_inside_a_row_is_taken_out(tmp_path: Path, place: int) -> None:
    noise = "gpu-7:123:456 [1] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via P2P/CUMEM\n"
    found = parsed(tmp_path, HEADER + ROW[:place] + noise + ROW[place:])
    assert [p.time_s for p in found.collectives] == pytest.approx([857.6e-6, 819.6e-6])


def test_a_wrong_program_is_noticed_by_its_bus_factor(tmp_path: Path) -> None:
    text = (HEADER + ROW).replace("all_reduce_perf", "all_gather_perf")
    with pytest.raises(
        LogError, match=r"a\.log:5: busbw 156\.51 isn't algbw 156\.51 times the factor of all_gather"
    ):
        parsed(tmp_path, text)


def test_the_file_name_says_the_program_where_nothing_else_does(tmp_path: Path) -> None:
    text = HEADER.split("\n", 1)[1] + ROW
    with pytest.raises(LogError, match="which program ran"):
        parsed(tmp_path, text)
    assert {p.op for p in parsed(tmp_path, text, "h200-all_reduce.txt").collectives} == {"all_reduce"}


def test_rows_without_any_header_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"all_reduce\.log:1: no device lines"):
        parsed(tmp_path, ROW * 3, "all_reduce.log")


def test_cpu_times_are_left_out_and_said(tmp_path: Path) -> None:
    names = "#       size   count   type   redop   root   cputime   algbw   busbw #wrong\n"
    with pytest.raises(LogError, match=r"no measurement found .*CPU time"):
        parsed(tmp_path, HEADER + names + ROW)


def test_a_split_run_counts_the_ranks_of_one_group(tmp_path: Path) -> None:
    lines = [
        f"#  Rank {r:2d} Group  {r % 2} Pid 1 on h{r // 2} device {r % 2} [0x0{r}] X\n" for r in range(4)
    ]
    found = parsed(tmp_path, "".join(HEADER.splitlines(keepends=True)[:2] + lines) + ROW)
    assert {(p.ranks, p.nodes) for p in found.collectives} == {(2, 2)}
    assert any("several groups" in note for note in found.notes)


@pytest.mark.parametrize(
    "line",
    [
        "[1,0]<stdout>:",
        "[1,12]<stdout> : ",
        " 0: ",
        "node-1: ",
        "[0] ",
        "2026-03-01T12:00:00Z ",
        "[pod/a/b] ",
    ],
)
def test_a_launchers_prefix_is_taken_off(line: str) -> None:
    assert split_prefix(line + ROW)[1].split() == ROW.split()
    assert split_prefix(line + "# Using devices")[1] == "# Using devices"
