"""Spare servers of each kind, and what they leave of the GPU-hours."""

from __future__ import annotations

import numpy as np
import pytest

from planner.ledger import Ledger
from planner.performance.assumed import Assumed
from planner.performance.availability import failure_rates
from planner.performance.reliability import availability_with_spares, down_fraction
from tests.mixed_plan import WISH, evaluated, shelf

KEY = "performance.availability_fraction"


def by_hand(nodes: float, spares: float) -> float:
    """Of servers of eight GPUs with the catalog's rates."""
    ledger = Ledger(months=1)
    rates = {name: ledger.scalar(line) for name, line in failure_rates(Assumed(ledger, shelf())).items()}
    repair = shelf().figure("performance", "node_repair_hours")[0].value
    down = down_fraction(
        failures_per_s=np.array([(rates["gpu"] * 8 + rates["node"]) / 3600]),
        repair_s=np.array([repair * 3600]),
    )
    found = availability_with_spares(
        wanted_nodes=np.array([nodes]), spare_nodes=np.array([spares]), down_fraction=down
    )
    return float(found.available_fraction[0])


def test_each_kind_has_spares_of_its_own_and_counts_by_its_gpus() -> None:
    found = evaluated("cluster.groups.new.gpus=512")
    # 64 and 32 servers with two per cent, in whole servers: two and one
    assert found.ledger.scalar(KEY) == pytest.approx(
        (by_hand(64, 2) * 512 + by_hand(32, 1) * 256) / 768, rel=1e-12
    )


def test_servers_of_one_kind_share_all_spares() -> None:
    for groups in (
        "[{id: a, server: hgx-h200, gpus: 512}]",
        "[{id: a, server: hgx-h200, gpus: 256}, {id: b, server: hgx-h200, gpus: 256}]",
    ):
        found = evaluated(f"cluster.groups={groups}", f"{WISH}=auto")
        assert found.ledger.scalar(KEY) == pytest.approx(by_hand(64, 2), rel=1e-12)


def test_no_spares_leave_what_is_up() -> None:
    bare = evaluated("cluster.spare_fraction=0").ledger.scalar(KEY)
    assert bare == pytest.approx(by_hand(32, 0), rel=1e-12)  # both kinds alike
    assert bare < evaluated().ledger.scalar(KEY)
