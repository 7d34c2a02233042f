"""What accelerators do with their time where no step is predicted."""

from __future__ import annotations

import numpy as np
import pytest

from planner.ledger import Ledger
from planner.power.activity import usual_activity, waiting_between_nodes
from planner.power.figures import Figures
from tests.unit.power.parts import CATALOG


def test_one_node_waits_for_none_and_many_for_no_more_than_the_end() -> None:
    nodes = np.array([1.0, 2.0, 8.0, 1e6])
    waiting = waiting_between_nodes(nodes=nodes, endless_fraction=np.array([0.4]))
    assert waiting[0] == 0 and (np.diff(waiting) > 0).all() and waiting[-1] < 0.4


@pytest.mark.parametrize(("serving", "nodes"), [(False, 1), (False, 8), (True, 1), (True, 4)])
def test_shares_of_time_add_up_to_one(serving: bool, nodes: int) -> None:
    found = usual_activity(Figures(Ledger(months=1), CATALOG), serving=serving, nodes=nodes)
    total = found.arithmetic_fraction + found.memory_fraction + found.waiting_fraction
    assert total[0] == pytest.approx(1)
    assert found.waiting_fraction[0] >= 0


def test_inference_is_bound_by_memory_more_than_training() -> None:
    figures = Figures(Ledger(months=1), CATALOG)
    training, serving = (usual_activity(figures, serving=one) for one in (False, True))
    assert serving.memory_fraction[0] > training.memory_fraction[0]
    assert serving.arithmetic_fraction[0] < training.arithmetic_fraction[0]
