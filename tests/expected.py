"""Writes planner/measure/run/expected.json: what the benchmark's diagnosis expects of each accelerator.

Rates and peaks come from the catalog; shares from the saved runs, from the tables of others
(tests/unit/measure/data/known_rates.csv) and from the catalog's measured GEMM figures. A range runs from the least
to the most that was measured, each widened by how far repeated measurements of one thing lie apart: computed
here from the same data, never chosen. Run with ``make expected``.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from planner.catalog.schema import Accelerator, ScaleUp
from planner.catalog.store import Catalog, open_catalog
from planner.measure.run.expected import FILE
from planner.measure.run.stats import percentile

DATA = Path(__file__).parent / "unit" / "measure" / "data"
RUNS = {"h200-x2": "h200-sxm-141gb", "h200-x2-again": "h200-sxm-141gb"}
LEAST_BYTES = 1 << 24

# Names as the drivers give them. Those of A100, B200, GB200, H100 SXM and H200 SXM stand in logs and saved runs
# of the tests; the others are recalled.
NAMES = {
    "a100-pcie-40gb": ["NVIDIA A100-PCIE-40GB"],
    "a100-pcie-80gb": ["NVIDIA A100 80GB PCIe"],
    "a100-sxm4-40gb": ["NVIDIA A100-SXM4-40GB"],
    "a100-sxm4-80gb": ["NVIDIA A100-SXM4-80GB"],
    "b200-sxm-180gb": ["NVIDIA B200"],
    "b300-sxm-288gb": ["NVIDIA B300 SXM6 AC", "NVIDIA B300"],
    "gb200": ["NVIDIA GB200"],
    "gb300": ["NVIDIA GB300"],
    "gh200": ["NVIDIA GH200 480GB", "NVIDIA GH200 120GB"],
    "h100-nvl-94gb": ["NVIDIA H100 NVL"],
    "h100-pcie-80gb": ["NVIDIA H100 PCIe"],
    "h100-sxm5-80gb": ["NVIDIA H100 80GB HBM3"],
    "h20-96gb": ["NVIDIA H20"],
    "h200-nvl-141gb": ["NVIDIA H200 NVL"],
    "h200-sxm-141gb": ["NVIDIA H200"],
    "h800-sxm-80gb": ["NVIDIA H800"],
    "l40s": ["NVIDIA L40S"],
    "mi250x": ["AMD Instinct MI250X"],
    "mi300x": ["AMD Instinct MI300X"],
    "mi325x": ["AMD Instinct MI325X"],
    "mi350x": ["AMD Instinct MI350X"],
    "mi355x": ["AMD Instinct MI355X"],
    "rtx-pro-6000": ["NVIDIA RTX PRO 6000 Blackwell Server Edition"],
}
PCIE = {"4": "pcie-4-x16", "5": "pcie-5-x16", "6": "pcie-6-x16"}

Cells = dict[tuple[Any, ...], list[float]]


class Facts:
    """Everything measured: bus bandwidths by accelerator, and shares by what they are a share of."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.busbw: dict[str, Cells] = defaultdict(lambda: defaultdict(list))
        self.shares: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.pinned: dict[str, list[float]] = defaultdict(list)
        self.apart: dict[str, list[float]] = defaultdict(list)
        for name, accelerator in RUNS.items():
            self._read_run(json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes())), accelerator)
        self._read_tables()
        own = {kind: percentile(found, 90) for kind, found in sorted(self.apart.items())}
        # Memory, attention and host copies are known from one machine, which says nothing of the next one; what
        # is known of that is how collectives differ between machines and software.
        self.between = {kind: max(share, own["collectives"]) for kind, share in own.items()}

    def _read_run(self, run: dict[str, Any], name: str) -> None:
        sections = run["sections"]
        for point in sections["nccl"]:
            if point["mode"] == "eager" and point["size_bytes"] >= LEAST_BYTES:
                key = (point["op"], point["ranks"], point["size_bytes"])
                self.busbw[name][key].append(point["busbw_gbyte_per_s"])
        for point in sections.get("gemm", []):
            self._ranks_apart("gemm", point)
            if point["family"] == "square":
                self._product(name, point["dtype"], point["m"], point["tflop_per_s"])
        peak = self.item(name).bf16_tflop_per_s.value
        attention: dict[str, list[float]] = defaultdict(list)
        for point in sections.get("attention", []):
            self._ranks_apart("attention", point)
            if point["family"] != "decode" and point["backend"] == "cudnn" and point["length"] >= 4096:
                attention[f"attention_{point['family']}_{point['length']}"].append(
                    point["tflop_per_s"] / peak
                )
        self.shares[name] |= attention
        self._memory(name, sections.get("memory", []), run["environment"]["devices"][0])

    def _memory(self, name: str, points: list[dict[str, Any]], device: dict[str, Any]) -> None:
        bandwidth = self.item(name).memory_bandwidth_gbyte_per_s.value
        for point in points:
            if point["size_bytes"] < 1 << 28:
                continue
            if point["family"].startswith("device_"):
                self._ranks_apart("memory", point)
                if point["size_bytes"] == 1 << 30:
                    self.shares[name][f"memory_{point['family'][7:]}"].append(
                        point["gbyte_per_s"] / bandwidth
                    )
            elif point.get("pinned"):
                self._ranks_apart("host", point)
                self.pinned[str(device["pcie_generation"])].append(point["gbyte_per_s"])

    def _ranks_apart(self, kind: str, point: dict[str, Any]) -> None:
        times = point.get("rank_median_us") or []
        if len(times) > 1:
            self.apart[kind].append(max(times) / min(times) - 1)

    def _read_tables(self) -> None:
        with (DATA / "known_rates.csv").open(encoding="utf-8") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                name, pair = row["accelerator"], [float(row["low"]), float(row["high"])]
                if row["quantity"] == "square_product":
                    for rate in pair:
                        self._product(name, row["dtype"], int(row["size"]), rate)
                    continue
                self.busbw[name][row["quantity"], int(row["ranks"]), int(row["size"])] += pair
                if int(row["points"]) > 1:
                    self.apart["collectives"].append(pair[1] / pair[0] - 1)

    def _product(self, name: str, dtype: str, side: int, tflop_per_s: float) -> None:
        if side in (4096, 8192):
            self.shares[name][f"square_{side}_{dtype}"].append(tflop_per_s / _peaks(self.item(name))[dtype])

    def item(self, name: str) -> Accelerator:
        return self.catalog.get(Accelerator, name)


def document() -> dict[str, Any]:
    """The file's content."""
    catalog = open_catalog()
    facts = Facts(catalog)
    return {
        "schema_version": 1,
        "about": "Written by tests/expected.py from the catalog, saved runs and published tables; don't edit.",
        "apart_fraction": {kind: _short(share) for kind, share in facts.between.items()},
        "host_links": {key: _host_link(facts, key, scaleup) for key, scaleup in PCIE.items()},
        "links": _links(facts),
        "accelerators": [_accelerator(facts, name) for name in NAMES],
    }


def _peaks(item: Accelerator) -> dict[str, float]:
    pairs = (("bf16", item.bf16_tflop_per_s), ("fp8", item.fp8_tflop_per_s))
    return {dtype: figure.value for dtype, figure in pairs if figure is not None}


def _accelerator(facts: Facts, name: str) -> dict[str, Any]:
    item = facts.item(name)
    return {
        "id": name,
        "names": NAMES[name],
        "scaleup": item.scaleup,
        "scaleup_gbyte_per_s_one_way": item.scaleup_gbyte_per_s and item.scaleup_gbyte_per_s.value,
        "memory_gbyte_per_s": item.memory_bandwidth_gbyte_per_s.value,
        "peak_tflop_per_s": _peaks(item),
        "power_limit_w": item.tdp_w and item.tdp_w.value,
        "shares": _shares(facts, item),
    }


def _shares(facts: Facts, item: Accelerator) -> dict[str, Any]:
    found = {}
    # The same chip with the same peak multiplies alike; memory and attention hang on more than that.
    alike = [name for name in facts.shares
             if facts.item(name).generation == item.generation and _peaks(facts.item(name)) == _peaks(item)]  # fmt: skip
    quantities = sorted({key for name in alike for key in facts.shares[name]})
    for quantity in quantities:
        kind = {"square": "gemm"}.get(quantity.split("_")[0], quantity.split("_")[0])
        having = [
            name for name in alike if quantity in facts.shares[name] and (kind == "gemm" or name == item.id)
        ]
        values = [share for name in having for share in facts.shares[name][quantity]]
        if values:
            found[quantity] = {**_range(values, facts.between[kind]), "measured_on": having}
    for dtype, figure in (
        ("bf16", item.gemm_bf16_share_of_peak_fraction),
        ("fp8", item.gemm_fp8_share_of_peak_fraction),
    ):
        if figure is not None:
            values = [x for x in (figure.low, figure.value, figure.high) if x is not None]
            found[f"best_{dtype}"] = {**_range(values, facts.between["gemm"]), "measured_on": [item.id]}
    return found


def _links(facts: Facts) -> dict[str, Any]:
    links: dict[str, Any] = {}
    for name, cells in facts.busbw.items():
        item = facts.item(name)
        assert item.scaleup is not None
        assert item.scaleup_gbyte_per_s is not None
        link = links.setdefault(item.scaleup, {"measured_on": [], "cells": defaultdict(list)})
        link["measured_on"].append(name)
        for key, rates in cells.items():
            link["cells"][key] += [rate / item.scaleup_gbyte_per_s.value for rate in rates]
    return {name: {"measured_on": link["measured_on"], "busbw_share": _curves(link["cells"], facts)}
            for name, link in sorted(links.items())}  # fmt: skip


def _curves(cells: Cells, facts: Facts) -> dict[str, dict[str, list[list[float]]]]:
    curves: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    shared = {key[2] for key in cells if key[2] in (1 << 24, 1 << 26, 1 << 28, 1 << 29) or key[2] > 1 << 29}
    for (op, ranks, size), values in sorted(cells.items()):
        if size in shared:
            found = _range(values, facts.between["collectives"])
            curves[op][str(ranks)].append([size, found["low"], found["high"]])
    return curves


def _host_link(facts: Facts, generation: str, scaleup: str) -> dict[str, Any]:
    rate = facts.catalog.get(ScaleUp, scaleup).gbyte_per_s
    assert rate is not None
    found: dict[str, Any] = {"gbyte_per_s": rate.value}
    if facts.pinned[generation]:
        share = _range([item / rate.value for item in facts.pinned[generation]], facts.between["host"])
        found["pinned_share"] = {**share, "measured_on": sorted(set(RUNS.values()))}
    return found


def _range(values: Iterable[float], apart: float) -> dict[str, float]:
    known = list(values)
    return {"low": _short(min(known) / (1 + apart)), "high": _short(max(known) * (1 + apart))}


def _short(value: float) -> float:
    return float(f"{value:.3g}")


def text() -> str:
    """The file as it is written: a line for each accelerator and each curve."""

    def dump(item: Any) -> str:
        return json.dumps(item, separators=(", ", ": "))

    found = document()
    lines = ["{"]
    for key in ("schema_version", "about", "apart_fraction", "host_links"):
        lines.append(f' "{key}": {dump(found[key])},')
    links = []
    for name, link in found["links"].items():
        curves = []
        for op, by_ranks in link["busbw_share"].items():
            inner = ",\n".join(f'    "{ranks}": {dump(curve)}' for ranks, curve in by_ranks.items())
            curves.append(f'   "{op}": {{\n{inner}\n   }}')
        links.append(
            f'  "{name}": {{"measured_on": {dump(link["measured_on"])}, "busbw_share": {{\n'
            + ",\n".join(curves)
            + "\n  }}"
        )
    lines.append(' "links": {\n' + ",\n".join(links) + "\n },")
    lines.append(
        ' "accelerators": [\n' + ",\n".join(f"  {dump(item)}" for item in found["accelerators"]) + "\n ]\n}"
    )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"{FILE}: written")
