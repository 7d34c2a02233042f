"""Simulated serving: reads what is asked, runs it and prints the answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import numpy as np

from planner.catalog.store import open_catalog
from planner.cli.simulate_pools_text import pools_object, pools_text
from planner.cli.simulate_text import as_object, as_text
from planner.errors import InputError, Problem, nearest
from planner.evaluate import Built, Evaluation, evaluate
from planner.performance.assumed import SERVING_FILE
from planner.performance.serve import Served
from planner.performance.serving_corrected import FIRST, TOKEN
from planner.performance.serving_machines import one_draw
from planner.performance.simulate.engine import Eviction, Schedule
from planner.performance.simulate.record import Outcome
from planner.performance.simulate.routing import Routing
from planner.scenario.load import load_scenario
from planner.scenario.request_trace import read_request_trace
from planner.scenario.workload import Slo
from planner.study.pool_split import PoolAnswer, pool_answer, simulate_split
from planner.study.traffic_drawn import Arrivals, Lengths, TrafficAsked
from planner.study.traffic_pools import PoolsRun, run_pools
from planner.study.traffic_run import Correction, TrafficRun, run_traffic

E = TypeVar("E", bound=StrEnum)
MOST_RATE = 1e9
HOST_LINK = "serving_host_link_bytes_per_s"
"""Figure of the catalog by which caches are swapped."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command's options as they were typed."""

    requests: int
    seed: int
    rate: float | None
    arrivals: str
    variation: float
    lengths: str
    length_variation: float
    trace: Path | None
    clients: int
    think_s: float
    routing: str
    schedule: str | None
    chunked: bool
    eviction: str
    prefixes: str | None
    prefix_hits: float | None
    classes: str | None
    replicas: int | None
    pools: bool


def simulate_scenario(
    name: str,
    *,
    workload: str | None,
    options: Options,
    changes: Sequence[str],
    catalog: Sequence[Path],
    as_json: bool,
) -> int:
    """Simulate and print.

    Returns:
        0, or 1 where the fleet is saturated, hasn't settled or misses the objective.

    Raises:
        InputError: Wrong options, all of them at once.
        PlannerError: The scenario is wrong, or the plan can't be built.
    """
    asked, shelf = asked_by(options), open_catalog(catalog)
    asked = replace(asked, host_bytes_per_s=shelf.figure(SERVING_FILE, HOST_LINK)[0].value)
    plan = evaluate(load_scenario(name, changes=changes), shelf)
    if plan.built is None:
        assert plan.refusal is not None
        raise plan.refusal
    served = _served(plan.built, workload)
    correction = correction_of(plan, served)
    if served.pools is not None:
        return _planned_pools(served, asked, correction, as_json=as_json)
    share = plan.ledger.value(plan.ledger[f"workload.{served.workload.id}.scheduled_fraction"])
    gpus = float(plan.ledger.value(plan.ledger["cluster.gpus"])[0] * share[0])
    run = run_traffic(served, gpus=gpus, asked=asked, correction=correction)
    answer = _pools(plan.built, served, int(gpus), correction) if options.pools else None
    slo = served.workload.slo
    found = None
    if answer is not None and answer.split.rate_per_s > 0.0:
        found = simulate_split(answer, requests=asked.requests, seed=asked.seed)
    pools = None if answer is None else (answer, found)
    full = plan.ledger.value(f"{served.key}.output_tokens_per_s_per_gpu_saturated")
    most_per_s = float((full * gpus / served.requests.output_tokens)[0])
    if as_json:
        print(json.dumps(as_object(run, slo, pools, most_per_s), indent=1, allow_nan=False))
    else:
        print(as_text(run, slo, pools, most_per_s))
    return _code(run, slo)


def correction_of(plan: Evaluation, served: Served) -> Correction:
    """Measured over predicted times of a workload, as its latencies in the plan are corrected."""
    token, first = (float(plan.ledger.value(f"{served.key}.{name}")[0]) for name in (TOKEN, FIRST))
    named = bool(plan.loaded.scenario.anchors)
    return Correction(token, first, of_others=named and token == first == 1.0)


def _planned_pools(served: Served, asked: TrafficAsked, correction: Correction, *, as_json: bool) -> int:
    """Pools that the plan has."""
    run, slo = run_pools(served, asked=asked, correction=correction), served.workload.slo
    print(json.dumps(pools_object(run, slo), indent=1, allow_nan=False) if as_json else pools_text(run, slo))
    return _code(run, slo)


def _code(run: TrafficRun | PoolsRun, slo: Slo) -> int:
    """1 where the objective isn't shown to be kept, in the busiest hour of a day too."""
    hours = [run.outcome] if run.busiest is None else [run.outcome, run.busiest]
    return 1 if not run.settled or any(_misses(one, slo) for one in hours) else 0


def _misses(outcome: Outcome, slo: Slo) -> bool:
    token = outcome.tpot_s
    if not token.size:
        return False
    late = float(np.percentile(outcome.ttft_s, 99)) > slo.ttft_p99_s
    slow = bool(np.isfinite(token).any()) and float(np.nanpercentile(token, 99)) > slo.tpot_p99_s
    return late or slow


def _served(built: Built, workload: str | None) -> Served:
    served = built.performance.served
    if not served:
        raise InputError(
            Problem("the scenario has no serving workload", remedy="a workload with kind: serving")
        )
    if workload is None:
        return served[0]
    for one in served:
        if one.workload.id == workload:
            return one
    ids = [one.workload.id for one in served]
    raise InputError(
        Problem(
            f"--workload: no serving workload '{workload}'",
            remedy=nearest(workload, ids) or f"one of {', '.join(ids)}",
        )
    )


def asked_by(options: Options) -> TrafficAsked:
    """Options as the simulation takes them.

    Raises:
        InputError: Every option that is wrong, and every wrong cell of a trace.
    """
    problems: list[Problem] = []
    arrivals = _choice(Arrivals, "--arrivals", options.arrivals, problems)
    lengths = _choice(Lengths, "--lengths", options.lengths, problems)
    routing = _choice(Routing, "--routing", options.routing, problems)
    eviction = _choice(Eviction, "--eviction", options.eviction, problems)
    schedule = _choice(Schedule, "--schedule", options.schedule or Schedule.MIXED.value, problems)
    prefixes = _prefixes(options.prefixes, problems)
    classes = _classes(options.classes, problems)
    if options.prefix_hits and options.prefixes:
        problems.append(
            Problem(
                "--prefixes and --prefix-hits: hits follow from prefixes, or are given",
                remedy="either of them",
            )
        )
    if options.clients and options.rate is not None:
        problems.append(
            Problem("--clients and --rate: clients ask when they have an answer", remedy="either of them")
        )
    if options.rate is not None and not 0.0 < options.rate <= MOST_RATE:
        problems.append(
            Problem(
                f"--rate is {options.rate:g}",
                remedy=f"more than 0 and at most {MOST_RATE:g} requests a second",
            )
        )
    if options.rate is not None and arrivals is Arrivals.TRACE:
        problems.append(
            Problem("--rate and --arrivals trace: the trace says when requests come", remedy="either of them")
        )
    if arrivals is Arrivals.TRACE and options.trace is None:
        problems.append(Problem("--arrivals trace has no trace", remedy="--trace FILE"))
    if lengths is Lengths.TRACE and options.trace is None:
        problems.append(Problem("--lengths trace has no trace", remedy="--trace FILE"))
    trace = None
    if options.trace is not None:
        try:
            trace = read_request_trace(options.trace)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return TrafficAsked(
        requests=options.requests, seed=options.seed, rate_per_s=options.rate, arrivals=arrivals,
        variation=options.variation, lengths=lengths, length_variation=options.length_variation, trace=trace,
        routing=routing, schedule=schedule if options.schedule else None, chunked=options.chunked,
        eviction=eviction, prefixes=int(prefixes[0]), prefix_tokens=prefixes[1], prefix_fraction=prefixes[2],
        hit_fraction=options.prefix_hits, classes=classes, clients=options.clients, think_s=options.think_s, replicas=options.replicas,
    )  # fmt: skip


def _choice(kind: type[E], option: str, given: str, problems: list[Problem]) -> E:
    known = [one.value for one in kind]
    if given in known:
        return kind(given)
    problems.append(
        Problem(f"{option}: no '{given}'", remedy=nearest(given, known) or f"one of {', '.join(known)}")
    )
    return next(iter(kind))


def _numbers(text: str, mark: str) -> list[float]:
    try:
        return [float(one) for one in text.split(mark)]
    except ValueError:
        return []


def _prefixes(given: str | None, problems: list[Problem]) -> tuple[float, float, float]:
    if given is None:
        return 0.0, 0.0, 0.0
    found = _numbers(given, ":")
    if len(found) == 3 and 1 <= found[0] <= 1_000_000 and found[1] >= 1 and 0 <= found[2] <= 1:
        return found[0], float(int(found[1])), found[2]
    problems.append(
        Problem(
            f"--prefixes is '{given}'", remedy="number, tokens and share of requests, such as 50:1500:0.8"
        )
    )
    return 0.0, 0.0, 0.0


def _classes(given: str | None, problems: list[Problem]) -> tuple[float, ...]:
    if given is None:
        return ()
    found = _numbers(given, ",")
    if found and min(found) >= 0 and abs(sum(found) - 1.0) < 1e-6:
        return tuple(one / sum(found) for one in found)
    problems.append(Problem(f"--classes is '{given}'", remedy="shares that add up to 1, such as 0.2,0.8"))
    return ()


def _pools(built: Built, served: Served, gpus: int, correction: Correction) -> PoolAnswer:
    """Pools on the plan's GPUs."""
    cluster, links = built.cluster, built.performance.links
    rate = float(np.ravel(links.outside.bytes_per_s)[0])
    if not np.isfinite(rate):
        raise InputError(
            Problem("--pools: the plan has no network between servers", remedy="more than one server")
        )
    prefill = one_draw(served.server)
    domain = cluster.parts.groups[0].server.item.scaleup_domain_gpus
    sizes = tuple(size for size in (1, 2, 4, 8) if size <= domain)
    handover, overlap = (
        cluster.parts.catalog.figure(SERVING_FILE, f"serving_{name}")[0].value
        for name in ("handover_s", "transfer_overlap_fraction")
    )
    return pool_answer(
        served, prefill, prefill, gpus=gpus, rank_bytes_per_s=rate, fabric_ranks=gpus / 2.0, handover_s=handover,
        overlap_fraction=overlap, attention_sizes=sizes, per_token_ratio=correction.per_token,
        first_token_ratio=correction.first_token,
    )  # fmt: skip
