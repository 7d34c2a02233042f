"""A scenario written to another folder finds the files that it names, and a round trip keeps quoted prices."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from planner.catalog.store import open_catalog
from planner.cli.app import run_app
from planner.evaluate import evaluate
from planner.intake.named_files import renamed_files
from planner.scenario.load import load_scenario

QUOTE = """\
Part,Unit price,Currency,Vendor,Quote id,Quote date,Valid until
qm9700,40000,USD,Acme,Q-1,2026-11-20,2027-12-31
"""
PRICE = "site.electricity_usd_per_kwh"
OURS = "schema_version: 1\nname: Ours\nextends: h200-1024-ndr\nquotes: [acme.csv]\n"


def renamed(loaded_from: str, folder: str, *changes: str, standalone: bool = False) -> dict[str, list[str]]:
    loaded = load_scenario(loaded_from, changes=changes)
    return dict(renamed_files(loaded, Path(folder), standalone=standalone))


def test_a_name_on_the_command_line_is_named_from_the_new_folder() -> None:
    change = "quotes=[offers/acme.csv, /shared/beta.csv]"
    assert renamed("h200-1024-ndr", "plans", change) == {"quotes": ["../offers/acme.csv", "/shared/beta.csv"]}
    assert renamed("h200-1024-ndr", "offers", change)["quotes"][0] == "acme.csv"


def test_a_name_in_a_file_changes_only_with_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plans").mkdir()
    Path("plans/ours.yaml").write_text(OURS)
    Path("plans/above.yaml").write_text("schema_version: 1\nname: Above\nextends: ours.yaml\n")
    assert renamed("plans/ours.yaml", "plans") == {}
    assert renamed("plans/ours.yaml", ".") == {"quotes": ["plans/acme.csv"]}
    assert renamed("plans/above.yaml", ".") == {}, "the base is read where it lies"
    assert renamed("plans/above.yaml", ".", standalone=True) == {"quotes": ["plans/acme.csv"]}


@pytest.mark.parametrize("name", ["h200-1024-ndr", "plans/ours.yaml"])
def test_a_workbook_at_quoted_prices_comes_back(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plans").mkdir()
    Path("plans/ours.yaml").write_text(OURS.replace("quotes: [acme.csv]\n", ""))
    Path("edited").mkdir()
    Path("acme.csv").write_text(QUOTE)
    assert run_app(["run", name, "--quotes", "acme.csv", "-o", "out", "--format", "xlsx"]) == 0
    path = Path("out") / f"{Path(name).stem}.xlsx"
    book = openpyxl.load_workbook(path)
    row = next(row for row in book["Inputs"].iter_rows(min_row=4) if row[11].value == PRICE)
    row[2].value = 0.3
    book.save(path)
    assert run_app(["import", str(path), "-o", "edited/back.yaml"]) == 0
    catalog = open_catalog()
    there = evaluate(load_scenario(name, changes=["quotes=[acme.csv]", f"{PRICE}=0.3"]), catalog).ledger
    monkeypatch.chdir("edited")  # the names are the file's, wherever it is run from
    back = evaluate(load_scenario("back.yaml"), catalog).ledger
    assert back.scalar("tco.npv_usd") == there.scalar("tco.npv_usd")
    assert 'quotes: ["../acme.csv"]' in Path("back.yaml").read_text()
