"""Says in plain words what a run shows: healthy or not, and why, as far as the run recorded it.

Judged against the catalog's expectation for the hardware (`expected.py`), against the run's own other ranks and
the spread of its own samples; where nothing is expected of a device, that is said. Standard library only.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planner.measure.run.diagnosis_devices import device_findings
from planner.measure.run.diagnosis_links import link_findings
from planner.measure.run.diagnosis_ranks import rank_findings
from planner.measure.run.document import NOT_A_GPU, write_document
from planner.measure.run.findings import SEVERITIES, Finding, Run, op_text, rate_text, size_text
from planner.measure.run.rules import SUMMING, modulus

PARTS: tuple[Callable[[Run], list[Finding]], ...] = (link_findings, device_findings, rank_findings)
_HEADS = {
    "ok": "nothing wrong was found",
    "note": "nothing wrong was found",
    "warning": "something looks wrong",
    "fault": "something is wrong",
}
_MARKS = {"ok": "ok", "note": "note", "warning": "WARN", "fault": "FAULT"}


def diagnose(document: dict[str, Any]) -> dict[str, Any]:
    """The verdict (the worst severity) and the findings, the worst first, else in the order of the run.

    >>> diagnose({"backend": "gloo"})["verdict"]
    'warning'
    """
    run = Run(document)
    findings = [*_about_the_run(run), *_results(run)]
    if run.on_gpu:
        for part in PARTS:
            findings += part(run)
    ordered = sorted(findings, key=lambda item: -SEVERITIES.index(item.severity))
    worst = ordered[0].severity if ordered else "note"
    return {"verdict": worst, "findings": [item.recorded() for item in ordered]}


def _about_the_run(run: Run) -> list[Finding]:
    found = []
    if run.document.get("backend") == "gloo":
        found.append(Finding("backend.gloo", "warning", NOT_A_GPU[0].upper() + NOT_A_GPU[1:] + "."))
    elif run.expectation is None:
        named = (
            run.device_name
            or ", ".join(sorted({str(item.get("name")) for item in run.devices}))
            or "no device"
        )
        found.append(Finding("expectation.unknown", "note",
                             f"No expectation is known for {named}; its figures stand without a judgement."))  # fmt: skip
    if run.document.get("complete") is False:
        said = "; ".join(str(note) for note in run.document.get("notes") or [] if note != NOT_A_GPU)
        found.append(Finding("run.incomplete", "note",
                             f"The run isn't complete{': ' + said if said else ''}. What was measured stands."))  # fmt: skip
    failed: dict[str, list[str]] = {}
    for section, points in (run.document.get("sections") or {}).items():
        for point in points:
            if "error" in point:
                failed.setdefault(f"{section}: {point['error']}", []).append(section)
    for text, places in failed.items():
        found.append(
            Finding("run.errors", "note", f"{len(places)} points failed, {text}.", {"points": len(places)})
        )
    return found


def _results(run: Run) -> list[Finding]:
    """Whether every collective gave the right numbers, and what numbers those were."""
    points = run.points("nccl")
    if not points:
        return []
    wrong = [point for point in points if point.get("wrong_elements")]
    if wrong:
        named = dict.fromkeys(f"{op_text(p['op'])} {p['dtype']} over {p['ranks']} ranks" for p in wrong)
        count = sum(int(point["wrong_elements"]) for point in wrong)
        return [Finding("nccl.wrong_results", "fault",
                        f"Wrong results: {count:,} elements in {len(wrong)} of {len(points)} points "
                        f"({'; '.join(list(named)[:4])}). Don't use these figures, nor this machine for training.",
                        {"wrong_elements": count, "points": len(wrong)})]  # fmt: skip
    dtypes = list(dict.fromkeys(str(point["dtype"]) for point in points))
    sums = [point for point in points if point["op"] in SUMMING]
    values = ""
    if sums:
        most = max((modulus(p["op"], p["dtype"], p["ranks"]) - 1) // 2 for p in sums)
        kinds = " and ".join(dict.fromkeys(str(point["dtype"]) for point in sums))
        values = f", measured with {kinds} sums of whole numbers from -{most} to {most} (exact in any order)"
    return [Finding("nccl.results", "ok", f"All {len(points)} collective points gave the right result{values}.",
                    {"points": len(points), "dtypes": dtypes})]  # fmt: skip


def text(diagnosis: dict[str, Any], *, width: int = 80) -> str:
    """The diagnosis for a terminal.

    >>> print(text({"verdict": "ok", "findings": [{"severity": "ok", "sentence": "All is well."}]}), end="")
    Diagnosis: nothing wrong was found.
      ok     All is well.
    """
    lines = [f"Diagnosis: {_HEADS[diagnosis['verdict']]}."]
    for finding in _folded(diagnosis["findings"]):
        mark = f"  {_MARKS[finding['severity']]:<7}"
        lines += textwrap.wrap(finding["sentence"], width, initial_indent=mark, subsequent_indent=" " * len(mark),
                               break_on_hyphens=False)  # fmt: skip
    return "\n".join(lines) + "\n"


def _folded(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings with a group's other collectives in one sentence, where nothing is wrong with them."""
    found: list[dict[str, Any]] = []
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for finding in findings:
        figures = finding.get("figures") or {}
        plain = finding["severity"] in ("ok", "note") and "busbw_gbit_per_s" in figures
        if not plain or figures["op"] == "all_reduce":
            found.append(finding)
            continue
        said = f"{op_text(figures['op'])} {rate_text(figures['busbw_gbyte_per_s'])}"
        key = (finding["severity"], figures["group"])
        if key in rows:
            rows[key]["sentence"] = f"{rows[key]['sentence'][:-1]}; {said}."
            continue
        how = ", each as expected" if finding["severity"] == "ok" else ""
        start = f"Bus bandwidth of others in {figures['group']} at {size_text(figures['size_bytes'])}{how}"
        rows[key] = {**finding, "sentence": f"{start}: {said}."}
        found.append(rows[key])
    return found


def conclude(path: Path) -> dict[str, Any] | None:
    """Diagnose a result on disk and store the diagnosis in it; None where there is no readable result."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict) or document.get("kind") != "bench":
        return None
    document["diagnosis"] = diagnose(document)
    write_document(path, document)
    found: dict[str, Any] = document["diagnosis"]
    return found


def tell(path: Path, *, as_json: bool) -> None:
    """Diagnose a result on disk, store that in it, and print it: the run's answer, on stdout."""
    found = conclude(path)
    if found is None:
        return
    sys.stdout.write(json.dumps(found, indent=1) + "\n" if as_json else text(found))
    sys.stdout.flush()
