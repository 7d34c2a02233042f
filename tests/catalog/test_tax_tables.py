"""Tables of tax law: whole, sourced, and by the rule they are made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from planner.catalog.depreciation import RECOVERY_FIELDS, DepreciationLife
from planner.catalog.store import RELEASE, Catalog, open_catalog
from planner.errors import CatalogError
from planner.finance.macrs import FIRST_YEAR_SHARES, declining_balance_fractions, macrs_table
from planner.resources import shipped

CATALOG = open_catalog()
ROUNDED = 0.8e-4
"""The publication rounds so that columns sum to 100, up to 0.0078 points from the rule."""
ROUNDED_MORE = 1.4e-4
"""Seven years from the second quarter: 0.0138 points."""


@pytest.mark.parametrize("quarter", range(5))
@pytest.mark.parametrize("years", RECOVERY_FIELDS)
def test_a_column_follows_the_declining_balance(years: int, quarter: int) -> None:
    found, source = macrs_table(catalog=CATALOG, recovery_years=years, quarter=quarter)
    rule = declining_balance_fractions(recovery_years=years, first_year_share=FIRST_YEAR_SHARES[quarter])
    assert found.shape == (years + 1,)
    np.testing.assert_allclose(
        found, rule, rtol=0, atol=ROUNDED_MORE if (years, quarter) == (7, 2) else ROUNDED
    )
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    assert source.source in CATALOG.sources
    assert source.as_of <= RELEASE[: len(source.as_of)]
    file, line = source.where.split(":")
    text = (shipped("catalog").parent / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert text.startswith(f"{RECOVERY_FIELDS[years]}:")


def test_a_period_without_a_column_is_refused_with_those_there_are() -> None:
    with pytest.raises(CatalogError, match=r"property of 39 years.*\n?.*3, 5, 7, 10, 15, 20"):
        macrs_table(catalog=CATALOG, recovery_years=39)


BROKEN = {
    "a column that leaves some basis over": ("{percent: [60, 39], ", "sums to 99, and must sum to 100"),
    "a negative deduction": ("{percent: [120, -20], ", "must not be negative"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_column_is_refused(fault: str, tmp_path: Path) -> None:
    column, said = BROKEN[fault]
    folder = tmp_path / "mine" / "depreciation"
    folder.mkdir(parents=True)
    (folder / "ours.yaml").write_text(
        f"id: ours\nname: Ours\nfive_year: {column}source: law, basis: published, as_of: 2026}}\n",
        encoding="utf-8",
    )
    with pytest.raises(CatalogError, match=said):
        Catalog([tmp_path / "mine"]).get(DepreciationLife, "ours")


@pytest.mark.parametrize("text", ["", "life_years: {f}\nfive_year: {c}\n"])
def test_an_item_is_a_life_or_a_table(text: str, tmp_path: Path) -> None:
    end = "source: law, basis: published, as_of: 2026}"
    folder = tmp_path / "mine" / "depreciation"
    folder.mkdir(parents=True)
    text = text.replace("{f}", "{value: 5, " + end).replace("{c}", "{percent: [60, 40], " + end)
    (folder / "ours.yaml").write_text(f"id: ours\nname: Ours\n{text}", encoding="utf-8")
    with pytest.raises(CatalogError, match="needs life_years, or columns"):
        Catalog([tmp_path / "mine"]).get(DepreciationLife, "ours")
