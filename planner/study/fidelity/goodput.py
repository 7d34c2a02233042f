"""Measured failures, checkpoints and effective training time, beside the reliability model's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.catalog.figure import Figure
from planner.catalog.schema import Accelerator
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
from planner.units import GIGA, HOURS_PER_MONTH, MIB, SECONDS_PER_DAY, SECONDS_PER_HOUR, TERA

GPUS_PER_NODE = 8
WRITER = "checkpoint_write_gbyte_per_s_per_gpu"
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
        if row.kind == "checkpoint":
            ids = {self.catalog.figure("operations", WRITER)[1].source}
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
    known = _KINDS.get(row.kind)
    unstated = row.failures_per_1000_node_days is None and row.derived is None
    if known is None or (row.statement and unstated):
        return without(empty, "statement")
    target, measured, predict, why = known(row, model, names)
    empty = replace(empty, target=target, unit=UNITS[target], measured=measured)
    if predict is None or measured is None:
        return without(empty, why or "the row states no figure to compare with")
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


def _interruptions(row: GoodputRow, model: _Model, names: Names) -> Known:
    def count(model: _Model, row: GoodputRow, pick: Pick) -> float:
        rate = model.rates(pick).interruptions(float(row.n_gpus or 0), _per_node(row))
        return rate * (row.days or 0.0) * SECONDS_PER_DAY

    if row.n_gpus is None or row.days is None:
        return "unexpected", row.unexpected, None, "the row states no number of GPUs or days"
    return "unexpected", row.unexpected, count, ""


def _component(row: GoodputRow, model: _Model, names: Names) -> Known:
    def count(model: _Model, row: GoodputRow, pick: Pick) -> float:
        return model.rates(pick).link * SECONDS_PER_DAY * (row.days or 0.0) * float(row.n_gpus or 0)

    if row.category == "Network" and row.n_gpus and row.days:
        return "count", row.count, count, "one link for each GPU"
    return (
        "count",
        row.count,
        None,
        "the model's rates are those of GPUs, nodes, links and software, not of components",
    )


def _failure_rate(row: GoodputRow, model: _Model, names: Names) -> Known:
    def rate(model: _Model, row: GoodputRow, pick: Pick) -> float:
        of_gpu = "GPU" in row.statement
        per_node = _per_node(row)
        rates = model.rates(pick)
        per_s = rates.gpu * per_node if of_gpu else rates.interruptions(per_node, per_node)
        return per_s * SECONDS_PER_DAY * NODES_OF_A_RATE

    measured = row.failures_per_1000_node_days
    if measured is None:
        measured = _derived(row, "per_1000_node_days")
    said = "GPU failures alone, as the row says" if "GPU" in row.statement else ""
    return "failures_per_1000_node_days", measured, rate, said


def _derived(row: GoodputRow, name: str) -> float | None:
    found = (row.derived or {}).get(name)
    return float(found) if isinstance(found, (int, float)) and found > 0 else None


def _mttf(row: GoodputRow, model: _Model, names: Names) -> Known:
    def hours(model: _Model, row: GoodputRow, pick: Pick) -> float:
        rate = model.rates(pick).interruptions(float(row.n_gpus or 0), _per_node(row))
        return float(mean_time_between_s(interruptions_per_s=np.array([rate]))[0]) / SECONDS_PER_HOUR

    if row.basis == "projected":
        return "mttf_hours", row.mttf_hours, None, "projected by its publisher, not measured"
    if row.n_gpus is None:
        return "mttf_hours", row.mttf_hours, None, "the row states no number of GPUs"
    return "mttf_hours", row.mttf_hours, hours, ""


def _effective(row: GoodputRow, model: _Model, names: Names) -> Known:
    gpus, chip = _gpus(row), names.chip(row.system)
    if gpus is None or isinstance(chip, str):
        return "ettr", row.ettr, None, "the row states no number of GPUs or no accelerator"
    accelerator = chip.entry.item

    def share(model: _Model, row: GoodputRow, pick: Pick) -> float:
        return _useful_fraction(model, accelerator, gpus, _per_node(row), pick)

    said = f"{gpus:,.0f} GPUs, checkpoints as large as their memory, the best interval between them"
    return "ettr", row.ettr, share, said


def _useful_fraction(
    model: _Model, accelerator: Accelerator, gpus: float, per_node: float, pick: Pick
) -> float:
    def one(value: float) -> np.ndarray:
        return np.array([value])

    rate = model.rates(pick).interruptions(gpus, per_node)
    between = mean_time_between_s(interruptions_per_s=one(rate))
    writer = model.figure("operations", WRITER, _value) * GIGA
    stall = one(accelerator.memory_mib.value * MIB / writer)
    interval = best_interval_s(stall_s=stall, mean_time_between_s=between, least_s=one(LEAST_INTERVAL_S))
    found = goodput(
        interval_s=interval, stall_s=stall, commit_lag_s=np.zeros(1),
        restart_s=one(model.figure("performance", "restart_s", pick)), mean_time_between_s=between,
    )  # fmt: skip
    return float(found.useful_fraction[0])


def _checkpoint(row: GoodputRow, model: _Model, names: Names) -> Known:
    gpus, size = _gpus(row), row.checkpoint_tb
    measured = row.save_seconds
    if measured is None and size is not None and row.save_gbyte_per_s is not None:
        measured = size * TERA / (row.save_gbyte_per_s * GIGA)
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


def _link_rate(row: GoodputRow, model: _Model, names: Names) -> Known:
    def monthly(model: _Model, row: GoodputRow, pick: Pick) -> float:
        return model.rates(pick).link * SECONDS_PER_HOUR * HOURS_PER_MONTH

    return "rate_per_month", row.rate_per_month, monthly, ""


def _switch_rate(row: GoodputRow, model: _Model, names: Names) -> Known:
    return (
        "rate_per_month",
        row.rate_per_month,
        None,
        "the model has no failure rate of switches apart from links",
    )


_KINDS: dict[str, Callable[[GoodputRow, _Model, Names], Known]] = {
    "interruptions_total": _interruptions,
    "component_interruptions": _component,
    "failure_rate": _failure_rate,
    "mttf_job": _mttf,
    "ettr": _effective,
    "checkpoint": _checkpoint,
    "link_failure_rate": _link_rate,
    "switch_failure_rate": _switch_rate,
}
