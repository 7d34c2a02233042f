"""Finance cases of which an office program is a part: a cluster's cash flow, and a formula that is no tax table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xlsxwriter

from planner.catalog.store import open_catalog
from planner.finance.macrs import macrs_table
from planner.ledger import Axis, Ledger
from planner.ledger.nodes import lookup
from tests import ledger_book, office
from tests.ledger_cases import Bench, built, cases

pytestmark = pytest.mark.office
YEARS = 6
_XIRR = 1e-6
"""Office programs stop their search for a dated rate at about 1e-8."""


def _by_formula(path: Path) -> None:
    """The half-year formula of many templates, for a basis of 100."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Tax")
        for year in range(1, YEARS + 1):
            sheet.write_number(0, year - 1, year)
            at = chr(ord("A") + year - 1)
            text = f"=VDB(100,0,5,MAX(0,{at}1-1.5),MIN(5,{at}1-0.5),2)"
            sheet.write_formula(1, year - 1, text, None, ledger_book.STALE)


def _by_table() -> Ledger:
    """Deductions of a basis of 100 as the ledger has them: the catalog's column, indexed by the year."""
    column, source = macrs_table(catalog=open_catalog(), recovery_years=5)
    ledger = Ledger(months=YEARS)
    table = ledger.given("tax.fractions", "MACRS, 5 years", "fraction", column, source, axis=Axis.TABLE)
    year = ledger.given("tax.year", "Tax year", "1", list(range(1, YEARS + 1)), source, axis=Axis.MONTH)
    ledger.derive("tax.deduction", "Deduction", "USD", lookup(table, year) * 100)
    ledger.solve()
    return ledger


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All workbooks of this module, recalculated in one start of the office program."""
    folder = tmp_path_factory.mktemp("finance")
    paths = {name: folder / f"{name}.xlsx" for name in ("formula", "table", "cluster")}
    _by_formula(paths["formula"])
    ledger_book.write(_by_table(), paths["table"])
    ledger_book.write(built("wb_cluster_a").ledger, paths["cluster"])
    made = office.recalculate_all(list(paths.values()))
    return dict(zip(paths, made, strict=True))


def test_the_half_year_formula_is_not_the_tax_table(books: dict[str, Path]) -> None:
    expected = cases()["vdb_trap"]["expected"]
    stored = office.values(books["formula"])
    found = [stored["Tax", f"{chr(ord('A') + year)}2"] for year in range(YEARS)]
    np.testing.assert_allclose(found, expected["libreoffice_7_4"], rtol=0, atol=0.005)
    assert np.abs(np.array(found) - expected["table_a1"]).max() > 1.0


def test_the_workbook_indexes_the_tax_table(books: dict[str, Path]) -> None:
    found = ledger_book.read(_by_table(), books["table"])["tax.deduction"]
    case = cases()["vdb_trap"]
    np.testing.assert_allclose(found, case["expected"]["table_a1"], rtol=0, atol=1e-9)


def test_the_clusters_workbook_gives_the_known_answers(books: dict[str, Path]) -> None:
    bench: Bench = built("wb_cluster_a")
    found: dict[str, list[Any]] = ledger_book.read(bench.ledger, books["cluster"])
    assert {check.key for check in bench.checks} == {"npv", "irr", "xnpv", "xirr", "lcoc"}
    for check in bench.checks:
        tolerance = _XIRR if check.key == "xirr" else check.tolerance
        np.testing.assert_allclose(
            found[check.key][0], check.expected, rtol=0, atol=tolerance, err_msg=check.key
        )
