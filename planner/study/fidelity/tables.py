"""CSV tables as rows: collectives, matrix products, serving runs and expert exchanges."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner.documents import Document
from planner.errors import InputError, Place, Problem
from planner.measure.parse.points import CollectivePoint, Findings, GemmPoint
from planner.measure.parse.tables import COLLECTIVE_COLUMNS, GEMM_COLUMNS, columns_of, read_table
from planner.schema_errors import problems_of
from planner.study.fidelity.schema import CollectiveRow, GemmRow, InferenceRow, Measured
from planner.study.fidelity.serving_degrees import degrees_of

SERVING_COLUMNS = frozenset(
    {"backend", "model_path", "system", "mode", "isl", "osl", "concurrency", "tp_size",
     "silicon_ttft_ms", "silicon_tpot_ms"}
)  # fmt: skip
EXCHANGE_COLUMNS = frozenset(
    {
        "gpu",
        "mode",
        "node_num",
        "hidden_size",
        "num_token",
        "num_topk",
        "num_experts",
        "dispatch_us",
        "combine_us",
    }
)
ENGINES = {"trtllm": "TensorRT-LLM", "vllm": "vLLM", "sglang": "SGLang"}
GPUS_OF_A_NODE = 8
"""Ranks of a node in the tables of expert exchanges, which leave the number out."""

Found = tuple[list[tuple[Measured | GemmRow, Place]], list[Problem]]


def read_csv(text: str, path: Path) -> Found:
    """Rows of a table with their places, and what is wrong with the others.

    Raises:
        InputError: The columns are none of the four tables'.
    """
    head = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    columns = columns_of(head)
    if columns >= COLLECTIVE_COLUMNS or columns >= GEMM_COLUMNS:
        return _points(text, path)
    columns = frozenset(_column(name) for name in head.split(_delimiter(head)))
    if columns >= SERVING_COLUMNS:
        return _lines(text, path, _serving)
    if columns >= EXCHANGE_COLUMNS:
        return _lines(text, path, _exchanges)
    known = (COLLECTIVE_COLUMNS, GEMM_COLUMNS, SERVING_COLUMNS, EXCHANGE_COLUMNS)
    near = max(known, key=lambda one: len(one & columns) / len(one))
    missing = ", ".join(sorted(near - columns))
    raise InputError(
        Problem(
            "is neither JSON rows nor a table this reads", Place(str(path), 1),
            remedy=f"the nearest table lacks the columns {missing}" if missing else "separate columns by commas",
        )
    )  # fmt: skip


def _points(text: str, path: Path) -> Found:
    """A table of collectives or matrix products, read as `planner calibrate` reads it."""
    found = Findings(path)
    read_table(text, found)
    problems = [Problem(one.message, Place(str(path), one.line)) for one in found.problems]
    rows: list[tuple[Measured | GemmRow, Place]] = []
    for point in found.collectives:
        rows.append((_collective(point, path), Place(str(path), point.source_line)))
    for product in found.gemms:
        rows.append((_gemm(product, path), Place(str(path), product.source_line)))
    if not rows and not problems:
        problems.append(Problem("holds no row", Place(str(path))))
    return rows, problems


def _collective(point: CollectivePoint, path: Path) -> CollectiveRow:
    return CollectiveRow(
        id=f"{path.stem}:{point.source_line}", group="B", family=f"{path.stem}-{point.op}", src=path.stem,
        op=point.op, gpu=point.device or path.stem, n_gpus=point.ranks,
        n_nodes=point.nodes, bytes=point.bytes, dtype=point.dtype, time_us=point.time_s * 1e6,
        nccl=point.library or None, mode="graph" if point.mode == "graph" else "eager", impl=point.impl,
    )  # fmt: skip


def _gemm(point: GemmPoint, path: Path) -> GemmRow:
    return GemmRow(
        id=f"{path.stem}:{point.source_line}", family=f"{path.stem}-{point.dtype}", src=path.stem,
        gpu=point.device or path.stem, m=point.m, n=point.n, k=point.k, dtype=point.dtype,
        time_us=point.time_s * 1e6, impl=point.impl,
    )  # fmt: skip


Cells = dict[str, str]


def _lines(
    text: str, path: Path, make: Callable[[Cells, str], list[tuple[type[Measured], dict[str, Any]]]]
) -> Found:
    head, lines = _head(text)
    titles = next((line for line in lines if line.strip()), "")
    reader = csv.DictReader(lines, delimiter=_delimiter(titles))
    reader.fieldnames = [_column(name) for name in reader.fieldnames or ()]
    rows: list[tuple[Measured | GemmRow, Place]] = []
    problems: list[Problem] = []
    for read in reader:
        place = Place(str(path), reader.line_num + len(head))
        if None in read or None in read.values():
            problems.append(Problem("has another number of columns than the header", place))
            continue
        cells = {name: text.strip() for name, text in read.items()}
        for kind, data in make(cells, f"{path.stem}:{place.line}"):
            given = {name: value for name, value in data.items() if value not in ("", None)}
            given |= {"source": head} if head else {}
            try:
                rows.append((kind.model_validate(given), place))
            except ValidationError as error:
                problems += problems_of(error, Document(given, str(path), {(): place}), kind)
    if not rows and not problems:
        problems.append(Problem("holds no row", Place(str(path))))
    return rows, problems


def _column(name: str) -> str:
    """A column's name in small letters, without quotes and spaces around it."""
    return name.strip().strip('"').strip().lower()


def _delimiter(head: str) -> str:
    """What stands between the names of a header: a comma unless there is none."""
    return next((one for one in (",", ";", "\t") if one in head), ",")


def _head(text: str) -> tuple[dict[str, str], list[str]]:
    """What remarks before a table say of its publication, and the lines after them."""
    lines = text.splitlines()
    count = next((place for place, line in enumerate(lines) if not line.startswith("#")), len(lines))
    said = [line.lstrip("# ").partition(": ") for line in lines[:count]]
    return {name: words for name, _, words in said}, lines[count:]


def _serving(cells: Cells, name: str) -> list[tuple[type[Measured], dict[str, Any]]]:
    """One serving run under a fixed number of requests in flight."""
    cells = cells | {"mode": cells["mode"].lower(), "backend": cells["backend"].lower()}
    return [
        (
            InferenceRow,
            {
                "id": cells.get("id") or name, "group": "C", "family": cells["model_path"].rpartition("/")[2],
                "src": cells["backend"] or name, "model": cells["model_path"], "gpu": cells["system"],
                **degrees_of(cells),
                "precision": cells.get("gemm_quant_mode") or cells.get("precision") or "bf16",
                "expert_precision": cells.get("moe_quant_mode", ""),
                "isl": cells["isl"], "osl": cells["osl"], "lengths": _lengths(cells),
                "concurrency": _number(cells["concurrency"]),
                "engine": f"{ENGINES.get(cells['backend'], cells['backend'])} {cells.get('backend_version', '')}".strip(),
                "scenario": cells["mode"],
                "metrics": {
                    key: value
                    for key, value in (
                        ("ttft_mean_ms", cells["silicon_ttft_ms"]),
                        ("tpot_mean_ms", cells["silicon_tpot_ms"]),
                    )
                    if value
                },
            },
        )
    ]  # fmt: skip


def _lengths(cells: Cells) -> str:
    """InferenceX draws lengths; the files named after one model hold runs of equal ones."""
    origin = cells.get("origin", "")
    return (
        "spread"
        if not origin or origin.startswith("db-dump") or re.search(r"\d{4}-\d\d-\d\d", origin)
        else "fixed"
    )


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _exchanges(cells: Cells, name: str) -> list[tuple[type[Measured], dict[str, Any]]]:
    """Dispatch and combine of one expert exchange."""
    workload = (
        f"{cells['num_token']} tokens, hidden {cells['hidden_size']}, top-{cells['num_topk']}, "
        f"{cells['num_experts']} experts"
    )
    low = "_lowlatency" if cells["mode"] == "ll" else ""
    nodes = cells["node_num"]
    gpus = int(nodes) * GPUS_OF_A_NODE if nodes.isdigit() else nodes
    return [
        (
            CollectiveRow,
            {
                "id": f"{name}.{part}", "group": "B", "family": f"{cells['gpu']}-moe_{part}{low}", "src": "deepep",
                "op": f"moe_{part}{low}", "gpu": cells["gpu"], "n_gpus": gpus, "n_nodes": nodes,
                "time_us": cells[f"{part}_us"], "workload": workload, "nccl": cells.get("table", ""),
                "sms": cells.get("dispatch_sms", "").partition(".")[0],
            },
        )
        for part in ("dispatch", "combine")
    ]  # fmt: skip
