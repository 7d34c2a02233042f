"""The compare command's text: 80 columns, and nothing of a number is cut."""

from __future__ import annotations

import pytest

from planner.cli.app import run_app


@pytest.fixture(scope="module")
def text() -> str:
    import contextlib
    import io

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert run_app(["compare", "h200-1024-ndr", "h200-1024-spectrum-x"]) == 0
    return said.getvalue()


def test_a_line_holds_80_columns_and_no_name_or_unit_is_cut(text: str) -> None:
    assert max(map(len, text.splitlines())) <= 80
    tables = text.split("Outcomes;")[1]
    assert "…" not in tables.replace("  … and", "")
    assert "USD/GPU-h" in tables


def test_what_is_asked_first_leads_the_design(text: str) -> None:
    design = text.split("Design and power: what differs")[1].split("Money: what differs", maxsplit=1)[0]
    rows = design.splitlines()
    places = [
        next(at for at, row in enumerate(rows) if row.startswith(name))
        for name in ("Leaf", "PUE", "Links that")
    ]
    assert places == sorted(places)
