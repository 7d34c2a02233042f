"""Laws of simulated serving and of its closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.arrays import Floats
from planner.performance.queueing import Latency, Tails, open_loop_latency
from planner.performance.queueing_steps import Arrivals
from planner.performance.simulate.clients import gamma_arrivals_s, poisson_arrivals_s
from planner.performance.simulate.engine import Engine, Eviction, Schedule
from planner.performance.simulate.lengths import lognormal_tokens
from planner.performance.simulate.pools import Path, Pools, simulate_pools
from planner.performance.simulate.record import Outcome
from planner.performance.simulate.routing import Routing
from planner.performance.simulate.run import ClosedLoop, simulate
from planner.performance.simulate.steps import step_table
from planner.performance.simulate.traffic import Traffic, plain_traffic, with_prefixes, with_priorities

ONE = np.ones(1)
TAILS = Tails(ONE, ONE)
PATH = Path(1e5, 5e10, 2e11, 0.5, 80.0, 0.03)
seeds = st.integers(0, 1000)
policies = st.tuples(st.sampled_from(Eviction), st.sampled_from(Schedule), st.booleans())


def seconds(decodes: Floats, context: Floats, prompt: Floats, seen: Floats, prompts: Floats) -> Floats:
    """Steps of a machine that is easy to reckon with."""
    del prompts
    return 8e-3 + 2e-5 * decodes + 1.5e-9 * decodes * context + 2.5e-5 * prompt + 1e-9 * prompt * seen


TABLE = step_table(
    seconds,
    most_sequences=64,
    most_prompt_tokens=4096.0,
    mean_prompt_tokens=800.0,
    most_context_tokens=8192.0,
)


def engine(
    policy: tuple[Eviction, Schedule, bool] | None = None, *, cache_tokens: float = 12_000.0
) -> Engine:
    """A replica, tight in memory by default."""
    eviction, schedule, chunked = policy or (Eviction.RECOMPUTE, Schedule.MIXED, True)
    return Engine(
        TABLE, 64, 4096.0, cache_tokens, eviction=eviction, schedule=schedule, chunked=chunked,
        swap_s_per_token=1e-6,
    )  # fmt: skip


def traffic(seed: int, *, rate_per_s: float = 30.0, requests: int = 250, variation: float = 1.5) -> Traffic:
    """Bursty requests of spread lengths that each fit the cache."""
    random = np.random.default_rng(seed)
    return plain_traffic(
        arrival_s=gamma_arrivals_s(random, rate_per_s=rate_per_s, requests=requests, variation=variation),
        prompt_tokens=np.minimum(
            lognormal_tokens(random, mean_tokens=800.0, variation=0.8, requests=requests), 4000.0
        ),
        output_tokens=np.minimum(
            lognormal_tokens(random, mean_tokens=120.0, variation=0.8, requests=requests), 900.0
        ),
    )


def in_order(run: Outcome) -> bool:
    """Arrival, start, first and last token of every request follow each other."""
    early = bool((run.arrival_s <= run.started_s).all() and (run.started_s < run.first_s).all())
    return early and bool((run.first_s <= run.finish_s).all())


@given(seeds, policies)
@settings(max_examples=40, deadline=None)
def test_every_prompt_is_computed_and_no_cache_overflows(
    seed: int, policy: tuple[Eviction, Schedule, bool]
) -> None:
    asked = traffic(seed)
    run = simulate(engine(policy), asked, replicas=2)
    assert in_order(run)
    assert run.most_held_tokens <= 12_000.0
    again = run.prefilled_tokens - asked.prompt_tokens
    if policy[0] is Eviction.RECOMPUTE:
        assert (again >= 0.0).all()
        assert (again[run.evictions == 0] == 0.0).all()
    elif policy[0] is Eviction.RESERVE:
        assert run.evictions.sum() == 0.0
        np.testing.assert_array_equal(again, 0.0)
    # a token after the first takes a decode step at least
    steps = asked.output_tokens - 1.0
    assert (run.finish_s - run.first_s >= steps * 8e-3 - 1e-9).all()


@given(seeds, policies)
@settings(max_examples=20, deadline=None)
def test_requests_of_a_class_start_in_the_order_they_came(
    seed: int, policy: tuple[Eviction, Schedule, bool]
) -> None:
    random = np.random.default_rng(seed)
    asked = with_priorities(traffic(seed), random, shares=np.array([0.3, 0.7]))
    run = simulate(engine(policy), asked)
    for one in (0.0, 1.0):
        starts = run.started_s[asked.priority == one]
        assert (np.diff(starts) >= 0.0).all()


def test_the_first_class_waits_less_when_the_replica_is_busy() -> None:
    asked = with_priorities(
        traffic(3, rate_per_s=40.0), np.random.default_rng(3), shares=np.array([0.3, 0.7])
    )
    run = simulate(engine(), asked)
    assert run.ttft_s[asked.priority == 0.0].mean() < 0.5 * run.ttft_s[asked.priority == 1.0].mean()


@given(seeds, st.sampled_from(Routing))
@settings(max_examples=15, deadline=None)
def test_routing_changes_nothing_with_one_replica(seed: int, routing: Routing) -> None:
    asked = traffic(seed, rate_per_s=10.0)
    np.testing.assert_array_equal(
        simulate(engine(), asked, routing=routing).finish_s,
        simulate(engine(), asked, routing=Routing.ROUND_ROBIN).finish_s,
    )


@given(seeds, st.sampled_from(Routing))
@settings(max_examples=20, deadline=None)
def test_prefix_hits_and_computed_tokens_are_the_prompts(seed: int, routing: Routing) -> None:
    random = np.random.default_rng(seed)
    asked = with_prefixes(traffic(seed), random, prefixes=12, prefix_tokens=500.0, share_fraction=0.7)
    roomy = replace(engine((Eviction.RESERVE, Schedule.MIXED, True)), prefix_caching=True)
    run = simulate(roomy, asked, replicas=3, routing=routing)
    np.testing.assert_array_equal(run.prefilled_tokens + run.hit_tokens, asked.prompt_tokens)
    assert run.hit_tokens.sum() > 0.0
    assert run.most_held_tokens <= 12_000.0
    without = simulate(engine((Eviction.RESERVE, Schedule.MIXED, True)), asked, replicas=3, routing=routing)
    assert run.prefilled_tokens.sum() < without.prefilled_tokens.sum()


def test_routing_by_prefix_finds_more_of_them() -> None:
    random = np.random.default_rng(5)
    asked = traffic(5, rate_per_s=60.0, requests=2000)
    asked = with_prefixes(asked, random, prefixes=60, prefix_tokens=500.0, share_fraction=0.9)
    cached = replace(engine(cache_tokens=40_000.0), prefix_caching=True)
    hits = {
        one: simulate(cached, asked, replicas=8, routing=one).hit_tokens.sum()
        for one in (Routing.ROUND_ROBIN, Routing.PREFIX_AWARE)
    }
    assert hits[Routing.PREFIX_AWARE] > 1.2 * hits[Routing.ROUND_ROBIN]


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_the_same_seed_gives_the_same_run(seed: int) -> None:
    first, second = (simulate(engine(), traffic(seed), replicas=3) for _ in range(2))
    np.testing.assert_array_equal(first.finish_s, second.finish_s)


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_more_load_never_lowers_the_mean_time_to_first_token(seed: int) -> None:
    gaps = poisson_arrivals_s(np.random.default_rng(seed), rate_per_s=1.0, requests=3000)
    asked = traffic(seed, requests=3000)
    roomy = engine(cache_tokens=200_000.0)
    means = [
        simulate(roomy, replace(asked, arrival_s=gaps / rate)).ttft_s.mean()
        for rate in (2.0, 6.0, 12.0, 20.0)
    ]
    assert (np.diff(means) > 0.0).all()


@given(seeds, st.integers(1, 60))
@settings(max_examples=15, deadline=None)
def test_closed_loop_clients_never_have_more_requests_than_they_are(seed: int, clients: int) -> None:
    run = simulate(
        engine(cache_tokens=60_000.0), traffic(seed), replicas=2, closed_loop=ClosedLoop(clients, 0.05)
    )
    assert in_order(run)
    events = np.concatenate([run.arrival_s, run.finish_s])
    change = np.concatenate([np.ones(run.arrival_s.size), -np.ones(run.finish_s.size)])
    order = np.lexsort((change, events))
    assert np.cumsum(change[order]).max() <= clients


@given(seeds, st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=15, deadline=None)
def test_caches_arrive_after_they_are_computed_and_before_they_decode(
    seed: int, prefill: int, decode: int
) -> None:
    one = engine((Eviction.RESERVE, Schedule.MIXED, True), cache_tokens=40_000.0)
    asked = traffic(seed)
    run = simulate_pools(Pools(one, one, prefill, decode), asked, PATH)
    assert in_order(run)
    assert (run.transfer_s > 0.0).all()
    np.testing.assert_array_equal(run.prefilled_tokens, asked.prompt_tokens)
    slow = simulate_pools(Pools(one, one, prefill, decode), asked, replace(PATH, shared_bytes_per_s=1e9))
    assert slow.ttft_s.mean() > run.ttft_s.mean()


@given(seeds, st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=10, deadline=None)
def test_answers_of_one_token_leave_the_decode_pool_at_once(seed: int, prefill: int, decode: int) -> None:
    one = engine(cache_tokens=40_000.0)
    asked = traffic(seed)
    asked = replace(asked, output_tokens=np.where(np.arange(len(asked)) % 2 == 0, 1.0, asked.output_tokens))
    run = simulate_pools(Pools(one, one, prefill, decode), asked, PATH)
    assert in_order(run)
    short = asked.output_tokens == 1.0
    assert np.isnan(run.tpot_s[short]).all()
    assert (run.finish_s[~short] > run.first_s[~short]).all()
    np.testing.assert_array_equal(run.finish_s[short], run.first_s[short])


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_chance_gives_every_replica_its_share_and_waits_longer_than_the_shortest_line(seed: int) -> None:
    asked = traffic(seed, rate_per_s=40.0, requests=3000)
    roomy = engine(cache_tokens=200_000.0)
    random, even = (
        simulate(roomy, asked, replicas=4, routing=one) for one in (Routing.RANDOM, Routing.LEAST_QUEUE)
    )
    shares = np.bincount(random.replica.astype(int), minlength=4) / len(asked)
    # 750 expected at each, standard deviation 24
    assert (np.abs(shares - 0.25) < 0.04).all()
    assert random.ttft_s.mean() > even.ttft_s.mean()


def closed_form(
    batch: Floats, decode_s: Floats, more_s: Floats, prefill_s: float, rate: Floats, share: float, variation: float
) -> Latency:  # fmt: skip
    """A replica by its batch, answers of 200 tokens."""
    return open_loop_latency(
        Arrivals(
            rate, batch, decode_s, more_s, prefill_s * ONE, prefill_s * ONE, 0.9 * ONE, 200.0 * ONE, share * ONE,
            variation * ONE, variation * ONE,
        ),
        first_token_fixed_s=0.01 * ONE, first_token_decode_steps=3.0 * ONE, tails=TAILS,
    )  # fmt: skip


@given(
    st.floats(0.001, 0.05),
    st.floats(0.0, 0.02),
    st.floats(0.001, 0.2),
    st.floats(0.0, 1.0),
    st.floats(0.05, 1.5),
)
@settings(max_examples=100, deadline=None)
def test_the_closed_form_rises_with_the_batch(
    decode_s: float, growth: float, prefill_s: float, variation: float, share: float
) -> None:
    batch = np.array([0.1, 1.0, 5.0, 20.0, 60.0, 120.0])
    step = decode_s * (1.0 + growth * (batch + 1.0))
    rate = batch / (200.0 * step + batch * prefill_s)
    found = closed_form(batch, step, growth * decode_s * ONE, prefill_s, rate, share, variation)
    # a batch lasts while steps have room for as many prompts
    ends = batch * share < 0.95 * 200.0
    first = found.first_token_mean_s[ends]
    assert np.isfinite(first).all()
    assert (np.diff(first) > 0.0).all()
    assert (np.diff(found.per_token_mean_s) > 0.0).all()
    assert (found.first_token_p50_s <= found.first_token_p95_s).all()
    assert (found.first_token_p95_s <= found.first_token_p99_s).all()
    assert (found.per_token_p50_s <= found.per_token_p99_s).all()


@given(st.floats(0.001, 0.05), st.floats(0.001, 0.2), st.floats(0.05, 1.5))
@settings(max_examples=50, deadline=None)
def test_the_closed_form_ends_where_prompts_fill_the_time_or_all_steps(
    decode_s: float, prefill_s: float, share: float
) -> None:
    rate = np.array([1.001, 1.5]) / prefill_s
    full = closed_form(9.0 * ONE, decode_s * ONE, 0.0 * ONE, prefill_s, rate, share, 0.5)
    assert np.isinf(full.first_token_mean_s).all()
    assert np.isinf(full.per_token_p99_s).all()
    most = 1.0 / (prefill_s + share * decode_s)
    crowded = closed_form(9.0 * ONE, decode_s * ONE, 0.0 * ONE, prefill_s, 1.01 * most * ONE, share, 0.5)
    assert np.isinf(crowded.first_token_p99_s).all()
