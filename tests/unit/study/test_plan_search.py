"""The plan search as commands and screens ask for it."""

from __future__ import annotations

import pytest

from planner.catalog.store import open_catalog
from planner.errors import InputError
from planner.performance.search import Goal
from planner.performance.search_run import run_of
from planner.scenario.load import load_scenario
from planner.study.plan_search import FoundPlans, find_plans, points, refuse_no_training
from planner.study.scenario_plan import scenario_plan
from planner.study.withdrawn import WithdrawnError

LAB = "h100-8-lab"


def _found(**more: object) -> FoundPlans:
    loaded = load_scenario(LAB)
    index = next(iter(refuse_no_training(loaded, LAB).values()))
    auto = load_scenario(LAB, changes=[f"workloads.{index}.plan=auto"])
    return find_plans(loaded, auto, open_catalog(), index=index, top=5, **more)  # type: ignore[arg-type]


def test_the_quickest_plan_of_every_gpu_count_is_as_quick_as_the_best_by_time() -> None:
    found = _found()
    best = found.choice.rankings[Goal.TIME][0]
    quickest = min(float(one.step.step_s[0]) for one in found.front)
    assert quickest == pytest.approx(float(best.step.step_s[0]), rel=1e-12)
    # what the search saw in its blocks is what the plan gives alone
    assert all(one.value == pytest.approx(one.searched_value, rel=1e-12) for one in found.front)


def test_no_point_of_the_front_is_beaten_in_both_time_and_cost() -> None:
    shown = points(_found())
    assert shown == tuple(sorted(shown, key=lambda one: (one.run.days, one.run.usd)))
    for one in shown:
        beaten = any(
            other.run.days <= one.run.days and other.run.usd <= one.run.usd
            and (other.run.days, other.run.usd) != (one.run.days, one.run.usd)
            for other in shown
        )  # fmt: skip
        assert not (one.on_front and beaten)
    assert any(one.on_front for one in shown)


def test_a_plan_written_into_the_scenario_takes_as_long_as_the_search_said() -> None:
    found = _found()
    last = found.choice.rankings[Goal.TIME][-1]
    said = scenario_plan(last.plan)
    fields = ", ".join(f"{name}: {value}" for name, value in said.items())
    again = load_scenario(LAB, changes=[f"workloads.{found.index}.plan={{{fields}}}"])
    other = find_plans(again, again, open_catalog(), index=found.index, top=1)
    assert other.own is not None and other.own.ranked is not None
    assert run_of(other.rates, other.own.ranked).step_s == pytest.approx(
        run_of(found.rates, last).step_s, rel=1e-9
    )


def test_whoever_watches_the_progress_can_call_the_search_off() -> None:
    seen: list[int] = []

    def progress(total: int) -> object:
        def told(done: int, of: int) -> None:
            seen.append(done)
            assert of == total
            raise WithdrawnError

        return told

    with pytest.raises(WithdrawnError):
        _found(progress=progress)
    assert len(seen) == 1


def test_a_scenario_without_training_is_refused() -> None:
    with pytest.raises(InputError, match="no training workload"):
        refuse_no_training(load_scenario("h200-serving-fleet"), "h200-serving-fleet")
