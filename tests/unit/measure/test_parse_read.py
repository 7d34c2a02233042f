"""Tables, JSON and bench results, told apart by their content."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from planner.measure.parse import LogError, read_points
from planner.measure.run.document import to_text

DATA = Path(__file__).parent / "data"
JSON_LOG = Path(__file__).parent / "logs" / "all_gather_2_nodes.json"
COLLECTIVES = """\
gpu,op,dtype,num_gpus,message_bytes,latency_us,library,table_version,row_version,impl,provenance,repeats
h100_sxm,alltoall,half,8,2048,5.98,nccl,2.23,,nccl-tests out-of-place,legacy,1
h100_sxm,custom_all_reduce,bfloat16,8,4096,6.01,sglang,0.5,,sglang_graph,legacy,1
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "file"
    path.write_text(text)
    return path


def test_a_saved_bench_result_gives_its_points() -> None:
    found = read_points(DATA / "h200-x2.json.gz")
    assert (len(found.collectives), len(found.gemms), found.device) == (462, 416, "NVIDIA H200")
    assert set(found.others) == {"gemm", "attention", "memory", "power", "overlap"}
    assert {(p.ranks, p.nodes, p.library, p.link) for p in found.collectives} == {
        (2, 1, "nccl 2.28.9", "scale_up")
    }
    assert {p.mode for p in found.collectives} == {"eager", "graph"}


def test_a_plain_bench_result_is_the_same_with_the_line_of_each_point(tmp_path: Path) -> None:
    document = json.loads(gzip.decompress((DATA / "h200-x2-again.json.gz").read_bytes()))
    text = to_text(document)
    found = read_points(written(tmp_path, text))
    assert [p.time_s for p in found.collectives] == [
        p.time_s for p in read_points(DATA / "h200-x2-again.json.gz").collectives
    ]
    last = found.collectives[-1]
    point = json.loads(text.splitlines()[last.source_line - 1].rstrip(","))
    assert point["size_bytes"] == last.bytes
    assert point["median_us"] == pytest.approx(last.time_s * 1e6)


def test_errors_and_wrong_results_of_a_bench_are_counted(tmp_path: Path) -> None:
    document = json.loads(gzip.decompress((DATA / "h200-x2-again.json.gz").read_bytes()))
    points = document["sections"]["nccl"]
    points[0]["wrong_elements"] = 4
    points[1] = {"op": "all_reduce", "error": "out of memory"}
    found = read_points(written(tmp_path, json.dumps(document)))
    assert len(found.collectives) == len(points) - 2
    assert sum("skipped 1" in note for note in found.notes) == 2


def test_a_gloo_result_is_not_usable(tmp_path: Path) -> None:
    document = json.loads(gzip.decompress((DATA / "h200-x2-again.json.gz").read_bytes()))
    document["usable_for_calibration"] = False
    assert not read_points(written(tmp_path, json.dumps(document))).usable_for_calibration


def test_a_table_of_collectives(tmp_path: Path) -> None:
    moved, custom = read_points(written(tmp_path, COLLECTIVES)).collectives
    assert (moved.op, moved.dtype, moved.bytes, moved.ranks, moved.nodes) == (
        "all_to_all",
        "fp16",
        2048,
        8,
        1,
    )
    assert (moved.device, moved.library, moved.source_line) == ("h100_sxm", "nccl 2.23", 2)
    assert moved.time_s == pytest.approx(5.98e-6)
    assert (custom.op, custom.mode, custom.impl) == ("custom_all_reduce", "graph", "sglang_graph")


def test_a_table_of_products(tmp_path: Path) -> None:
    text = "m,n,k,dtype,source,latency_us\n1,256,512,bfloat16,trtllm 1.3.0rc20,2.22\n"
    (point,) = read_points(written(tmp_path, text)).gemms
    assert (point.m, point.n, point.k, point.dtype, point.time_s) == (
        1,
        256,
        512,
        "bf16",
        pytest.approx(2.22e-6),
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("2048,5.98", "2048,-1", ":2: latency_us is -1"),
        ("2048,5.98", "2 KB,5.98", ":2: message_bytes is '2 KB'"),
        ("alltoall", "all2all", ":2: 'all2all' is no op"),
        ("half", "halve", ":2: 'halve' is no data type"),
        (",legacy,1\n", "\n", ":2: 10 columns where the header names 12"),
    ],
)
def test_a_damaged_table_names_line_and_reason(tmp_path: Path, old: str, new: str, reason: str) -> None:
    with pytest.raises(LogError, match=reason):
        read_points(written(tmp_path, COLLECTIVES.replace(old, new, 1)))


def test_nccl_tests_json_counts_every_gpu_of_a_process() -> None:
    found = read_points(JSON_LOG)
    assert {(p.ranks, p.nodes, p.library) for p in found.collectives} == {(16, 2, "nccl 2.29.7")}


def test_a_cut_json_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=":1: JSON is damaged or cut"):
        read_points(written(tmp_path, JSON_LOG.read_text()[:-40]))


def test_contradicting_figures_in_json_are_damage(tmp_path: Path) -> None:
    document = json.loads(JSON_LOG.read_text())
    document["results"][1]["in_place"]["time"] *= 2
    with pytest.raises(LogError, match=r"results\[1\]: time and alg_bw contradict"):
        read_points(written(tmp_path, json.dumps(document)))


@pytest.mark.parametrize("text", ["", "hello\nworld\n", "a,b\n1,2\n"])
def test_a_file_without_measurements_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(LogError, match="no measurement found"):
        read_points(written(tmp_path, text))


def test_a_missing_file_and_a_cut_archive_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="can't be read"):
        read_points(tmp_path / "none")
    cut = tmp_path / "cut.gz"
    cut.write_bytes((DATA / "h200-x2-again.json.gz").read_bytes()[:1000])
    with pytest.raises(LogError, match="can't be read"):
        read_points(cut)
