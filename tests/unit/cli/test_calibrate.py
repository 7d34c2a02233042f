"""planner calibrate: files in, a profile with its errors out, and nothing written where something is wrong."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from planner.catalog.profiles import Profile
from planner.catalog.store import open_catalog
from planner.cli.app import run_app
from planner.measure.fit.profile import digest

LOGS = Path(__file__).parents[1] / "measure" / "logs"
SAVED = Path(__file__).parents[1] / "measure" / "data"
HEAD = "gpu,op,dtype,num_gpus,message_bytes,latency_us,library,row_version"


def table(folder: Path, *, gpu: str = "h200", slower: float = 1.0) -> Path:
    rows = [
        f"{gpu},all_reduce,half,8,{2**power},{slower * (10 + 2**power / 4e5):.3f},nccl,2.27.3"
        for power in range(10, 31, 2)
    ]
    folder.mkdir(exist_ok=True)
    path = folder / "table.csv"
    path.write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    return path


def calibrate(*arguments: object) -> int:
    return run_app(["calibrate", *(str(one) for one in arguments)])


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """An empty folder laid out like the catalog."""
    (tmp_path / "shelf" / "profiles").mkdir(parents=True)
    return tmp_path / "shelf"


def test_a_log_is_fitted_and_its_errors_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrate(LOGS / "all_reduce_h100_8.log", "--as-of", "2026-05-01") == 0
    out = capsys.readouterr().out
    assert "h100-sxm5-80gb, 2026-05-01" in out
    row = next(line for line in out.splitlines() if line.strip().startswith("all_reduce"))
    assert row.split()[1:6] == ["8", "scale_up", "device", "fp32", "8K-512M"]
    assert [one.endswith("%") for one in row.split()[-3:]] == [True] * 3


def test_several_files_of_one_run_make_one_profile(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = shelf / "profiles" / "h200-sxm-141gb.lab.yaml"
    saved = [SAVED / "h200-x2-again.json.gz", SAVED / "h200-x2-peer-to-peer-off.json.gz"]
    assert calibrate(*saved, "-o", output) == 0
    profile = open_catalog([shelf]).get(Profile, "h200-sxm-141gb.lab")
    assert {one.path.value for one in profile.collectives} == {"scale_up", "host_staged"}
    assert "host_staged" in capsys.readouterr().out


def test_what_is_written_is_a_catalog_item_beside_its_raw_files(tmp_path: Path, shelf: Path) -> None:
    source = table(tmp_path / "in")
    output = shelf / "profiles" / "h200-sxm-141gb.lab.yaml"
    assert calibrate(source, "--as-of", "2026-05-01", "--name", 'Ours: "no" 1e9 #2', "-o", output) == 0
    assert files(shelf) == {
        "profiles/h200-sxm-141gb.lab.yaml",
        "profiles/raw/h200-sxm-141gb.lab.table.csv.gz",
    }
    profile = open_catalog([shelf]).get(Profile, "h200-sxm-141gb.lab")
    assert profile.name == 'Ours: "no" 1e9 #2'
    (raw,) = profile.raw
    kept = output.parent / raw.file
    assert digest(kept) == raw.sha256
    assert gzip.decompress(kept.read_bytes()) == source.read_bytes()


def test_a_second_run_gives_the_same_bytes(tmp_path: Path, shelf: Path) -> None:
    source, output = table(tmp_path / "in"), shelf / "profiles" / "h200-sxm-141gb.lab.yaml"
    contents = []
    for _ in range(2):
        assert calibrate(source, "--as-of", "2026-05-01", "-o", output) == 0
        contents.append({name: (shelf / name).read_bytes() for name in files(shelf)})
    assert contents[0] == contents[1]


def test_fitting_the_kept_raw_files_again_changes_nothing(tmp_path: Path, shelf: Path) -> None:
    output = shelf / "profiles" / "h200-sxm-141gb.lab.yaml"
    assert calibrate(table(tmp_path / "in"), "--as-of", "2026-05-01", "-o", output) == 0
    before = {name: (shelf / name).read_bytes() for name in files(shelf)}
    raw = sorted((output.parent / "raw").glob("h200-sxm-141gb.lab.*"))
    assert calibrate(*raw, "--as-of", "2026-05-01", "-o", output) == 0
    assert {name: (shelf / name).read_bytes() for name in files(shelf)} == before


def test_two_files_of_one_name_are_both_kept(tmp_path: Path, shelf: Path) -> None:
    sources = [table(tmp_path / "first"), table(tmp_path / "second", slower=1.1)]
    output = shelf / "profiles" / "h200-sxm-141gb.lab.yaml"
    assert calibrate(*sources, "--as-of", "2026-05-01", "-o", output) == 0
    raw = open_catalog([shelf]).get(Profile, "h200-sxm-141gb.lab").raw
    kept = [gzip.decompress((output.parent / one.file).read_bytes()) for one in raw]
    assert kept == [source.read_bytes() for source in sources]


def test_the_answer_in_json_is_the_profile_and_what_was_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path)
    path.write_text(path.read_text() + "h200,all_gather,half,8,1024,9,nccl,2.27.3\n", encoding="utf-8")
    assert calibrate(path, "--as-of", "2026-05-01", "--json") == 0
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    assert answer["accelerator"] == "h200-sxm-141gb"
    assert [one["op"] for one in answer["collectives"]] == ["all_reduce"]
    assert answer["refused"] == ["all_gather, 8 ranks, fp16, device: 1 sizes, and a curve needs 3"]
    assert "not fitted: all_gather" in captured.err


def test_a_damaged_log_is_refused_with_every_line_and_nothing_is_written(
    shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = LOGS / "damaged.log"
    output = shelf / "profiles" / "h100-sxm5-80gb.lab.yaml"
    assert calibrate(LOGS / "all_reduce_h100_8.log", damaged, "--as-of", "2026-05-01", "-o", output) == 2
    captured = capsys.readouterr()
    for line, reason in ((19, "'#####' is no number"), (20, "contradict"), (21, "no data type")):
        said = next(one for one in captured.err.splitlines() if one.startswith(f"{damaged}:{line}: "))
        assert reason in said
    assert captured.out == ""
    assert files(shelf) == set()


@pytest.mark.parametrize(
    ("output", "options", "said"),
    [
        ("h200-sxm-141gb.lab.json", [], "doesn't end in .yaml"),
        ("My Lab.yaml", [], "'My Lab' is no id"),
        ("lab.yaml", ["--as-of", "yesterday"], "--as-of 'yesterday' is no day"),
        ("lab.yaml", ["--as-of", "2026-13-01"], "--as-of '2026-13-01' is no day"),
        ("lab.yaml", ["--source", "Some Book"], "--source 'Some Book' is no id"),
        ("lab.yaml", ["--as-of", ""], "nothing says when this was measured"),
        ("lab.yaml", ["--accelerator", "h2000"], "no item 'h2000'"),
        ("nowhere/lab.yaml", [], "name a folder that is there"),
    ],
)
def test_a_wrong_option_is_refused_in_words_and_nothing_is_written(
    output: str,
    options: list[str],
    said: str,
    tmp_path: Path,
    shelf: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = table(tmp_path / "in")
    day = [] if "--as-of" in options else ["--as-of", "2026-05-01"]
    assert calibrate(source, *day, *options, "-o", shelf / "profiles" / output) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err
    assert files(shelf) == set()


def test_all_wrong_options_are_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrate(table(tmp_path), "--as-of", "soon", "--source", "A B", "-o", tmp_path / "X.yaml") == 2
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_files_that_hold_no_measurement_or_are_missing_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.log"
    empty.write_text("hello\n", encoding="utf-8")
    assert calibrate(empty, tmp_path / "gone.log", "--as-of", "2026-05-01") == 2
    err = capsys.readouterr().err
    assert f"{empty}: no measurement found" in err
    assert "gone.log" in err
    assert "Traceback" not in err


def test_a_file_given_twice_counts_once(shelf: Path) -> None:
    source, output = table(shelf.parent / "in"), shelf / "profiles" / "h200-sxm-141gb.lab.yaml"
    assert (
        calibrate(source, source.parent / ".." / "in" / "table.csv", "--as-of", "2026-05-01", "-o", output)
        == 0
    )
    assert len(open_catalog([shelf]).get(Profile, "h200-sxm-141gb.lab").raw) == 1


def test_an_output_that_is_a_folder_leaves_no_raw_file_behind(
    shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shelf / "profiles" / "lab.yaml"
    folder.mkdir()
    assert calibrate(table(shelf.parent / "in"), "--as-of", "2026-05-01", "-o", folder) == 2
    assert "is a folder" in capsys.readouterr().err
    assert files(shelf) == set()


def test_a_publication_that_no_catalog_has_is_refused(
    shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--as-of", "2026-05-01", "--source", "planner-bnech", "-o", shelf / "profiles" / "lab.yaml"]
    assert calibrate(table(shelf.parent / "in"), *options) == 2
    assert "planner-bench" in capsys.readouterr().err
    assert files(shelf) == set()


def test_times_in_other_units_are_doubted_aloud_and_in_json(
    shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert calibrate(table(shelf.parent / "in", slower=1e-3), "--as-of", "2026-05-01", "--json") == 0
    captured = capsys.readouterr()
    assert "are the times in microseconds?" in json.loads(captured.out)["doubts"][0]
    assert "doubtful: " in captured.err
