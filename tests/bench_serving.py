"""Speed of the serving model's closed form, for ``make bench``."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

POINTS = 200_000
CHUNK = 4_096
"""Points of one call: arrays that stay in the cache."""


def operating_points_s() -> float:
    """CPU time of closed loops of a mixture of experts at random loads and lengths, best of three."""
    from planner.catalog.store import open_catalog
    from planner.performance.hardware import engine_link
    from planner.performance.serving_engines import serving_constants
    from planner.performance.serving_loops import Asked, closed_loop
    from planner.performance.serving_step import step_costs
    from planner.study.fidelity.schema import InferenceRow
    from planner.study.fidelity.serving_batch import serving_figures
    from planner.study.fidelity.serving_cases import ServingCase, ServingCases

    catalog = open_catalog()
    case = ServingCases(catalog).of(
        InferenceRow(
            id="bench", group="C", family="bench", src="bench", model="Qwen3-235B-A22B", gpu="H100", n_gpus=8, tp=8,
            ep=8, precision="fp8", isl=1024, osl=1024, concurrency=32.0, engine="vLLM", scenario="agg",
        )
    )  # fmt: skip
    assert isinstance(case, ServingCase)
    constants = serving_constants(serving_figures(catalog), case.setting, case.chip)
    costs = step_costs(
        shape=case.shape, chip=case.chip, link=engine_link(case.machine.assumed, case.machine.hardware),
        constants=constants, form=case.form, layout=case.layout,
    )  # fmt: skip
    random = np.random.default_rng(0)
    flying, prompts, answers = (
        random.uniform(*span, POINTS) for span in ((1, 500), (100, 8000), (100, 2000))
    )

    def once() -> float:
        start = time.process_time()
        for first in range(0, POINTS, CHUNK):
            part = slice(first, first + CHUNK)
            closed_loop(
                costs, constants, asked=Asked(prompts[part], answers[part], np.full(1, 8192.0)),
                in_flight=flying[part], batch_limit=np.full(1, 600.0),
            )  # fmt: skip
        return time.process_time() - start

    return min(once() for _ in range(3))


def simulated_fleet_s() -> float:
    """CPU time of 10,000 requests on eight replicas of a plan, its step table included, best of three."""
    from planner.catalog.store import open_catalog
    from planner.evaluate import evaluate
    from planner.scenario.load import load_scenario
    from planner.study.traffic_drawn import TrafficAsked
    from planner.study.traffic_run import run_traffic

    built = evaluate(load_scenario("h200-serving-fleet"), open_catalog()).built
    assert built is not None
    served = built.performance.served[0]

    def once() -> float:
        start = time.process_time()
        run_traffic(served, gpus=512.0, asked=TrafficAsked(requests=10_000, replicas=8))
        return time.process_time() - start

    return min(once() for _ in range(3))


def open_loop_points_s() -> float:
    """CPU time of open-loop points of a plan's replica, tails included, at random loads and lengths, best of three."""
    from planner.catalog.store import open_catalog
    from planner.evaluate import evaluate
    from planner.performance.serving import Requests, operating_point
    from planner.scenario.load import load_scenario

    built = evaluate(load_scenario("h200-serving-fleet"), open_catalog()).built
    assert built is not None
    served, random = built.performance.served[0], np.random.default_rng(0)
    batch, prompts, answers = (
        random.uniform(*span, POINTS) for span in ((0.1, 200), (100, 8000), (100, 2000))
    )
    spread = np.full(1, 0.7)

    def once() -> float:
        start = time.process_time()
        for first in range(0, POINTS, CHUNK):
            part = slice(first, first + CHUNK)
            asked = Requests(
                prompts[part], answers[part], served.requests.step_tokens, served.requests.batch_sequences, spread,
                spread,
            )  # fmt: skip
            operating_point(served.server, requests=asked, layout=served.layout, batch_sequences=batch[part])
        return time.process_time() - start

    return min(once() for _ in range(3))


MEASURES: list[tuple[str, str, Callable[[], float]]] = [
    ("200,000 operating points of serving, closed form, CPU s", "1", operating_points_s),
    ("200,000 operating points of open-loop serving with tails, closed form, CPU s", "1", open_loop_points_s),
    ("10,000 requests simulated on 8 replicas, CPU s", "2", simulated_fleet_s),
]
