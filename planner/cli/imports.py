"""The import command: an edited workbook in, the scenario with its edits out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.errors import InputError, Place, Problem, ScenarioError

if TYPE_CHECKING:
    from planner.catalog.store import Catalog
    from planner.evaluate import Evaluation
    from planner.intake.edited import Imported, Written
    from planner.intake.workbook import Carried

_TOTALS = ("capex.total_usd", "opex.year1_usd", "tco.npv_usd", "unit.usd_per_gpu_hour")


def import_workbook(workbook: Path, *, output: Path, catalog: Sequence[Path], force: bool) -> int:
    """Write the scenario that gives an edited workbook's totals.

    Raises:
        InputError: Every edit that is none of an input, with its cell; or the workbook can't be read.
    """
    from planner.catalog.store import open_catalog
    from planner.intake.workbook import carried, open_workbook
    from planner.whole_file import replace_file

    shelf = open_catalog(catalog)
    given = open_workbook(workbook)
    origin = carried(given, str(workbook))
    found = read_import(given, origin, workbook.name, shelf, beside=output.parent)
    _refuse_to_lose(output, origin, force)
    replace_file(output, found.text.encode())
    for line in said(found):
        print(line, file=sys.stderr)
    print(f"written: {output}")
    return 0


def read_import(given: Any, origin: Carried, name: str, shelf: Catalog, *, beside: Path) -> Imported:
    """The scenario with the edits of an open workbook.

    Args:
        given: The workbook, as openpyxl reads it.
        origin: The scenario it carries.
        name: File that the problems speak of.
        shelf: The catalog.
        beside: Folder that the scenario goes to. What it extends has to lie there, else it is written into it.

    Raises:
        InputError: Every problem of the edits.
    """
    from planner.intake.edited import imported
    from planner.intake.workbook import read_edits, read_workbook, typed_limits
    from planner.present.workbook import workbook_bytes
    from planner.present.workbook.selector import cases_of, followed_keys

    base = written_from(given, origin, name, shelf)
    expected = read_workbook(workbook_bytes(base), name)
    try:
        edits, wrong = read_edits(given, expected, name, followed=followed_keys(base), cases=cases_of(base))
    except InputError as error:
        raise InputError([*_other_catalog(base, origin, name), *error.problems]) from error
    try:
        found = imported(
            base, edits, shelf, book=name, folder=beside, standalone=not _at_hand(origin, beside)
        )
    except InputError as error:
        raise InputError([*wrong, *error.problems]) from error
    if wrong:
        raise InputError(wrong)
    if cells := typed_limits(given, expected):
        print(
            f"not read: limits in {', '.join(cells)} of Summary; state them under limits in the scenario",
            file=sys.stderr,
        )
    return found


def written_from(given: Any, origin: Carried, name: str, shelf: Catalog) -> Evaluation:
    """The plan that a workbook was written from, evaluated again.

    Raises:
        InputError: Its text was changed, or it can't be built.
    """
    from planner.evaluate import evaluate
    from planner.intake.workbook import CHANGES, has_ranges
    from planner.scenario.load import load_texts
    from planner.study.risk import with_ranges_and_swings

    place = Place(name)
    loaded = load_texts(origin.texts, changes=origin.changes)
    evaluation = evaluate(loaded, shelf)
    if origin.digests[0] != loaded.digest():
        raise ScenarioError(
            Problem("the scenario's text was changed", Place(f"{name}, {CHANGES}"),
                    remedy="change values on Inputs, or the scenario's own file")
        )  # fmt: skip
    if not evaluation.feasible:
        raise InputError(
            Problem(
                "is of a plan that can't be built, and has no inputs", place, remedy="change the scenario"
            )
        )
    return with_ranges_and_swings(evaluation) if has_ranges(given) else evaluation


def _other_catalog(base: Evaluation, origin: Carried, name: str) -> list[Problem]:
    """That the figures are of another catalog, which would explain cells that differ.

    Hashes alone prove nothing: they are of all items that were read, and a run with remedies reads more.
    """
    here, there = base.parts.catalog.digest(), origin.digests[1]
    if here == there:
        return []
    return [
        Problem(f"may be of another catalog or version ({there}; here is {here}); then its totals can't be reached",
                Place(name), remedy="give that catalog with --catalog; or run the scenario again, and edit the new workbook")
    ]  # fmt: skip


def _at_hand(origin: Carried, beside: Path) -> bool:
    """Whether what the scenario extends will be found from the folder it is written to, unchanged."""
    from planner.scenario.load import merge_text

    if len(origin.texts) == 1:
        return True
    try:
        document, _ = merge_text(origin.texts[0][1], beside / "scenario.yaml")
    except InputError:
        return False
    return [text.splitlines() for _, text in document.texts[1:]] == [
        text.splitlines() for _, text in origin.texts[1:]
    ]


def _refuse_to_lose(output: Path, origin: Carried, force: bool) -> None:
    """A file that holds something else than the workbook's scenario isn't replaced unasked.

    Raises:
        InputError: It would be.
    """
    from planner.documents import load_document

    if force or not output.exists():
        return
    if load_document(output).texts[0][1].splitlines() != origin.texts[0][1].splitlines():
        raise InputError(
            Problem("is there, and is not the scenario that the workbook was made from", Place(str(output)),
                    remedy="give another name, or --force to replace it")
        )  # fmt: skip


def said(found: Imported) -> list[str]:
    """What became of each edit, and the new totals."""

    ledger = found.evaluation.ledger
    lines = [_said(one, ledger[one.edit.key].unit) for one in found.written]
    if not lines:
        lines = ["no input was changed"]
    totals = (f"{ledger[key].label} {ledger.scalar(key):,.2f} {ledger[key].unit}" for key in _TOTALS)
    return [*lines, f"it comes to: {'; '.join(totals)}"]


def _said(one: Written, unit: str) -> str:
    from planner.present.workbook.inputs import with_unit

    edit = one.edit
    where = f"case '{edit.case}'" if edit.case else edit.cell
    change = f"{where}: {edit.key}: {with_unit(edit.planned, unit)} -> {with_unit(edit.value, unit)}"
    if one.path[0] != "overrides":
        return f"{change}, as {'.'.join(str(step) for step in one.path)}"
    why = (
        f", since the scenario's own field would change {', '.join(one.besides[:2])} too"
        if one.besides
        else ""
    )
    return f"{change}, as an override{why}"
