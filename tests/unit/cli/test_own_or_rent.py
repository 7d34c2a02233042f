"""The own-or-rent command: text, JSON, files, FOCUS columns, explanations, mistakes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from planner.cli.app import run_app
from planner.present.focus import COLUMNS

NAME = "h200-1024-ndr"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run_app(["own-or-rent", NAME, *arguments]) == 0
    return capsys.readouterr().out


def test_the_text_fits_a_terminal_and_names_every_option_with_its_date(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = answer(capsys)
    assert max(len(line) for line in text.splitlines()) <= 80
    for words in (
        "Owned, colocation",
        "Owned, own building",
        "Servers leased",
        "Crusoe, on demand",
        "2026-08-19",
    ):
        assert words in text
    assert "Selling the hours" not in text


def test_who_sells_hours_gets_the_operators_view(capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(
        capsys, "--set", "money.sell_usd_per_gpu_hour=4.0",
        "--set", "money.operator={ramp_months: 6, price_fall_fraction_per_year: 0.1}",
        "--set", "money.debt={share_fraction: 0.6}",
    )  # fmt: skip
    for words in ("EBITDA margin", "Payback", "DSCR", "Revenue for a GPU-hour"):
        assert words in text


def test_json_holds_every_pair_and_the_hours_it_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(answer(capsys, "--json"))
    names = [one["id"] for one in found["options"]]
    assert found["reference"] == names[0] == "owned-colocation"
    assert len(found["pairs"]) == len(names) * (len(names) - 1)
    assert found["hours"]["which"].startswith("scheduled")
    first = found["options"][0]
    assert len(first["cash_usd"]) == found["hours"]["months"]
    assert first["lines"]["options.owned-colocation.npv_usd"]["value"] > 0


def test_focus_rows_hold_the_four_costs_and_add_up(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, whole = tmp_path / "costs.csv", tmp_path / "answer.json"
    answer(capsys, "--focus", str(file), "-o", str(whole))
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert tuple(rows[0]) == COLUMNS
    cash = {one["id"]: -sum(one["cash_usd"]) for one in json.loads(whole.read_text())["options"]}
    for option, total in cash.items():
        own = [row for row in rows if row["x_OptionId"] == option]
        for column in ("BilledCost", "EffectiveCost", "ContractedCost"):
            assert sum(float(row[column]) for row in own) == pytest.approx(total, abs=1.0)
    for row in rows:
        if row["ContractedUnitPrice"]:
            paid = float(row["PricingQuantity"]) * float(row["ContractedUnitPrice"])
            assert float(row["ContractedCost"]) == pytest.approx(paid)
            assert float(row["ListCost"]) == pytest.approx(
                float(row["PricingQuantity"]) * float(row["ListUnitPrice"])
            )
    assert rows[0]["BillingPeriodStart"] == "2026-11-01"


def test_a_number_is_explained_down_to_the_offers_source(capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, "--explain", "options.crusoe-h200.usd_per_gpu_hour")
    assert "catalog/rentals/crusoe-h200.yaml" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--reference", "cruso-h200"), "crusoe-h200"),
        (("--explain", "options.nothing"), "no ledger line"),
        (("-o", "answer.xlsx"), "end the name in .json or .txt"),
        (("--focus", "costs.json"), "end the name in .csv"),
    ],
)
def test_mistakes_are_refused_with_a_remedy(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert run_app(["own-or-rent", NAME, *arguments]) == 2
    assert said in capsys.readouterr().err
