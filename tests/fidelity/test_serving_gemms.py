"""Products of the serving model against the tables of matrix products whose rows ship with the profiles."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict

import numpy as np
import pytest

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.resources import shipped
from planner.study.fidelity.serving_batch import serving_figures

RAW = shipped("catalog") / "profiles" / "raw"
FIGURE = serving_figures(Catalog([shipped("catalog")]))
FILES = {
    "hopper": ("h100-sxm5-80gb.nccl-tables.h100-gemm.csv.gz", 3.35e12),
    "blackwell": ("b200-sxm-180gb.nccl-tables.b200-gemm.csv.gz", 8e12),
}
FORMS = {"bf16": "16bit", "fp8": "fp8", "fp8_block": "fp8_block", "nvfp4": "nvfp4"}
PEAK = {
    ("hopper", "16bit"): 989e12, ("hopper", "fp8"): 1979e12, ("hopper", "fp8_block"): 1979e12,
    ("blackwell", "16bit"): 2250e12, ("blackwell", "fp8"): 4500e12, ("blackwell", "fp8_block"): 4500e12,
    ("blackwell", "nvfp4"): 9000e12,
}  # fmt: skip
BYTES = {"16bit": 2.0, "fp8": 1.0, "fp8_block": 1.0, "nvfp4": 0.5625}


def fastest(generation: str, form: str) -> Floats:
    """Rows, columns, depth and seconds of each product of layer size, by the faster implementation."""
    name, _ = FILES[generation]
    best: dict[tuple[int, int, int], float] = defaultdict(lambda: np.inf)
    with gzip.open(RAW / name, "rt") as file:
        for cells in csv.DictReader(line for line in file if not line.startswith("#")):
            m, n, k = (int(cells[key]) for key in "mnk")
            if FORMS[cells["dtype"]] == form and min(n, k) >= 1024 and max(n, k, m) <= 16384:
                best[m, n, k] = min(best[m, n, k], float(cells["latency_us"]) * 1e-6)
    return np.array([[*size, time] for size, time in best.items()]).T


@pytest.mark.parametrize(("generation", "form"), PEAK)
def test_products_alone_lie_within_what_their_notes_say(generation: str, form: str) -> None:
    m, n, k, measured = fastest(generation, form)
    assert measured.size > 50
    moved = (n * k + m * k) * BYTES[form] + 2.0 * m * n
    memory = moved / (
        FILES[generation][1] * FIGURE(f"serving_gemm_memory_share_{generation}_{form}_fraction")
    )
    share = FIGURE(f"serving_gemm_share_of_peak_{generation}_{form}_fraction")
    arithmetic = 2.0 * m * n * k / (PEAK[generation, form] * share)
    time = FIGURE(f"serving_gemm_fixed_s_{generation}_{form}") + np.hypot(memory, arithmetic)
    off = time / measured - 1.0
    # medians from 6 % (16 bits) to 16 % (FP8 on B200) were found on the whole tables, of which a part ships
    assert np.median(np.abs(off)) < 0.2
    assert abs(np.median(off)) < 0.1
