"""Measured draws of servers: the errors asked for, and what each family says of the other.

Two figures were set with these rows, for all of them alike: the share of a run's time in matrix products and the
share that runs on several nodes wait. Fitted on one family alone, they have to predict the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from planner.catalog.figure import Figure
from planner.catalog.schema import Assumptions
from planner.catalog.store import Catalog, Entry
from planner.resources import shipped
from planner.study.fidelity.power import predict_power
from planner.study.fidelity.rows import read_rows, shipped_files
from planner.study.fidelity.schema import PowerRow
from planner.study.fidelity.scoring import Result, scores

ARITHMETIC, MEMORY = "training_arithmetic_time_fraction", "training_memory_time_fraction"
WAITING = "training_between_nodes_waiting_fraction"
SMC, LENOVO = "e-smc", "e-lenovo-train"


def drawn() -> list[PowerRow]:
    return [row for row in read_rows(shipped_files()).power if row.kind.startswith("server_power")]


class Refitted(Catalog):
    """The catalog with other values of a few figures of the power model."""

    def __init__(self, values: dict[str, float]) -> None:
        super().__init__([shipped("catalog")])
        entry: Entry[Assumptions] = super().entry(Assumptions, "facility")
        figures = dict(entry.item.figures)
        for key, value in values.items():
            figures[key] = figures[key].model_copy(update={"value": value})
        item = entry.item.model_copy(update={"figures": figures})
        self._entries[(Assumptions.family, "facility")] = Entry(item, entry.document, entry.digest)


def errors(rows: Sequence[PowerRow], values: dict[str, float]) -> np.ndarray:
    found = [one.error for one in predict_power(rows, Refitted(values))]
    return np.array([error for error in found if error is not None])


@dataclass(frozen=True)
class Fit:
    values: dict[str, float]


def fit(rows: Sequence[PowerRow]) -> Fit:
    """Least squares over the ranges that the figures have in the catalog; a figure no row speaks of stays."""
    catalog = Catalog([shipped("catalog")])
    ranges: list[Figure] = [catalog.figure("facility", key)[0] for key in (ARITHMETIC, WAITING)]
    several = any(row.n_nodes > 1 for row in rows)
    best = (np.inf, {})
    for busy in np.linspace(ranges[0].low or 0, ranges[0].high or 1, 11):
        for waiting in (
            np.linspace(ranges[1].low or 0, ranges[1].high or 1, 13) if several else [ranges[1].value]
        ):
            values = {ARITHMETIC: float(busy), MEMORY: 0.95 - float(busy), WAITING: float(waiting)}
            best = min(best, (float((errors(rows, values) ** 2).sum()), values), key=lambda one: one[0])
    return Fit(best[1])


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return predict_power(drawn(), Catalog([shipped("catalog")]))


def test_servers_under_load_lie_within_what_is_asked(results: list[Result]) -> None:
    # 7 % asked; servers of one kind differ among workloads by 3 %, which no figure here follows
    found = scores(results)
    assert found.rows == found.rows_predicted >= 24
    assert found.median_abs_error is not None and found.median_abs_error < 0.035
    assert found.p90_abs_error is not None and found.p90_abs_error < 0.08
    assert found.bias is not None and abs(found.bias) < 0.03


def test_the_stated_band_holds_nine_rows_in_ten(results: list[Result]) -> None:
    held = [one.low <= one.measured <= one.high for one in results if one.low and one.high and one.measured]
    assert len(held) == len(results) and np.mean(held) >= 0.9


@pytest.mark.parametrize(("held_out", "fitted"), [(LENOVO, SMC), (SMC, LENOVO)])
def test_one_family_predicts_the_other(held_out: str, fitted: str) -> None:
    rows = drawn()
    found = fit([row for row in rows if row.family == fitted])
    missed = errors([row for row in rows if row.family == held_out], found.values)
    assert np.median(np.abs(missed)) < 0.07


def test_runs_on_several_nodes_draw_less_than_on_one(results: list[Result]) -> None:
    by_id = {row.id: row for row in drawn()}
    for measure in ("AC", "DC"):
        alike = [one for one in results if by_id[one.id].gpu == "H100" and measure in by_id[one.id].measure]
        one, several = (
            {one.predicted for one in alike if (by_id[one.id].n_nodes > 1) is more} for more in (False, True)
        )
        assert max(several) < min(one)
