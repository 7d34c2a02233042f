"""The result file is whole at every moment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.measure.run.context import covered
from planner.measure.run.document import NOT_A_GPU, add_note, new_document, to_text, write_document
from planner.measure.run.environment import transports, variables


def _filled() -> dict[str, object]:
    document = new_document("nccl", {"quick": True})
    document["sections"]["nccl"] = [
        {"op": "all_reduce", "samples_us": [1.0, 2.0]},
        {"op": "broadcast", "median_us": float("nan")},
    ]
    return document


def test_a_gloo_result_says_that_it_is_no_gpu_measurement() -> None:
    document = new_document("gloo", {})
    assert not document["usable_for_calibration"]
    assert document["notes"] == [NOT_A_GPU]
    assert "not a GPU measurement, not usable for calibration" in NOT_A_GPU


def test_a_gpu_result_is_usable_and_not_yet_complete() -> None:
    document = new_document("nccl", {})
    assert (document["usable_for_calibration"], document["complete"], document["notes"]) == (True, False, [])
    assert (document["schema_version"], document["kind"]) == (1, "bench")


def test_the_text_is_strict_json_with_one_point_a_line() -> None:
    text = to_text(_filled())

    def refuse(word: str) -> None:
        raise AssertionError(word)

    found = json.loads(text, parse_constant=refuse)
    assert found["sections"]["nccl"][1]["median_us"] is None
    assert sum(line.strip().startswith('{"op"') for line in text.splitlines()) == 2


def test_a_failed_write_leaves_the_earlier_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.json"
    write_document(path, _filled())
    before = path.read_bytes()

    def broken(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        write_document(path, new_document("gloo", {}))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_note_is_added_to_a_result_on_disk_and_a_missing_one_is_left(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    assert not add_note(path, "x")
    write_document(path, _filled())
    assert add_note(path, "interrupted")
    assert json.loads(path.read_text())["notes"] == ["interrupted"]


def test_names_and_addresses_of_machines_are_covered() -> None:
    assert covered("gpu-17 at 10.1.2.3", "gpu-17") == "(host) at (address)"
    found = variables(
        {"NCCL_COMM_ID": "10.0.0.1:99", "NCCL_SOCKET_IFNAME": "eth0", "NCCL_HOSTID": "a", "PATH": "/bin"}, "h"
    )
    assert found == {"NCCL_SOCKET_IFNAME": "eth0"}


def test_transports_are_counted_from_nccls_log() -> None:
    log = """
h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM
h:1:2 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM
h:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct
h:1:2 [0] NCCL INFO Channel 02/0 : 1[1] -> 8[0] [send] via NET/IB/3(1)/GDRDMA
h:1:2 [0] NCCL INFO NVLS multicast support is not available on dev 0
h:1:2 [0] NCCL INFO Connected all rings"""
    assert transports(log) == {
        "NET/IB/GDRDMA": 1,
        "NVLS multicast not available": 1,
        "P2P/CUMEM": 2,
        "SHM/direct/direct": 1,
    }
