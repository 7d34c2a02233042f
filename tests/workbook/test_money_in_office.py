"""Every term of money at once, through the workbook: an office program comes to the same in each formula cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.present.workbook import workbook_bytes
from tests import office
from tests.unit.finance.planned import evaluated
from tests.workbook.test_workbook import formulas_of, same

pytestmark = pytest.mark.office

CASES: dict[str, tuple[str, ...]] = {
    "losses carried": (),
    "losses used, mid-year": ("money.tax.losses=used", "money.discounting=mid-year"),
    "losses lost, by dates, straight line": (
        "money.tax.losses=lost", "money.discounting=dates", "money.tax.method=straight-line", "money.lease.view=finance",
    ),
    "own building with dates of its own": (
        "site.housing=own", "money.colocation=null", "money.construction={order: 2026-06, in_service: 2027-02}",
    ),
    "real rate, arrears": (
        "money.rate_basis=real", "money.discount_rate_fraction=0.06", "money.lease.timing=arrears",
        "money.contingency.base=purchase", "money.tariff.ratchet_fraction=0.95",
    ),
    "pure cost": (
        "money.sell_usd_per_gpu_hour=null", "money.costs.letters-of-credit.per=total",
        "money.debt.cover_ratio=null", "money.working_capital.receivable_days=0.0",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Each workbook as written and as recalculated, in one start of the office program."""
    folder = tmp_path_factory.mktemp("money")
    paths = []
    for number, changes in enumerate(CASES.values()):
        paths.append(folder / f"money-{number}.xlsx")
        paths[-1].write_bytes(workbook_bytes(evaluated(*changes)))
    return dict(zip(CASES, zip(paths, office.recalculate_all(paths), strict=True), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_every_formula_comes_to_what_python_has(name: str, books: dict[str, tuple[Path, Path]]) -> None:
    path, made = books[name]
    formulas, written, again = formulas_of(path), office.values(path), office.values(made)
    assert len(formulas) > 20_000
    wrong = [
        (place, text, written.get(place), again.get(place))
        for place, text in formulas.items()
        if not same(written.get(place), again.get(place), relative=1e-6 if "XIRR" in text else 1e-9)
        and not (
            place[0] == "Checks" and place[1][0] == "D"
        )  # a difference of rounding alone is judged there
    ]
    assert wrong == []


@pytest.mark.parametrize("name", CASES)
def test_every_check_passes(name: str, books: dict[str, tuple[Path, Path]]) -> None:
    judged = [
        value
        for (sheet, cell), value in office.values(books[name][1]).items()
        if sheet == "Checks" and cell[0] == "F"
    ]
    assert "pass" in judged
    assert [value for value in judged if value not in ("Result", "pass", None)] == []
