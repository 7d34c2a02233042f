"""The column against the pin on screen 2, from figures of the two evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from planner.present.view.model import Better, Cell, Column, Section, Table
from planner.tui.against import HEAD, against, change_text
from tests.unit.tui.conftest import go, press, settle, shown, type_in

GPUS = ("cluster", "groups", 0, "gpus")


def table(*rows: tuple[str, float]) -> Section:
    cells = tuple((Cell(name), Cell(f"{value:.2f}", value)) for name, value in rows)
    return Section(
        "money",
        "Money",
        tables=(Table("running", "", (Column("Line", numeric=False), Column("Cost", "M USD")), cells),),
    )


def test_rows_are_judged_and_what_is_gone_is_said() -> None:
    found = against(
        table(("Energy", 2.0), ("Staff", 1.0), ("New", 3.0)),
        table(("Energy", 1.5), ("Staff", 1.0), ("Rent", 4.0)),
    )
    texts = [row[2].text.strip() for row in found.tables[0].rows]
    assert texts == ["+0.500 ▼", "=", "new"] and found.tables[0].columns[2].name == HEAD
    assert found.notes == ("Pinned, and not there any more: Rent (4.00 M USD).",)


def test_tables_that_are_not_compared_stay_as_they_are() -> None:
    other = Section("money", "Money", tables=(Table("cash", "", (Column("Cost"),), ((Cell("1", 1.0),),)),))
    assert against(other, other) == other
    assert change_text(Cell("1", 1.0), Cell("–"), Better.LOWER) == ""


async def test_screen_2_counts_from_the_pin(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(80, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "2")
        assert HEAD not in shown(app)  # nothing to count from yet
        before = app.state.last.evaluation.ledger.scalar("capex.servers_usd")
        await press(pilot, "1")
        go(app, *GPUS)
        await type_in(pilot, "2048")
        await press(pilot, "2")
        assert HEAD in shown(app)
        await press(pilot, "m")
        servers = app.state.last.evaluation.ledger.scalar("capex.servers_usd")
        row = next(
            line
            for line in app.query_one("#where").text().splitlines()
            if "Servers with GPUs" in line and "▼" in line
        )
        assert f"+{(servers - before) / 1e6:.1f} ▼" in row
        await press(pilot, "b")
        row = next(
            line
            for line in app.query_one("#where").text().splitlines()
            if "Servers with GPUs" in line and "=" in line
        )
        assert "▼" not in row
        await press(pilot, "u")
        row = next(
            line
            for line in app.query_one("#where").text().splitlines()
            if "Servers with GPUs" in line and "▲" in line
        )
        assert f"-{(servers - before) / 1e6:.1f} ▲" in row


async def test_three_columns_of_a_wide_screen_have_it_too(app_of: Any, plan_file: Path) -> None:
    app = app_of(plan_file)
    async with app.run_test(size=(140, 45)) as pilot:
        await settle(pilot)
        await press(pilot, "b", "2")
        assert shown(app).count(HEAD) >= 2
