"""A seller's ramp and price decay through the workbook: an office program comes to the same in each formula cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.present.workbook import workbook_bytes
from tests import office
from tests.unit.finance.planned import evaluated
from tests.workbook.test_workbook import formulas_of, same

pytestmark = pytest.mark.office

TERMS = "money.operator={ramp_months: 9, ramp_start_fraction: 0.2, price_fall_fraction_per_year: 0.12}"


def test_ramp_decay_and_ebitda_come_to_what_python_has(tmp_path: Path) -> None:
    path = tmp_path / "operator.xlsx"
    path.write_bytes(workbook_bytes(evaluated(TERMS)))
    (made,) = office.recalculate_all([path])
    written, again = office.values(path), office.values(made)
    wrong = [
        (place, text, written.get(place), again.get(place))
        for place, text in formulas_of(path).items()
        if not same(written.get(place), again.get(place), relative=1e-6 if "XIRR" in text else 1e-9)
        and place[0] != "Checks"
    ]
    assert wrong == []
    judged = {value for (sheet, cell), value in again.items() if sheet == "Checks" and cell[0] == "F"}
    assert judged <= {"Result", "pass", None}
