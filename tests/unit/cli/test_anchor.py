"""Anchors on the command line: written from a benchmark, applied to a plan and to measured rows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from planner.catalog.store import open_catalog
from planner.cli.app import run_app
from planner.evaluate import evaluate
from planner.scenario.anchors import load_anchors
from planner.scenario.load import load_scenario
from planner.study.bands import with_ranges

RESULT = Path(__file__).parents[1] / "measure" / "data" / "h200-x2-train-again.json.gz"
PLAN = "h100-16384-roce"
KEY = "performance.training"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def anchor(tmp_path: Path) -> Path:
    out = tmp_path / "anchor.yaml"
    assert run_app(["bench", "anchor", str(RESULT), "-o", str(out)]) == 0
    return out


def stack(anchor: Path, name: str, *, factor: float = 1.0) -> Path:
    """The same runs as those of a stack of one's own."""
    text = anchor.read_text().replace("planner bench, eager", name).replace("bare: true", "bare: false")
    lines = []
    for line in text.splitlines():
        head, mark, rest = line.partition("step_s: ")
        lines.append(f"{head}{mark}{float(rest.rstrip('}')) * factor}}}" if mark else line)
    out = anchor.with_name("own.yaml")
    out.write_text("\n".join(lines) + "\n")
    return out


def line(name: str, *changes: str) -> float:
    found = evaluate(load_scenario(PLAN, changes=changes), open_catalog())
    return float(found.ledger.scalar(f"{KEY}.{name}"))


def test_a_bench_result_becomes_an_anchor_that_can_be_read(tmp_path: Path, capsys: Capture) -> None:
    anchor = tmp_path / "anchor.yaml"
    assert run_app(["bench", "anchor", str(RESULT), "-o", str(anchor)]) == 0
    runs = [one.run for one in load_anchors([anchor])]
    assert {run.stack for run in runs} == {"planner bench, eager"}
    assert {run.accelerator for run in runs} == {"h200-sxm-141gb"}
    assert all(run.bare for run in runs)
    assert len(runs) == 7
    told = capsys.readouterr()
    assert "measured over predicted" in told.out
    assert f"planner run SCENARIO --anchor {anchor}" in told.err


def test_compiled_steps_go_before_the_others(tmp_path: Path) -> None:
    result, out = RESULT.with_name("h200-x2-train.json.gz"), tmp_path / "a.yaml"
    for options, kind in (([], "compiled"), (["--eager"], "eager")):
        assert run_app(["bench", "anchor", str(result), "-o", str(out), *options]) == 0
        assert {one.run.stack for one in load_anchors([out])} == {f"planner bench, {kind}"}


def test_a_result_that_gives_no_anchor_is_refused_with_every_reason(tmp_path: Path, capsys: Capture) -> None:
    document = json.loads(gzip.decompress(RESULT.read_bytes()))
    document["sections"] = {"train": []}
    document["usable_for_calibration"] = False
    document["environment"]["devices"] = [{"name": "Abacus 9"}]
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(document))
    assert run_app(["bench", "anchor", str(path), "-o", str(tmp_path / "a.yaml")]) == 2
    said = capsys.readouterr().err
    for words in ("no training steps", "measured on CPUs", "Abacus 9", "--accelerator"):
        assert words in said
    assert not (tmp_path / "a.yaml").exists()


def test_a_benchmark_corrects_the_step_and_the_report_shows_it_without(anchor: Path, tmp_path: Path) -> None:
    out = tmp_path / "reports"
    assert run_app(["run", PLAN, "--anchor", str(anchor), "-o", str(out), "--format", "html,json"]) in (0, 1)
    page = (out / f"{PLAN}.html").read_text()
    assert (
        "Training step without the anchors&#39; correction" in page
        or "without the anchors' correction" in page
    )
    change = f"anchors=[{anchor}]"
    ratio = line("model_error_ratio", change)
    assert ratio > 1.0
    assert line("step_without_anchor_s", change) == pytest.approx(line("step_s"))
    assert line("step_s", change) == pytest.approx(ratio * line("step_s"))


def test_the_line_names_the_anchor_as_its_source(anchor: Path) -> None:
    found = evaluate(load_scenario(PLAN, changes=[f"anchors=[{anchor}]"]), open_catalog())
    source = found.ledger[f"{KEY}.model_error_ratio"].source
    assert source is not None
    assert source.where == f"{anchor}:4"
    assert (source.basis.letter, source.as_of) == ("M", "2026-11-30")


def test_runs_of_a_stack_of_ones_own_set_the_software(anchor: Path) -> None:
    own = stack(anchor, "torchtitan")
    compiled = line("step_without_anchor_s", f"anchors=[{own}]")
    assert compiled != pytest.approx(line("step_s"), rel=0.01)
    slow = stack(anchor, "torchtitan", factor=1.2)
    assert line("step_without_anchor_s", f"anchors=[{slow}]") == pytest.approx(compiled)
    assert line("model_error_ratio", f"anchors=[{slow}]") > 1.1 * line(
        "model_error_ratio", f"anchors=[{stack(anchor, 'torchtitan')}]"
    )


def test_an_anchor_narrows_the_range_of_the_step(anchor: Path) -> None:
    def width(*changes: str) -> float:
        found = evaluate(load_scenario(PLAN, changes=changes), open_catalog())
        drawn = with_ranges(found, (f"{KEY}.step_s",)).ranges[f"{KEY}.step_s"]
        return drawn.p90 / drawn.p10

    plain = width()
    assert width(f"anchors=[{anchor}]") < plain
    assert width(f"anchors=[{stack(anchor, 'Megatron Core')}]") < plain


def test_anchors_of_another_kind_leave_the_plan_as_it_is_and_say_so(anchor: Path) -> None:
    found = evaluate(load_scenario("h200-1024-ndr", changes=[f"anchors=[{anchor}]"]), open_catalog())
    ratio = found.ledger[f"{KEY}.model_error_ratio"]
    assert found.ledger.scalar(ratio) == 1.0
    assert ratio.source is not None
    assert "another kind" in ratio.source.note
    assert f"{KEY}.step_without_anchor_s" not in found.ledger


def test_a_wrong_anchor_is_a_users_mistake(tmp_path: Path, capsys: Capture) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("runs:\n  - {id: a, gpus: 0}\n")
    assert run_app(["run", PLAN, "--anchor", str(bad), "-o", str(tmp_path / "out")]) == 2
    assert "bad.yaml:2:" in "".join(capsys.readouterr())


def test_fidelity_shows_rows_without_and_with(anchor: Path, capsys: Capture) -> None:
    own = stack(anchor, "torchtitan")
    capsys.readouterr()
    assert run_app(["fidelity", "--anchor", str(own), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["training"]["anchored"]
    (ratio,) = found["ratios"].values()
    before, after = found["without"], found["with"]
    assert before["rows"] == after["rows"] > 3
    assert after["bias_rows"] == pytest.approx((1.0 + before["bias_rows"]) * ratio["value"] - 1.0)
    assert run_app(["fidelity", "--anchor", str(own)]) == 0
    told = capsys.readouterr().out
    assert "WITH ANCHORS" in told
    assert "without" in told


def test_the_schema_describes_a_run(capsys: Capture) -> None:
    assert run_app(["schema", "anchor"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"id", "stack", "gpus", "step_s", "tokens_per_s"} <= set(found["$defs"]["AnchorRun"]["properties"])
