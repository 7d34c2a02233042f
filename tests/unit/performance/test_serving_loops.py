"""Closed loops, offline throughput and decode pools in closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.performance.inference import Layout
from planner.performance.serving import Server
from planner.performance.serving_loops import (
    Asked,
    closed_loop,
    decode_pool_token_s,
    offline_tokens_per_s,
    step_and_prompt_s,
)

ONE = np.array([1.0])
FOUR = Layout(4.0 * ONE, 4.0 * ONE)
CHAT = Asked(1024.0 * ONE, 512.0 * ONE, 8192.0 * ONE)


def test_as_many_requests_are_in_flight_as_were_asked(server: Server) -> None:
    """Requests in flight are rate x time in the system (Little)."""
    flying = np.array([1.0, 16.0, 128.0])
    loop = closed_loop(
        server.costs(FOUR), server.constants, asked=CHAT, in_flight=flying, batch_limit=400.0 * ONE
    )
    requests_per_s = loop.output_tokens_per_s / CHAT.output_tokens
    np.testing.assert_allclose(requests_per_s * loop.end_to_end_s, flying, rtol=1e-12)


def test_the_split_of_others_prompts_moves_no_end_to_end_time(server: Server) -> None:
    costs, flying = server.costs(FOUR), 64.0 * ONE
    found = [
        closed_loop(
            costs, replace(server.constants, lockstep_fraction=share * ONE), asked=CHAT, in_flight=flying,
            batch_limit=400.0 * ONE,
        )
        for share in (0.1, 0.5)
    ]  # fmt: skip
    early, late = found
    assert late.first_token_s[0] > 2.0 * early.first_token_s[0]
    assert late.per_token_s[0] < early.per_token_s[0]
    # 3 %: waiting requests don't decode, so the batch is a little smaller
    np.testing.assert_allclose(early.end_to_end_s, late.end_to_end_s, rtol=0.03)


def test_requests_beyond_memory_are_said_to_saturate(server: Server) -> None:
    flying = np.array([40.0, 41.0, 400.0])
    loop = closed_loop(
        server.costs(FOUR), server.constants, asked=CHAT, in_flight=flying, batch_limit=40.0 * ONE
    )
    assert loop.saturated.tolist() == [False, True, True]
    np.testing.assert_allclose(loop.per_token_s, loop.per_token_s[0])  # the batch is full, whatever queues
    assert loop.first_token_s[2] > 8.0 * loop.end_to_end_s[0]


def test_a_prompt_above_the_limit_of_a_step_takes_several(server: Server) -> None:
    costs = server.costs(FOUR)
    (decode, whole), (_, cut) = (
        step_and_prompt_s(
            costs,
            server.constants,
            asked=Asked(8000.0 * ONE, 512.0 * ONE, limit * ONE),
            decode_sequences=32.0 * ONE,
        )
        for limit in (8192.0, 1000.0)
    )
    # the rows of a chunk hide behind the weights that decoding reads in any case, so the margin is less...
    assert 0.8 * whole[0] < cut[0] < whole[0]
    # ...and the eight steps longer than the one
    assert cut[0] + 8.0 * decode[0] > whole[0] + decode[0]


def test_offline_serves_more_than_any_closed_loop_and_prompts_cost(server: Server) -> None:
    costs = server.costs(FOUR)
    offline = offline_tokens_per_s(costs, server.constants, asked=CHAT, batch_sequences=200.0 * ONE)
    loop = closed_loop(costs, server.constants, asked=CHAT, in_flight=200.0 * ONE, batch_limit=200.0 * ONE)
    assert offline[0] > loop.output_tokens_per_s[0]
    longer = replace(CHAT, prompt_tokens=4096.0 * ONE)
    assert (
        offline_tokens_per_s(costs, server.constants, asked=longer, batch_sequences=200.0 * ONE)[0]
        < offline[0]
    )


def test_a_decode_pool_is_stalled_by_no_prompt(server: Server) -> None:
    costs = server.costs(FOUR)
    pool = decode_pool_token_s(costs, asked=CHAT, in_flight=32.0 * ONE)
    loop = closed_loop(costs, server.constants, asked=CHAT, in_flight=32.0 * ONE, batch_limit=400.0 * ONE)
    assert pool[0] < loop.per_token_s[0]
    np.testing.assert_allclose(
        pool, step_and_prompt_s(costs, server.constants, asked=CHAT, decode_sequences=32.0 * ONE)[0]
    )


def test_a_found_token_is_attended_to_and_not_computed(server: Server) -> None:
    half = replace(CHAT, hit_fraction=0.5 * ONE)
    short = replace(CHAT, prompt_tokens=512.0 * ONE)
    assert half.computed_tokens[0] == 512.0
    # the second half of a prompt sees three quarters of it in the mean
    assert half.seen_tokens[0] == 768.0
    (_, whole), (_, found), (_, alone) = (
        step_and_prompt_s(server.costs(FOUR), server.constants, asked=asked, decode_sequences=32.0 * ONE)
        for asked in (CHAT, half, short)
    )
    assert alone[0] < found[0] < whole[0]
