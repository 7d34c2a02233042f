from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from planner.errors import InputError
from planner.present.files import write_atomically


def test_a_file_is_written_and_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_atomically(path, b"first and longer")
    write_atomically(path, b"second")
    assert path.read_bytes() == b"second"
    assert [one.name for one in tmp_path.iterdir()] == ["plan.json"]


def test_a_report_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    path, other = tmp_path / "plan.json", tmp_path / "other"
    write_atomically(path, b"x")
    other.write_bytes(b"x")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError])
def test_an_interruption_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: type[BaseException]
) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(b"old")

    def stop(*_: object) -> None:
        raise failure

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(failure):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["plan.json"]


def test_a_full_disk_is_an_input_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        write_atomically(tmp_path / "plan.json", b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_said_with_place_and_remedy(tmp_path: Path) -> None:
    path = tmp_path / "none" / "plan.json"
    with pytest.raises(InputError) as caught:
        write_atomically(path, b"x")
    problem = caught.value.problems[0]
    assert problem.place is not None
    assert problem.place.path == str(path)
    assert "create" in problem.remedy


def test_a_folder_of_the_files_name_is_said(tmp_path: Path) -> None:
    (tmp_path / "plan.json").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        write_atomically(tmp_path / "plan.json", b"x")
    assert [one.name for one in tmp_path.iterdir()] == ["plan.json"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_without_rights_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(InputError, match="writable"):
        write_atomically(folder / "plan.json", b"x")


def test_a_name_as_long_as_the_system_allows_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250 + ".json")
    write_atomically(path, b"x")
    assert path.read_bytes() == b"x"
