"""A simulated engine from a server: swapping needs a rate, and takes bytes over it."""

from __future__ import annotations

import numpy as np
import pytest

from planner.performance.inference import Layout
from planner.performance.simulate.engine import Eviction
from planner.performance.simulate.of_server import Policy, cache_token_bytes, simulated_engine
from tests.serving_fleet import candidate

TWO = Layout(np.array([2.0]), np.array([2.0]))


def test_swapping_takes_the_bytes_of_a_cache_over_the_rate_to_the_host() -> None:
    one = candidate()
    policy = Policy(eviction=Eviction.SWAP, host_bytes_per_s=25e9)
    engine = simulated_engine(one.server, requests=one.requests, layout=TWO, policy=policy)
    each = cache_token_bytes(one.server, TWO, context_tokens=2048.0 + 256.0)
    assert engine.swap_s_per_token == pytest.approx(each / 25e9)


def test_swapping_without_a_rate_is_refused() -> None:
    with pytest.raises(ValueError, match="need a rate"):
        Policy(eviction=Eviction.SWAP)
