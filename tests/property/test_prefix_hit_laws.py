"""Laws of prompts that are found in caches: more of them never serve less nor later, and none changes nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.performance.inference import Layout
from planner.performance.serving import Requests, asked_of, full_batch, operating_point
from planner.performance.serving_loops import closed_loop, offline_tokens_per_s
from planner.performance.serving_points import Objective, at_rate
from planner.performance.serving_pools import Way, best_pools
from tests.serving_fleet import candidate

ONE = np.ones(1)
WAY = Way(40e9 * ONE, 0.035 * ONE, 0.5 * ONE)
HITS = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
LAYOUTS = [Layout(ranks * ONE, ranks * ONE) for ranks in (1.0, 2.0, 4.0, 8.0)]
layouts = st.sampled_from(LAYOUTS)
prompts, answers = st.integers(16, 16_000), st.integers(2, 2000)
variations = st.floats(0.0, 1.0)


def asked(prompt: int, answer: int, variation: float = 0.0) -> Requests:
    """Requests of no hits."""
    return Requests(
        prompt * ONE, answer * ONE, 8192.0 * ONE, 512.0 * ONE, variation * ONE, variation * ONE
    )  # fmt: skip


@given(layouts, prompts, answers, variations)
@settings(max_examples=60, deadline=None)
def test_more_hits_never_lower_capacity_nor_raise_the_time_to_first_token(
    layout: Layout, prompt: int, answer: int, variation: float
) -> None:
    server, plain = candidate().server, asked(prompt, answer, variation)
    rates, first, token = [], [], []
    least = full_batch(server, requests=plain, layout=layout)
    rate = 0.7 * operating_point(server, requests=plain, layout=layout, batch_sequences=least).rate_per_s
    for hit in HITS:
        requests = replace(plain, hit_fraction=hit * ONE)
        full = full_batch(server, requests=requests, layout=layout)
        rates.append(
            operating_point(server, requests=requests, layout=layout, batch_sequences=full).rate_per_s[0]
        )
        point = at_rate(server, requests=requests, layout=layout, rate_per_s=rate)
        first.append(point.latency.first_token_mean_s[0])
        token.append(point.latency.per_token_mean_s[0])
    slack = 1.0 + 1e-9
    assert (np.array(rates[1:]) * slack >= rates[:-1]).all()
    assert (np.array(first[1:]) <= np.array(first[:-1]) * slack).all()
    assert (np.array(token[1:]) <= np.array(token[:-1]) * slack).all()


@given(layouts, prompts, answers, variations)
@settings(max_examples=30, deadline=None)
def test_no_hits_are_as_if_nothing_was_said(
    layout: Layout, prompt: int, answer: int, variation: float
) -> None:
    server, plain = candidate().server, asked(prompt, answer, variation)
    none = replace(plain, hit_fraction=np.zeros(1))
    np.testing.assert_array_equal(none.computed_tokens, plain.prompt_tokens)
    two = [
        operating_point(server, requests=one, layout=layout, batch_sequences=np.array([0.5, 3.0]))
        for one in (plain, none)
    ]
    np.testing.assert_array_equal(two[0].rate_per_s, two[1].rate_per_s)
    np.testing.assert_array_equal(two[0].latency.first_token_p99_s, two[1].latency.first_token_p99_s)


@given(layouts, prompts, answers, st.integers(1, 200))
@settings(max_examples=30, deadline=None)
def test_loops_and_offline_runs_serve_no_less(layout: Layout, prompt: int, answer: int, flying: int) -> None:
    server = candidate().server
    costs, more = server.costs(layout), []
    for hit in HITS:
        one = asked_of(replace(asked(prompt, answer), hit_fraction=hit * ONE))
        loop = closed_loop(
            costs, server.constants, asked=one, in_flight=flying * ONE, batch_limit=256.0 * ONE
        )
        offline = offline_tokens_per_s(costs, server.constants, asked=one, batch_sequences=64.0 * ONE)
        more.append((loop.output_tokens_per_s[0], offline[0]))
    assert (np.diff(np.array(more), axis=0) >= -1e-3 * np.array(more)[:-1]).all()


@given(st.integers(256, 8000), st.integers(16, 1000))
@settings(max_examples=15, deadline=None)
def test_pools_serve_no_less_and_move_the_same(prompt: int, answer: int) -> None:
    server, rates = candidate().server, []
    for hit in HITS[::2]:
        requests = replace(asked(prompt, answer), hit_fraction=hit * ONE)
        plan = best_pools(
            server,
            server,
            requests=requests,
            gpus=32,
            objective=Objective(5.0, 0.1),
            way=WAY,
            sizes=(1, 2, 4),
        )
        rates.append(plan.split.rate_per_s)
    assert (np.diff(rates) >= -1e-9 * np.array(rates[:-1])).all()
