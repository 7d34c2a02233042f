"""Measured rows are read whole, and everything wrong with a file is said at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError
from planner.study.fidelity.rows import read_rows, shipped_files
from planner.study.fidelity.schema import json_schema

TRAINING: dict[str, Any] = {
    "id": "mine-1", "group": "A", "family": "mine", "src": "log", "model": "Llama3-8B", "gpu": "H100",
    "n_gpus": 8, "precision": "BF16",
}  # fmt: skip


def written(path: Path, rows: Any) -> Path:
    path.write_text(rows if isinstance(rows, str) else json.dumps(rows, indent=1))
    return path


def problems_of(*paths: Path) -> list[str]:
    with pytest.raises(InputError) as refused:
        read_rows(paths)
    return [str(problem) for problem in refused.value.problems]


def test_a_row_may_say_more_than_is_read(tmp_path: Path) -> None:
    rows = read_rows([written(tmp_path / "a.json", [TRAINING | {"remark": "cold room", "mbs": None}])])
    assert [row.id for row in rows.training] == ["mine-1"]


def test_publications_may_stand_once_for_all_rows(tmp_path: Path) -> None:
    data = {"sources": {"log": {"title": "A log"}}, "rows": [TRAINING | {"source": {"where": "line 3"}}]}
    source = read_rows([written(tmp_path / "a.json", data)]).training[0].source
    assert (source.title, source.where) == ("A log", "line 3")


def test_all_problems_of_all_files_are_said_with_their_lines(tmp_path: Path) -> None:
    bad = [TRAINING | {"n_gpus": -8, "precision": 4}, TRAINING | {"id": "b", "group": "Z"}, 7]
    first = written(tmp_path / "bad.json", bad)
    said = problems_of(first, tmp_path / "missing.json")
    line = first.read_text().splitlines().index('  "n_gpus": -8,') + 1
    assert f"{first}:{line}: n_gpus: is -8, and must be 1 or more" in said[0]
    assert "precision" in said[1]
    assert "group is 'Z' (write one of A training" in said[2]
    assert "is no row" in said[3]
    assert "can't be read" in said[4]
    assert len(said) == 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[{", ":1:3: not valid JSON"),
        ("", "is empty"),
        ('{"a": 1}', "holds no list of rows"),
        ('[{"id": "a", "id": "b"}]', "'id' is given twice"),
        ('[{"id": NaN}]', "NaN is no number"),
        ('[{"id": 1},\n{"id": NaN},\n{"a": 1, "a": 2}]', ":2: not valid JSON: NaN is no number"),
        ('[{"id": 1},\n{"id": NaN},\n{"a": 1, "a": 2}]', ":3: not valid JSON: 'a' is given twice"),
        ("[" + "9" * 5000 + "]", "a whole number of thousands of digits"),
        ("[" * 20000 + "]" * 20000, "nested too deep"),
        ("a,b\n1,2\n", "is neither JSON rows nor a table"),
        ('[{"group": ["A"], "source": "x"}]', "write one of A training"),
        ("m,n,k,dtype,latency_us\n1,2,0,fp8,3\n1,2,3,fp8,fast\n", "k is 0"),
    ],
)
def test_what_is_no_list_of_rows_is_refused(tmp_path: Path, text: str, words: str) -> None:
    assert words in "\n".join(problems_of(written(tmp_path / "rows", text)))


def test_an_id_names_one_row(tmp_path: Path) -> None:
    one, two = written(tmp_path / "1.json", [TRAINING]), written(tmp_path / "2.json", [TRAINING])
    assert f"{two}:2: id: id 'mine-1' is used twice (first at {one}:2)" in problems_of(one, two)


def test_tables_become_rows_of_their_group(tmp_path: Path) -> None:
    nccl = "gpu,op,dtype,num_gpus,message_bytes,latency_us,library,impl\nh100_sxm,alltoall,half,8,2048,9.5,nccl,x\n"
    gemm = "m,n,k,dtype,latency_us\n1,256,512,fp8,12.5\n"
    serving = (
        "id,backend,backend_version,model_path,system,mode,isl,osl,concurrency,tp_size,pp_size,attention_dp_size,"
        "gemm_quant_mode,silicon_ttft_ms,silicon_tpot_ms\n"
        "run,vllm,0.19,Qwen/Qwen3-32B,h100_sxm,agg,1024,512,16,4,1,2,fp8,210,11.5\n"
    )
    exchange = (
        "gpu,mode,table,node_num,hidden_size,num_token,num_topk,num_experts,dispatch_us,combine_us\n"
        "h100_sxm,ll,sglang,2,7168,128,8,256,90.5,110.5\n"
    )
    texts = {"nccl.csv": nccl, "h100.csv": gemm, "serving.csv": serving, "deepep.csv": exchange}
    rows = read_rows([written(tmp_path / name, text) for name, text in texts.items()])
    point, dispatch, combine = rows.collectives
    assert (point.op, point.bytes, point.n_gpus, point.time_us) == ("all_to_all", 2048, 8, pytest.approx(9.5))
    assert (dispatch.op, dispatch.time_us, dispatch.n_gpus) == ("moe_dispatch_lowlatency", 90.5, 16)
    assert combine.workload == "128 tokens, hidden 7168, top-8, 256 experts"
    assert (rows.gemm[0].gpu, rows.gemm[0].k) == ("h100", 512)
    assert (rows.inference[0].n_gpus, rows.inference[0].concurrency) == (8, 16.0)


def test_every_shipped_row_is_read_with_its_publication() -> None:
    rows = read_rows(shipped_files())
    every = [*rows.training, *rows.collectives, *rows.inference, *rows.goodput, *rows.power]
    assert len(every) > 700
    assert all(row.source.title and row.source.url for row in every)


def test_the_schema_describes_what_is_read() -> None:
    known = json_schema()["$defs"]
    assert "busbw_GBps" in known["CollectiveRow"]["properties"]
    assert all("description" in one for one in known["Rates"]["properties"].values() if "title" not in one)


@pytest.mark.parametrize("text", ["[]", '{"rows": []}'])
def test_a_list_without_rows_is_refused_as_a_table_without_rows_is(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no row"):
        read_rows([written(tmp_path / "none.json", text)])
