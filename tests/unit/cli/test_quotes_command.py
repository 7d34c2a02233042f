"""The quotes and bom commands, and quotes on planner run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.app import run_app

HEAD = "Part,Unit price,Currency,Vendor,Quote id,Quote date,Valid until\n"
TAIL = "USD,Acme,Q-1,2026-11-20,2027-01-31\n"


@pytest.fixture
def quote(tmp_path: Path) -> Path:
    path = tmp_path / "acme.csv"
    path.write_text(f"{HEAD}qm9700,40000,{TAIL}MQM9700-NS2F,39000,{TAIL}sn6800,9,{TAIL}")
    return path


def test_without_a_plan_the_lines_and_what_they_mean_are_shown(
    quote: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["quotes", str(quote), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [one["part_id"] for one in answer["lines"]] == ["qm9700", None, "sn6800"]
    assert answer["unmatched"][0]["place"] == f"{quote}:3"
    assert run_app(["quotes", str(quote)]) == 0
    shown = capsys.readouterr().out
    assert "is no part of the catalog" in shown
    assert max(len(line) for line in shown.splitlines() if str(quote) not in line) <= 80


def test_with_a_plan_every_amount_can_be_explained(quote: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["quotes", str(quote), "--scenario", "h200-1024-ndr"]
    assert run_app([*call, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    (offer,) = answer["offers"]
    assert offer["total"]["value"] == answer["catalog"]["value"] - 50 * 10000
    assert answer["not_in_plan"] == ["sn6800"]
    assert run_app([*call, "--explain", offer["parts"][2]["price"]["key"]]) == 0
    assert f"{quote}:2: Q quote, 2026-11-20" in capsys.readouterr().out
    assert run_app(call) == 0
    assert all(len(line) <= 80 for line in capsys.readouterr().out.splitlines() if str(quote) not in line)


def test_bad_rows_end_with_two_and_every_one_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"{HEAD}qm9700,x,{TAIL}sn4700,-1,{TAIL}")
    for call in (["quotes", str(path)], ["check", "h200-1024-ndr", "--set", f"quotes=[{path}]"]):
        assert run_app(call) == 2
        told = capsys.readouterr()
        assert f"{path}:2: unit price: 'x' is no number" in told.out + told.err
        assert f"{path}:3: unit price: '-1' must be more than 0" in told.out + told.err


def test_run_takes_quotes_and_says_which_lines_it_doesnt(
    quote: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run_app(["run", "h200-1024-ndr", "--quotes", str(quote), "-o", str(out)]) == 0
    assert f"{quote}:3: not used: 'MQM9700-NS2F' is no part of the catalog" in capsys.readouterr().err
    lines = {line["key"]: line for line in json.loads((out / "h200-1024-ndr.json").read_text())["lines"]}
    assert lines["price.qm9700.price_usd"]["value"] == 40000
    page = (out / "h200-1024-ndr.html").read_text()
    assert "Quotes that the bill is priced by" in page
    assert "MQM9700-NS2F" in page


def test_no_offer_in_time_ends_with_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "late.csv"
    path.write_text(
        f"{HEAD.strip()},Lead time weeks\nhgx-h200,250000,{TAIL.strip().replace('2027-01', '2027-12')},40\n"
    )
    assert run_app(["quotes", str(path), "--scenario", "h200-phased"]) == 1
    assert "too late: in service from" in capsys.readouterr().out


def test_bom_writes_the_bill_or_the_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, what in (("bom.csv", "bill of materials"), ("rfq.xlsx", "request for quotes")):
        assert run_app(["bom", "h200-1024-ndr", "-o", str(tmp_path / name), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["what"] == what
        assert (tmp_path / name).stat().st_size > 1000
    assert run_app(["bom", "h200-1024-ndr", "-o", str(tmp_path / "bom.pdf")]) == 2
    assert "end the name in .csv or .xlsx" in capsys.readouterr().err
