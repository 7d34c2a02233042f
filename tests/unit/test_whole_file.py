from __future__ import annotations

import os
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from planner.whole_file import PRIVATE, replace_file


def test_the_rights_asked_for_are_given(tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    replace_file(path, b"x", mode=PRIVATE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    replace_file(path, b"y", mode=0o640, durable=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.read_bytes() == b"y"


def test_a_full_disk_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"new", durable=True)
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["plan.yaml"]


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for name in (pipe, link):
        with ThreadPoolExecutor() as reader:
            read = reader.submit(pipe.read_bytes)
            replace_file(name, b"sheet")
            assert stat.S_ISFIFO(name.stat().st_mode)
            assert read.result(timeout=10) == b"sheet"
    assert link.is_symlink()


def test_a_socket_is_refused_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's name is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
        with pytest.raises(OSError, match="disk or a socket"):
            replace_file(Path("s"), b"sheet")
        assert stat.S_ISSOCK(Path("s").stat().st_mode)
