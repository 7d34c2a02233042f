"""The workbook of a plan at quoted prices in another currency, worked out anew by an office program."""

from __future__ import annotations

import re
from pathlib import Path

import openpyxl
import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.present.workbook import workbook_bytes
from planner.present.workbook.cells import letters
from planner.present.workbook.inputs import scenario_choices
from planner.present.workbook.layout import lay_out
from planner.scenario.load import load_scenario
from tests import office

pytestmark = pytest.mark.office
ERROR = re.compile(r"#(N/A|REF!|VALUE!|DIV/0!|NAME\?|NUM!|NULL!)|Err:\d")

QUOTE = """\
Part,Unit price,Currency,Vendor,Quote id,Quote date,Valid until,Lead time weeks
qm9700,40000,EUR,Acme,Q-1,2026-11-20,2027-12-31,4
osfp-800g-2xsr4,800,USD,Acme,Q-1,2026-11-20,2027-12-31,
"""


def test_another_rate_in_the_workbook_gives_what_python_gives(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text(QUOTE)
    catalog = open_catalog()

    def planned(rate: float) -> Evaluation:
        changes = [f"quotes=[{tmp_path}/q.csv]", f"money.currencies.EUR.usd={rate}"]
        return evaluate(load_scenario("h200-phased", changes=changes), catalog)

    evaluation, other = planned(1.1), planned(1.25)
    path = tmp_path / "book.xlsx"
    path.write_bytes(workbook_bytes(evaluation))
    layout = lay_out(evaluation, scenario_choices(evaluation))
    spot, total = layout.spots["fx.EUR_usd"], layout.spots["capex.total_usd"]
    changed = tmp_path / "changed.xlsx"
    book = openpyxl.load_workbook(path)
    book[spot.sheet].cell(spot.row + 1, spot.column + 1).value = 1.25
    book.save(changed)
    book.close()
    as_planned, at_another_rate = (office.values(one) for one in office.recalculate_all([path, changed]))
    at = (total.sheet, letters(total.column) + str(total.row + 1))
    assert as_planned[at] == pytest.approx(evaluation.ledger.scalar("capex.total_usd"), rel=1e-9)
    assert at_another_rate[at] == pytest.approx(other.ledger.scalar("capex.total_usd"), rel=1e-9)
    assert evaluation.ledger.scalar("capex.total_usd") != other.ledger.scalar("capex.total_usd")
    assert not [one for one in as_planned.values() if isinstance(one, str) and ERROR.match(one)]
