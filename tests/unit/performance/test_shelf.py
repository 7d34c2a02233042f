"""Which profiles speak for an accelerator, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.catalog.profiles import Profile
from planner.catalog.schema import Accelerator
from planner.catalog.store import Catalog, open_catalog
from planner.errors import CatalogError
from planner.performance.shelf import Shelf, shelf_for

FIT = (
    "{op: all_reduce, ranks: 2, dtype: bf16, min_bytes: 1024, max_bytes: 1048576, regimes: "
    "[{from_bytes: 0.0, start_us: 10.0, ps_per_byte: 2.0}], "
    "errors: {points: 9, median_fraction: 0.01, p90_fraction: 0.02, worst_fraction: 0.03, worst_at: 1024 bytes}}"
)


def profile(folder: Path, profile_id: str, accelerator: str, as_of: str = "2026-05-01") -> None:
    (folder / "profiles").mkdir(parents=True, exist_ok=True)
    (folder / "profiles" / f"{profile_id}.yaml").write_text(
        f"id: {profile_id}\nname: Mine\naccelerator: {accelerator}\nas_of: {as_of}\ncollectives: [{FIT}]\n",
        encoding="utf-8",
    )


def shelf(accelerator: str, *named: str, catalog: Catalog | None = None) -> Shelf:
    catalog = catalog or open_catalog()
    return shelf_for(catalog, catalog.get(Accelerator, accelerator), named)


def ids(entries: tuple[object, ...]) -> list[str]:
    return [entry.item.id for entry in entries]  # type: ignore[attr-defined]


def test_an_accelerators_own_profiles_its_links_and_the_rest_stand_apart() -> None:
    found = shelf("h200-sxm-141gb")
    assert ids(found.own) == ["h200-sxm-141gb.bench"]
    assert ids(found.siblings) == ["h100-sxm5-80gb.nccl-tables"]
    assert set(ids(found.others)) == {
        "a100-sxm4-80gb.nccl-tables", "b200-sxm-180gb.nccl-tables", "gb200.nccl-tables"
    }  # fmt: skip
    assert found.refused == ()


def test_an_accelerator_on_a_link_of_its_own_has_no_siblings() -> None:
    found = shelf("mi300x")
    assert (found.own, found.siblings) == ((), ())
    assert len(found.others) == len(open_catalog().ids(Profile))


def test_the_users_folder_goes_before_what_ships_and_there_the_newest_is_first(tmp_path: Path) -> None:
    profile(tmp_path, "h200-sxm-141gb.old", "h200-sxm-141gb", "2024-05-01")
    profile(tmp_path, "h200-sxm-141gb.new", "h200-sxm-141gb", "2025-05-01")
    found = shelf("h200-sxm-141gb", catalog=open_catalog([tmp_path]))
    assert ids(found.own) == ["h200-sxm-141gb.new", "h200-sxm-141gb.old", "h200-sxm-141gb.bench"]


def test_a_named_profile_goes_before_all_others_in_the_order_given(tmp_path: Path) -> None:
    for name in ("first", "second"):
        profile(tmp_path, name, "h200-sxm-141gb")
    found = shelf("h200-sxm-141gb", "second", "first", "second", catalog=open_catalog([tmp_path]))
    assert ids(found.own) == ["second", "first", "h200-sxm-141gb.bench"]


def test_a_named_sibling_goes_before_shipped_siblings_and_not_before_own(tmp_path: Path) -> None:
    profile(tmp_path, "h800-sxm-80gb.lab", "h800-sxm-80gb")
    found = shelf("h200-sxm-141gb", "h800-sxm-80gb.lab", catalog=open_catalog([tmp_path]))
    assert ids(found.own) == ["h200-sxm-141gb.bench"]
    assert ids(found.siblings) == ["h800-sxm-80gb.lab", "h100-sxm5-80gb.nccl-tables"]
    assert found.link_bytes_per_s["h800-sxm-80gb"] == pytest.approx(200e9)


def test_a_profile_that_cannot_speak_is_refused_with_its_reason() -> None:
    found = shelf("h200-sxm-141gb", "b200-sxm-180gb.nccl-tables")
    assert found.refused == ("b200-sxm-180gb.nccl-tables: of b200-sxm-180gb, and this is h200-sxm-141gb",)
    assert "b200-sxm-180gb.nccl-tables" not in ids((*found.own, *found.siblings))


def test_a_profile_of_any_name_is_found_by_the_accelerator_it_states(tmp_path: Path) -> None:
    profile(tmp_path, "lab", "h200-sxm-141gb")
    assert ids(shelf("h200-sxm-141gb", catalog=open_catalog([tmp_path])).own)[0] == "lab"
    assert ids(shelf("h100-sxm5-80gb", catalog=open_catalog([tmp_path])).siblings)[0] == "lab"
    assert "lab" in ids(shelf("mi300x", catalog=open_catalog([tmp_path])).others)


def test_a_profile_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(CatalogError, match=r"no item 'h200-sxm-141gb.bank'.*h200-sxm-141gb.bench"):
        shelf("h200-sxm-141gb", "h200-sxm-141gb.bank")


def test_only_profiles_that_are_needed_are_read() -> None:
    catalog = open_catalog()
    shelf("h200-sxm-141gb", catalog=catalog)
    read = {item for family, item, _ in catalog.used() if family == "profiles"}
    assert read == {"h200-sxm-141gb.bench", "h100-sxm5-80gb.nccl-tables"}
