"""The index lists the whole catalog, is quick, and is never wrong: a cache changes nothing but time."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from planner.catalog import index as index_module
from planner.catalog.index import CatalogIndex, catalog_index
from planner.catalog.store import Catalog
from planner.catalog.summaries import summary_of, unit_of
from planner.errors import CatalogError, InputError
from planner.resources import shipped

FIGURE = "{{value: {value}, source: sheet, basis: {basis}, as_of: 2025-03{more}}}"
OLD_NS = 1_700_000_000_000_000_000
"""A time far enough back that a file of this age is taken as settled."""


def figure(value: float, basis: str = "datasheet", more: str = "") -> str:
    return FIGURE.format(value=value, basis=basis, more=more)


def module(
    folder: Path, item_id: str, *, price: float = 600, rate: float = 800, extra: str = "", age: int = 0
) -> Path:
    path = folder / "transceivers" / f"{item_id}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"id: {item_id}\nname: Module {item_id}\nvendor: Acme\n"
        f"rate_gbit_per_s: {figure(rate)}\nlinks: 2\nlane_rate_gbit_per_s: 100\nmedium: singlemode\n"
        f"reach_m: {figure(500)}\nfibres: 16\npower_w: {figure(15)}\n"
        f"price_usd: {figure(price, 'estimate', ', verified: false, note: guess')}\n{extra}"
    )
    os.utime(path, ns=(OLD_NS + age, OLD_NS + age))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "catalog"
    module(made, "m800")
    module(made, "m400", price=300, rate=400)
    module(
        made,
        "m1600",
        price=1900,
        rate=1600,
        extra="orderable: false\nwhy_not_orderable: not yet\navailable: 2027-06\n",
    )
    return made


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def read(folder: Path, cache: Path, *more: Path) -> CatalogIndex:
    return catalog_index(Catalog([folder, *more]), cache=cache)


def ids(index: CatalogIndex, **query: str) -> list[str]:
    return [row.id for row in index.rows(**query)]


def test_a_row_tells_what_an_item_is_with_figures_units_letters_and_lines(folder: Path, cache: Path) -> None:
    row = read(folder, cache).by_id["transceivers", "m800"]
    assert (row.name, row.vendor, row.orderable, row.available) == ("Module m800", "Acme", True, "")
    assert row.summary == "800G in 2 links, 500 m singlemode, 15 W, 600 USD"
    assert row.path == "catalog/transceivers/m800.yaml"
    price = row.figure("price_usd")
    assert price is not None
    assert (price.value, price.unit, price.letter, price.as_of, price.source, price.verified, price.line) == (
        600, "USD", "E", "2025-03", "sheet", False, 11,
    )  # fmt: skip
    assert row.lines["links"] == 5
    assert row.figure("nothing") is None
    gone = read(folder, cache).by_id["transceivers", "m1600"]
    assert (gone.orderable, gone.available, gone.why_not_orderable) == (False, "2027-06", "not yet")


def test_a_second_index_parses_nothing_and_is_the_same(folder: Path, cache: Path) -> None:
    cold, warm = read(folder, cache), read(folder, cache)
    assert (cold.parsed, warm.parsed) == (3, 0)
    assert warm.items == cold.items
    assert [row.lines for row in warm.items] == [row.lines for row in cold.items]
    assert warm.digest == cold.digest


def test_only_a_changed_file_is_parsed_again(folder: Path, cache: Path) -> None:
    before = read(folder, cache)
    module(folder, "m800", price=700, age=10)
    after = read(folder, cache)
    assert after.parsed == 1
    assert after.by_id["transceivers", "m800"].figure("price_usd").value == 700  # type: ignore[union-attr]
    assert after.digest != before.digest
    assert read(folder, cache).parsed == 0


def test_a_touched_file_with_the_same_content_is_not_parsed(folder: Path, cache: Path) -> None:
    before = read(folder, cache)
    os.utime(folder / "transceivers" / "m800.yaml", ns=(OLD_NS + 5, OLD_NS + 5))
    after = read(folder, cache)
    assert (after.parsed, after.items, after.digest) == (0, before.items, before.digest)


def test_an_edit_of_the_same_size_right_after_the_index_is_seen(folder: Path, cache: Path) -> None:
    path = module(folder, "m800", price=600)
    now = time.time_ns()
    os.utime(path, ns=(now, now))
    read(folder, cache)
    path.write_text(path.read_text().replace("value: 600", "value: 601"))
    os.utime(path, ns=(now, now))
    assert read(folder, cache).by_id["transceivers", "m800"].figure("price_usd").value == 601  # type: ignore[union-attr]


def test_files_that_come_and_go_come_and_go_in_the_index(folder: Path, cache: Path) -> None:
    read(folder, cache)
    module(folder, "new")
    (folder / "transceivers" / "m400.yaml").unlink()
    index = read(folder, cache)
    assert [row.id for row in index.items] == ["m1600", "m800", "new"]
    assert index.parsed == 1


def test_an_overlay_replaces_and_its_absence_brings_the_shipped_item_back(
    folder: Path, cache: Path, tmp_path: Path
) -> None:
    overlay = tmp_path / "mine"
    module(overlay, "m800", price=1)
    module(overlay, "mine")
    plain = read(folder, cache)
    both = read(folder, cache, overlay)
    assert ids(both) == ["m1600", "m400", "m800", "mine"]
    assert both.by_id["transceivers", "m800"].path == "mine/transceivers/m800.yaml"
    assert both.digest != plain.digest
    again = read(folder, cache)
    assert (again.items, again.digest, again.parsed) == (plain.items, plain.digest, 0)
    assert read(folder, cache, overlay).parsed == 0


@pytest.mark.parametrize("spoil", ["", "not json", "{}", "deadbeef\n{}", "deadbeef\n[" * 3])
def test_a_spoilt_cache_is_built_again_in_silence(folder: Path, cache: Path, spoil: str) -> None:
    right = read(folder, cache)
    (cache / "catalog-index.json").write_text(spoil)
    again = read(folder, cache)
    assert (again.items, again.parsed) == (right.items, 3)
    assert read(folder, cache).parsed == 0


def test_a_flipped_byte_in_the_cache_is_noticed(folder: Path, cache: Path) -> None:
    right = read(folder, cache)
    file = cache / "catalog-index.json"
    file.write_text(file.read_text().replace("600", "601"))
    assert read(folder, cache).items == right.items


def test_a_cache_of_other_code_is_not_taken(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(folder, cache)
    monkeypatch.setattr(index_module, "_stamp", lambda: "other")
    assert read(folder, cache).parsed == 3


def test_a_cache_that_cannot_be_written_changes_nothing(folder: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    index = read(folder, blocked)
    assert len(index.items) == 3
    assert blocked.read_text() == "in the way"
    (tmp_path / "cache" / "catalog-index.json").mkdir(parents=True)
    assert len(read(folder, tmp_path / "cache").items) == 3
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["catalog-index.json"]


def test_a_write_that_fails_half_way_leaves_the_old_cache(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(folder, cache)
    before = (cache / "catalog-index.json").read_bytes()
    module(folder, "new")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    assert len(read(folder, cache).items) == 4
    assert [path.name for path in cache.iterdir()] == ["catalog-index.json"]
    assert (cache / "catalog-index.json").read_bytes() == before


def test_the_users_cache_is_the_default(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
    catalog_index(Catalog([folder]))
    assert (tmp_path / "cluster-planner" / "catalog-index.json").is_file()


def test_listing_leaves_no_trace_in_the_catalog(folder: Path, cache: Path) -> None:
    catalog = Catalog([folder])
    empty = catalog.digest()
    catalog_index(catalog, cache=cache)
    assert catalog.used() == ()
    assert catalog.digest() == empty


def test_a_broken_item_is_a_problem_and_the_rest_is_listed(folder: Path, cache: Path) -> None:
    module(folder, "bad").write_text("id: bad\nid: bad\n")
    (folder / "transceivers" / "wrong.yaml").write_text("id: wrong\nlinks: x\n")
    for index in (read(folder, cache), read(folder, cache)):
        assert ids(index) == ["m1600", "m400", "m800"]
        said = [str(problem) for problem in index.problems]
        assert "catalog/transceivers/bad.yaml:2:1: 'id' is given twice (first on line 1) (keep one)" in said
        assert any(one.startswith("catalog/transceivers/wrong.yaml:2:1: links: is 'x'") for one in said)
    assert index.parsed == 0


def test_a_huge_file_is_a_problem_and_is_not_read(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "transceivers" / "huge.yaml"
    with path.open("wb") as sparse:
        sparse.truncate(50_000_000)
    opened: list[str] = []
    original = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: opened.append(self.name) or original(self))
    index = read(folder, cache)
    assert "50,000,000 bytes" in str(index.problems[0])
    assert "huge.yaml" not in opened


def test_mistyped_folders_and_endings_are_said(folder: Path, cache: Path) -> None:
    module(folder, "lost").rename(folder / "transceivers" / "lost.yml")
    (folder / "tranceivers").mkdir()
    (folder / "tranceivers" / "x.yaml").write_text("id: x\n")
    (folder / "transceivers" / "folder.yaml").mkdir()
    (folder / "notes").mkdir()
    (folder / "transceivers" / "gone.yaml").symlink_to(folder / "nowhere")
    said = "\n".join(str(problem) for problem in read(folder, cache).problems)
    assert "catalog/transceivers/lost.yml: is not read (make it a file named lost.yaml)" in said
    assert "catalog/tranceivers: is no family, and nothing in it is read (nearest: transceivers" in said
    assert "catalog/transceivers/folder.yaml: is not read" in said
    assert "catalog/transceivers/gone.yaml: can't be read" in said
    assert "notes" not in said


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        ("", ["m1600", "m400", "m800"]),
        ("800g", ["m800"]),
        ("800G SINGLEmode", ["m800"]),
        ("acme", ["m1600", "m400", "m800"]),
        ("nothing", []),
        ("orderable", ["m400", "m800"]),
        ("roadmap", ["m1600"]),
        ("price<900", ["m400", "m800"]),
        ("price<900 800g orderable", ["m800"]),
        ("price>=600 price<=600", ["m800"]),
        ("price_usd=300", ["m400"]),
        ("price!=300", ["m1600", "m800"]),
        ("rate>4e2", ["m1600", "m800"]),
        ("price>1,000", ["m1600"]),
        ("price<", ["m1600", "m400", "m800"]),
        ("  price<900\t800g ", ["m800"]),
    ],
)
def test_a_filter_holds_words_and_comparisons(
    folder: Path, cache: Path, filter_: str, expected: list[str]
) -> None:
    index = read(folder, cache)
    assert ids(index, filter=filter_) == expected
    assert ids(index, family="transceivers", filter=filter_) == expected


def test_a_filter_that_means_nothing_says_so(folder: Path, cache: Path) -> None:
    index = read(folder, cache)
    with pytest.raises(InputError, match=r"no figure begins with 'prize' .nearest: price_usd"):
        index.rows(filter="prize<900")
    with pytest.raises(InputError, match="'cheap' is no number"):
        index.rows(filter="price<cheap")
    with pytest.raises(InputError, match=r"fits several figures of m1600 .write one of power_w, price_usd"):
        index.rows(filter="p<900")
    with pytest.raises(CatalogError, match=r"no family 'transceiver' .nearest: transceivers"):
        index.rows("transceiver")


def test_a_name_that_begins_others_is_meant_itself() -> None:
    with_both = catalog_index(Catalog([shipped("catalog")]), cache=Path("/dev/null/none"))
    found = with_both.rows("cables", "price<60 fibre")
    assert found
    assert all(row.figure("price_usd").value < 60 for row in found)  # type: ignore[union-attr]


def test_rows_of_one_family_are_sorted_by_id(folder: Path, cache: Path) -> None:
    assert [row.id for row in read(folder, cache).rows("transceivers")] == ["m1600", "m400", "m800"]
    assert read(folder, cache).rows("switches") == []


@pytest.mark.parametrize(
    ("field", "unit"),
    [
        ("price_usd", "USD"),
        ("power_typical_w", "W"),
        ("memory_mib", "MiB"),
        ("bf16_tflop_per_s", "TFLOP/s"),
        ("port_rate_gbit_per_s", "Gb/s"),
        ("scaleup_gbyte_per_s", "GB/s"),
        ("electricity_usd_per_kwh", "USD/kWh"),
        ("price_usd_per_m", "USD/m"),
        ("energy_pj_per_bit", "pJ/bit"),
        ("rack_units", "U"),
        ("lead_time_weeks", "weeks"),
        ("usd_per_gpu_hour", "USD/GPU/h"),
        ("power_per_end_w", "W"),
        ("cpo_power_saving_per_800g_port_w", "W"),
        ("storage_gbyte_per_s_per_node", "GB/s/node"),
        ("support_fraction_per_year", "1/year"),
        ("colocation_usd_per_kw_month", "USD/kW/month"),
        ("gpu_days_per_network_interruption", ""),
        ("link_repair_hours", "h"),
        ("pue", ""),
        ("afr_fraction", ""),
        ("in_network_reduction_gain", ""),
    ],
)
def test_the_unit_of_a_figure_is_the_end_of_its_name(field: str, unit: str) -> None:
    assert unit_of(field) == unit


def test_the_shipped_catalog_is_listed_whole_and_quickly(tmp_path: Path) -> None:
    catalog = Catalog([shipped("catalog")])
    began = time.process_time()
    cold = catalog_index(catalog, cache=tmp_path)
    between = time.process_time()
    warm = catalog_index(catalog, cache=tmp_path)
    ended = time.process_time()
    assert cold.problems == ()
    assert len(cold.items) == sum(
        len(list(f.glob("*.yaml"))) for f in shipped("catalog").iterdir() if f.is_dir()
    )
    assert warm.items == cold.items
    assert all(row.summary for row in cold.items if row.family != "optical_engines")
    assert between - began < 2.5
    assert ended - between < 0.5  # about 0.01 s; the room is for a busy machine


def test_every_family_of_the_shipped_catalog_has_a_summary_of_one_line() -> None:
    for entry in Catalog([shipped("catalog")]).everything():
        assert "\n" not in summary_of(entry.item)
