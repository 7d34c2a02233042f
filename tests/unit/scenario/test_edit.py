"""Edits of scenario texts: the data asked for, and every other line byte-equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.documents import parse_document, walk
from planner.errors import InputError, ScenarioError
from planner.scenario.edit import add_item, override, remove_item, remove_key, set_value, stands_in_text
from planner.scenario.load import load_scenario, load_text, shipped_scenarios
from planner.scenario.yamltext import block, inline, scalar, typed

TEXT = """\
# header stays
name: A plan   # trailing
site:
  location: us-virginia
  # negotiated in May
  pue: 1.25  # per contract

network:
    leaf: {switch: qm9700, oversubscription: 1}   # flow
    spine: {}
groups:
- id: main
  gpus: 1024
- {id: other, gpus: 8}
limits:
  days: 60
"""


def data(text: str) -> Any:
    return parse_document(text, name="t").data


def changed_lines(before: str, after: str) -> list[str]:
    old = before.splitlines()
    return [line for line in after.splitlines() if line not in old]


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("name",), "=SUM(1)", 'name: "=SUM(1)"   # trailing'),
        (("site", "pue"), 1.5, "  pue: 1.5  # per contract"),
        (("site", "cooling"), "air", "  cooling: air"),
        (("network", "leaf", "switch"), "sn5600", "    leaf: {switch: sn5600, oversubscription: 1}   # flow"),
        (
            ("network", "leaf", "optic"),
            "x",
            "    leaf: {switch: qm9700, oversubscription: 1, optic: x}   # flow",
        ),
        (("network", "spine", "switch"), "sn5600", "    spine: {switch: sn5600}"),
        (("network", "nic"), "cx7", "    nic: cx7"),
        (("groups", 0, "gpus"), 512, "  gpus: 512"),
        (("groups", 1, "gpus"), 16, "- {id: other, gpus: 16}"),
    ],
)
def test_setting_a_value_changes_one_line(path: tuple[str | int, ...], value: Any, line: str) -> None:
    after = set_value(TEXT, path, value)
    assert changed_lines(TEXT, after) == [line]
    assert [one for one in TEXT.splitlines() if one not in after.splitlines()].__len__() <= 1


def test_missing_parents_are_written_with_the_files_indentation() -> None:
    assert set_value("site:\n    pue: 1.2\n", ("money", "depreciation", "server_years"), 5).endswith(
        "money:\n  depreciation:\n    server_years: 5\n"
    )
    assert set_value("a: 1", ("b",), 2) == "a: 1\nb: 2\n"
    assert set_value("# only a comment\n", ("a", "b"), 2) == "# only a comment\na:\n  b: 2\n"


def test_an_empty_key_is_filled_and_its_comments_stay() -> None:
    text = "limits:  # agreed\n  # days: 60\nname: x\n"
    assert set_value(text, ("limits", "days"), 30) == "limits:  # agreed\n  days: 30\n  # days: 60\nname: x\n"
    assert set_value("a: {p: , q, r: 1}\n", ("a", "p"), 2) == "a: {p: 2, q, r: 1}\n"
    assert data(set_value("a: {p: , q, r: 1}\n", ("a", "q"), 2)) == {"a": {"p": None, "q": 2, "r": 1}}


def test_blocks_become_words_and_words_become_mappings() -> None:
    text = "plan:  # how\n  tensor: 8\n  pipeline: 2  # two\nname: x\n"
    assert set_value(text, ("plan",), "auto") == "plan: auto  # how\nname: x\n"
    assert set_value("plan: auto  # how\n", ("plan", "tensor"), 8) == "plan: {tensor: 8}  # how\n"
    assert set_value("name: |\n  two\n  lines\nb: 1\n", ("name",), "one") == "name: one\nb: 1\n"


def test_line_breaks_of_the_file_are_kept() -> None:
    text = "site:\r\n  pue: 1.2\r\n"
    assert set_value(text, ("site", "cooling"), "air") == "site:\r\n  pue: 1.2\r\n  cooling: air\r\n"


def test_removing_a_key_takes_its_own_comments_and_leaves_the_next_ones() -> None:
    after = remove_key(TEXT, ("site", "pue"))
    assert "negotiated" not in after and "per contract" not in after
    text = "site:\n  # the whole site\n  location: x\n  # about pue\n  pue: 1.2\n"
    assert remove_key(text, ("site", "location")) == "site:\n  # the whole site\n  # about pue\n  pue: 1.2\n"


def test_removing_the_last_key_removes_the_mapping() -> None:
    assert remove_key(TEXT, ("limits", "days")) == TEXT.replace("limits:\n  days: 60\n", "")
    assert data(remove_key(TEXT, ("network", "leaf", "switch")))["network"]["leaf"] == {"oversubscription": 1}
    assert data(remove_key("a: [{b: 1}]\n", ("a", 0, "b"))) == {"a": [{}]}
    assert remove_key("a: 1\n", ("a",)) == "{}\n"


def test_items_are_added_and_removed() -> None:
    after = add_item(TEXT, ("groups",), {"id": "third", "gpus": 16})
    assert "- id: third\n  gpus: 16\nlimits:" in after
    assert remove_item(after, ("groups", 2)) == TEXT
    assert remove_item(TEXT, ("groups", 0)) == TEXT.replace("- id: main\n  gpus: 1024\n", "")
    assert add_item("a: 1\n", ("phases",), {"id": "p", "groups": ["x", "z"]}) == (
        "a: 1\nphases:\n  - id: p\n    groups: [x, z]\n"
    )
    assert remove_item("a:\n  - x\nb: 1\n", ("a", 0)) == "a: []\nb: 1\n"
    assert add_item("a: [x]\n", ("a",), "z") == "a: [x, z]\n"


def test_flow_collections_over_several_lines_keep_their_comments() -> None:
    text = "a: {x: 1,  # one\n    y: 2,  # two\n    z: 3}\n"
    for key in "xyz":
        after = remove_key(text, ("a", key))
        assert data(after)["a"] == {k: v for k, v in {"x": 1, "y": 2, "z": 3}.items() if k != key}
        assert after.count("#") == 2 or key == "x"


def test_a_path_through_a_value_is_refused() -> None:
    with pytest.raises(ScenarioError):
        set_value(TEXT, ("groups", 7, "gpus"), 1)
    with pytest.raises(ScenarioError):
        remove_key(TEXT, ("site", "row_racks"))


def test_a_child_writes_an_override_and_finds_items_by_id() -> None:
    text = "name: child\nextends: h200-1024-ndr\n"
    merged = load_text(text, Path("child.yaml")).document.data
    after = override(text, merged, ("cluster", "groups", 0, "gpus"), 512)
    assert after == text + "cluster:\n  groups:\n    - id: main\n      gpus: 512\n"
    loaded = load_text(after, Path("child.yaml"))
    assert loaded.scenario.cluster.groups[0].gpus == 512
    assert loaded.scenario.cluster.groups[0].server == "hgx-h200"
    assert loaded.stands(("cluster", "groups", 0, "gpus")) == "file"
    assert loaded.stands(("cluster", "groups", 0, "server")) == "base"
    again = override(after, loaded.document.data, ("cluster", "groups", 0, "server"), "hgx-h100")
    assert again == after + "      server: hgx-h100\n"
    assert stands_in_text(again, loaded.document.data, ("cluster", "groups", 0, "server")) == (
        "cluster", "groups", 0, "server",
    )  # fmt: skip
    assert stands_in_text(again, loaded.document.data, ("site", "pue")) is None


@given(st.text(max_size=30).filter(lambda t: not any(0xD800 <= ord(c) <= 0xDFFF for c in t)))
def test_any_text_comes_back_as_the_same_text(text: str) -> None:
    assert data(f"a: {scalar(text)}\n") == {"a": text}
    assert data(f"a: {{b: {scalar(text)}, c: 1}}\n") == {"a": {"b": text, "c": 1}}


@pytest.mark.parametrize(
    "text", ["=SUM(1)", "yes", "1e9", "#x", "NO", "0x10", "1_000", "12:30", "- a", "a: b", "", " "]
)
def test_hostile_words_are_quoted(text: str) -> None:
    assert scalar(text).startswith('"')
    assert data(f"a: {scalar(text)}\n") == {"a": text}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_comes_back_as_the_same_number(value: float) -> None:
    found = data(f"a: {scalar(value)}\n")["a"]
    assert found == value and isinstance(found, float)


def test_numbers_that_no_file_can_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        scalar(float("inf"))


@pytest.mark.parametrize(
    ("written", "meant"),
    [("1,024", 1024), ("null", None), ("", None), ("2.50", 2.5), ("{a: 1}", "{a: 1}"), ("[a, b]", ["a", "b"]), ("1e3", 1000.0), ("#x", None), ("1,2", "1,2"), ("a: b", "a: b"), ("*x", "*x")],
)  # fmt: skip
def test_typing_is_understood(written: str, meant: Any) -> None:
    found = typed(written)
    assert found == meant and type(found) is type(meant)


KEYS = st.sampled_from(["a", "b", "c", "d", "odd key", "1", "null"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet="ab1#:,[]{}'\"-=%@ é", max_size=8)
)
DATA = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    ),
    min_size=1,
    max_size=4,
)


def laid_out(value: Any, comment: int, indent: int = 0) -> list[str]:
    """A document in mixed layout: comments between and behind lines, brackets inside, other steps."""
    lines: list[str] = []
    for key, item in value.items():
        pad = " " * indent
        if comment % 3 == 0:
            lines += ["", f"{pad}# about {scalar(key)!r}"]
        if isinstance(item, dict) and item and comment % 2:
            lines += [f"{pad}{scalar(key)}:  # deep", *laid_out(item, comment // 2 + 1, indent + 3)]
        elif isinstance(item, list) and item and comment % 2:
            lines.append(f"{pad}{scalar(key)}:")
            for one in item:
                rest = block([one]) if comment % 4 == 1 else [f"- {inline(one)}  # item"]
                lines += [pad + line for line in rest]
        elif item is None and comment % 5 == 0:
            lines.append(f"{pad}{scalar(key)}:   # nothing")
        else:
            lines.append(f"{pad}{scalar(key)}: {inline(item)}  # end")
        comment += 1
    return lines


def without(tree: Any, path: tuple[Any, ...]) -> Any:
    found = parse_document(inline(tree), name="t").data
    here = found
    for step in path[:-1]:
        here = here[step]
    del here[path[-1]]
    return found


def pruned(tree: Any, path: tuple[Any, ...]) -> Any:
    """What removing a key leaves: mappings it empties go too, unless they are items of a list."""
    while True:
        tree = without(tree, path)
        here = tree
        for step in path[:-1]:
            here = here[step]
        path = path[:-1]
        if here != {} or not path or isinstance(path[-1], int) or isinstance(here, list):
            return tree


def put(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    found = parse_document(inline(tree), name="t").data
    here = found
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
    return found


@settings(max_examples=150, deadline=None)
@given(tree=DATA, comment=st.integers(0, 12), value=SCALARS, pick=st.integers(0, 50))
def test_setting_any_value_gives_that_data_and_leaves_other_lines(
    tree: Any, comment: int, value: Any, pick: int
) -> None:
    text = "\n".join(laid_out(tree, comment)) + "\n"
    assert data(text) == tree
    leaves = [path for path, _ in walk(tree)]
    if not leaves:
        return
    path = leaves[pick % len(leaves)]
    after = set_value(text, path, value)
    assert data(after) == put(tree, path, value)
    assert len(changed_lines(text, after)) <= 1
    assert after.count("#") - str(value).count("#") >= text.count("#") - str(dict(walk(tree))[path]).count(
        "#"
    )


@settings(max_examples=150, deadline=None)
@given(tree=DATA, comment=st.integers(0, 12), pick=st.integers(0, 50), key=KEYS, value=SCALARS)
def test_adding_and_removing_keys_gives_that_data(
    tree: Any, comment: int, pick: int, key: str, value: Any
) -> None:
    text = "\n".join(laid_out(tree, comment)) + "\n"
    leaves = [path for path, _ in walk(tree)]
    if leaves:
        path = leaves[pick % len(leaves)]
        assert data(remove_key(text, path)) == pruned(tree, path)
        assert not changed_lines(text, remove_key(text, path)) or any(
            mark in "".join(changed_lines(text, remove_key(text, path))) for mark in "[{-:"
        )
    after = set_value(text, ("zz", key), value)
    assert data(after) == {**tree, "zz": {key: value}}
    assert after.startswith(text)


@pytest.mark.parametrize("name", shipped_scenarios())
def test_every_value_of_a_shipped_scenario_can_be_set_and_removed(name: str) -> None:
    path = load_scenario(name).path
    text = path.read_text(encoding="utf-8")
    for leaf, value in walk(data(text)):
        assert set_value(text, leaf, value) == text
        after = set_value(text, leaf, "other")
        assert len(after.splitlines()) == len(text.splitlines())
        assert len(changed_lines(text, after)) == 1
        try:
            parse_document(remove_key(text, leaf), name="t")
        except InputError:
            pytest.fail(f"{leaf} can't be removed")
