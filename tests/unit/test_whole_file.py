from __future__ import annotations

import os
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from planner.whole_file import LEFT_AFTER_S, PRIVATE, clear_parts, replace_file


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


def test_what_a_killed_process_left_goes_with_the_next_write_of_the_same_file(tmp_path: Path) -> None:
    old, young, other, text = (
        tmp_path / name
        for name in (
            ".plan.yaml-ab3_x9zq.part",
            ".plan.yaml-zzzzzzzz.part",
            ".plan.yaml-b-ab3_x9zq.part",
            "n.part",
        )
    )
    for one in (old, young, other, text):
        one.write_bytes(b"half")
        if one is not young:
            os.utime(one, (one.stat().st_mtime - 2 * LEFT_AFTER_S,) * 2)
    replace_file(tmp_path / "plan.yaml", b"new")
    assert {one.name for one in tmp_path.iterdir()} == {"plan.yaml", young.name, other.name, text.name}
    clear_parts(tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == {"plan.yaml", young.name, text.name}


def test_a_temporary_file_that_is_written_now_has_a_name_that_is_cleared_once_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(self: Path, target: Path) -> None:
        raise SystemExit

    monkeypatch.setattr(Path, "replace", killed)
    monkeypatch.setattr(Path, "unlink", lambda self, missing_ok=False: None)
    with pytest.raises(SystemExit):
        replace_file(tmp_path / ("p" * 90), b"half")
    (left,) = tmp_path.iterdir()
    os.utime(left, (left.stat().st_mtime - 2 * LEFT_AFTER_S,) * 2)
    clear_parts(tmp_path, of="p" * 90)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_has_nothing_to_clear(tmp_path: Path) -> None:
    clear_parts(tmp_path / "none")
