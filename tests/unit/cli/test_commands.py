"""What a user types, and what comes back: exit codes, messages, files."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from planner.cli.app import run_app
from planner.scenario.load import load_scenario, shipped_scenarios

Capture = pytest.CaptureFixture[str]


def scenario(tmp_path: Path, text: str, name: str = "mine.yaml") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


SMALL = """extends: h100-8-lab
name: mine
"""


@pytest.mark.parametrize("name", shipped_scenarios())
def test_every_shipped_scenario_checks_out(name: str, capsys: Capture) -> None:
    assert run_app(["check", name]) == 0
    assert capsys.readouterr().out == f"{name}: ok\n"


BAD = [
    ("cluster: {groups: [{id: lab, server: hgx-h10}]}", ["mine.yaml:3:", "nearest: hgx-h100"]),
    ("cluster: {groups: [{id: lab, gpus: -8}]}", ["mine.yaml:3:", "is -8", "1 or more"]),
    ("site: {pue: 0.9}", ["mine.yaml:3:8: site.pue: is 0.9, and must be 1 or more"]),
    ("site: {pue: .nan}", ["mine.yaml:3:", "finite"]),
    ("money: {horizon_months: .inf}", ["mine.yaml:3:", "finite"]),
    ("site: {electricity_usd_per_kwh: 0}", ["must be more than 0"]),
    ("workloads: [{id: finetune, model: llama-3.1-405b}]", ["can't be trained on 8 GPUs", "needs", "of 85", "GPUs or more"]),
    ("cluster: {groups: [{id: lab, gpus: 12}]}", ["'hgx-h100' has 8 GPUs", "write 16 or 8"]),
    ("sites: 1", ["no field 'sites' here", "nearest: site"]),
    ("a: 1\na: 2", ["'a' is given twice"]),
    ("overrides: {price.hgx-h100.price_usd: {value: 0, unit: USD, reason: a gift}}", ["must be more than 0"]),
    ("overrides: {price.hgx-h100.price_us: {value: 5, unit: USD, reason: typo}}", ["no ledger line", "nearest: price.hgx-h100.price_usd"]),
    ("overrides: {capex.total_usd: {value: 5, unit: USD, reason: wish}}", ["is a formula", "override what it reads"]),
    ("overrides: {cluster.gpus: {value: 5, unit: '1', reason: wish}}", ["belongs to the design"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), BAD, ids=[text[:40] for text, _ in BAD])
def test_bad_input_says_where_what_and_what_would_help(
    text: str, said: list[str], tmp_path: Path, capsys: Capture
) -> None:
    path = scenario(tmp_path, SMALL + text + "\n")
    assert run_app(["check", path]) == 2
    out = capsys.readouterr().out
    for part in said:
        assert part in out


def test_all_problems_come_at_once(tmp_path: Path, capsys: Capture) -> None:
    path = scenario(
        tmp_path, SMALL + "site: {pue: 0.5, limit_mw: -1, color: red}\nmoney: {horizon_months: 3}\n"
    )
    assert run_app(["check", path, "--set", "limits.days=-3", "--set", "nonsense"]) == 2
    out = capsys.readouterr().out
    for part in ("site.pue", "site.limit_mw", "'color'", "money.horizon_months", "limits.days", "key=value"):
        assert part in out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "network.leaf.optic=osfp-400g-dr4",
            "'osfp-400g-dr4' has 400 Gbit/s, and a cage of 'qm9700' needs 800",
        ),
        ("network.endpoint_optic=qsfp112-400g-dr4", "is QSFP112, and 'connectx-7-400g' takes OSFP"),
        ("cluster.groups.main.gpus=200000", "needs 200,000 endpoint ports, has 65,536"),
        ("network.leaf.switch=sn6810", "can't be ordered"),
        ("network.leaf.optic=lightmatter-passage-m1000", "is no pluggable module and can't be ordered"),
        ("network.leaf.optic=lumilens", "is no pluggable module and can't be ordered"),
        ("network.behaviour=spectrum-x", "is for ethernet, and the switches speak infiniband"),
        ("cluster.groups.nobody.gpus=8", "no item 'nobody'"),
        ("site.limit_mw.deep=1", "must be a number"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change: str, said: str, capsys: Capture) -> None:
    assert run_app(["check", "h200-1024-ndr", "--set", change]) == 2
    assert said in capsys.readouterr().out


def test_rail_only_beyond_one_leaf_is_refused_with_needed_and_had(capsys: Capture) -> None:
    assert run_app(["check", "b200-1024-rail-only", "--set", "cluster.groups.main.gpus=2048"]) == 2
    assert "a rail needs 256 ports, its leaf has 128" in capsys.readouterr().out


def test_a_scenario_that_extends_itself_is_a_circle(tmp_path: Path, capsys: Capture) -> None:
    path = scenario(tmp_path, "extends: mine.yaml\nname: x\n")
    assert run_app(["check", path]) == 2
    assert "goes in a circle: mine.yaml > mine.yaml" in capsys.readouterr().out


def test_a_large_file_is_refused_unread(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "big.yaml"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    start = time.process_time()
    assert run_app(["check", str(path)]) == 2
    assert time.process_time() - start < 1.0
    assert "50,000,000 bytes" in capsys.readouterr().out


def test_run_writes_the_formats_asked_for_and_nothing_else(tmp_path: Path, capsys: Capture) -> None:
    assert run_app(["run", "h100-8-lab", "-o", str(tmp_path), "--format", "json,xlsx"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["h100-8-lab.json", "h100-8-lab.xlsx"]
    assert "GPU utilisation" in capsys.readouterr().out


def test_a_missed_limit_is_exit_code_1_and_still_written(tmp_path: Path, capsys: Capture) -> None:
    code = run_app(["run", "h100-8-lab", "-o", str(tmp_path), "--format", "json", "--set", "limits.days=1"])
    assert code == 1
    assert "Misses" in capsys.readouterr().out
    assert json.loads((tmp_path / "h100-8-lab.json").read_text())["feasible"] is True


def test_malformed_fields_and_missing_parts_come_together(tmp_path: Path, capsys: Capture) -> None:
    path = scenario(
        tmp_path,
        SMALL
        + "limit: {days: 3}\nsite: {pue: 0.5, cooling: airr}\ncluster: {groups: [{id: lab, server: hgx-h10}]}\n",
    )
    assert run_app(["check", path]) == 2
    out = capsys.readouterr().out
    for part in ("no field 'limit'", "site.pue", "'airr'", "'hgx-h10'"):
        assert part in out


def test_what_cannot_be_built_is_exit_code_2_with_a_whole_report(tmp_path: Path, capsys: Capture) -> None:
    arguments = ["run", "h100-8-lab", "-o", str(tmp_path), "--set", "workloads.finetune.model=llama-3.1-405b"]
    assert run_app(arguments) == 2
    assert "can't be trained" in capsys.readouterr().err
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".html", ".json", ".xlsx"]
    assert "can&#39;t be trained" in (tmp_path / "h100-8-lab.html").read_text()


def test_one_broken_scenario_does_not_stop_the_others(tmp_path: Path, capsys: Capture) -> None:
    bad = scenario(tmp_path, SMALL + "site: {pue: 0}\n")
    out = tmp_path / "out"
    code = run_app(["run", "h100-8-lab", bad, "h200-serving-fleet", "-o", str(out), "--format", "json"])
    assert code == 2
    assert sorted(path.stem for path in out.iterdir()) == ["h100-8-lab", "h200-serving-fleet"]
    assert "site.pue" in capsys.readouterr().err


def test_processes_and_one_process_write_the_same_bytes(tmp_path: Path) -> None:
    names = ["h100-8-lab", "h200-serving-fleet", "h200-phased"]
    for jobs in ("1", "2"):
        assert run_app(["run", *names, "-o", str(tmp_path / jobs), "--format", "json,xlsx", "-j", jobs]) in (
            0,
            1,
        )
    assert len(list((tmp_path / "1").iterdir())) == 6
    for path in (tmp_path / "1").iterdir():
        assert path.read_bytes() == (tmp_path / "2" / path.name).read_bytes()


def test_two_scenarios_of_one_name_are_refused(tmp_path: Path, capsys: Capture) -> None:
    first = scenario(tmp_path, SMALL)
    (tmp_path / "other").mkdir()
    second = scenario(tmp_path / "other", SMALL)
    assert run_app(["run", first, second, "-o", str(tmp_path / "out")]) == 2
    assert "would write the same files" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path, capsys: Capture) -> None:
    tmp_path.chmod(0o500)
    try:
        assert run_app(["run", "h100-8-lab", "-o", str(tmp_path / "out")]) == 2
        assert "give a folder you may write to" in capsys.readouterr().err
    finally:
        tmp_path.chmod(0o700)


def test_an_output_folder_that_is_a_file_is_refused(tmp_path: Path, capsys: Capture) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert run_app(["run", "h100-8-lab", "-o", str(blocked / "out")]) == 2
    assert "give a folder you may write to" in capsys.readouterr().err


def test_an_interrupted_run_leaves_whole_files_only(tmp_path: Path) -> None:
    names = []
    for index in range(120):
        names.append(scenario(tmp_path, f"extends: h200-1024-ndr\nname: v{index}\n", f"v{index}.yaml"))
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "planner", "run", *names, "-o", str(out), "--format", "json", "-j", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (out.is_dir() and any(out.glob("*.json"))) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.2)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)  # the impatient press it twice
    try:
        _, err = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    written = list(out.iterdir())
    assert written
    assert all(path.suffix == ".json" for path in written)
    for path in written:
        json.loads(path.read_text())


def test_text_that_looks_like_code_stays_text(tmp_path: Path) -> None:
    name = "=HYPERLINK(1)<script>alert(1)</script>"
    path = scenario(tmp_path, f"extends: h100-8-lab\nname: '{name}'\n")
    assert run_app(["run", path, "-o", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "mine.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert load_scenario(path).scenario.name == name


def test_explain_walks_down_to_source_and_date(capsys: Capture) -> None:
    assert run_app(["explain", "h200-1024-ndr", "capex.optics_usd"]) == 0
    out = capsys.readouterr().out
    assert "catalog/transceivers/osfp-800g-2xsr4.yaml:" in out
    assert "planner.design.cabling.plan_cabling" in out
    assert "P10 to P90" in out


def test_explain_of_an_unknown_key_names_the_nearest(capsys: Capture) -> None:
    assert run_app(["explain", "h100-8-lab", "capex.totl_usd"]) == 2
    assert "capex.total_usd" in capsys.readouterr().err


def test_explain_json_holds_the_whole_tree(capsys: Capture) -> None:
    assert run_app(["explain", "h100-8-lab", "unit.usd_per_gpu_hour", "--json"]) == 0
    tree = json.loads(capsys.readouterr().out)
    assert tree["key"] == "unit.usd_per_gpu_hour"
    stack, leaves = [tree], 0
    while stack:
        node = stack.pop()
        stack += node.get("inputs", [])
        leaves += "source" in node
    assert leaves > 20


@pytest.mark.parametrize(
    ("arguments", "counts"),
    [
        (["--nodes", "127", "--switch", "qm9700"], (32, 16, 0, 1020)),
        (["--nodes", "31", "--switch", "qm9700"], (8, 4, 0, 252)),
        (
            ["--nodes", "64", "--switch", "sn5610", "--nic", "connectx-8-800g", "--planes", "2"],
            (16, 8, 0, 512),
        ),
        (["--nodes", "64", "--gpus-per-node", "4", "--switch", "asterfusion-cx864e-n"], (4, 2, 0, 256)),
    ],
)
def test_fabric_answers_with_the_published_counts(
    arguments: list[str], counts: tuple[int, ...], capsys: Capture
) -> None:
    assert run_app(["fabric", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    keys = ("leaf_count", "spine_count", "core_count", "node_leaf_and_ufm_cables_count")
    assert tuple(found[key] for key in keys) == counts


def test_fabric_wants_gpus_or_nodes(capsys: Capture) -> None:
    assert run_app(["fabric", "--switch", "qm9700"]) == 2
    assert "give either --gpus or --nodes" in capsys.readouterr().err


def test_catalog_list_show_and_check(capsys: Capture) -> None:
    assert run_app(["catalog", "list", "switches", "--filter", "qm97"]) == 0
    assert "qm9700" in capsys.readouterr().out
    assert run_app(["catalog", "show", "qm9700"]) == 0
    out = capsys.readouterr().out
    assert "price_usd: 50,000" in out
    assert "2024-08" in out
    assert run_app(["catalog", "show", "qm970"]) == 2
    assert "qm9700" in capsys.readouterr().err
    assert run_app(["catalog", "check"]) == 0
    assert "0 problems" in capsys.readouterr().err


def test_an_overlay_catalog_changes_a_price(tmp_path: Path, capsys: Capture) -> None:
    shelf = tmp_path / "quotes" / "servers"
    shelf.mkdir(parents=True)
    from planner.resources import shipped

    text = (shipped("catalog") / "servers" / "hgx-h100.yaml").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("price_usd")]
    lines.append("price_usd: {value: 123456, source: recalled, basis: quote, as_of: 2026-11-01}")
    (shelf / "hgx-h100.yaml").write_text("\n".join(lines) + "\n")
    assert run_app(["explain", "h100-8-lab", "capex.servers_usd", "--catalog", str(tmp_path / "quotes")]) == 0
    out = capsys.readouterr().out
    assert "123 k USD" in out
    assert "quotes/servers/hgx-h100.yaml:" in out


def test_a_price_of_zero_in_the_catalog_is_refused(tmp_path: Path, capsys: Capture) -> None:
    shelf = tmp_path / "quotes" / "nics"
    shelf.mkdir(parents=True)
    from planner.resources import shipped

    text = (shipped("catalog") / "nics" / "connectx-7-400g.yaml").read_text()
    (shelf / "connectx-7-400g.yaml").write_text(text.replace("value: 1700, low: 1200", "value: 0, low: 0"))
    assert run_app(["check", "h200-1024-ndr", "--catalog", str(tmp_path / "quotes")]) == 2
    assert "must be more than 0" in capsys.readouterr().out


def test_init_writes_a_scenario_that_checks_out(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "new.yaml"
    assert run_app(["init", str(path)]) == 0
    assert (tmp_path / "scenario.schema.json").is_file()
    assert path.read_text().startswith("# yaml-language-server: $schema=scenario.schema.json")
    assert run_app(["init", str(path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert run_app(["check", str(path)]) == 0


def test_the_template_shows_every_field_with_its_help() -> None:
    from planner.scenario.schema import Scenario
    from planner.scenario.template import scenario_template

    text = scenario_template(schema_name="s.json")
    schema = Scenario.model_json_schema()
    shown = [
        schema,
        *(schema["$defs"][name] for name in ("Workload", "Group", "Network", "SiteWish", "Money", "Limits")),
    ]
    for part in shown:
        for name, field in part["properties"].items():
            if name not in ("extends", "schema_version"):
                assert f"{name}:" in text
                assert field.get("description", "")[:30] in text


@pytest.mark.parametrize("what", ["scenario", "catalog", "report"])
def test_schemas_are_json(what: str, capsys: Capture) -> None:
    assert run_app(["schema", what]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "--format", "pdf", "h100-8-lab"], "no format 'pdf'"),
        (["run"], "no scenario given"),
        (["run", "h100-8-lb"], "nearest: h100-8-lab"),
        (["schema", "scenaro"], "nearest: scenario"),
        (["nonsense"], "nonsense"),
        (["run", "--nonsense"], "--nonsense"),
    ],
)
def test_a_wrong_call_is_exit_code_2_without_a_traceback(
    arguments: list[str], said: str, capsys: Capture, tmp_path: Path
) -> None:
    code = run_app([*arguments, "-o", str(tmp_path)] if arguments[0] == "run" else arguments)
    assert code == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "overrides.money.utilisation_fraction={value: 85, unit: fraction, reason: slip}",
            "must be between 0 and 1",
        ),
        (
            "overrides.performance.training.model_error_ratio={value: 0.001, unit: '1', reason: slip}",
            "between 0.1 and 10",
        ),
        (
            "overrides.assumption.memory_share_fraction={value: 0, unit: fraction, reason: slip}",
            "more than 0",
        ),
        ("as_of=2026-02-31", "is no month or day"),
        ("as_of=0000-01", "is no month or day"),
        ("as_of=1999-01", "outside 2000 to 2100"),
        ("site.limit_mw=1e308", "or less"),
        ("site.rack_limit_kw=1e308", "or less"),
        ("workloads[²].id=x", "no item '²'"),
        ("extends=nope", "bases are read before changes"),
        ("network.planes=3", "4 lanes, which don't divide"),
        ("workloads.0.sequence_tokens=10000000", "has a context of 131,072"),
        ("name='a\u2028b'", "control character"),
        ("name='  '", "is blank"),
    ],
)
def test_slips_and_extremes_are_refused(change: str, said: str, capsys: Capture) -> None:
    assert run_app(["check", "h200-1024-ndr", "--set", change]) == 2
    assert said in capsys.readouterr().out


def test_a_name_no_file_can_have_is_said(capsys: Capture) -> None:
    for arguments in (
        ["check", "x" * 300],
        ["run", "x" * 300],
        ["explain", "h100-8-lab", "--catalog", "y" * 300],
    ):
        assert run_app(arguments) == 2
    assert run_app(["fabric", "--switch", "z" * 300, "--gpus", "64"]) == 2


def test_fabric_refuses_what_it_cannot_draw(capsys: Capture) -> None:
    assert run_app(["fabric", "--switch", "qm9700", "--gpus", "1000000000000000"]) == 2
    assert run_app(["fabric", "--switch", "qm9700", "--gpus", "64", "--oversubscription", "inf"]) == 2
    assert run_app(["fabric", "--switch", "sn4600c", "--gpus", "64"]) == 2
    assert "no usual NIC is known" in capsys.readouterr().err


def test_an_overlay_names_its_items_and_lines(tmp_path: Path, capsys: Capture) -> None:
    path = scenario(
        tmp_path, "extends: h200-1024-ndr\nname: x\nworkloads:\n  - id: pretrain\n    tokens_trillion: -1\n"
    )
    assert run_app(["check", path]) == 2
    assert "mine.yaml:5:5: workloads.0.tokens_trillion: is -1" in capsys.readouterr().out
    twice = scenario(
        tmp_path,
        "extends: h200-1024-ndr\nname: x\nworkloads:\n  - id: pretrain\n  - id: pretrain\n",
        "twice.yaml",
    )
    assert run_app(["check", twice]) == 2
    assert "id 'pretrain' is used twice" in capsys.readouterr().out


def test_many_problems_are_cut_short(tmp_path: Path, capsys: Capture) -> None:
    path = scenario(tmp_path, "".join(f"k{index}: .inf\n" for index in range(5000)))
    assert run_app(["check", path]) == 2
    assert len(capsys.readouterr().out.splitlines()) == 101


def test_too_many_items_are_refused(tmp_path: Path, capsys: Capture) -> None:
    groups = "\n".join(f"    - {{id: g{index}, server: hgx-h100, gpus: 8}}" for index in range(40))
    path = scenario(tmp_path, f"extends: h100-8-lab\nname: x\ncluster:\n  groups:\n{groups}\n")
    assert run_app(["check", path]) == 2
    assert "at most 32" in capsys.readouterr().out


def test_a_fault_of_ours_is_exit_code_70_and_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    from planner.cli import batch

    real = batch._run_one

    def faulty(task: batch.Task) -> batch.Done:
        if task.name == "h200-phased":
            raise ZeroDivisionError
        return real(task)

    monkeypatch.setattr(batch, "_run_one", faulty)
    arguments = ["run", "h200-phased", "h100-8-lab", "-o", str(tmp_path), "--format", "json", "-j", "1"]
    assert run_app(arguments) == 70
    assert [path.name for path in tmp_path.iterdir()] == ["h100-8-lab.json"]
    assert "a fault of ours" in capsys.readouterr().err


def test_a_run_reads_only_the_items_it_names() -> None:
    from planner.catalog.schema import FAMILIES
    from planner.catalog.store import open_catalog
    from planner.evaluate import evaluate

    shelf = open_catalog()
    evaluate(load_scenario("h200-1024-ndr"), shelf)
    every = sum(len(shelf.ids(kind)) for kind in FAMILIES.values())
    assert len(shelf.used()) < every / 8


def test_phases_split_the_fabric_as_it_is_bought() -> None:
    from planner.catalog.store import open_catalog
    from planner.evaluate import evaluate

    built = evaluate(load_scenario("h200-phased"), open_catalog()).built
    assert built is not None
    first, second = built.fabric_phases
    assert (first.spines, second.spines) == (16, 0)
    assert first.leaves + second.leaves == built.cluster.fabric.leaves
    assert first.leaves == second.leaves
