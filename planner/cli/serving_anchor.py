"""Serving anchors on the command line: written from a benchmark, and shown beside the model."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.catalog.devices import accelerator_named
from planner.catalog.store import Catalog
from planner.errors import InputError, Place, Problem
from planner.measure.parse.serve_steps import anchor_points, measured_points
from planner.scenario.serving_points import COLUMNS, is_table, load_serving_anchors

if TYPE_CHECKING:
    from planner.performance.anchors import Ratio
    from planner.performance.serving_anchors import Anchored, Factors
    from planner.study.fidelity.schema import InferenceRow
    from planner.study.serving_anchored import AnchoredRows


def wants_serving(document: dict[str, Any], output: Path) -> bool:
    """Whether a bench result is to become a table of serving points: it holds no training steps, or a CSV is asked."""
    return bool(measured_points(document)) and (is_table(output) or not document["sections"].get("train"))


def write_serving_anchor(
    document: dict[str, Any], result: Path, shelf: Catalog, *, output: Path, accelerator: str | None
) -> int:
    """Write the serving steps of a bench result as a table of points, and print them beside the model.

    Raises:
        InputError: The result was measured on CPUs, or on an accelerator that isn't known.
    """
    from planner.whole_file import replace_file

    output = output if is_table(output) else output.with_suffix(".csv")
    replace_file(output, anchor_table(serving_points(document, result, shelf, accelerator)).encode())
    print("\n".join(comparison(output, shelf)))
    print(f"wrote {output}; apply it with planner run SCENARIO --anchor {output}", file=sys.stderr)
    return 0


def take_table(table: Path, shelf: Catalog, *, output: Path) -> int:
    """Check a table of points that people measured, print them beside the model, and write it with the catalog's names.

    Raises:
        InputError: Everything that is wrong with it; or it would overwrite itself.
    """
    from planner.performance.serving_anchors import catalogued
    from planner.whole_file import replace_file

    output = output if is_table(output) else output.with_suffix(".csv")
    if output.resolve() == table.resolve():
        raise InputError(Problem("would be written over itself", Place(str(table)), remedy="another -o FILE"))
    said = comparison(table, shelf)
    points = [catalogued(one, shelf).point for one in load_serving_anchors([table])]
    rows = [one.model_dump(mode="json", exclude_none=True) for one in points]
    replace_file(output, anchor_table(rows).encode())
    print("\n".join(said))
    print(f"wrote {output}; apply it with planner run SCENARIO --anchor {output}", file=sys.stderr)
    return 0


def serving_points(
    document: dict[str, Any], result: Path, shelf: Catalog, accelerator: str | None
) -> list[dict[str, Any]]:
    """Points of a bench result.

    Raises:
        InputError: It holds none of a GPU that the catalog has.
    """
    where, problems = Place(str(result)), []
    if not document.get("usable_for_calibration"):
        problems.append(Problem("was measured on CPUs", where, remedy="run planner bench serve on the GPUs"))
    names = {str(one.get("name")) for one in document.get("environment", {}).get("devices") or []}
    gpu = accelerator or next(
        (one for name in sorted(names) if (one := accelerator_named(shelf, name))), None
    )
    if gpu is None:
        said = ", ".join(sorted(names)) or "no accelerator"
        problems.append(
            Problem(f"names {said}, which the catalog doesn't have", where, remedy="give --accelerator ID")
        )
    if problems or gpu is None:
        raise InputError(problems)
    try:
        points = anchor_points(document, gpu=gpu, date=str(document.get("started_utc") or "")[:10])
    except KeyError as error:
        raise InputError(Problem(f"a serving step states no {error}", where)) from error
    if not points:
        raise InputError(
            Problem("holds no decode steps with their output head", where, remedy="planner bench serve -o FILE measures them")
        )  # fmt: skip
    return points


def anchor_table(points: Sequence[dict[str, Any]]) -> str:
    """The table: one point a row.

    >>> print(anchor_table([{"model": "m", "gpu": "g", "concurrency": 4, "tpot_ms": "9.5"}]), end="")
    model,gpu,engine,precision,concurrency,isl,osl,ttft_ms,tpot_ms,tp,date
    m,g,,,4,,,,9.5,,
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(points)
    return text.getvalue()


def comparison(table: Path, shelf: Catalog) -> list[str]:
    """Each point measured and predicted without any factor, and the factors that they give."""
    from planner.performance.serving_anchors import anchored_endpoints, priors

    lines: list[str] = []
    for one in anchored_endpoints(load_serving_anchors([table]), shelf):
        lines += ["", str(one.endpoint), *_points(one), *factor_lines(one.factors(priors(shelf)))]
    return lines[1:]


def _points(found: Anchored) -> list[str]:
    lines = [
        f"{'concurrency':>11}{'in':>7}{'out':>7}{'tp':>4}{'TPOT ms':>10}{'said':>9}{'error':>9}{'TTFT ms':>10}{'said':>9}{'error':>9}"
    ]
    for anchor, said in zip(found.anchors, found.latencies, strict=True):
        point = anchor.point
        pairs = ((point.tpot_ms, said.per_token_s), (point.ttft_ms, said.first_token_s))
        figures = "".join(
            _pair(measured, float(predicted[0]) * 1e3) for measured, predicted in pairs
        ).rstrip()
        lines.append(f"{point.concurrency:>11g}{point.isl:>7}{point.osl:>7}{point.tp:>4}{figures}")
    return lines


def _pair(measured: float | None, predicted: float) -> str:
    """Measured, predicted and error in columns; blank where one of them isn't known."""
    if measured is None or isnan(predicted):
        return " " * 28
    return f"{measured:>10.4g}{predicted:>9.4g}{(predicted / measured - 1.0) * 100.0:>+8.1f}%"


def factor_lines(found: Factors) -> list[str]:
    """Factors in words."""
    first = "too few points with a TTFT, which stays as it is"
    if found.first_token is not None:
        first = _ratio(found.first_token)
    return [
        f"TPOT measured over predicted: {_ratio(found.per_token)}",
        f"TTFT measured over predicted: {first}",
    ]


def _ratio(ratio: Ratio) -> str:
    return f"{ratio.value:.3f}, a further point {ratio.low:.3f} to {ratio.high:.3f}"


def anchored_inference(
    rows: Sequence[InferenceRow], shelf: Catalog, tables: Sequence[Path]
) -> AnchoredRows | None:
    """Serving rows without and with the factors of tables; None where no table is named.

    Raises:
        InputError: Tables that are wrong.
    """
    if not tables:
        return None
    from planner.study.serving_anchored import anchored_serving

    return anchored_serving(rows, shelf, load_serving_anchors(tables))


def anchored_inference_lines(found: AnchoredRows) -> list[str]:
    """The factors of anchors, and which rows they speak about."""
    lines = ["WITH SERVING ANCHORS"]
    for endpoint, factors in found.factors.items():
        lines += [str(endpoint), *(f"  {line}" for line in factor_lines(factors))]
    touched = len({one.id.rpartition(".")[0] for one in found.before})
    return [*lines, f"{touched:,} serving rows are of these endpoints, {found.others:,} are left as they are"]


def anchored_inference_json(found: AnchoredRows) -> dict[str, Any]:
    """The same as plain data, with the errors without and with by target."""
    by_target = {target: found.scores(target) for target in dict.fromkeys(one.target for one in found.before)}
    return {
        "factors": {str(endpoint): asdict(factors) for endpoint, factors in found.factors.items()},
        "without": {target: asdict(before) for target, (before, _) in by_target.items()},
        "with": {target: asdict(after) for target, (_, after) in by_target.items()},
        "others": found.others,
    }
