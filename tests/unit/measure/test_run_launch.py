"""The launcher with small stand-in programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from planner.measure.run.launch import WORKER, environments, free_port, launch

ROOT = Path(__file__).parents[3]


def _program(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "worker.py"
    path.write_text(
        "import os, pathlib, signal, sys, time\nhere = pathlib.Path(__file__).parent\nrank = os.environ['RANK']\n"
        + text
    )
    return [sys.executable, str(path)]


def test_each_process_gets_its_place_and_the_package_on_its_path() -> None:
    first, second = environments(2, 4711, {"PYTHONPATH": "/mine", "NCCL_NVLS_ENABLE": "0"})
    assert (first["RANK"], second["RANK"], second["LOCAL_RANK"]) == ("0", "1", "1")
    assert first["WORLD_SIZE"] == first["LOCAL_WORLD_SIZE"] == "2"
    assert (first["MASTER_ADDR"], first["MASTER_PORT"], first[WORKER]) == ("127.0.0.1", "4711", "1")
    assert first["PYTHONPATH"].split(os.pathsep) == [str(ROOT), "/mine"]
    assert first["NCCL_NVLS_ENABLE"] == "0"


def test_a_free_port_can_be_bound() -> None:
    assert 1024 <= free_port() <= 65535


def test_all_processes_run_to_their_end(tmp_path: Path) -> None:
    outcome = launch(_program(tmp_path, "(here / f'rank{rank}').touch()"), 3, 30)
    assert (outcome.code, outcome.notes) == (0, [])
    assert sorted(path.name for path in tmp_path.glob("rank*")) == ["rank0", "rank1", "rank2"]


def test_a_process_that_fails_ends_the_others_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner.measure.run.launch.FAILED_GRACE_S", 0.2)
    start = time.monotonic()
    outcome = launch(_program(tmp_path, "sys.exit(3) if rank == '1' else time.sleep(60)"), 2, 60)
    assert outcome.code == 1
    assert outcome.notes == ["the process of rank 1 ended with exit code 3; what follows is missing"]
    assert time.monotonic() - start < 20


def test_processes_that_outlast_the_deadline_are_ended(tmp_path: Path) -> None:
    outcome = launch(_program(tmp_path, "time.sleep(60)"), 2, 0.2, late_grace_s=0.2)
    assert outcome.code == 1
    assert "past the deadline" in outcome.notes[0]


def test_an_interrupt_is_handed_on_once_and_the_processes_finish_in_order(tmp_path: Path) -> None:
    program = _program(tmp_path, """
def stop(*_):
    (here / f'stopped{rank}').touch()
    sys.exit(130)
signal.signal(signal.SIGINT, stop)
(here / f'ready{rank}').touch()
time.sleep(60)
""")  # fmt: skip
    code = f"import sys; from planner.measure.run.launch import launch; o = launch({program!r}, 2, 60); print(o.notes); sys.exit(o.code)"
    running = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    patience = time.monotonic() + 30
    while len(list(tmp_path.glob("ready*"))) < 2 and time.monotonic() < patience:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert out.strip() == "['interrupted; what was measured before is kept']"
    assert "Ctrl-C again" in err
    assert len(list(tmp_path.glob("stopped*"))) == 2


def test_the_folder_alone_starts_without_the_rest_of_the_planner_and_says_what_is_missing(
    tmp_path: Path,
) -> None:
    (tmp_path / "planner").mkdir()
    (tmp_path / "planner" / "__init__.py").touch()
    subprocess.run(["cp", "-r", str(ROOT / "planner" / "measure"), str(tmp_path / "planner")], check=True)
    helped = subprocess.run([sys.executable, "-S", "-m", "planner.measure", "--help"], cwd=tmp_path, capture_output=True, text=True, check=True)  # fmt: skip
    assert "torchrun" in helped.stdout
    # -S leaves site-packages out, so torch can't be there.
    alone = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    bare = subprocess.run([sys.executable, "-S", "-m", "planner.measure"], cwd=tmp_path, env=alone, capture_output=True, text=True, check=False)  # fmt: skip
    assert bare.returncode == 2
    assert "torch can't be imported" in bare.stderr


def test_importing_the_package_loads_nothing_but_the_standard_library() -> None:
    code = "import sys, planner.measure, planner.measure.run.main as m; print(sorted({n.split('.')[0] for n in sys.modules} & {'torch', 'numpy', 'pydantic', 'yaml'}))"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_gloo_measures_end_to_end_on_two_processes(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch isn't installed here; the benchmark's gloo mode needs it")
    out = tmp_path / "g.json"
    command = [
        sys.executable,
        "-m",
        "planner.measure",
        "nccl,gemm",
        "--backend",
        "gloo",
        "-o",
        str(out),
        "--quick",
        "--max-bytes",
        "64K",
    ]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    found = json.loads(out.read_text())
    assert found["complete"]
    assert not found["usable_for_calibration"]
    assert {row["op"] for row in found["sections"]["nccl"]} == set(found["options"]["ops"])
    assert all(row["wrong_elements"] == 0 for row in found["sections"]["nccl"])
    assert all(len(row["rank_median_us"]) == 2 for row in found["sections"]["nccl"])
