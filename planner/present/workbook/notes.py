"""Sheets of text: publications behind the figures, and what a user gave over."""

from __future__ import annotations

from collections import Counter
from typing import Final

from planner.evaluate import Evaluation
from planner.present.workbook.sheet import Sheet
from planner.present.workbook.styles import number_format, unit_text
from planner.scenario.load import Loaded
from planner.scenario.yamltext import block

_SOURCES: Final = ("Id", "Title", "Publisher", "Date", "Figures", "Where", "Note")
LAST_PRINTED_SOURCES, LAST_PRINTED_CHANGES = 4, 4
"""On paper, addresses and notes would make the rest too small to read."""
CARRIED: Final = "The scenario as it was read, for planner import"
_CHANGES: Final = ("Key", "Name", "Value", "Unit", "Reason", "Where")


def draw_sources(sheet: Sheet, evaluation: Evaluation, status: str) -> None:
    """Every publication that a figure of this plan rests on."""
    known = evaluation.parts.catalog.sources
    used = Counter(
        line.source.source for line in evaluation.ledger if line.source is not None and line.source.source
    )
    sheet.text(0, 0, "Sources", "title")
    sheet.status(0, 2, status)
    sheet.text(
        1, 0, "Publications behind the figures of this plan; Inputs names one for each figure.", "quiet"
    )
    sheet.head(2, _SOURCES, right=frozenset({4}))
    for column, width in enumerate((40, 76, 30, 12, 9, 90, 60)):
        sheet.raw.set_column(column, column, width)
    sheet.raw.freeze_panes(3, 1)
    for row, source_id in enumerate(sorted(used), start=3):
        entry = known.get(source_id)
        sheet.text(row, 0, source_id, "key")
        if entry is not None:
            sheet.text(row, 1, entry.title)
            sheet.text(row, 2, entry.publisher)
            sheet.day(row, 3, str(entry.date or ""))
            sheet.text(row, 5, entry.locator)
            sheet.text(row, 6, entry.note, "quiet")
        sheet.number(row, 4, used[source_id], "text", "0")


def draw_changes(sheet: Sheet, evaluation: Evaluation, status: str) -> None:
    """Overrides with their reasons, and values set on the command line."""
    sheet.text(0, 0, "Changes", "title")
    if status:
        sheet.status(0, 2, status)
    sheet.text(
        1,
        0,
        "Values a user typed over what the planner would say. Cells changed here are marked on Inputs.",
        "quiet",
    )
    sheet.head(2, _CHANGES, right=frozenset({2}))
    for column, width in enumerate((52, 60, 16, 14, 60, 44)):
        sheet.raw.set_column(column, column, width)
    sheet.raw.freeze_panes(3, 1)
    row = 3
    ledger = evaluation.ledger
    for key, override in ledger.overrides.items():
        sheet.text(row, 0, key, "key")
        if key in ledger:
            sheet.text(row, 1, ledger[key].label)
        sheet.number(row, 2, override.value, "given", number_format(override.unit, override.value))
        sheet.text(row, 3, unit_text(override.unit), "unit")
        sheet.text(row, 4, override.reason)
        sheet.text(row, 5, override.where, "quiet")
        row += 1
    for path, place in evaluation.loaded.document.places.items():
        if place.path.startswith("--set"):
            sheet.text(row, 0, ".".join(str(part) for part in path), "key")
            sheet.text(row, 4, "set on the command line", "quiet")
            sheet.text(row, 5, place.path, "quiet")
            row += 1
    if row == 3:
        sheet.text(row, 0, "None.", "quiet")
        row += 1
    _carried(sheet, evaluation.loaded, row + 1)


def _carried(sheet: Sheet, loaded: Loaded, row: int) -> None:
    """The scenario's text, line by line, so that the workbook alone can be read back."""
    sheet.text(row, 0, CARRIED, "heading")
    for column in range(1, LAST_PRINTED_CHANGES + 1):
        sheet.raw.write_blank(row, column, None, sheet.styles.get("heading"))
    for name, text in scenario_texts(loaded):
        for number, line in enumerate(text.splitlines(), start=1):
            row += 1
            sheet.text(row, 0, f"{name}:{number}", "key")
            if line:
                sheet.text(row, 1, line, "code")
            sheet.raw.set_row(row, None, None, {"level": 1})


def scenario_texts(loaded: Loaded) -> tuple[tuple[str, str], ...]:
    """Name and text of the scenario, then of those it extends; one text of all where no file stands behind it."""
    if loaded.document.texts:
        return loaded.document.texts
    plain = {key: value for key, value in loaded.document.data.items() if key != "extends"}
    return ((loaded.document.path, "\n".join(block(plain)) + "\n"),)
