"""Anchor files: what they may say, and every problem at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.errors import InputError, ScenarioError
from planner.scenario.anchors import anchors_of, load_anchors
from planner.scenario.load import load_scenario

RUN = """\
  - id: {id}
    date: 2026-11-30
    stack: torchtitan
    model: llama-3.1-8b
    server: hgx-h200
    gpus: 8
    plan: {{sharding: fsdp, microbatch: 1}}
    batch_sequences: 8
    sequence_tokens: 8192
    {rate}
"""


def write(folder: Path, *runs: str, name: str = "anchor.yaml") -> Path:
    path = folder / name
    path.write_text("name: ours\nruns:\n" + "".join(runs))
    return path


def run(one: str = "a", rate: str = "step_s: 1.5") -> str:
    return RUN.format(id=one, rate=rate)


def problems(path: Path) -> list[str]:
    with pytest.raises(InputError) as refused:
        load_anchors([path])
    return [str(problem) for problem in refused.value.problems]


def test_a_rate_of_all_gpus_stands_for_a_step(tmp_path: Path) -> None:
    path = write(tmp_path, run("a", "step_s: 2.0"), run("b", "tokens_per_s: 32768"))
    first, second = load_anchors([path])
    assert (first.run.measured_s, second.run.measured_s) == (2.0, 2.0)
    assert (first.place.line, second.place.line) == (3, 13)


def test_data_parallelism_fills_what_the_other_axes_leave(tmp_path: Path) -> None:
    text = run().replace("sharding: fsdp", "tensor: 2, pipeline: 2")
    assert load_anchors([write(tmp_path, text)])[0].run.data_ranks == 2


def test_every_problem_is_said_at_once_with_its_line_and_what_would_help(tmp_path: Path) -> None:
    both = run("a", "step_s: 1.5\n    tokens_per_s: 3")
    typo = run("b").replace("sequence_tokens", "sequence_token")
    batch = run("c").replace("batch_sequences: 8", "batch_sequences: 9")
    degrees = run("d").replace("sharding: fsdp", "tensor: 3")
    said = problems(write(tmp_path, both, typo, batch, degrees, run("a")))
    assert len(said) == 6
    for line, words in (
        (12, "states both step_s and tokens_per_s (give step_s or tokens_per_s)"),
        (22, "no field 'sequence_token' here (nearest: sequence_tokens"),
        (31, "9 sequences in a step, which 8 data ranks x 1 in a microbatch don't divide"),
        (40, "8 GPUs, which tensor x pipeline x context = 3 doesn't divide"),
        (44, "'a' is used twice (first on line 3)"),
    ):
        assert any(f"anchor.yaml:{line}:" in one and words in one for one in said), (line, words, said)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("    step_s: 1.5\n", "", "states neither step_s nor tokens_per_s"),
     ("model: llama-3.1-8b", "arch: {layers: 2, hidden: 64, heads: 4, vocabulary: 99}", "no width of the feed-forward"),
     ("server: hgx-h200", "server: hgx-h200\n    accelerator: h200-sxm-141gb", "states both server and accelerator"),
     ("step_s: 1.5", "step_s: -1", "must be more than 0"),
     ("gpus: 8", "gpus: 8.5", "whole number"),
     ("2026-11-30", "2026-13-30", "no month or day"),
     ("sharding: fsdp", "sharding: fdsp", "nearest: fsdp")],
)  # fmt: skip
def test_a_wrong_run_is_refused_with_its_reason(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in "\n".join(problems(write(tmp_path, run().replace(old, new))))


@pytest.mark.parametrize("text", ["", "- a\n", "runs: []\n", "runs: 3\n", "name: x\n"])
def test_a_file_without_runs_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text(text)
    assert problems(path)


def test_problems_of_several_files_come_together(tmp_path: Path) -> None:
    bad = write(tmp_path, run(rate="step_s: 0"), name="bad.yaml")
    with pytest.raises(InputError) as refused:
        load_anchors([bad, tmp_path / "missing.yaml"])
    said = str(refused.value)
    assert "bad.yaml:12" in said
    assert "missing.yaml: can't be read" in said


def scenario(folder: Path, anchors: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(f"extends: h200-1024-ndr\nname: mine\nanchors: {anchors}\n")
    return path


def test_a_scenario_names_anchors_beside_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, run())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    loaded = load_scenario(scenario(tmp_path, "[anchor.yaml]"))
    assert [one.run.id for one in anchors_of(loaded)] == ["a"]


def test_the_command_line_names_anchors_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, run("here"))
    monkeypatch.chdir(tmp_path)
    loaded = load_scenario("h200-1024-ndr", changes=["anchors=[anchor.yaml]"])
    assert [one.run.id for one in anchors_of(loaded)] == ["here"]


def test_a_missing_anchor_is_named_with_the_line_that_asks_for_it(tmp_path: Path) -> None:
    loaded = load_scenario(scenario(tmp_path, "[gone.yaml]"))
    with pytest.raises(ScenarioError, match=r"mine\.yaml:3:.*no anchor file"):
        anchors_of(loaded)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path, run("a"))
    loaded = load_scenario(scenario(tmp_path, "[anchor.yaml]"))
    assert anchors_of(loaded)[0].run.id == "a"
    path.write_text(path.read_text().replace("id: a", "id: other"))
    assert anchors_of(loaded)[0].run.id == "other"
