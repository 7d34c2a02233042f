"""Anchor files: written from a benchmark, and named on the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.catalog.devices import accelerator_named
from planner.catalog.store import Catalog, open_catalog
from planner.errors import InputError, Place, Problem
from planner.measure.parse.train_steps import anchor_run, measured_steps
from planner.scenario.serving_points import is_table
from planner.scenario.yamltext import inline

if TYPE_CHECKING:
    from planner.performance.anchors import Ratio
    from planner.study.anchored import Anchored
    from planner.study.fidelity.schema import TrainingRow


def with_anchors(changes: list[str], anchors: Sequence[Path]) -> list[str]:
    """Changes of a call that names anchor files.

    >>> with_anchors([], [Path("my runs.yaml")])
    ['anchors=[my runs.yaml]']
    """
    return [*changes, f"anchors={inline([str(one) for one in anchors])}"] if anchors else changes


def write_anchor(
    result: Path,
    *,
    output: Path,
    eager: bool,
    accelerator: str | None,
    attention: str,
    name: str,
    catalog: Sequence[Path],
) -> int:
    """Write the training or serving steps of a bench result as an anchor file, and print them beside the model.

    A table of an endpoint's points is checked and written with the catalog's names.

    Raises:
        InputError: The result holds no steps, or of an accelerator that isn't known; the table is wrong.
    """
    from planner.cli.bench import bench_result
    from planner.cli.serving_anchor import take_table, wants_serving, write_serving_anchor
    from planner.scenario.anchors import load_anchors
    from planner.whole_file import replace_file

    shelf = open_catalog(catalog)
    if is_table(result):
        return take_table(result, shelf, output=output)
    document = bench_result(result)
    if wants_serving(document, output):
        return write_serving_anchor(document, result, shelf, output=output, accelerator=accelerator)
    runs = anchor_runs(document, result, shelf, eager=eager, accelerator=accelerator, attention=attention)
    device = runs[0]["accelerator"]
    title = name or f"{runs[0]['stack']} on {device}, {runs[0]['date']}"
    replace_file(output, anchor_text(title, runs).encode())
    print("\n".join(comparison(load_anchors([output]), shelf)))
    print(f"wrote {output}; apply it with planner run SCENARIO --anchor {output}", file=sys.stderr)
    return 0


def anchor_runs(
    document: dict[str, Any], path: Path, shelf: Catalog, *, eager: bool, accelerator: str | None, attention: str
) -> list[dict[str, Any]]:  # fmt: skip
    """Runs of a bench result, those of one kind of software: compiled ones where there are any.

    Raises:
        InputError: There are none, or nothing says on which accelerator.
    """
    where = Place(str(path))
    points = measured_steps(document)
    compiled = any(one.get("compiled") for one in points) and not eager
    points = [one for one in points if bool(one.get("compiled")) is compiled]
    problems = []
    if not points:
        problems.append(
            Problem("holds no training steps", where, remedy="planner bench train -o FILE measures them")
        )
    if not document.get("usable_for_calibration"):
        problems.append(Problem("was measured on CPUs", where, remedy="run planner bench train on the GPUs"))
    named = {str(one.get("name")) for one in document.get("environment", {}).get("devices") or []}
    found = accelerator or next(
        (one for name in sorted(named) if (one := accelerator_named(shelf, name))), None
    )
    if found is None:
        said = ", ".join(sorted(named)) or "no accelerator"
        problems.append(
            Problem(f"names {said}, which the catalog doesn't have", where, remedy="give --accelerator ID")
        )
    if problems or found is None:
        raise InputError(problems)
    date = str(document.get("started_utc") or "")[:10]
    try:
        return [anchor_run(one, accelerator=found, date=date, attention=attention) for one in points]
    except KeyError as error:
        raise InputError(Problem(f"a training step states no {error}", where)) from error


def anchor_text(name: str, runs: Sequence[dict[str, Any]]) -> str:
    """The file: one run a paragraph.

    >>> print(anchor_text("Mine", [{"id": "a", "gpus": 8}]), end="")
    schema_version: 1
    name: Mine
    runs:
      - {id: a, gpus: 8}
    """
    lines = ["schema_version: 1", f"name: {inline(name)}", "runs:"]
    return "\n".join([*lines, *(f"  - {inline(run)}" for run in runs)]) + "\n"


def anchored_rows(rows: Sequence[TrainingRow], shelf: Catalog, anchors: Sequence[Path]) -> Anchored | None:
    """Training rows without and with anchors; None where no file of runs is named.

    Raises:
        InputError: Anchor files that are wrong.
    """
    anchors = [path for path in anchors if not is_table(path)]
    if not anchors:
        return None
    from planner.scenario.anchors import load_anchors
    from planner.study.anchored import anchored

    return anchored([row for row in rows if row.scorable], shelf, load_anchors(anchors))


def anchored_lines(found: Anchored) -> list[str]:
    """The ratios of anchors, and which rows they speak about."""
    lines = ["WITH ANCHORS", *(ratio_line(kind, ratio) for kind, ratio in found.ratios.items())]
    return [
        *lines,
        f"{len(found.before):,} training rows are of their kind, {found.others:,} are left as they are",
    ]


def ratio_line(kind: object, ratio: Ratio) -> str:
    """A ratio in words."""
    return f"{kind}: measured over predicted {ratio.value:.3f}, a further run {ratio.low:.3f} to {ratio.high:.3f}"


def anchored_json(found: Anchored) -> dict[str, Any]:
    """The same as plain data, with the errors without and with."""
    before, after = found.scores
    return {
        "ratios": {str(kind): asdict(ratio) for kind, ratio in found.ratios.items()},
        "without": asdict(before), "with": asdict(after), "others": found.others,
    }  # fmt: skip


def comparison(anchors: Sequence[Any], shelf: Catalog) -> list[str]:
    """Each run measured and predicted, and the ratio that they give together."""
    from planner.performance.anchors import anchor_steps, like
    from planner.present import format as fmt
    from planner.study.anchored import catalog_ratio, predicted_s

    steps = anchor_steps(anchors, shelf)
    lines = [f"{'run':<40}{'measured':>12}{'predicted':>12}{'error':>9}"]
    for one in steps:
        measured, said = one.anchor.run.measured_s, predicted_s(one, shelf)
        error = said / measured - 1.0
        lines.append(
            f"{one.anchor.run.id[:39]:<40}{fmt.short(measured):>10} s{fmt.short(said):>10} s{error * 100:>+8.1f}%"
        )
    for kind in dict.fromkeys(one.kind for one in steps):
        lines.append(ratio_line(kind, catalog_ratio(like(steps, kind), shelf)))
    return lines
