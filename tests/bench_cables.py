"""Times the design of a floor with every cable, and the writing of its cut sheet. Part of ``make bench``."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

SCENARIO = "h100-16384-roce"


def design_s(gpus: int) -> float:
    """CPU seconds to design a cluster from its parts, every link with ports, length and medium; best of three."""
    from planner.catalog.store import open_catalog
    from planner.design.cluster import draw_cluster
    from planner.scenario.load import load_scenario
    from planner.scenario.parts import resolve

    parts = resolve(load_scenario(SCENARIO, changes=[f"cluster.groups.0.gpus={gpus}"]), open_catalog())

    def once() -> float:
        start = time.process_time()
        draw_cluster(parts)
        return time.process_time() - start

    return min(once() for _ in range(3))


def sheet_s(gpus: int) -> float:
    """CPU seconds to make the cut sheet of a designed cluster."""
    from planner.catalog.store import open_catalog
    from planner.design.cluster import draw_cluster
    from planner.design.cutsheet import cut_sheet
    from planner.scenario.load import load_scenario
    from planner.scenario.parts import resolve

    loaded = load_scenario(SCENARIO, changes=[f"cluster.groups.0.gpus={gpus}"])
    built = draw_cluster(resolve(loaded, open_catalog()))
    start = time.process_time()
    sheet = cut_sheet(built.cabling, built.media, built.layout)
    made = sheet.csv()
    spent = time.process_time() - start
    print(f"  {len(sheet.lines):,} lines, {len(made) / 1e6:.0f} MB")
    return spent


def design_peak_gb(gpus: int) -> float:
    """Peak memory of a process that designs a cluster, GB."""
    code = (
        "import sys, resource; sys.path.insert(0, 'tests'); from bench_cables import design_s; "
        f"design_s({gpus}); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1]) * 1024 / 1e9


MEASURES: list[tuple[str, str, Callable[[], float]]] = [
    ("design of 16,384 GPUs with every cable, CPU s", "1", lambda: design_s(16_384)),
    ("design of 131,072 GPUs with every cable, CPU s", "8", lambda: design_s(131_072)),
    ("the same, peak memory, GB", "1", lambda: design_peak_gb(131_072)),
    ("cut sheet of 131,072 GPUs, CPU s", "10", lambda: sheet_s(131_072)),
]
"""Label, bound and measure; the cut sheet's bound is our own."""
