"""Turns edits of a workbook into a scenario: fields where one stands for the input, overrides elsewhere.

A field is written only where it does what the edit does: the input gets the value, and nothing else that
the planner reads or computes changes. Everything else becomes an override, so that running the scenario
gives the workbook's totals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from planner.catalog.store import Catalog
from planner.documents import Path_
from planner.errors import Place, PlannerError, Problem, ScenarioError
from planner.evaluate import Evaluation, evaluate
from planner.intake.named_files import as_read, renamed_files
from planner.intake.workbook import Edit
from planner.ledger import Kind, Ledger
from planner.scenario.edit import override
from planner.scenario.load import Loaded, load_texts
from planner.scenario.schema import Scenario
from planner.scenario.yamltext import block

_SAME: Final = 1e-12
_ORDER: Final = ".order_month"


@dataclass(frozen=True, slots=True)
class Written:
    """An edit and the place of the scenario it went to.

    Attributes:
        path: Field, or ``("overrides", key)``.
        value: What was written there.
        besides: Other lines that the field would have changed, where that made it an override.
    """

    edit: Edit
    path: Path_
    value: Any
    besides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """The scenario's text with the edits, what went where, and what it comes to."""

    text: str
    written: tuple[Written, ...]
    evaluation: Evaluation


def imported(
    base: Evaluation,
    edits: Sequence[Edit],
    catalog: Catalog,
    *,
    book: str,
    folder: Path,
    standalone: bool = False,
) -> Imported:
    """The scenario behind a workbook, with what a reader changed.

    Args:
        base: The plan as the workbook was written from it.
        edits: What was changed.
        catalog: Where parts are looked up.
        book: Name of the workbook, for the reasons of overrides.
        folder: Where the scenario is going to lie: files that it names are named from there.
        standalone: Write what the scenario extends into it, since that isn't at hand.

    Raises:
        ScenarioError: Every value that the scenario can't have, with its cell.
    """
    start = _start(base.loaded, folder, standalone)
    wishes = [_wish(base, edit, book) for edit in edits]
    found = _tried(start, wishes, catalog, book)
    if _others(base.ledger, found.ledger, wishes):
        wishes = [_checked(base, start, wish, catalog, book) for wish in wishes]
        found = _tried(start, wishes, catalog, book)
        left = _others(base.ledger, found.ledger, wishes)
        if left:
            raise ScenarioError(
                Problem(f"the edits change {', '.join(left[:3])} too, which the workbook keeps", Place(book),
                        remedy="make them in the scenario, and run it again")
            )  # fmt: skip
    return Imported(found.loaded.document.texts[0][1], tuple(wishes), found)


def _start(loaded: Loaded, folder: Path, standalone: bool) -> Loaded:
    """The scenario with what the command line changed written into its text, and files named from the folder.

    They are read where the scenario read them, since the folder needn't be there yet.
    """
    texts, data = loaded.document.texts, loaded.document.data
    renamed = dict(renamed_files(loaded, folder, standalone=standalone))
    files = as_read(loaded)
    if standalone or not texts:
        plain = {key: value for key, value in data.items() if key != "extends"} | renamed
        head = f"# {loaded.document.path} with all it extends, in one file.\n" if loaded.bases else ""
        return load_texts([(loaded.document.path, head + "\n".join(block(plain)) + "\n")], changes=files)
    text = texts[0][1]
    changes = [(at, value) for at, value in _changes(loaded) if at[0] not in renamed]
    for at, value in [*changes, *(((field,), names) for field, names in renamed.items())]:
        text = override(text, data, at, value)
    return load_texts([(texts[0][0], text), *texts[1:]], changes=files)


def _changes(loaded: Loaded) -> Iterable[tuple[Path_, Any]]:
    """Values set on the command line, whole ones: not again the parts of a mapping."""
    places = loaded.document.places
    for path, place in places.items():
        if place.path.startswith("--set") and (not path or places.get(path[:-1]) != place):
            yield path, _at(loaded.document.data, path)


def _at(data: Any, path: Path_) -> Any:
    for step in path:
        held = isinstance(data, dict) and step in data
        data = (
            data[step]
            if held or (isinstance(data, list) and isinstance(step, int) and step < len(data))
            else None
        )
    return data


def _wish(base: Evaluation, edit: Edit, book: str) -> Written:
    """Where an edit belongs, by the input's source."""
    loaded, line = base.loaded, base.ledger[edit.key]
    if edit.key in loaded.scenario.overrides:
        return _overriding(base, edit, book)
    path = line.source.field if line.source is not None else ()
    if edit.key.endswith(_ORDER) and path[:1] == ("phases",) and len(path) == 2:
        return Written(edit, (*path, "order"), _month_after(loaded, path, edit))
    path = path or _field_of(edit.key)
    scale = _scale(loaded, path, edit.planned)
    if not path or scale is None:
        return _overriding(base, edit, book)
    value: Any = edit.value / scale
    if isinstance(_held(loaded, path), int) and value == int(value):
        value = int(value)
    return Written(edit, path, value)


def _overriding(base: Evaluation, edit: Edit, book: str, besides: tuple[str, ...] = ()) -> Written:
    said = f"case '{edit.case}' of {book}" if edit.case else f"edited in {book}, cell {edit.cell}"
    wish = {"value": edit.value, "unit": base.ledger[edit.key].unit, "reason": said}
    return Written(edit, ("overrides", edit.key), wish, besides)


def _field_of(key: str) -> Path_:
    """The scenario's field of the same name as a ledger line; empty where there is none.

    >>> _field_of("site.electricity_usd_per_kwh"), _field_of("price.qm9700.price_usd")
    (('site', 'electricity_usd_per_kwh'), ())
    """
    first, _, last = key.partition(".")
    field = Scenario.model_fields.get(first)
    inner: Any = field.annotation if field is not None else None
    return (first, last) if last in getattr(inner, "model_fields", {}) else ()


def _held(loaded: Loaded, path: Path_) -> Any:
    """What the validated scenario has in a field, its default included."""
    here: Any = loaded.scenario
    for step in path:
        if here is None:
            return None
        if isinstance(step, int):
            here = here[step] if isinstance(here, tuple) and step < len(here) else None
        else:
            here = here.get(step) if isinstance(here, dict) else getattr(here, step, None)
    return here


def _scale(loaded: Loaded, path: Path_, planned: float) -> float | None:
    """How many of the line's units make one of the field's: a power of ten; None where they don't match."""
    held = _held(loaded, path) if path else None
    if path and held is None:
        return 1.0  # a field in the line's unit that is not set; what it does is looked at afterwards
    if isinstance(held, bool) or not isinstance(held, int | float):
        return None
    if held == 0 or planned == 0:
        return 1.0 if held == planned else None
    power = round(math.log10(planned / held)) if planned / held > 0 else 0
    return 10.0**power if math.isclose(planned / held, 10.0**power, rel_tol=_SAME) else None


def _month_after(loaded: Loaded, path: Path_, edit: Edit) -> str:
    """Date of an order so many months after the first."""
    orders = [phase.order for phase in loaded.scenario.phases]
    if edit.value != int(edit.value):
        raise ScenarioError(
            Problem(f"is {edit.value:g}, and must be a whole number of months", Place(edit.cell), edit.key)
        )
    year, month = (int(part) for part in min(orders)[:7].split("-"))
    years, rest = divmod(month - 1 + int(edit.value), 12)
    position = path[1]
    assert isinstance(position, int)
    return f"{year + years:04}-{rest + 1:02}{orders[position][7:]}"


def _tried(start: Loaded, wishes: Iterable[Written], catalog: Catalog, book: str) -> Evaluation:
    """The plan with the edits written into it.

    Raises:
        ScenarioError: Values it can't have, each with the cell it was typed in.
    """
    texts, cells = start.document.texts, {}
    text, data = texts[0][1], start.document.data
    for wish in wishes:
        text = override(text, data, wish.path, wish.value)
        cells[".".join(str(step) for step in wish.path)] = wish.edit
    try:
        loaded = load_texts([(texts[0][0], text), *texts[1:]], changes=as_read(start))
        found = evaluate(loaded, catalog)
        if found.refusal is not None:
            raise found.refusal
    except PlannerError as error:
        raise ScenarioError(_in_cells(error.problems, cells, book)) from error
    return found


def _in_cells(problems: Sequence[Problem], cells: Mapping[str, Edit], book: str) -> list[Problem]:
    """Problems of the new text, at the cells that they come from."""
    said = []
    for problem in problems:
        edit = cells.get(problem.key) or cells.get(problem.key.removesuffix(".value"))
        if edit is None:
            said.append(problem)
        else:
            said.append(replace(problem, place=Place(f"{book}, {edit.cell}"), key=edit.key))
    return said


def _others(before: Ledger, after: Ledger, wishes: Iterable[Written]) -> list[str]:
    """Given and computed lines that are not what the workbook has."""
    typed = {wish.edit.key: wish.edit.value for wish in wishes}
    odd = [key for key in before.lines if key not in after] + [
        key for key in after.lines if key not in before
    ]
    for line in before:
        if line.kind is Kind.DERIVED or line.key not in after:
            continue
        wanted = np.array([typed[line.key]]) if line.key in typed else before.value(line)[:1]
        found = after.value(line.key)[:1]
        if wanted.shape != found.shape or not np.allclose(
            wanted, found, rtol=_SAME, atol=0.0, equal_nan=True
        ):
            odd.append(line.key)
    return odd


def _checked(base: Evaluation, start: Loaded, wish: Written, catalog: Catalog, book: str) -> Written:
    """The wish, or an override where its field does something else besides."""
    if wish.path[0] == "overrides":
        return wish
    besides = _others(base.ledger, _tried(start, [wish], catalog, book).ledger, [wish])
    return _overriding(base, wish.edit, book, tuple(besides)) if besides else wish
