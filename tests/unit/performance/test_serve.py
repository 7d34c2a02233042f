"""A serving workload of a plan, with prompts that are found in caches."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from planner.errors import ScenarioError
from planner.evaluate import Evaluation, evaluate
from planner.performance.inference import serving_flop_per_output_token
from tests.serving_fleet import candidate, fleet, shelf

KEY = "performance.serving"
FIELD = "workloads.0.prefix_hit_fraction"


@cache
def evaluated(*changes: str) -> Evaluation:
    found = evaluate(fleet(*changes), shelf())
    assert found.built is not None, found.refusal
    return found


def value(found: Evaluation, key: str) -> float:
    return float(found.ledger.value(key)[0])


def test_hits_are_a_given_line_with_its_place_and_computed_tokens_follow() -> None:
    found = evaluated(f"{FIELD}=0.6")
    line = found.ledger[f"{KEY}.prefix_hit_fraction"]
    assert found.ledger.value(line)[0] == 0.6
    assert FIELD in str(line.source)
    assert value(found, f"{KEY}.computed_input_tokens") == pytest.approx(0.4 * 2048)


def test_none_is_as_if_absent() -> None:
    plain, none = evaluated(), evaluated(f"{FIELD}=0")
    lines = [{one.key: found.ledger.value(one) for one in found.ledger} for found in (plain, none)]
    assert lines[0].keys() == lines[1].keys()
    assert f"{KEY}.prefix_hit_fraction" not in lines[0]
    for key, values in lines[0].items():
        np.testing.assert_array_equal(values, lines[1][key], err_msg=key)


@pytest.mark.parametrize("pools", ["null", "auto"])
def test_hits_serve_more_for_less_money(pools: str) -> None:
    apart = f"workloads.0.disaggregated={pools}"
    plain, some, many = (evaluated(apart, *more) for more in ((), (f"{FIELD}=0.3",), (f"{FIELD}=0.6",)))
    for name in (f"{KEY}.output_tokens_per_s", f"{KEY}.output_tokens_per_s_per_gpu_saturated"):
        assert value(plain, name) < value(some, name) < value(many, name)
    costs = [value(one, "unit.usd_per_mtoken_output") for one in (plain, some, many)]
    assert costs[0] > costs[1] > costs[2]
    assert value(plain, "unit.usd_per_mtoken_input") > value(many, "unit.usd_per_mtoken_input")


def test_nobody_counts_arithmetic_of_what_was_found() -> None:
    one, thousand = np.ones(1), np.array([1000.0])
    shape = candidate().server.shape
    plain = serving_flop_per_output_token(shape, prompt_tokens=thousand, output_tokens=one)
    alone = serving_flop_per_output_token(shape, prompt_tokens=0.0 * one, output_tokens=400.0 * one)
    found = serving_flop_per_output_token(
        shape, prompt_tokens=thousand, output_tokens=one, found_tokens=400.0 * one
    )
    assert found[0] == pytest.approx(plain[0] - 400.0 * alone[0])
    assert value(evaluated(f"{FIELD}=0.9"), f"{KEY}.mfu_fraction") < 1.0


@pytest.mark.parametrize("wrong", ["1", "1.5", "-0.1", "many"])
def test_a_share_of_one_or_none_at_all_is_refused_in_words(wrong: str) -> None:
    with pytest.raises(ScenarioError, match="prefix_hit_fraction"):
        fleet(f"{FIELD}={wrong}")
