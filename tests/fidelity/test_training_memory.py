"""Configurations that ran have to fit the memory that the model says they need."""

from __future__ import annotations

import numpy as np

from planner.catalog.store import open_catalog
from planner.performance.memory import MemoryConstants, total_bytes, training_memory
from planner.study.fidelity.cases import Case, Cases
from planner.study.fidelity.rows import read_rows, shipped_files


def test_nearly_all_configurations_that_ran_are_said_to_fit() -> None:
    catalog = open_catalog()

    def figure(key: str) -> np.ndarray:
        return np.array([catalog.figure("performance", key)[0].value])

    constants = MemoryConstants(
        figure("training_activation_factor"),
        figure("training_logit_bytes_per_entry"),
        figure("training_reserved_bytes"),
    )
    cases = Cases(catalog)
    rows = [row for row in read_rows(shipped_files()).training if row.scorable]
    found = [case for case in map(cases.of, rows) if isinstance(case, Case)]
    needed = np.array([
        total_bytes(training_memory(shape=one.shape, plan=one.plan, state=one.state, constants=constants))[0]
        / one.chip.memory_bytes[0]
        for one in found
    ])  # fmt: skip
    assert len(found) >= 320
    # 98.5 %: three MoE rows of one recipe and one BLOOM row, which is 0.3 % over
    assert np.mean(needed <= 1.0) >= 0.97
    # and not by saying that everything is small: the median run fills a good part of its GPU
    assert np.median(needed) > 0.35
