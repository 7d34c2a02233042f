"""Items are read one at a time, overlays win, and a wrong file says what is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from planner.catalog import store as store_module
from planner.catalog.schema import Assumptions, Nic, Switch
from planner.catalog.store import Catalog, open_catalog
from planner.errors import CatalogError
from planner.sourced import Basis

SWITCH = """\
id: {id}
name: {name}
asic: a
fabric: ethernet
cages: 64
cage_rate_gbit_per_s: 800
links_per_cage_max: 2
lane_rate_gbit_per_s: 100
rack_units: 2
power_typical_w: {{value: {watt}, source: sheet, basis: estimate, as_of: 2025-03, verified: false, note: a guess}}
note: for tests
"""


def put(folder: Path, family: str, item_id: str, text: str) -> Path:
    path = folder / family / f"{item_id}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def switch(folder: Path, item_id: str, *, name: str = "N", watt: str = "900") -> Path:
    return put(folder, "switches", item_id, SWITCH.format(id=item_id, name=name, watt=watt))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "catalog"
    made.mkdir()
    return made


def messages(catalog: Catalog, item_id: str) -> list[str]:
    with pytest.raises(CatalogError) as caught:
        catalog.entry(Switch, item_id)
    return [str(problem) for problem in caught.value.problems]


def test_an_item_is_read_when_it_is_asked_for_and_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    switch(folder, "one")
    put(folder, "switches", "broken", "a: [\n")
    read: list[str] = []
    original = store_module.load_document
    monkeypatch.setattr(
        store_module, "load_document", lambda path, **rest: read.append(path.name) or original(path, **rest)
    )
    catalog = Catalog([folder])
    assert catalog.ids(Switch) == ("broken", "one")
    assert read == []
    assert catalog.get(Switch, "one") is catalog.get(Switch, "one")
    assert read == ["one.yaml"]


def test_a_mistyped_id_gets_the_nearest(folder: Path) -> None:
    switch(folder, "sn5600")
    switch(folder, "qm9790")
    assert messages(Catalog([folder]), "sn560") == ["no item 'sn560' in catalog/switches (nearest: sn5600)"]
    assert messages(Catalog([folder]), "zzz") == [
        "no item 'zzz' in catalog/switches (see planner catalog list switches)"
    ]


def test_an_id_never_leaves_its_family(folder: Path) -> None:
    switch(folder, "one")
    (folder / "one.yaml").write_text("id: one\n")
    for wanted in ("../one", "../switches/one", "/etc/passwd", ""):
        assert messages(Catalog([folder]), wanted)[0].startswith(f"no item '{wanted}' in catalog/switches")


def test_an_overlay_replaces_and_adds_and_the_last_wins(folder: Path, tmp_path: Path) -> None:
    switch(folder, "both", name="shipped")
    switch(folder, "shipped-only")
    first, second = tmp_path / "mine", tmp_path / "yours"
    switch(first, "both", name="mine")
    switch(first, "added")
    switch(second, "both", name="yours")
    catalog = Catalog([folder, first, second])
    assert catalog.ids(Switch) == ("added", "both", "shipped-only")
    assert catalog.get(Switch, "both").name == "yours"
    assert Catalog([folder, first]).get(Switch, "both").name == "mine"
    assert catalog.entry(Switch, "added").document.path == "mine/switches/added.yaml"
    assert catalog.ids(Nic) == ()


def test_a_replacement_is_whole_and_merges_nothing(folder: Path, tmp_path: Path) -> None:
    switch(folder, "both")
    overlay = tmp_path / "mine"
    put(overlay, "switches", "both", "id: both\nname: half\n")
    assert any("asic: is missing" in one for one in messages(Catalog([folder, overlay]), "both"))


def test_all_problems_of_a_file_come_with_line_and_column(folder: Path) -> None:
    path = switch(folder, "bad")
    path.write_text(
        path.read_text().replace("cages: 64", "cages: many").replace("fabric: ethernet", "fabrc: x")
    )
    assert sorted(messages(Catalog([folder]), "bad")) == [
        "catalog/switches/bad.yaml:1:1: fabric: is missing (add it)",
        "catalog/switches/bad.yaml:4:1: fabrc: no field 'fabrc' here (nearest: fabric)",
        "catalog/switches/bad.yaml:5:1: cages: is 'many', and must be a number (write it without quotes, unit or %)",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id: x\nid: x\n", "x.yaml:2:1: 'id' is given twice"),
        ("id: !!python/name:os.system x\n", "x.yaml:1:5: YAML tags are not taken"),
        ("id: &a x\nname: *a\n", "YAML aliases"),
        ("id: x\n---\nid: y\n", "x.yaml:2:1: a second document"),
        ("[" * 50, "nested deeper"),
        ("", "must be a mapping"),
        ("\tid: x\n", "not valid YAML"),
        ("rack_units: .inf\n", "finite"),
    ],
)
def test_bad_yaml_is_a_catalog_error(folder: Path, text: str, words: str) -> None:
    put(folder, "switches", "x", text)
    assert any(words in one for one in messages(Catalog([folder]), "x"))


def test_a_huge_file_and_a_foreign_encoding_are_catalog_errors(folder: Path) -> None:
    put(folder, "switches", "utf", "").write_bytes(b"name: \xff\n")
    with put(folder, "switches", "huge", "").open("wb") as sparse:
        sparse.truncate(50_000_000)
    assert "is not UTF-8" in messages(Catalog([folder]), "utf")[0]
    assert "50,000,000 bytes" in messages(Catalog([folder]), "huge")[0]


def test_the_id_is_the_name_of_the_file(folder: Path) -> None:
    switch(folder, "one").rename(folder / "switches" / "two.yaml")
    assert messages(Catalog([folder]), "two") == [
        "catalog/switches/two.yaml:1:1: id 'one' differs from the file's name (write id: two)"
    ]


def test_a_figure_knows_its_line_its_source_and_whether_anybody_read_it(folder: Path) -> None:
    switch(folder, "one")
    source = Catalog([folder]).entry(Switch, "one").source("power_typical_w")
    assert source.where == "catalog/switches/one.yaml:10"
    assert (source.source, source.basis, source.as_of) == ("sheet", Basis.ESTIMATE, "2025-03")
    assert source.verified is False
    assert source.note == "a guess"


def test_a_plain_field_rests_on_the_item(folder: Path) -> None:
    switch(folder, "one")
    source = Catalog([folder]).entry(Switch, "one").source("cages")
    assert source.where == "catalog/switches/one.yaml:5"
    assert source.note == "for tests"
    with pytest.raises(AttributeError):
        Catalog([folder]).entry(Switch, "one").source("nothing")


def test_a_named_factor_has_its_figure_and_source(folder: Path) -> None:
    text = "id: x\nname: X\nfigures:\n  spare_fraction: {value: 0.02, source: s, basis: published, as_of: 2025}\n"
    put(folder, "assumptions", "x", text)
    catalog = Catalog([folder])
    figure, source = catalog.figure("x", "spare_fraction")
    assert figure.value == 0.02
    assert source.where == "catalog/assumptions/x.yaml:4"
    with pytest.raises(CatalogError, match=r"no figure 'spare_fractoin' .nearest: spare_fraction."):
        catalog.figure("x", "spare_fractoin")
    assert catalog.get(Assumptions, "x").figures["spare_fraction"].as_of == "2025"


def test_the_digest_depends_on_the_items_read_and_their_contents(folder: Path) -> None:
    switch(folder, "one")
    switch(folder, "two")
    first, second = Catalog([folder]), Catalog([folder])
    first.get(Switch, "one")
    first.get(Switch, "two")
    second.get(Switch, "two")
    assert first.digest() != second.digest()
    second.get(Switch, "one")
    assert first.digest() == second.digest()
    assert [(family, item) for family, item, _ in first.used()] == [("switches", "one"), ("switches", "two")]
    switch(folder, "two", watt="901")
    third = Catalog([folder])
    third.get(Switch, "one")
    third.get(Switch, "two")
    assert third.digest() != first.digest()


def test_everything_reads_every_family(folder: Path) -> None:
    switch(folder, "one")
    put(folder, "assumptions", "x", "id: x\nname: X\nfigures: {}\n")
    found = {(entry.item.family, entry.item.id) for entry in Catalog([folder]).everything()}
    assert found == {("switches", "one"), ("assumptions", "x")}


def test_sources_of_all_folders_are_joined_and_the_last_wins(folder: Path, tmp_path: Path) -> None:
    (folder / "sources.yaml").write_text("a: {title: A}\nb: {title: B, date: 2025}\n")
    overlay = tmp_path / "mine"
    overlay.mkdir()
    (overlay / "sources.yaml").write_text("b: {title: mine}\nc: {title: C}\n")
    sources = Catalog([folder, overlay]).sources
    assert {key: entry.title for key, entry in sources.items()} == {"a": "A", "b": "mine", "c": "C"}
    assert Catalog([folder]).sources["b"].date == "2025"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: {titel: A}\n", "catalog/sources.yaml:1:5: titel: no field 'titel' here .nearest: title."),
        ("- a\n", "catalog/sources.yaml:1:1: must map ids to publications"),
        ("a: [\n", "catalog/sources.yaml:2"),
        ("a: {title: A}\na: {title: B}\n", "given twice"),
        ("a:\n", "must be a mapping"),
    ],
)
def test_a_wrong_list_of_sources_is_a_catalog_error(folder: Path, text: str, words: str) -> None:
    (folder / "sources.yaml").write_text(text)
    with pytest.raises(CatalogError, match=words):
        _ = Catalog([folder]).sources


def test_no_list_of_sources_is_none(folder: Path) -> None:
    assert Catalog([folder]).sources == {}


def test_the_users_folder_comes_between_what_ships_and_overlays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "config" / "cluster-planner"
    monkeypatch.setattr("platformdirs.user_config_path", lambda _name: own)
    overlay = tmp_path / "overlay"
    switch(overlay, "mine")
    shipped_only = open_catalog()
    assert len(shipped_only.folders) == 1
    switch(own / "catalog", "mine")
    catalog = open_catalog([overlay])
    assert catalog.folders == (shipped_only.folders[0], own / "catalog", overlay)
    assert "mine" in catalog.ids(Switch)


def test_every_missing_overlay_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogError) as caught:
        open_catalog([tmp_path / "a", tmp_path / "b"])
    assert len(caught.value.problems) == 2
    assert f"{tmp_path}{os.sep}a: no such catalog folder" in str(caught.value)


def test_what_hangs_on_items_alone_is_made_once_for_each_thing_it_hangs_on() -> None:
    shelf, made = open_catalog(), []

    def make(number: int) -> list[int]:
        made.append(number)
        return [number]

    first = shelf.worked_out(("curves", 1), lambda: make(1))
    assert shelf.worked_out(("curves", 1), lambda: make(2)) is first
    assert shelf.worked_out(("curves", 2), lambda: make(2)) == [2]
    assert open_catalog().worked_out(("curves", 1), lambda: make(3)) == [3]
    assert made == [1, 2, 3]


def test_a_long_sweep_keeps_few_of_its_results() -> None:
    shelf = open_catalog()
    for number in range(10 * store_module.MOST_WORKED_OUT):
        assert shelf.worked_out(number, lambda number=number: -number) == -number
        assert len(shelf._worked_out) <= store_module.MOST_WORKED_OUT


def test_a_later_catalog_takes_an_item_as_read_until_its_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "switches" / "mine.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(SWITCH.format(id="mine", name="A", watt=100))
    first = Catalog([tmp_path]).entry(Switch, "mine")
    assert Catalog([tmp_path]).entry(Switch, "mine") is first
    stood = path.stat()
    path.write_text(SWITCH.format(id="mine", name="B", watt=100))
    os.utime(path, ns=(stood.st_atime_ns, stood.st_mtime_ns))  # same size and time, other content
    assert Catalog([tmp_path]).get(Switch, "mine").name == "B"
    path.unlink()
    with pytest.raises(CatalogError, match="no item 'mine'"):
        Catalog([tmp_path]).entry(Switch, "mine")


def test_publications_are_read_again_when_their_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text("one: {title: First}\n")
    assert Catalog([tmp_path]).sources["one"].title == "First"
    path.write_text("one: {title: Other}\n")
    assert Catalog([tmp_path]).sources["one"].title == "Other"
    path.write_text("one: {titel: Other}\n")
    with pytest.raises(CatalogError, match="titel"):
        _ = Catalog([tmp_path]).sources
