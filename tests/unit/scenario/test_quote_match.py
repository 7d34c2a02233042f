"""Which part a line of a quote means, and that nothing is dropped or guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.catalog.store import Catalog, open_catalog
from planner.errors import Place
from planner.resources import shipped
from planner.scenario.quote_match import Matched, match_quotes
from planner.scenario.quotes import QuoteLine, Quotes


def matched(shelf: Catalog, part: str, *, description: str = "", catalog_id: str = "") -> Matched:
    line = QuoteLine(
        Place("q.csv", 2),
        "A",
        "1",
        "2026-11-20",
        "",
        part,
        5.0,
        description=description,
        catalog_id=catalog_id,
    )
    return match_quotes(Quotes((line,)), shelf)


@pytest.fixture(scope="module")
def shelf() -> Catalog:
    return open_catalog()


@pytest.mark.parametrize(
    ("part", "description", "meant"),
    [
        ("qm9700", "", "qm9700"),
        ("QM9700", "", "qm9700"),
        ("QM9700 Quantum-2 NDR managed", "", "qm9700"),
        ("NVIDIA QM9700 Quantum-2 NDR, managed", "", "qm9700"),
        ("MMA4Z00", "", "osfp-800g-2xsr4"),
        ("MMS4X00-NM", "", "osfp-800g-2xdr4"),
        ("4711", "DGX H200", "dgx-h200"),
    ],
)
def test_a_part_is_found_by_id_name_or_order_number(
    shelf: Catalog, part: str, description: str, meant: str
) -> None:
    found = matched(shelf, part, description=description)
    assert list(found.by_item) == [meant]
    assert not found.unmatched


@pytest.mark.parametrize(
    ("part", "remedy"),
    [
        # another module of the same maker begins with the same number: a guess would price the wrong part
        ("MMA4Z00-NS400", "nearest: osfp-800g-2xsr4; name the part in a column catalog id"),
        ("qm970", "nearest: "),
        ("MMS4X00", "name the part in a column catalog id"),
        ("Freight", "name the part in a column catalog id"),
    ],
)
def test_what_is_not_sure_is_no_match_and_says_the_nearest(shelf: Catalog, part: str, remedy: str) -> None:
    found = matched(shelf, part)
    assert not found.by_item
    assert remedy in found.unmatched[0].remedy


def test_a_stated_id_goes_before_the_vendors_name(shelf: Catalog) -> None:
    assert list(matched(shelf, "QM9790", catalog_id="qm9700").by_item) == ["qm9700"]
    assert not matched(shelf, "qm9700", catalog_id="qm97000").by_item


def test_an_overlay_may_state_order_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "own" / "switches"
    folder.mkdir(parents=True)
    source = (shipped("catalog") / "switches" / "qm9700.yaml").read_text()
    (folder / "qm9700.yaml").write_text(f"{source}part_numbers: [MQM9700-NS2F]\n")
    found = matched(open_catalog([tmp_path / "own"]), "MQM9700-NS2F")
    assert list(found.by_item) == ["qm9700"]
