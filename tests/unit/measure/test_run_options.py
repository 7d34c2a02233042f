"""Reading the benchmark's command line and the place a launcher gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.measure.run.options import FULL_DEADLINE_S, QUICK_DEADLINE_S, SECTIONS, parse, time_share
from planner.measure.run.worker import Place, place_in


def test_everything_is_measured_when_nothing_is_named() -> None:
    options = parse([])
    assert options.sections == SECTIONS
    assert (options.backend, options.deadline_s, options.max_bytes) == ("nccl", FULL_DEADLINE_S, 8 * 1024**3)
    assert parse(["--quick"]).deadline_s == QUICK_DEADLINE_S < 60 < FULL_DEADLINE_S < 480


def test_sections_and_collectives_are_measured_once_and_in_their_order(tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    options = parse(["gemm,nccl,gemm", "-o", str(out), "--ops", "broadcast,all_reduce", "--max-bytes", "1M"])
    assert (options.sections, options.ops) == (("nccl", "gemm"), ("all_reduce", "broadcast"))
    assert (options.out, options.max_bytes) == (out, 1024**2)


def test_what_is_recorded_leaves_the_path_out() -> None:
    assert "out" not in parse([]).recorded()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["speed"], "no section 'speed'"), (["--ops", "reduce"], "no collective 'reduce'"), (["--max-bytes", "x"], "no size"),
     (["--min-bytes", "2M", "--max-bytes", "1M"], "above --max-bytes"), (["--deadline", "0"], "above 0"),
     (["--processes", "0"], "1 or more"), (["-o", "/nowhere/at/all.json"], "doesn't exist"), (["-o", "/"], "is a folder"),
     (["--ops", ","], "at least one"), (["--backend", "mpi"], "invalid choice")],
)  # fmt: skip
def test_a_wrong_command_line_is_refused_with_a_reason(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        parse(arguments)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_the_last_section_may_take_what_is_left() -> None:
    assert time_share("overlap", ["overlap"], 40.0) == 40.0
    assert time_share("nccl", SECTIONS, 100.0) == 38.0


@pytest.mark.parametrize(
    ("variables", "place"),
    [({"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}, Place(5, 8, 1)),
     ({"SLURM_PROCID": "3", "SLURM_NTASKS": "16", "SLURM_LOCALID": "3"}, Place(3, 16, 3)),
     ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, None), ({}, None)],
)  # fmt: skip
def test_the_place_comes_from_torchrun_or_slurm(variables: dict[str, str], place: Place | None) -> None:
    assert place_in(variables) == place
