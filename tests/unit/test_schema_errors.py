"""What pydantic finds becomes a sentence with a line, a column and a remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from planner.catalog.schema import Assumptions, Server, Switch, Transceiver
from planner.documents import parse_document
from planner.errors import InputError, Problem
from planner.scenario.load import load_scenario
from planner.schema_errors import problems_of

GOOD = """\
id: s
name: S
asic: a
fabric: ethernet
cages: 64
cage_rate_gbit_per_s: 800
links_per_cage_max: 2
lane_rate_gbit_per_s: 100
rack_units: 2
power_typical_w: {value: 900, source: x, basis: datasheet, as_of: 2025-03}
"""


def problems(text: str, model: type[BaseModel] = Switch) -> list[Problem]:
    document = parse_document(text, name="f.yaml")
    with pytest.raises(ValidationError) as caught:
        model.model_validate(document.data)
    return problems_of(caught.value, document, model)


def said(text: str, model: type[BaseModel] = Switch) -> list[str]:
    return [str(problem) for problem in problems(text, model)]


def test_the_example_itself_is_right() -> None:
    Switch.model_validate(parse_document(GOOD, name="f").data)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("cages: 64", "cagse: 64", ["f.yaml:1:1: cages: is missing (add it)",
                                    "f.yaml:5:1: cagse: no field 'cagse' here (nearest: cage, cages, cables)"]),
        ("cages: 64", "cages: many", ["f.yaml:5:1: cages: is 'many', and must be a number (write it without"]),
        ("cages: 64", "cages: 6.5", ["f.yaml:5:1: cages: is 6.5, and must be a whole number"]),
        ("cages: 64", "cages: 0", ["f.yaml:5:1: cages: is 0, and must be 1 or more"]),
        ("cages: 64", "cages:", ["f.yaml:5:1: cages: is an empty value, and must be a number"]),
        ("rack_units: 2", "rack_units: 0", ["f.yaml:9:1: rack_units: is 0, and must be more than 0"]),
        ("fabric: ethernet", "fabric: ethernt",
         ["f.yaml:4:1: fabric: is 'ethernt', and must be one of infiniband, ethernet (nearest: ethernet)"]),
        ("value: 900", "value: 'nan'", ["f.yaml:10:19: power_typical_w.value: is 'nan', and must be a number"]),
        ("value: 900", "value: 900 W", ["f.yaml:10:19: power_typical_w.value: is '900 W', and must be a number"]),
        ("value: 900", "valeu: 900", ["power_typical_w.value: is missing",
                                      "f.yaml:10:19: power_typical_w.valeu: no field 'valeu' here (nearest: value"]),
        ("basis: datasheet", "basis: datashet",
         ["f.yaml:10:42: power_typical_w.basis: is 'datashet', and must be one of measured, datasheet"]),
        ("as_of: 2025-03", "as_of: 2025-13", ["power_typical_w.as_of: is '2025-13', and must be a date"]),
        ("as_of: 2025-03", "as_of: March", ["power_typical_w.as_of: is 'March', and must be a date"]),
        ("id: s", "id: My Switch", ["f.yaml:1:1: id: is 'My Switch', and must be an id"]),
        ("id: s", "id: ../s", ["f.yaml:1:1: id: is '../s', and must be an id"]),
        ("name: S", "name: 5", ["f.yaml:2:1: name: is 5, and must be text (put it in quotes)"]),
        ("name: S", "name: S\norderable: perhaps", ["f.yaml:3:1: orderable: is 'perhaps', and must be true or false"]),
        ("value: 900", "value: 900, low: 1000", ["f.yaml:10:1: power_typical_w: value 900 lies outside low 1000 to high 900"]),
        ("basis: datasheet", "basis: estimate", ["f.yaml:10:1: power_typical_w: an estimate says why in its note"]),
        ("basis: datasheet", "basis: datasheet, verified: false",
         ["f.yaml:10:1: power_typical_w: an unverified figure has the basis 'estimate'"]),
    ],
)  # fmt: skip
def test_a_mistake_is_said_with_its_place(old: str, new: str, expected: list[str]) -> None:
    assert old in GOOD
    found = said(GOOD.replace(old, new))
    assert len(found) == len(expected), found
    for part in expected:
        assert any(part in one for one in found), (part, found)


def test_all_mistakes_come_together_each_at_its_line() -> None:
    found = problems(
        GOOD.replace("cages: 64", "cages: x").replace("rack_units: 2", "rack_units: -1") + "more: 1\n"
    )
    assert sorted((problem.place.line, problem.place.column) for problem in found if problem.place) == [
        (5, 1), (9, 1), (11, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "word\n", "3\n"])
def test_a_file_that_is_no_mapping_is_said(text: str) -> None:
    (problem,) = problems(text)
    assert "must be a mapping of keys to values" in problem.message
    assert problem.place is not None
    assert problem.place.path == "f.yaml"


def test_a_mistake_in_a_nested_list_has_the_place_of_its_item() -> None:
    text = "id: n\nname: N\nfabric: ethernet\nneeds_nics:\n  - ok\n  - Not An Id\n"
    assert any(one.startswith("f.yaml:6:5: needs_nics.1: ") for one in _fabric(text))


def _fabric(text: str) -> list[str]:
    from planner.catalog.schema import FabricBehaviour

    return said(text, FabricBehaviour)


def test_names_nearest_to_a_mistyped_nested_key_are_those_of_the_nested_class() -> None:
    text = "id: n\nname: N\nfigures:\n  a_w: {value: 1, sorce: x, basis: datasheet, as_of: 2025}\n"
    found = said(text, Assumptions)
    assert any(
        "f.yaml:4:19: figures.a_w.sorce: no field 'sorce' here (nearest: source" in one for one in found
    )
    nics = "compute_nics: {nic: a, cuont: 8}\n"
    assert any("(nearest: count" in one for one in said(nics, Server))


def test_a_scalar_where_a_figure_belongs_is_said() -> None:
    text = GOOD.replace("{value: 900, source: x, basis: datasheet, as_of: 2025-03}", "900")
    assert said(text) == [
        "f.yaml:10:1: power_typical_w: is 900, and must be a mapping of keys to values (write key: value lines)"
    ]


def test_a_very_long_value_is_cut() -> None:
    (one,) = said(GOOD.replace("cages: 64", f"cages: {'x' * 500}"))
    assert len(one) < 200


def test_data_inside_a_document_keeps_its_place() -> None:
    document = parse_document("first: {}\nsecond: {name: 1}\n", name="f.yaml")
    with pytest.raises(ValidationError) as caught:
        Transceiver.model_validate(document.data["second"])
    found = problems_of(caught.value, document, Transceiver, at=("second",))
    assert {problem.place.line for problem in found if problem.place} == {2}
    assert "name" in {problem.key for problem in found}


def test_a_mapping_for_a_union_is_judged_by_the_member_that_takes_mappings() -> None:
    for change, said in (
        ("{schedule: interleaved, virtual_stages: 1}", "virtual_stages of 2 or more"),
        ("{tensr: 2}", "no field 'tensr' here"),
    ):
        with pytest.raises(InputError) as caught:
            load_scenario("h200-1024-ndr", changes=[f"workloads.0.plan={change}"])
        (problem,) = caught.value.problems
        assert said in problem.message
        assert "[" not in problem.key


def test_wrong_fields_are_said_beside_wrong_writing(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(
        "schema_version: 1\nextends: h200-1024-ndr\nsite: {pue: .inf}\nmoney: {horizon_months: -3}\n"
        "cluster: &here {groups: []}\nnettwork: 3\n"
    )
    with pytest.raises(InputError) as caught:
        load_scenario(wrong)
    lines = {problem.place.line: problem.message for problem in caught.value.problems if problem.place}
    assert len(caught.value.problems) == 5
    assert lines[3] == "is .inf, and must be a finite number"
    assert lines[4] == "is -3, and must be 12 or more"
    assert lines[5] in ("YAML anchors are not taken", "has 0 items, and needs at least 1")
    assert lines[6] == "no field 'nettwork' here"


def test_what_can_not_be_read_to_its_end_is_not_judged_further(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("money: {horizon_months: -3}\nsite: {pue: .inf}\na: [1\n")
    with pytest.raises(InputError) as caught:
        load_scenario(wrong)
    assert [problem.message[:14] for problem in caught.value.problems] == ["is .inf, and m", "not valid YAML"]
