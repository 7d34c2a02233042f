"""Renders the report's page from a view: no request, no clock, the same bytes for the same evaluation."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from planner.evaluate import Evaluation
from planner.present.html.charts import chart
from planner.present.html.drawing import DRAWINGS
from planner.present.html.specs import SPECS
from planner.present.html.svg import pattern_definitions
from planner.present.view.build import view
from planner.present.view.model import Figure, Table, View
from planner.present.view.outcomes import judgement
from planner.present.view.why import why_entries
from planner.resources import shipped

if TYPE_CHECKING:
    from jinja2 import Environment

SCHEMA_VERSION = 1
SHADES = {"M": 1, "D": 2, "P": 3, "Q": 4, "u": 5, "E": 6}


def html_text(evaluation: Evaluation) -> str:
    """The whole report of one evaluation, as one file that opens from disk."""
    seen = view(evaluation)
    entries = why_entries(evaluation, _keys(seen))
    script, style = _shipped_text("report.js"), _shipped_text("report.css")
    drawings = {
        figure.id: Markup(_drawn(figure, f"fig-{figure.id.lower()}"))
        for section in seen.sections
        for figure in section.figures
    }
    return (
        environment()
        .get_template("report.html.jinja")
        .render(
            view=seen,
            drawings=drawings,
            entries=entries,
            known=frozenset(entry.key for entry in entries),
            data=Markup(_json(seen)),
            script=Markup(script),
            style=Markup(style),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            patterns=Markup(pattern_definitions()),
            shades=SHADES,
            judgement=judgement,
        )
    )


@cache
def environment() -> Environment:
    """Templates with escaping on for every name."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(shipped("templates") / "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _shipped_text(name: str) -> str:
    return (shipped("templates") / "report" / name).read_text(encoding="utf-8")


def _drawn(figure: Figure, name: str) -> str:
    assert figure.kind in SPECS or figure.kind in DRAWINGS, figure.kind
    return DRAWINGS[figure.kind](figure, name) if figure.kind in DRAWINGS else chart(figure, name)


def tables_of(seen: View) -> Iterable[Table]:
    """Every table of a view, those behind figures included."""
    yield from (table for table in (seen.choices, seen.unknowns) if table is not None)
    for section in seen.sections:
        yield from (figure.table for figure in section.figures)
        yield from section.tables


def _keys(seen: View) -> list[str]:
    """Keys that numbers of the page link to, headlines first."""
    found = [cell.key for cell in seen.headlines if cell.value is not None]
    found += [cell.key for table in tables_of(seen) for row in table.rows for cell in row if cell.key]
    return list(dict.fromkeys(found))


def _json(seen: View) -> str:
    """Headlines for programs; nothing in it can end the element it stands in."""
    data = {
        "schema_version": SCHEMA_VERSION,
        "name": seen.name,
        "finding": seen.finding,
        "verdict": seen.verdict,
        "meets": seen.meets,
        "feasible": seen.feasible,
        "stamp": dict(seen.stamp),
        "headlines": {
            cell.key: {
                "name": cell.name, "value": cell.value, "p10": cell.low, "p90": cell.high, "limit": cell.limit,
                "met": cell.met, "judged_key": cell.judged_key, "judged_value": cell.judged_value,
                "basis": cell.letter,
            }
            for cell in seen.headlines
        },
    }  # fmt: skip
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
