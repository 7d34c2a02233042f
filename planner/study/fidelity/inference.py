"""Measured serving runs, beside what the serving model says of the same replica, requests and load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from planner.catalog.store import Catalog
from planner.choices import Precision
from planner.errors import PlannerError
from planner.performance.hardware import engine_link
from planner.performance.inference import Layout, ServingConstants, ServingFormat
from planner.performance.machines import Machine, Machines
from planner.performance.queueing import Tails
from planner.performance.serve import BATCH_SEQUENCES, STEP_TOKENS, WEIGHT_BYTES, serving_constants
from planner.performance.serving import OperatingPoint, Requests, Server, largest_batch, operating_point
from planner.performance.shapes import shape_of
from planner.study.fidelity.names import Names
from planner.study.fidelity.schema import InferenceRow
from planner.study.fidelity.scoring import DENSE, MOE, Result, without

THROUGHPUT, TPOT, TTFT = "throughput", "tpot", "ttft"
UNITS = {THROUGHPUT: "tokens/s/GPU", TPOT: "s", TTFT: "s"}
ENGINES = {"tensorrt": "tensorrt_llm", "vllm": "vllm", "sglang": "sglang"}
OF_ENGINE = ("step_fixed_s", "sequence_fixed_s", "request_host_s", "first_token_fixed_s")
GRID = 96
"""Batches tried for the one at which a closed loop settles."""


class _UnfitError(Exception):
    """Why a row can't be predicted."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What the model says of a row; seconds and tokens a second of one GPU."""

    tokens_per_s_per_gpu: float
    tpot_s: float
    ttft_s: float


def targets(row: InferenceRow) -> dict[str, float]:
    """Measured figures of a row: tokens a second and GPU, seconds a token, seconds to the first one."""
    rates = row.metrics
    total = rates.output_tokens_per_s_total
    found = {
        THROUGHPUT: rates.output_tokens_per_s_per_gpu or (total / row.n_gpus if total else None),
        TPOT: _seconds(rates.tpot_mean_ms or rates.tpot_ms or rates.tpot_p99_ms),
        TTFT: _seconds(rates.ttft_mean_ms or rates.ttft_ms or rates.ttft_p99_ms),
    }
    return {name: value for name, value in found.items() if value is not None}


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1e3


def predict_inference(rows: Sequence[InferenceRow], catalog: Catalog) -> list[Result]:
    """One result for each target that a row states; a row without any is a statement."""
    names, machines = Names(catalog), Machines(catalog)
    return [result for row in rows for result in _results(row, names, machines)]


def _results(row: InferenceRow, names: Names, machines: Machines) -> list[Result]:
    measured = targets(row)
    model = names.model(row.model)
    kind = "" if model is None else MOE if model.item.experts else DENSE
    empty = Result(row.id, "", row.family, row.gpu, row.src, kind=kind)
    if not measured:
        return [without(empty, "statement")]
    each = [
        replace(empty, id=f"{row.id}.{name}", target=name, unit=UNITS[name], measured=value)
        for name, value in measured.items()
    ]
    said: list[str] = []
    try:
        found, machine = _predict(row, names, machines, said)
    except _UnfitError as why:
        return [without(one, str(why)) for one in each]
    except PlannerError as error:
        return [without(one, "; ".join(problem.message for problem in error.problems)) for one in each]
    return [_banded(replace(one, assumed=tuple(said)), found, machine) for one in each]


def _banded(result: Result, found: _Found, machine: Machine) -> Result:
    """The prediction of a target with the band that like runs showed."""
    value = {THROUGHPUT: found.tokens_per_s_per_gpu, TPOT: found.tpot_s, TTFT: found.ttft_s}[result.target]
    name = "first_token" if result.target == TTFT else "throughput"
    band = float(machine.assumed(f"serving_band_{name}_fraction")[0])
    if not np.isfinite(value):
        return without(result, "prefill alone fills the time at this load")
    return replace(result, predicted=value, low=value * (1.0 - band), high=value * (1.0 + band))


def _predict(row: InferenceRow, names: Names, machines: Machines, said: list[str]) -> tuple[_Found, Machine]:
    model = names.model(row.model)
    if model is None:
        raise _UnfitError(f"the catalog has no model '{row.model}'")
    if row.scenario == "disagg":
        raise _UnfitError("prefill and decode on different GPUs, which the serving model doesn't know")
    if row.isl is None or row.osl is None:
        raise _UnfitError("the row doesn't state the lengths of prompts and answers")
    if row.tp is None:
        raise _UnfitError("the row doesn't state how many GPUs share a replica")
    if (row.pp or 1) > 1:
        raise _UnfitError("a pipeline of stages, which the serving model doesn't know")
    chip = names.chip(row.gpu)
    if isinstance(chip, str):
        raise _UnfitError(chip)
    box = names.server(chip)
    if box is None:
        raise _UnfitError(
            f"the catalog has no server with {chip.entry.item.name} to take links and hosts from"
        )
    said += chip.assumed
    precision = _precision(row.precision, said)
    machine = machines.get(box, precision)
    layout = _layout(row, box.item.scaleup_domain_gpus)
    server = Server(
        shape_of(model.item), machine.hardware.chip, engine_link(machine.assumed, machine.hardware),
        _constants(row, machine, precision, said), _format(precision),
        Tails(**{one.name: machine.assumed(f"tail_{one.name}") for one in fields(Tails)}),
    )  # fmt: skip
    requests = Requests(*(np.array([float(one)]) for one in (row.isl, row.osl, STEP_TOKENS, BATCH_SEQUENCES)))
    most = float(largest_batch(server, requests=requests, layout=layout)[0])
    if most < 1.0:
        raise _UnfitError("by the memory model the weights leave no room for a sequence")
    replicas = row.n_gpus / float(layout.replica_ranks[0])
    if isinstance(row.concurrency, float):
        return _closed_loop(server, requests, layout, row.concurrency / replicas, most), machine
    if row.target_qps is not None and "offline" not in row.scenario.lower():
        raise _UnfitError("an open loop at a stated rate over an unstated number of replicas")
    said.append(f"batch of {most:,.0f}, the most that memory and engine take")
    return _at(
        operating_point(server, requests=requests, layout=layout, batch_sequences=np.array([most])), 0
    ), machine


def _precision(text: str, said: list[str]) -> Precision:
    low = text.lower()
    if low == "not stated":
        said.append("16 bits taken, since the row states no precision")
        return Precision.BF16
    for word, found in (("fp4", Precision.FP4), ("fp8", Precision.FP8), ("16", Precision.BF16)):
        if word in low:
            return found
    raise _UnfitError(f"precision '{text}' is none of fp4, fp8 and 16 bits")


def _layout(row: InferenceRow, domain: int) -> Layout:
    """Ranks of a replica and of an attention group."""
    tensor = float(row.tp or 1)
    replica, attention = tensor * (row.attention_dp or 1), tensor
    if isinstance(row.ep, str) and "attention-dp" in row.ep.lower():
        replica, attention = tensor, 1.0
    if replica > domain:
        raise _UnfitError(
            f"a replica of {replica:.0f} GPUs reaches over scale-up domains of {domain}, which the serving model "
            "doesn't know"
        )
    return Layout(np.array([replica]), np.array([attention]))


def _constants(
    row: InferenceRow, machine: Machine, precision: Precision, said: list[str]
) -> ServingConstants:
    """Corrections of the row's engine; vLLM's where it isn't known."""
    constants = serving_constants(machine.assumed, machine.hardware, precision)
    engine = next((key for word, key in ENGINES.items() if word in row.engine.lower()), None)
    if engine is None:
        said.append(f"engine '{row.engine}' taken as vLLM")
        return constants
    return replace(constants, **{name: machine.assumed(f"serving_{name}_{engine}") for name in OF_ENGINE})


def _format(precision: Precision) -> ServingFormat:
    cache = 2.0 if precision is Precision.BF16 else 1.0
    return ServingFormat(np.array([WEIGHT_BYTES[precision]]), np.array([cache]))


def _at(point: OperatingPoint, index: int) -> _Found:
    latency = point.latency
    return _Found(
        float(point.output_tokens_per_s_per_gpu[index]),
        float(latency.per_token_mean_s[index]),
        float(latency.first_token_mean_s[index]),
    )


def _closed_loop(server: Server, requests: Requests, layout: Layout, in_flight: float, most: float) -> _Found:
    """The batch at which decoding and waiting requests together are as many as are kept in flight.

    Requests waiting for their first token are rate x TTFT (Little). Where memory takes fewer sequences than are in
    flight, the others wait for a place, and the time to the first token is theirs.
    """
    top = min(in_flight, most)
    batches = np.unique(np.append(np.geomspace(min(1.0, top) / 2.0, top, GRID), top))
    point = operating_point(server, requests=requests, layout=layout, batch_sequences=batches)
    open_ = np.isfinite(point.latency.first_token_mean_s)
    together = np.where(open_, batches + point.rate_per_s * point.latency.first_token_mean_s, np.inf)
    if together[-1] <= in_flight:
        found = _at(point, -1)
        waiting = (in_flight - top) / float(point.rate_per_s[-1])
        return replace(found, ttft_s=max(found.ttft_s, waiting))
    after = int(np.argmax(together > in_flight))
    if after == 0:
        return _at(point, 0)
    before, beyond = _at(point, after - 1), _at(point, after)
    if not open_[after]:
        return before
    share = (in_flight - together[after - 1]) / (together[after] - together[after - 1])

    def between(name: str) -> float:
        first, second = getattr(before, name), getattr(beyond, name)
        return float(first + (second - first) * share)

    return _Found(*(between(one.name) for one in fields(_Found)))
