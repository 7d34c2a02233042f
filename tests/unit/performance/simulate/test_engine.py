"""Engines that measured runs make slower."""

from __future__ import annotations

import numpy as np
import pytest

from planner.arrays import Floats
from planner.performance.simulate.engine import Engine, slower_engine
from planner.performance.simulate.pools import Path, slower_path
from planner.performance.simulate.run import simulate
from planner.performance.simulate.steps import step_table
from planner.performance.simulate.traffic import plain_traffic


def seconds(sequences: Floats, context: Floats, prefill: Floats, seen: Floats, prompts: Floats) -> Floats:
    return (
        0.01
        + 1e-4 * sequences
        + 1e-8 * sequences * context
        + 1e-5 * prefill
        + 1e-9 * prefill * seen
        + 0.0 * prompts
    )


ENGINE = Engine(
    step_table(seconds, most_sequences=8, most_prompt_tokens=512.0, mean_prompt_tokens=100.0, most_context_tokens=400.0),
    batch_sequences=8, step_tokens=512.0, cache_tokens=10_000.0, request_host_s=0.001, first_token_s=0.02,
    first_token_steps=1.0,
)  # fmt: skip


def test_a_slower_engine_does_the_same_in_slower_time() -> None:
    slow = slower_engine(ENGINE, 2.0)
    assert slow.table.step_s(4, 150.0, 100.0, 50.0) == pytest.approx(
        2.0 * ENGINE.table.step_s(4, 150.0, 100.0, 50.0)
    )
    # powers of two keep every time exact, so that nothing changes places
    times, lengths = np.arange(0.0, 50.0, 0.25), np.full(200, 100.0)
    runs = [
        simulate(engine, plain_traffic(arrival_s=ratio * times, prompt_tokens=lengths, output_tokens=lengths / 5.0))
        for engine, ratio in ((ENGINE, 1.0), (slow, 2.0))
    ]  # fmt: skip
    assert runs[1].ttft_s == pytest.approx(2.0 * runs[0].ttft_s)
    assert runs[1].tpot_s == pytest.approx(2.0 * runs[0].tpot_s)


def test_a_slower_way_takes_as_many_times_as_long() -> None:
    path = Path(10.0, 100.0, 1000.0, 0.5, 4.0, 0.03)
    slow = slower_path(path, 2.0)
    assert (slow.replica_bytes_per_s, slow.shared_bytes_per_s, slow.handover_s) == (50.0, 500.0, 0.06)
    assert slow.token_bytes == path.token_bytes
