"""The closed form of open-loop serving beside the simulator in its steady state, over models, machines, lengths and loads.

Run as a script to print every group's errors and the simulator's own noise.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from statistics import NormalDist

import numpy as np

from planner.arrays import Floats
from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.performance.inference import Layout
from planner.performance.queueing import Latency
from planner.performance.serving import OperatingPoint, Requests, Server, full_batch, operating_point
from planner.performance.serving_points import at_rate
from planner.performance.simulate.clients import poisson_arrivals_s
from planner.performance.simulate.engine import Engine
from planner.performance.simulate.lengths import whole_tokens
from planner.performance.simulate.of_server import simulated_engine
from planner.performance.simulate.record import spread
from planner.performance.simulate.run import oversized, simulate
from planner.performance.simulate.traffic import Traffic, plain_traffic, with_hits
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
REQUESTS = 20_000
SEEDS = (11,)
WITHIN = {"first_token_mean_s": 0.05, "per_token_mean_s": 0.06, "first_token_p99_s": 0.12}
"""What is asked of every case below 90 % of capacity."""
UNIFORM_VARIATION, LOGNORMAL_VARIATION = 0.1 / 0.9 / np.sqrt(3.0), 0.7
NAMES = tuple(one.name for one in fields(Latency))


@dataclass(frozen=True)
class Case:
    """One load of one replica: what the simulator saw, mean over its seeds, and the closed form at the same rate.

    Attributes:
        noise: Standard error of that mean over it, by name; 0 with one seed.
        evictions: Of all seeds; the closed form has no word for them.
    """

    pair: tuple[str, str, str, int]
    lengths: tuple[int, int]
    kind: str
    load: float
    point: OperatingPoint
    simulated: dict[str, float]
    noise: dict[str, float]
    evictions: float

    def error(self, name: str) -> float:
        """Closed form over simulator less 1."""
        return float(getattr(self.point.latency, name)[0]) / self.simulated[name] - 1.0

    @property
    def within(self) -> bool:
        """Whether all that is asked is kept."""
        return all(abs(self.error(name)) <= limit for name, limit in WITHIN.items())


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


def drawn(random: np.random.Generator, mean: int, kind: str, requests: int) -> Floats:
    """Lengths of one kind in random order, one from each equal share of the distribution, so that their mean is its mean."""
    place = (random.permutation(requests) + random.random(requests)) / requests
    if kind == "uniform":
        return whole_tokens(mean / 0.9 * (0.8 + 0.2 * place))
    sigma = math.sqrt(math.log1p(LOGNORMAL_VARIATION**2))
    normal = np.array([NormalDist().inv_cdf(one) for one in place.tolist()])
    return whole_tokens(np.exp(math.log(mean) - sigma**2 / 2.0 + sigma * normal))


def seen_by(engine: Engine, unit: Traffic, rate_per_s: float) -> tuple[dict[str, float], float]:
    """Latencies of a run's steady state, and its evictions.

    The first sixth is left out, since a run starts empty, and the last fiftieth, since it ends so.
    """
    run = simulate(
        engine,
        replace(unit, arrival_s=unit.arrival_s / rate_per_s),
    )
    steady = slice(len(unit) // 6, len(unit) - len(unit) // 50)
    first, token = (spread(one[steady]) for one in (run.ttft_s, run.tpot_s))
    found = {
        f"{what}_{part}_s": float(getattr(values, part))
        for what, values in (("first_token", first), ("per_token", token))
        for part in ("mean", "p50", "p95", "p99")
    }
    return found, float(run.evictions.sum())


def unit_traffic(lengths: tuple[int, int], kind: str, seed: int, requests: int) -> Traffic:
    """Requests at one a second, exactly so in the mean."""
    random = np.random.default_rng(seed)
    prompt, output = (drawn(random, mean, kind, requests) for mean in lengths)
    gaps = poisson_arrivals_s(random, rate_per_s=1.0, requests=requests)
    return plain_traffic(arrival_s=gaps * (requests / gaps[-1]), prompt_tokens=prompt, output_tokens=output)


def cases(
    pairs: tuple[tuple[str, str, str, int], ...] = PAIRS,
    lengths: tuple[tuple[int, int], ...] = LENGTHS,
    loads: tuple[float, ...] = LOADS,
    seeds: Sequence[int] = SEEDS,
    requests: int = REQUESTS,
    hit_fraction: float = 0.0,
) -> Iterator[Case]:
    """Every combination whose replica holds at least two requests and every single one; of every prompt such a share is found."""
    for pair in pairs:
        server, ranks = server_of(pair), np.array([float(pair[3])])
        layout = Layout(ranks, ranks)
        for both in lengths:
            for kind in ("uniform", "lognormal"):
                asked = replace(requests_of(both, kind), hit_fraction=np.array([hit_fraction]))
                full = full_batch(server, requests=asked, layout=layout)
                runs = [
                    with_hits(unit_traffic(both, kind, seed, requests), hit_fraction=hit_fraction)
                    for seed in seeds
                ]
                longest = max(float((one.prompt_tokens + one.output_tokens).max()) for one in runs)
                engine = simulated_engine(server, requests=asked, layout=layout, most_context_tokens=longest)
                if full[0] < 2.0 or any(oversized(engine, one) for one in runs):
                    continue
                capacity = operating_point(server, requests=asked, layout=layout, batch_sequences=full)
                for load in loads:
                    rate = load * float(capacity.rate_per_s[0])
                    found = [seen_by(engine, one, rate) for one in runs]
                    seen = {name: np.array([one[name] for one, _ in found]) for name in NAMES}
                    point = at_rate(server, requests=asked, layout=layout, rate_per_s=rate)
                    yield Case(
                        pair, both, kind, load, point,
                        {name: float(values.mean()) for name, values in seen.items()},
                        {
                            name: float(values.std() / math.sqrt(max(values.size - 1, 1)) / values.mean())
                            for name, values in seen.items()
                        },
                        sum(evictions for _, evictions in found),
                    )  # fmt: skip


def table(runs: Sequence[Case]) -> str:
    """Errors of every latency, and how many cases keep all that is asked."""
    lines = [
        f"{len(runs)} cases; error of the closed form: median, 90th percentile, largest, median signed; noise"
    ]
    for name in NAMES:
        error, noise = np.array([case.error(name) for case in runs]), [case.noise[name] for case in runs]
        size = np.abs(error)
        lines.append(
            f"{name:20} {np.median(size):6.1%} {np.percentile(size, 90):6.1%} {size.max():6.1%}"
            f" {np.median(error):+6.1%} {np.median(noise):6.1%}"
        )
    kept = np.mean([case.within for case in runs])
    lines.append(f"{kept:.1%} of the cases within " + ", ".join(f"{limit:.0%}" for limit in WITHIN.values()))
    return "\n".join(lines)


def main() -> None:
    """Print the whole grid; requests of a run and seeds as arguments."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS
    seeds = [int(one) for one in sys.argv[2:]] or list(SEEDS)
    every = list(cases(seeds=seeds, requests=requests))
    runs = [case for case in every if not case.evictions]
    print(table(runs))
    print(len(every) - len(runs), "cases with evictions left out")
    for case in runs:
        if not case.within:
            errors = ", ".join(f"{name} {case.error(name):+.1%}" for name in WITHIN)
            print(case.pair[0], case.lengths, case.kind, case.load, errors)


if __name__ == "__main__":
    main()
