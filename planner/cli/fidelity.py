"""The fidelity command: measured rows beside their predictions, the misses included."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from planner.catalog.store import Catalog, open_catalog
from planner.cli.anchor import anchored_json, anchored_lines, anchored_rows
from planner.cli.fit_text import fit_lines, progress
from planner.cli.serving_anchor import (
    anchored_inference,
    anchored_inference_json,
    anchored_inference_lines,
)
from planner.cli.serving_fit_text import definition_lines, serving_fit_lines
from planner.errors import InputError, Problem
from planner.present import format as fmt
from planner.scenario.serving_points import is_table
from planner.study.fidelity.report import Fidelity, GroupReport, predict_rows, to_json
from planner.study.fidelity.rows import Rows, read_rows, shipped_files
from planner.study.fidelity.schema import Group
from planner.study.fidelity.scoring import Result, Scores, split, worst
from planner.study.fit.report import TrainingFit, training_fit
from planner.study.fit.report import to_json as fit_json
from planner.study.fit.serving_report import serving_fit
from planner.study.fit.serving_report import to_json as serving_fit_json

MISSES = 8
"""Misses of a group that are listed."""
WIDTH = 80
BEGIN, END = "<!-- fidelity: begin -->", "<!-- fidelity: end -->"
"""Marks around the table in the README."""

HEAD = ("rows", "predicted", "median", "p90", "bias")


def compare(
    files: Sequence[Path],
    *,
    catalog: Sequence[Path],
    as_json: bool,
    leave_out: bool = False,
    anchors: Sequence[Path] = (),
) -> int:
    """Predict every row of the files, or of those that ship, and print the errors.

    Args:
        files, catalog, as_json: As on the command line.
        leave_out: Fit the models of training and serving to the rows, and again without each part of them.
        anchors: Files of measured runs that correct rows of their kind, shown without and with them.

    Raises:
        InputError: Files that can't be read and rows that are wrong, all of them.
    """
    paths = list(files) or list(shipped_files())
    if not paths:
        raise InputError(
            Problem("no measured rows ship with this installation", remedy="name a file of them")
        )
    rows, shelf = read_rows(paths), open_catalog(catalog)
    corrected = anchored_rows(rows.training, shelf, anchors)
    tables = [path for path in anchors if is_table(path)]
    endpoints = anchored_inference(rows.of(Group.INFERENCE), shelf, tables)
    found = predict_rows(rows, shelf)
    fit = _fit(rows, shelf) if leave_out else None
    served = serving_fit(rows.of(Group.INFERENCE), shelf, report=progress) if leave_out else None
    if as_json:
        whole = to_json(found)
        if fit is not None:
            whole[Group.TRAINING.value]["fit"] = fit_json(fit)
        if served is not None:
            whole[Group.INFERENCE.value]["fit"] = serving_fit_json(served)
        if corrected is not None:
            whole[Group.TRAINING.value]["anchored"] = anchored_json(corrected)
        if endpoints is not None:
            whole[Group.INFERENCE.value]["anchored"] = anchored_inference_json(endpoints)
        print(json.dumps(whole, indent=1, allow_nan=False))
    else:
        lines = [*text(found), *(["", *fit_lines(fit)] if fit is not None else [])]
        lines += ["", *serving_fit_lines(served)] if served is not None else []
        if corrected is not None:
            lines += ["", *anchored_lines(corrected)]
            if corrected.before:
                lines += _table("rows of that kind", zip(("without", "with"), corrected.scores, strict=True))
        if endpoints is not None:
            lines += ["", *anchored_inference_lines(endpoints)]
            for target in dict.fromkeys(one.target for one in endpoints.before):
                pair = zip(("without", "with"), endpoints.scores(target), strict=True)
                lines += ["", *_table(f"{target} of their rows", pair)]
        print("\n".join(lines))
    return 0


def _fit(rows: Rows, catalog: Catalog) -> TrainingFit | None:
    return training_fit([row for row in rows.of(Group.TRAINING) if row.scorable], catalog, report=progress)


def text(found: Fidelity) -> list[str]:
    """Lines for a terminal: all groups, then the families, misses and reasons of each."""
    lines = [
        "Error: predicted / measured - 1, of times where a time or a rate was measured.",
        "Every family of rows counts alike.",
        "",
        *_table("group", [(one.group.value, one.scores) for one in found.groups.values()]),
    ]
    for one in found.groups.values():
        if one.rows:
            lines += ["", *_group(one)]
    return lines


def _group(one: GroupReport) -> list[str]:
    lines = [f"{one.group.value.upper()}", *_table("family", split(one.results, lambda r: r.family).items())]
    for name, parts in (
        ("target", one.by_target if one.group is Group.INFERENCE else {}),
        ("dense or mixture of experts", split(one.results, lambda r: r.kind)),
        ("fitted on it or not", one.samples),
    ):
        if len(parts) > 1:
            lines += ["", *_table(name, parts.items())]
    if one.group is Group.INFERENCE:
        lines += ["", *definition_lines()]
    misses = worst(one.results, MISSES)
    if misses:
        lines += ["", "largest misses", *_misses(misses)]
    reasons = Counter(result.why_not for result in one.results if result.predicted is None)
    if reasons:
        lines += ["", "not predicted"]
        for reason, count in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])):
            lines += _wrapped(f"{count:>5,}  ", reason)
    if one.group in (Group.TRAINING, Group.INFERENCE):
        lines += ["", "families left out of a fit: planner fidelity --leave-out"]
    if one.skipped:
        lines += ["", f"{len(one.skipped)} rows left out: scorable is false"]
    return lines


def _table(name: str, parts: Iterable[tuple[str, Scores]]) -> list[str]:
    rows = [(name, *HEAD), *((part, *_figures(figures)) for part, figures in parts)]
    return _columns(rows)


def _figures(figures: Scores) -> tuple[str, ...]:
    return (
        fmt.count(figures.rows),
        fmt.count(figures.rows_predicted),
        _share(figures.median_abs_error),
        _share(figures.p90_abs_error),
        _signed(figures.bias),
    )


def _share(fraction: float | None) -> str:
    return fmt.NOTHING if fraction is None else f"{fmt.percent(fraction)} %"


def _signed(fraction: float | None) -> str:
    if fraction is None:
        return fmt.NOTHING
    return f"{'+' if fraction >= 0 else '-'}{fmt.percent(abs(fraction))} %"


def _misses(results: Sequence[Result]) -> list[str]:
    rows = [("row", "unit", "measured", "predicted", "error")]
    for one in results:
        assert one.measured is not None and one.predicted is not None
        rows.append(
            (
                one.id, one.unit, fmt.short(one.measured), fmt.short(one.predicted), _signed(one.error)
            )
        )  # fmt: skip
    return _columns(rows)


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Aligned columns within the width; the first one is cut in its middle where it is too long."""
    others = [max(len(row[index]) for row in rows) for index in range(1, len(rows[0]))]
    room = WIDTH - sum(others) - 2 * len(others)
    first = min(max(len(row[0]) for row in rows), room)
    return [
        "  ".join(
            [_cut(row[0], first).ljust(first), *(cell.rjust(width) for cell, width in zip(row[1:], others, strict=True))]
        ).rstrip()
        for row in rows
    ]  # fmt: skip


def _cut(words: str, width: int) -> str:
    """Text whose middle gives way; the end tells rows of one file apart.

    >>> _cut("A-megatron-bridge-0094", 12)
    'A-meg...0094'
    """
    if len(words) <= width:
        return words
    end = (width - 3) // 2
    return f"{words[: width - 3 - end]}...{words[-end:]}"


def _wrapped(lead: str, words: str) -> list[str]:
    from textwrap import wrap

    return wrap(words, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead))


def readme_table(found: Fidelity) -> str:
    """The table that the README shows: every group and its families, in Markdown."""
    head = "| rows | number | predicted | median error | p90 | bias |"
    lines = [head, "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for one in found.groups.values():
        lines.append(_markdown(f"**{one.group.value}**", one.scores))
        lines += [
            _markdown(name, figures)
            for name, figures in split(one.results, lambda result: result.family).items()
            if figures.rows_predicted
        ]
    return "\n".join(lines)


def _markdown(name: str, figures: Scores) -> str:
    return f"| {' | '.join((name, *_figures(figures)))} |"


def table_of_readme(readme: str) -> str:
    """What stands between the marks of a README; empty where they aren't there."""
    _, begin, rest = readme.partition(BEGIN)
    inside, end, _ = rest.partition(END)
    return inside.strip() if begin and end else ""


def put_into_readme(readme: str, table: str) -> str:
    """A README with another table between its marks."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin and end, "the README has lost the marks of its fidelity table"
    return f"{before}{begin}\n{table}\n{end}{after}"
