"""Ctrl-C keeps what was measured, with its diagnosis."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


def _written(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found


def test_ctrl_c_keeps_the_points_that_were_measured(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch isn't installed here; the benchmark's gloo mode needs it")
    out = tmp_path / "i.json"
    command = [sys.executable, "-W", "ignore", "-m", "planner.measure", "nccl", "--backend", "gloo", "--deadline", "200",
               "-o", str(out)]  # fmt: skip
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    patience = time.monotonic() + 90
    while not _written(out).get("sections", {}).get("nccl") and time.monotonic() < patience:
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    told, said = running.communicate(timeout=60)
    found = _written(out)
    assert running.returncode == 130, said
    assert found["sections"]["nccl"]
    assert found["complete"] is False
    assert any(note.startswith("interrupted") for note in found["notes"])
    assert found["diagnosis"]["findings"][0]["code"] == "backend.gloo"
    assert told.startswith("Diagnosis: ")
