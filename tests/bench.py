"""Measures the speed and size targets and prints them beside what was reached.

Run with ``make bench``. Times are CPU seconds of whole processes (or wall seconds where two cores
work together); shared machines vary by a factor of 1.5, so the ratio to a yardstick computation
of the same run is printed too.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import bench_cables
import bench_pace
import bench_serving
import bench_terminal
import bench_workbook
import numpy as np

PLANNER = [sys.executable, "-m", "planner"]
SCENARIO = "h200-1024-ndr"


def yardstick_s() -> float:
    """CPU time of a fixed computation on this machine, now."""
    start = time.process_time()
    values = np.linspace(0.1, 1.0, 100_000)
    for _ in range(60):
        values = np.sqrt(values * values + 1e-3)
    total = 0
    for number in range(400_000):
        total += number & 7
    return time.process_time() - start


def cpu_s(command: list[str], *, expected: tuple[int, ...] = (0, 1)) -> float:
    """CPU time of a process and its children, best of three."""
    best = float("inf")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in expected, done.stderr
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return best


def evaluation_s() -> float:
    """CPU time of one evaluation with its parts read, best of ten."""
    from planner.catalog.store import open_catalog
    from planner.evaluate import evaluate
    from planner.scenario.load import load_scenario

    loaded, catalog = load_scenario(SCENARIO), open_catalog()
    evaluate(loaded, catalog)

    def once() -> float:
        start = time.process_time()
        evaluate(loaded, catalog)
        return time.process_time() - start

    return min(once() for _ in range(10))


def ledger_s() -> float:
    """CPU time of all formulas of the plan with every term of money, best of ten."""
    from planner.catalog.store import open_catalog
    from planner.evaluate import evaluate
    from planner.ledger import Kind
    from planner.scenario.load import load_scenario

    path = Path(__file__).parent / "every-money-term.yaml"
    ledger = evaluate(load_scenario(path), open_catalog()).ledger
    formulas = [line.key for line in ledger if line.kind is Kind.DERIVED]
    print(f"  {len(formulas):,} formulas over {ledger.months} months")

    def once() -> float:
        for key in formulas:
            del ledger.values[key]
        start = time.process_time()
        ledger.solve()
        return time.process_time() - start

    return min(once() for _ in range(10))


def million_collectives_s() -> float:
    """CPU time of a million all-reduces over sizes and groups of a 256-node cluster, in one call."""
    from planner.catalog.store import open_catalog
    from planner.cli.collective import system_of
    from planner.performance.collective_model import CollectiveModel
    from planner.performance.collectives import Collective
    from planner.performance.links import group_time_s

    links = CollectiveModel(system_of(open_catalog(), "dgx-h100", gpus=2048, nodes=256)).links(256)
    random = np.random.default_rng(0)
    sizes = random.uniform(1e3, 1e10, 1_000_000)
    ranks = random.choice([2.0, 4.0, 8.0, 16.0, 64.0, 512.0], 1_000_000)
    start = time.process_time()
    group_time_s(
        links, Collective.ALL_REDUCE, message_bytes=sizes, ranks=ranks, ranks_per_domain=np.array([8.0])
    )
    return time.process_time() - start


GPT_3 = ("h100-16384-roce", ["workloads.0.model=gpt-3-175b", "cluster.groups.0.gpus=4096",
         "workloads.0.sequence_tokens=2048", "workloads.0.batch_sequences=1536"])  # fmt: skip
"""GPT-3's own batch of 3.2 million tokens."""
LLAMA_405B = ("h100-16384-roce", [])
EXPERTS = ("gb200-nvl72-16", [])
Searched = tuple[str, list[str]]


def searched(what: Searched) -> tuple[float, int]:
    """CPU seconds of a search over every legal plan, its enumeration included, and the plans."""
    from planner.catalog.store import open_catalog
    from planner.evaluate import evaluate
    from planner.performance.search import Draw, search_plans
    from planner.performance.search_space import search_space
    from planner.scenario.load import load_scenario

    built = evaluate(load_scenario(what[0], changes=what[1]), open_catalog()).built
    assert built is not None
    found = built.performance.trained[0]
    start = time.process_time()
    space = search_space(found.job)
    draw = Draw(np.array([1000.0]), np.array([200.0]))
    choice = search_plans(found.case, space.blocks(), total=space.plans(), draw=draw)
    return time.process_time() - start, choice.tried


def search_s(what: Searched) -> float:
    """CPU seconds of a search, best of three; the count is printed beside it."""
    runs = [searched(what) for _ in range(3)]
    print(f"  {runs[0][1]:,} plans of {what[0]}, {runs[0][1] / min(runs)[0] / 1e6:.1f} million a second")
    return min(runs)[0]


def three_million_plans_s() -> float:
    """CPU seconds that three million full evaluations take in the slowest of the searches."""
    return max(3e6 * seconds / plans for seconds, plans in map(searched, (GPT_3, LLAMA_405B, EXPERTS)))


def thousand_plans_s() -> float:
    """CPU seconds of a batch of 1,000 plans in no order, best of ten."""
    from planner.catalog.store import open_catalog
    from planner.evaluate import evaluate
    from planner.performance.plans import taken
    from planner.performance.search import evaluate_plans
    from planner.performance.search_space import quick_axes, search_space
    from planner.scenario.load import load_scenario

    built = evaluate(load_scenario(SCENARIO), open_catalog()).built
    assert built is not None
    found = built.performance.trained[0]
    plans = search_space(found.job, quick_axes(8192)).flat()
    batch = taken(plans, np.random.default_rng(0).permutation(plans.tensor_ranks.size)[:1000])

    def once() -> float:
        start = time.process_time()
        evaluate_plans(found.case, batch)
        return time.process_time() - start

    return min(once() for _ in range(10))


def search_peak_gb() -> float:
    """Peak memory of the search command, GB, on the space of most plans."""
    code = (
        "import resource, sys; from planner.cli.app import run_app; "
        f"code = run_app(['search', '{EXPERTS[0]}', '--json']); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stderr.split()[-1]) * 1024 / 1e9


PHASED = """\
extends: h200-1024-ndr
name: Four purchases over ten years
cluster:
  groups:
    - {id: main, gpus: 256, phase: one}
    - {id: second, server: hgx-h200, gpus: 256, phase: two}
    - {id: third, server: hgx-h200, gpus: 256, phase: three}
    - {id: fourth, server: hgx-h200, gpus: 256, phase: four}
phases:
  - {id: one, order: 2026-12, in_service: 2027-03}
  - {id: two, order: 2027-09, in_service: 2028-01}
  - {id: three, order: 2028-09, in_service: 2029-01}
  - {id: four, order: 2029-09, in_service: 2030-01}
money: {horizon_months: 120}
"""


def draws_s(folder: Path, draws: int) -> float:
    """CPU seconds of so many draws of every headline of a ten-year, four-phase plan, in one process of one core."""
    path = folder / "phased.yaml"
    path.write_text(PHASED)
    code = (
        "import resource, sys, time; from planner.catalog.store import open_catalog; "
        "from planner.evaluate import evaluate; from planner.scenario.load import load_scenario; "
        "from planner.study.risk import Effort, with_risk; "
        f"plan = evaluate(load_scenario('{path}'), open_catalog()); start = time.process_time(); "
        f"with_risk(plan, effort=Effort(draws={draws}, share_rows=0)); print(time.process_time() - start); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9)"
    )
    one_core = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=one_core
    )
    seconds, peak_gb = map(float, done.stdout.split())
    print(f"  peak memory {peak_gb:.2f} GB (2 asked)")
    return seconds


def batch_s(folder: Path, formats: str) -> float:
    """Wall time of 100 scenarios in one call on two processes."""
    names = []
    base = "extends: {base}\nname: Variant {index}\nsite: {{pue: {pue:.3f}}}\n"
    for index in range(100):
        path = folder / f"variant-{index:03}.yaml"
        bases = (SCENARIO, "h200-serving-fleet", "b200-1024-rail-only", "gb200-nvl72-16")
        path.write_text(base.format(base=bases[index % 4], index=index, pue=1.1 + index / 500))
        names.append(str(path))
    start = time.perf_counter()
    command = [*PLANNER, "run", *names, "-o", str(folder / "out"), "--format", formats, "-j", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return time.perf_counter() - start


def workbook_difference(folder: Path) -> float:
    """Largest relative difference of a formula cell after a forced recalculation."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.office import recalculate, values

    path = folder / f"{SCENARIO}.xlsx"
    cached, recalculated = values(path), values(recalculate(path))
    worst = 0.0
    for cell, value in cached.items():
        other = recalculated.get(cell)
        if isinstance(value, (int, float)) and isinstance(other, (int, float)):
            worst = max(worst, abs(other - value) / max(1e-9, abs(value)))
    return worst


def main() -> None:
    """Measure and print all."""
    yard = yardstick_s()
    print(f"yardstick {yard:.3f} CPU s, load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    row = "{:<58} {:>10} {:>10} {:>9}"
    print(row.format("target", "asked", "reached", "yardsticks"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = [*PLANNER, "run", SCENARIO, "-o", str(folder)]
        measures: list[tuple[str, str, Callable[[], float]]] = [
            ("--help, CPU s", "0.25", lambda: cpu_s([*PLANNER, "--help"])),
            ("run, JSON and workbook, CPU s", "1.2", lambda: cpu_s([*run, "--format", "json,xlsx"])),
            ("run, with HTML and charts, CPU s", "3.5", lambda: cpu_s(run)),
            ("evaluation alone, CPU s", "0.035", evaluation_s),
            ("ledger with every term of money, CPU s", "0.005", ledger_s),
            ("1e6 collective times, CPU s", "1", million_collectives_s),
            ("search, GPT-3 175B on 4,096 H100, CPU s", "5", lambda: search_s(GPT_3)),
            ("search, Llama 3.1 405B on 16,384 H100, CPU s", "10", lambda: search_s(LLAMA_405B)),
            ("3e6 plans fully evaluated, CPU s", "1", three_million_plans_s),
            ("1,000 plans in one batch, CPU s", "0.005", thousand_plans_s),
            ("search, peak memory, GB", "1", search_peak_gb),
            ("10,000 draws, four phases, 120 months, CPU s", "3", lambda: draws_s(folder, 10_000)),
            ("100,000 draws of the same, CPU s", "30", lambda: draws_s(folder, 100_000)),
            ("100 scenarios, two processes, no HTML, wall s", "20", lambda: batch_s(folder, "json,xlsx")),
            *bench_cables.MEASURES,
            *bench_serving.MEASURES,
            *bench_workbook.MEASURES,
            *bench_terminal.MEASURES,
            *bench_pace.MEASURES,
            (
                "100 scenarios, two processes, with HTML, wall s",
                "90",
                lambda: batch_s(folder, "html,xlsx,json"),
            ),
        ]
        for label, asked, measure in measures:
            reached = measure()
            print(row.format(label, f"<= {asked}", f"{reached:.3f}", f"{reached / yard:.1f}"), flush=True)
        size = (folder / f"{SCENARIO}.html").stat().st_size / 1e6
        print(row.format("HTML, MB", "<= 1.5", f"{size:.3f}", ""))
        if shutil.which("soffice"):
            worst = workbook_difference(folder)
            print(
                row.format(
                    "workbook against Python, largest relative difference", "<= 1e-9", f"{worst:.1e}", ""
                )
            )


if __name__ == "__main__":
    main()
