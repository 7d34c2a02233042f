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
            ("1e6 collective times, CPU s", "1", million_collectives_s),
            ("100 scenarios, two processes, no HTML, wall s", "20", lambda: batch_s(folder, "json,xlsx")),
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
