"""A YAML file comes from anybody: what is wrong with it is said with its line, and nothing of it runs."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.documents import MAX_BYTES, MAX_DEPTH, load_document, parse_document, walk
from planner.errors import InputError, Place


def refusals(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_document(text, name="f.yaml")
    return [str(problem) for problem in caught.value.problems]


def file_refusals(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_document(path, name="f.yaml")
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("1e9", 1e9),
        ("1E-3", 1e-3),
        (".5", 0.5),
        ("5.", 5.0),
        ("-3", -3),
        ("+7", 7),
        ("010", 10),
        ("NO", "NO"),
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("2025-03-01", "2025-03-01"),
        ("12:30:00", "12:30:00"),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("'1e9'", "1e9"),
        ('"true"', "true"),
        ("'null'", "null"),
        ("1.2.3", "1.2.3"),
        ("=", "="),
    ],
)
def test_a_scalar_reads_as_yaml_1_2_has_it(written: str, read: object) -> None:
    data = parse_document(f"a: {written}\n", name="f.yaml").data
    assert data == {"a": read}
    assert type(data["a"]) is type(read)


@pytest.mark.parametrize(
    "written", [".nan", ".NaN", ".inf", "-.inf", "+.Inf", "1e999", "-1e999", "9" * 5000, "-" + "9" * 5000]
)
def test_a_number_that_is_not_finite_is_refused(written: str) -> None:
    (said,) = refusals(f"a: 1\nb: [{{c: {written}}}]\n")
    assert said.startswith("f.yaml:2:9: b.0.c: is ")
    assert said.endswith("and must be a finite number")
    assert len(said) < 100


def test_the_same_in_quotes_is_text() -> None:
    assert parse_document("a: '.nan'\n", name="f").data == {"a": ".nan"}


def test_every_key_and_item_has_its_line_and_column() -> None:
    document = parse_document("a:\n  b: 1\n  c: [x, {d: 2}]\n", name="f.yaml")
    assert document.place(("a", "b")) == Place("f.yaml", 2, 3)
    assert document.place(("a", "c", 1, "d")) == Place("f.yaml", 3, 11)
    assert document.place(("a", "missing", "deeper")) == Place("f.yaml", 1, 1)
    assert document.place(("nothing",)) == Place("f.yaml", 1, 1)


def test_a_key_given_twice_is_refused_with_both_lines() -> None:
    said = refusals("a: 1\nb: {c: 1, c: 2}\na: 3\n")
    assert said == [
        "f.yaml:2:11: 'c' is given twice (first on line 2) (keep one)",
        "f.yaml:3:1: 'a' is given twice (first on line 1) (keep one)",
    ]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: !!python/object/apply:os.system [ls]\n", "f.yaml:1:4", "tags"),
        ("a: !!str 3\n", "f.yaml:1:4", "tags"),
        ("!thing\na: 1\n", "f.yaml:1:1", "tags"),
        ("x: 1\na: &one 1\n", "f.yaml:2:4", "anchors"),
        ("a: &one {b: 1}\n", "f.yaml:1:4", "anchors"),
        ("x: 1\na: 2\nb: *one\n", "f.yaml:3:4", "aliases"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1", "second document"),
        ("? [a, b]\n: 1\n", "f.yaml:1:3", "a key must be a word"),
        ("a: 1\n\tb: 2\n", "f.yaml:2", "not valid YAML"),
        ("a:\n\t- 1\n", "f.yaml:2:1", "not valid YAML"),
        ("a: [1, 2\nb: 3\n", "f.yaml:2", "not valid YAML"),
        ("a: 'open\n", "f.yaml:2:1", "not valid YAML"),
        ("a: b: c\n", "f.yaml:1:5", "not valid YAML"),
        ("a: 1\n  b: 2\n", "f.yaml:2", "not valid YAML"),
    ],
)
def test_what_is_not_plain_yaml_is_refused_at_its_place(text: str, place: str, words: str) -> None:
    said = refusals(text)
    assert any(one.startswith(place) and words in one for one in said), said


@pytest.mark.parametrize("text", ["a: \x00\n", "a: \x07b\n", "\x1b[31m: 1\n"])
def test_control_characters_are_refused(text: str) -> None:
    assert "not valid YAML" in refusals(text)[0]


def test_an_alias_bomb_is_refused_at_once() -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 12))
    began = time.process_time()
    assert any("aliases" in one for one in refusals("l0: &l0 [lol]\n" + levels))
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused_without_recursion(opening: str) -> None:
    text = opening * 100_000 if opening != "- " else "- " * 100_000 + "1"
    said = refusals(text)
    assert f"f.yaml:1:{len(opening) * MAX_DEPTH + 1}: is nested deeper than {MAX_DEPTH} levels" in said


def test_nesting_up_to_the_limit_is_read() -> None:
    data = parse_document("[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH, name="f").data
    for _ in range(MAX_DEPTH):
        (data,) = data
    assert data == 1


def test_all_problems_of_a_file_come_together() -> None:
    said = refusals("a: !!int 1\na: 2\nb: &x 3\n")
    assert len(said) == 3


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "---\n...\n", "\n\n"])
def test_an_empty_file_is_no_data(text: str) -> None:
    assert parse_document(text, name="f").data is None


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(b"\xef\xbb\xbfname: x\r\nother: 2\r\n")
    document = load_document(file)
    assert document.data == {"name": "x", "other": 2}
    assert document.place(("name",)) == Place(str(file), 1, 1)
    assert document.place(("other",)).line == 2


@pytest.mark.parametrize("raw", [b"a: \xff\n", "a: é\n".encode("latin-1"), "a: 1\n".encode("utf-16")])
def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(raw)
    assert "is not UTF-8 (byte" in file_refusals(file)[0]


def test_a_file_of_50_mb_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "f.yaml"
    with file.open("wb") as sparse:
        sparse.truncate(50_000_000)
    monkeypatch.setattr(Path, "open", lambda *_a, **_k: pytest.fail("was opened"))
    assert file_refusals(file) == [
        f"f.yaml: has 50,000,000 bytes, and at most {MAX_BYTES:,} are read (keep only planning input in it)"
    ]


def test_a_file_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text("#" * (MAX_BYTES - 6) + "\na: 1\n")
    assert load_document(file).data == {"a": 1}
    file.write_text("#" * (MAX_BYTES - 5) + "\na: 1\n")
    assert "at most" in file_refusals(file)[0]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
def test_an_endless_device_is_read_no_further_than_the_limit() -> None:
    assert "at most" in file_refusals(Path("/dev/zero"))[0]


def test_a_missing_file_and_a_folder_are_said(tmp_path: Path) -> None:
    assert file_refusals(tmp_path / "none.yaml") == ["f.yaml: can't be read: No such file or directory"]
    assert "is a folder" in file_refusals(tmp_path)[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_said(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text("a: 1\n")
    file.chmod(0)
    assert "Permission denied" in file_refusals(file)[0]


def test_the_name_of_a_file_is_what_problems_call_it(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text("a: [\n")
    with pytest.raises(InputError, match=r"f.yaml:2"):
        load_document(tmp_path / "f.yaml")


def test_walk_gives_every_scalar_with_its_path() -> None:
    data = {"a": [1, {"b": None}], "c": "x"}
    assert list(walk(data)) == [(("a", 0), 1), (("a", 1, "b"), None), (("c",), "x")]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab:-[]{},'\"\n \t#&*!|>%?@`~01.e"), max_size=40))
def test_any_text_gives_data_or_problems_and_nothing_else(text: str) -> None:
    try:
        document = parse_document(text, name="f")
    except InputError as error:
        assert error.problems
    else:
        for path, _ in walk(document.data):
            assert path == () or document.place(path).line >= 1
