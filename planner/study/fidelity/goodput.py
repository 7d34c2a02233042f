"""Measured failures, checkpoints and effective training time, beside the reliability model's."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from planner.catalog.figure import Figure
from planner.catalog.store import Catalog
from planner.performance.predict import LEAST_INTERVAL_S
from planner.performance.reliability import (
    best_interval_s,
    checkpoint_write_s,
    goodput,
    interruptions_per_s,
    mean_time_between_s,
)  # fmt: skip
from planner.study.fidelity.names import Names
from planner.study.fidelity.schema import GoodputRow
from planner.study.fidelity.scoring import Result, without
from planner.units import GIGA, HOURS_PER_MONTH, MONTHS_PER_YEAR, SECONDS_PER_DAY, SECONDS_PER_HOUR, TERA

GPUS_PER_NODE = 8
HELD = "checkpoint_gbyte_per_gpu"
HOURS_PER_DAY = SECONDS_PER_DAY / SECONDS_PER_HOUR
WRITER = "checkpoint_write_gbyte_per_s_per_gpu"
OPERATIONS = {
    "checkpoint": WRITER, "link_failure_rate": "link_failures_per_year",
    "switch_failure_rate": "switch_failures_per_year",
}  # fmt: skip
"""Figures of the operations table that rows of a kind are predicted from."""
KINDS = {
    "mtbf": "mttf_job", "mttf": "mttf_job", "mtbf_job": "mttf_job", "job_mttf": "mttf_job",
    "effective_training_time": "ettr", "goodput": "ettr", "checkpoint_save": "checkpoint",
    "checkpoint_write": "checkpoint", "interruptions": "interruptions_total",
}  # fmt: skip
"""Other names of a kind."""
NODES_OF_A_RATE = 1000.0
"""Node-days over which a failure rate is published."""
UNITS = {
    "unexpected": "1", "count": "1", "failures_per_1000_node_days": "1/(1000 node-days)", "mttf_hours": "h",
    "ettr": "fraction", "save_seconds": "s", "rate_per_month": "1/month",
}  # fmt: skip
_ARXIV = re.compile(r"(\d{4})[.-](\d{4,5})")


@dataclass(frozen=True, slots=True)
class _Rates:
    """Failures per part and second, and the publications behind them."""

    gpu: float
    node: float
    software: float
    link: float

    def interruptions(self, gpus: float, per_node: float) -> float:
        """Unplanned interruptions of a job in a second, one link for each GPU."""

        def one(value: float) -> np.ndarray:
            return np.array([value])

        found = interruptions_per_s(
            gpus=one(gpus), nodes=one(gpus / per_node), links=one(gpus),
            gpu_failures_per_s=one(self.gpu), node_failures_per_s=one(self.node + self.software),
            link_failures_per_s=one(self.link), job_failures_per_s=one(0.0),
        )  # fmt: skip
        return float(found[0])


_KEYS = {
    "gpu": "gpu_failures_per_gpu_hour",
    "node": "node_failures_per_node_hour",
    "software": "software_failures_per_node_hour",
    "link": "link_failures_per_link_hour",
}


@dataclass(frozen=True, slots=True)
class _Model:
    """The reliability model at the catalog's value, its P10 and its P90."""

    catalog: Catalog

    def rates(self, pick: Callable[[Figure], float]) -> _Rates:
        figures = {name: self.catalog.figure("performance", key)[0] for name, key in _KEYS.items()}
        return _Rates(**{name: pick(figure) / SECONDS_PER_HOUR for name, figure in figures.items()})

    def figure(self, file: str, key: str, pick: Callable[[Figure], float]) -> float:
        return pick(self.catalog.figure(file, key)[0])

    def fitted_on(self, row: GoodputRow) -> bool:
        """Whether the figures that a prediction rests on were read in the row's own publication."""
        mine = {"".join(one) for one in _ARXIV.findall(row.source.url)}
        ids = {self.catalog.figure("performance", key)[1].source for key in _KEYS.values()}
        key = OPERATIONS.get(row.kind)
        if key is not None:
            ids = {self.catalog.figure("operations", key)[1].source}
        if any(row.src and row.src in one.split("-") for one in ids):
            return True
        cited = [self.catalog.sources[one].locator for one in ids if one in self.catalog.sources]
        theirs = {"".join(one) for text in cited for one in _ARXIV.findall(text)}
        return bool(mine & theirs)


def _value(figure: Figure) -> float:
    return figure.value


def _low(figure: Figure) -> float:
    return figure.value if figure.low is None else figure.low


def _high(figure: Figure) -> float:
    return figure.value if figure.high is None else figure.high


Pick = Callable[[Figure], float]
Predictor = Callable[[_Model, GoodputRow, Pick], float]


def predict_goodput(rows: Sequence[GoodputRow], catalog: Catalog) -> list[Result]:
    """Interruptions, failure rates, job MTTF, effective training time and checkpoint times, a result for each row."""
    model, names = _Model(catalog), Names(catalog)
    return [_one(row, model, names) for row in rows]


def _one(row: GoodputRow, model: _Model, names: Names) -> Result:
    chip = names.chip(row.system)
    gpu = "" if isinstance(chip, str) else chip.entry.item.name
    empty = Result(row.id, row.kind, row.family, gpu, row.src)
    row = row.model_copy(update={"kind": KINDS.get(row.kind, row.kind)})
    known = _KINDS.get(row.kind)
    unstated = row.failures_per_1000_node_days is None and row.derived is None
    if known is None or (row.statement and unstated):
        return without(empty, "statement")
    target, measured, predict, why = known(row, model, names)
    empty = replace(empty, target=target, unit=UNITS[target], measured=measured)
    if predict is None:
        return without(empty, why)
    if measured is None:
        return without(empty, "the row states no figure to compare with")
    value, low, high = (predict(model, row, pick) for pick in (_value, _low, _high))
    return replace(
        empty, predicted=value, low=min(low, value, high), high=max(low, value, high),
        assumed=(why,) if why else (), in_sample=model.fitted_on(row),
    )  # fmt: skip


Known = tuple[str, float | None, Predictor | None, str]


def _per_node(row: GoodputRow) -> float:
    return float(row.gpus_per_node or GPUS_PER_NODE)


def _gpus(row: GoodputRow) -> float | None:
    """GPUs that a row states in a field or in words."""
    if row.n_gpus or row.n_gpus_approx:
        return float(row.n_gpus or row.n_gpus_approx or 0)
    counts = [
        float(found.replace(",", ""))
        for found in re.findall(r"(?<![\w.-])(\d{1,3}(?:,\d{3})+|\d{2,7})(?!\w)", row.system)
    ]
    return max(counts) if counts else None


def number_of(value: Any) -> float | None:
    """A number above zero of a field that may hold words; None without one.

    >>> number_of(11), number_of("several"), number_of(True), number_of(0)
    (11.0, None, None, None)
    """
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if numeric and 0 < value < math.inf else None


def _days(row: GoodputRow) -> float | None:
    """Length of the observation, however it is stated."""
    hours = number_of(row.hours) or (number_of(row.months) or 0.0) * HOURS_PER_MONTH
    return row.days or hours / HOURS_PER_DAY or None


def _unplanned(row: GoodputRow) -> float | None:
    """Unexpected interruptions: as stated, else all without the planned ones."""
    total, planned = number_of(row.total), number_of(row.planned)
    if row.unexpected is not None or total is None or planned is None or planned >= total:
        return row.unexpected
    return total - planned


def _interruptions(row: GoodputRow, model: _Model, names: Names) -> Known:
    gpus, days = _gpus(row), _days(row)

    def count(model: _Model, row: GoodputRow, pick: Pick) -> float:
        rate = model.rates(pick).interruptions(gpus or 0.0, _per_node(row))
        return rate * (days or 0.0) * SECONDS_PER_DAY

    if gpus is None or days is None:
        return "unexpected", _unplanned(row), None, "the row states no number of GPUs or days"
    return "unexpected", _unplanned(row), count, ""


def _component(row: GoodputRow, model: _Model, names: Names) -> Known:
    gpus, days, part = _gpus(row), _days(row), _whole_part(row)

    def count(model: _Model, row: GoodputRow, pick: Pick) -> float:
        rates, nodes = model.rates(pick), (gpus or 0.0) / _per_node(row)
        per_s = {
            "gpu": rates.gpu * (gpus or 0.0), "node": rates.node * nodes, "software": rates.software * nodes,
            "network": rates.link * (gpus or 0.0),
        }[part]  # fmt: skip
        return per_s * SECONDS_PER_DAY * (days or 0.0)

    if not part:
        return (
            "count",
            row.count,
            None,
            "the model's rates are those of GPUs, nodes, links and software, not of components",
        )
    if gpus is None or days is None:
        return "count", row.count, None, "the row states no number of GPUs or days"
    return "count", row.count, count, "one link for each GPU" if part == "network" else ""


_PARTS = {
    "gpu": r"(all )?(gpus?|accelerators?)( failures?| total)?", "node": r"(nodes?|hosts?|servers?)( failures?)?",
    "software": r"software( failures?)?",
}  # fmt: skip


def _whole_part(row: GoodputRow) -> str:
    """The kind of part whose failures a row counts whole; empty for those of one component of it."""
    if row.category.lower() == "network":
        return "network"
    said = row.component.lower().strip()
    return next((part for part, words in _PARTS.items() if re.fullmatch(words, said)), "")


def _failure_rate(row: GoodputRow, model: _Model, names: Names) -> Known:
    def rate(model: _Model, row: GoodputRow, pick: Pick) -> float:
        of_gpu = "GPU" in row.statement
        per_node = _per_node(row)
        rates = model.rates(pick)
        per_s = rates.gpu * per_node if of_gpu else rates.interruptions(per_node, per_node)
        return per_s * SECONDS_PER_DAY * NODES_OF_A_RATE

    measured = row.failures_per_1000_node_days or _rate_otherwise(row)
    said = "GPU failures alone, as the row says" if "GPU" in row.statement else ""
    return "failures_per_1000_node_days", measured, rate, said


def _derived(row: GoodputRow, name: str) -> float | None:
    return number_of((row.derived or {}).get(name))


def _rate_otherwise(row: GoodputRow) -> float | None:
    """Failures in 1,000 node-days from a rate that a row states in other terms."""
    found, node_hours = _derived(row, "per_1000_node_days"), NODES_OF_A_RATE * HOURS_PER_DAY
    per_million = _derived(row, "per_million_gpu_hours")
    if found is None and per_million is not None:
        found = per_million * 1e-6 * node_hours * _per_node(row)
    gpus = _gpus(row)
    if found is None and row.mttf_hours is not None and gpus is not None:
        found = node_hours / (row.mttf_hours * gpus / _per_node(row))
    return found


def _mttf(row: GoodputRow, model: _Model, names: Names) -> Known:
    gpus = _gpus(row)

    def hours(model: _Model, row: GoodputRow, pick: Pick) -> float:
        rate = model.rates(pick).interruptions(gpus or 0.0, _per_node(row))
        return float(mean_time_between_s(interruptions_per_s=np.array([rate]))[0]) / SECONDS_PER_HOUR

    if row.basis == "projected":
        return "mttf_hours", row.mttf_hours, None, "projected by its publisher, not measured"
    if gpus is None:
        return "mttf_hours", row.mttf_hours, None, "the row states no number of GPUs"
    return "mttf_hours", row.mttf_hours, hours, ""


def _effective(row: GoodputRow, model: _Model, names: Names) -> Known:
    gpus, measured = _gpus(row), row.ettr or number_of(row.value)
    if measured is not None and measured > 1.0:
        measured /= 100.0
    if gpus is None:
        return "ettr", measured, None, "the row states no number of GPUs"

    def share(model: _Model, row: GoodputRow, pick: Pick) -> float:
        return _useful_fraction(model, row, gpus, pick)

    size = "as stated" if row.checkpoint_tb is not None else "as large for each GPU as those published"
    said = f"{gpus:,.0f} GPUs, checkpoints {size}, the best interval between them"
    return "ettr", measured, share, said


def _useful_fraction(model: _Model, row: GoodputRow, gpus: float, pick: Pick) -> float:
    def one(value: float) -> np.ndarray:
        return np.array([value])

    rate = model.rates(pick).interruptions(gpus, _per_node(row))
    between = mean_time_between_s(interruptions_per_s=one(rate))
    held = model.figure("operations", HELD, pick) * GIGA
    if row.checkpoint_tb is not None:
        held = row.checkpoint_tb * TERA / gpus
    stall = one(held / (model.figure("operations", WRITER, _value) * GIGA))
    interval = best_interval_s(stall_s=stall, mean_time_between_s=between, least_s=one(LEAST_INTERVAL_S))
    found = goodput(
        interval_s=interval, stall_s=stall, commit_lag_s=np.zeros(1),
        restart_s=one(model.figure("performance", "restart_s", pick)), mean_time_between_s=between,
    )  # fmt: skip
    return float(found.useful_fraction[0])


def _checkpoint(row: GoodputRow, model: _Model, names: Names) -> Known:
    gpus, size = _gpus(row), row.checkpoint_tb
    measured = row.save_seconds
    speed = row.save_gbyte_per_s or _derived(row, "GBps")
    if measured is None and size is not None and speed is not None:
        measured = size * TERA / (speed * GIGA)
    if gpus is None or size is None:
        return "save_seconds", measured, None, "the row states no number of GPUs or no size"

    def seconds(model: _Model, row: GoodputRow, pick: Pick) -> float:
        writer = model.figure("operations", WRITER, pick) * GIGA
        found = checkpoint_write_s(
            checkpoint_bytes=np.array([(row.checkpoint_tb or 0.0) * TERA]),
            storage_bytes_per_s=np.array([np.inf]), writers=np.array([gpus]),
            writer_bytes_per_s=np.array([writer]),
        )  # fmt: skip
        return float(found[0])

    return "save_seconds", measured, seconds, f"{gpus:,.0f} GPUs write, the storage keeps up"


def _monthly(row: GoodputRow, model: _Model, names: Names) -> Known:
    measured, yearly = row.rate_per_month, _derived(row, "annual")
    if measured is None and yearly is not None:
        measured = yearly / MONTHS_PER_YEAR

    def monthly(model: _Model, row: GoodputRow, pick: Pick) -> float:
        return model.figure("operations", OPERATIONS[row.kind], pick) / MONTHS_PER_YEAR

    return "rate_per_month", measured, monthly, ""


_KINDS: dict[str, Callable[[GoodputRow, _Model, Names], Known]] = {
    "interruptions_total": _interruptions,
    "component_interruptions": _component,
    "failure_rate": _failure_rate,
    "mttf_job": _mttf,
    "ettr": _effective,
    "checkpoint": _checkpoint,
    "link_failure_rate": _monthly,
    "switch_failure_rate": _monthly,
}
