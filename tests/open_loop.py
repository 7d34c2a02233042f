"""The closed form of open-loop serving beside the simulator, over models, machines, lengths and loads.

Run as a script to fit `SIMULATED` of planner/performance/queueing.py anew and print its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache

import numpy as np

from planner.arrays import Floats
from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.performance.inference import Layout
from planner.performance.queueing import SIMULATED, Latency
from planner.performance.serving import OperatingPoint, Requests, Server, largest_batch, operating_point
from planner.performance.simulate.clients import poisson_arrivals_s
from planner.performance.simulate.lengths import lognormal_tokens, uniform_tokens
from planner.performance.simulate.of_server import simulated_engine
from planner.performance.simulate.record import spread
from planner.performance.simulate.run import oversized, simulate
from planner.performance.simulate.traffic import plain_traffic
from planner.scenario.load import load_scenario

PAIRS = (
    ("llama-3.1-70b", "hgx-h200", "fp8", 4),
    ("llama-3.1-8b", "hgx-h100", "bf16", 1),
    ("qwen3-32b", "hgx-h100", "fp8", 2),
    ("deepseek-v3", "hgx-b200", "fp8", 8),
    ("gpt-oss-120b", "hgx-h100", "bf16", 4),
    ("qwen3-235b-a22b", "hgx-b200", "fp8", 4),
)
"""Model, server, precision, GPUs of a replica."""
LENGTHS = ((1024, 128), (1024, 1024), (8192, 512), (256, 512), (2048, 256))
LOADS = (0.2, 0.4, 0.6, 0.75, 0.85)
"""Shares of the closed form's capacity: below 90 % of it."""
REQUESTS = 6000
UNIFORM_VARIATION, LOGNORMAL_VARIATION = 0.1 / 0.9 / np.sqrt(3.0), 0.7
NAMES = tuple(one.name for one in fields(Latency))


@dataclass(frozen=True)
class Case:
    """One load of one replica: what the simulator saw, and the closed form at the same rate."""

    pair: tuple[str, str, str, int]
    lengths: tuple[int, int]
    kind: str
    load: float
    point: OperatingPoint
    simulated: dict[str, float]
    evictions: float

    def error(self, name: str) -> float:
        """Closed form over simulator less 1."""
        return float(getattr(self.point.latency, name)[0]) / self.simulated[name] - 1.0


@cache
def server_of(pair: tuple[str, str, str, int]) -> Server:
    """The server of a pair, from the catalog."""
    model, server, precision, _ = pair
    changes = [
        f"workloads.0.model={model}", f"workloads.0.precision={precision}", f"cluster.groups.0.server={server}",
        "workloads.0.slo.ttft_p99_s=60", "workloads.0.slo.tpot_p99_s=2", "site.limit_mw=50", "money.rental=null",
    ]  # fmt: skip
    built = evaluate(load_scenario("h200-serving-fleet", changes=changes), open_catalog()).built
    assert built is not None
    return built.performance.served[0].server


def requests_of(lengths: tuple[int, int], kind: str) -> Requests:
    """Mean lengths with their variation and the usual limits of an engine."""
    variation = np.array([UNIFORM_VARIATION if kind == "uniform" else LOGNORMAL_VARIATION])
    prompt, output = (np.array([float(one)]) for one in lengths)
    return Requests(prompt, output, np.array([8192.0]), np.array([512.0]), variation, variation)


def at_load(server: Server, requests: Requests, layout: Layout, load: float) -> OperatingPoint:
    """The point at a share of capacity, by bisection of the batch."""
    low, high = np.log(1e-3), np.log(float(largest_batch(server, requests=requests, layout=layout)[0]))
    for _ in range(40):
        middle = (low + high) / 2.0
        point = operating_point(
            server, requests=requests, layout=layout, batch_sequences=np.array([np.exp(middle)])
        )
        low, high = (middle, high) if point.load_fraction[0] < load else (low, middle)
    return point


def drawn(random: np.random.Generator, mean: int, kind: str) -> Floats:
    """Lengths of one kind."""
    if kind == "uniform":
        return uniform_tokens(random, most_tokens=mean / 0.9, requests=REQUESTS)
    return lognormal_tokens(random, mean_tokens=mean, variation=LOGNORMAL_VARIATION, requests=REQUESTS)


def cases(
    pairs: tuple[tuple[str, str, str, int], ...] = PAIRS,
    lengths: tuple[tuple[int, int], ...] = LENGTHS,
    loads: tuple[float, ...] = LOADS,
    seed: int = 7,
) -> Iterator[Case]:
    """Every combination whose replica holds at least two requests and every single one.

    The first sixth of a run is left out: it starts empty. Runs in which caches overflowed are yielded with their
    evictions, since the closed form has no word for them.
    """
    for pair in pairs:
        server, ranks = server_of(pair), np.array([float(pair[3])])
        layout = Layout(ranks, ranks)
        for both in lengths:
            for kind in ("uniform", "lognormal"):
                requests = requests_of(both, kind)
                if largest_batch(server, requests=requests, layout=layout)[0] < 2.0:
                    continue
                random = np.random.default_rng(seed)
                prompt, output = drawn(random, both[0], kind), drawn(random, both[1], kind)
                gaps = poisson_arrivals_s(random, rate_per_s=1.0, requests=REQUESTS)
                engine = simulated_engine(
                    server,
                    requests=requests,
                    layout=layout,
                    most_context_tokens=float((prompt + output).max()),
                )
                if oversized(
                    engine, plain_traffic(arrival_s=gaps, prompt_tokens=prompt, output_tokens=output)
                ):
                    continue
                for load in loads:
                    point = at_load(server, requests, layout, load)
                    traffic = plain_traffic(
                        arrival_s=gaps / point.rate_per_s[0], prompt_tokens=prompt, output_tokens=output
                    )
                    run = simulate(engine, traffic)
                    first, token = (spread(one[REQUESTS // 6 :]) for one in (run.ttft_s, run.tpot_s))
                    seen = {
                        f"{what}_{part}_s": getattr(values, part)
                        for what, values in (("first_token", first), ("per_token", token))
                        for part in ("mean", "p50", "p95", "p99")
                    }
                    yield Case(pair, both, kind, load, point, seen, float(run.evictions.sum()))


def main() -> None:
    """Fit the ratios anew and print them with their errors."""
    from planner.performance import queueing, serving

    kept: list[tuple[queueing.Arrivals, tuple[float, float]]] = []
    true = queueing.open_loop_latency

    def listening(arrivals: queueing.Arrivals, **others: Floats) -> Latency:
        fixed, steps = others["first_token_fixed_s"], others["first_token_decode_steps"]
        kept.append((arrivals, (float(np.ravel(fixed)[0]), float(np.ravel(steps)[0]))))
        return true(arrivals, **others)  # type: ignore[arg-type]

    serving.open_loop_latency = listening  # type: ignore[assignment]
    rows = []
    for case in cases():
        if not case.evictions:
            rows.append((case, *kept[-1]))
    features = np.array([np.concatenate(queueing.ratio_features(arrivals)) for _, arrivals, _ in rows])
    for name in NAMES:
        bare = np.array([getattr(queueing.branching_latency(arrivals), name)[0] for _, arrivals, _ in rows])
        seen = np.array([case.simulated[name] for case, _, _ in rows])
        if name.startswith("first"):
            token = np.array([case.simulated["per_token_mean_s"] for case, _, _ in rows])
            extra = np.array([fixed for _, _, (fixed, _) in rows]) + token * np.array(
                [steps for _, _, (_, steps) in rows]
            )
            seen = seen - extra
        weights, *_ = np.linalg.lstsq(features, np.log(seen / bare), rcond=None)
        print(f'    "{name}": ({", ".join(f"{weight:.3f}" for weight in weights)}),')
    print(len(rows), "runs;", len(SIMULATED), "rows")


if __name__ == "__main__":
    main()
