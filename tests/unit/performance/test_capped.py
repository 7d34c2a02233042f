"""Rates under a power limit."""

from __future__ import annotations

import numpy as np
import pytest

from planner.performance.capped import capped_rate_ratio


def ratio(cap_w: float, free_w: float) -> float:
    return float(
        capped_rate_ratio(
            cap_w=np.array([cap_w]), free_w=np.array([free_w]), power_exponent=np.array([0.573])
        )[0]
    )


def test_work_below_the_limit_keeps_its_rate() -> None:
    assert ratio(500, 317) == 1 and ratio(700, 700) == 1


def test_the_rate_falls_slower_than_the_power() -> None:
    assert 0.7 < ratio(490, 700) < 1


def test_power_capped_submissions_of_h200_lose_what_is_measured() -> None:
    """0.78 to 0.83 of the throughput (MLPerf Inference v4.1, MaxQ); the limit itself was chosen with them."""
    assert ratio(0.68 * 700, 700) == pytest.approx(0.80, abs=0.03)
