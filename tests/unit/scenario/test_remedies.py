"""Edits of remedies: what they write, what they leave alone, and numbers of GPUs spread over groups."""

from __future__ import annotations

import pytest

from planner.catalog.store import open_catalog
from planner.errors import Problem, Remedy, ScenarioError
from planner.scenario.load import load_scenario
from planner.scenario.parts import Parts, resolve
from planner.scenario.remedies import applied, settled, spread, to_cooling, to_gpus, to_server, to_switch


def parts_of(name: str, *changes: str) -> Parts:
    """Parts of a shipped scenario with changes."""
    return resolve(load_scenario(name, changes=changes), open_catalog())


def test_an_edit_changes_its_field_alone_and_says_where_it_stands() -> None:
    loaded = load_scenario("h200-1024-ndr", changes=["site.rack_limit_kw=40"])
    after = applied(loaded, to_cooling("rear-door", limit_typed=True))
    assert after.scenario.site.cooling == "rear-door" and after.scenario.site.rack_limit_kw is None
    assert loaded.scenario.site.rack_limit_kw == 40 and loaded.document.data["site"]["rack_limit_kw"] == 40
    assert (
        after.stands(("site", "cooling")) == "file" and after.stands(("site", "rack_limit_kw")) == "default"
    )
    same = after.scenario.model_copy(update={"site": loaded.scenario.site})
    assert same == loaded.scenario


def test_an_edit_that_contradicts_the_scenario_is_refused() -> None:
    loaded = load_scenario("h200-1024-ndr")
    with pytest.raises(ScenarioError):
        applied(loaded, Remedy("no rack", ("site", "rack_limit_kw"), -1))


def test_a_number_of_gpus_is_written_to_every_group_in_whole_servers() -> None:
    parts = parts_of("h200-phased")
    found = settled(to_gpus(700), parts)
    after = resolve(applied(parts.loaded, found), open_catalog())
    assert [group.wish.gpus for group in after.groups] == [344, 344] and found.words == "688 GPUs or fewer"
    assert settled(to_gpus(8), parts).edits == ()


@pytest.mark.parametrize("gpus", [9, 100, 1023, 1025, 5000])
def test_spreading_stays_within_what_is_asked_and_keeps_whole_servers(gpus: int) -> None:
    groups = [(512, 8), (256, 4), (256, 72)]
    found = spread(gpus, groups)
    if found is not None:
        assert all(own % size == 0 and own > 0 for own, (_, size) in zip(found, groups, strict=True))
        assert sum(found) <= gpus if gpus < 1024 else sum(found) >= gpus


def test_another_switch_takes_the_place_of_every_tier_and_frees_their_optics() -> None:
    parts = parts_of("h200-1024-ndr", "network.leaf.optic=osfp-800g-2xdr4")
    after = applied(parts.loaded, to_switch("qm9790", parts)).scenario.network
    assert (after.leaf.switch, after.spine.switch, after.leaf.optic) == ("qm9790", "qm9790", None)


def test_a_server_that_the_gpus_do_not_fill_is_no_remedy() -> None:
    assert to_server("gb200-nvl72", parts_of("h200-1024-ndr"), gpus=72) is None


def test_a_problem_says_its_remedies_in_words_and_words_alone_have_no_edit() -> None:
    problem = Problem("too much", remedies=(Remedy("less", ("site", "pue"), 1.1), Remedy("nothing")))
    assert str(problem) == "too much (less; nothing)"
    assert [bool(one.edits) for one in problem.offered] == [True, False]
    assert Problem("fine").offered == ()
