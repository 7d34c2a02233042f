"""Tells what a measurement file is by its content, and reads it."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

from planner.measure.parse.bench import read_bench
from planner.measure.parse.nccl_json import read_nccl_json
from planner.measure.parse.nccl_log import read_log
from planner.measure.parse.points import Findings, LogError, Measurements, ParseProblem
from planner.measure.parse.tables import COLLECTIVE_COLUMNS, GEMM_COLUMNS, columns_of, read_table


def read_points(path: Path) -> Measurements:
    """Read a bench result, nccl-tests' log or JSON, or a CSV table; gzip is seen by its first bytes.

    Raises:
        LogError: The file can't be read, is damaged, or holds no measurement.
    """
    text = _text(path)
    found = Findings(path)
    if text.lstrip().startswith("{"):
        return _read_json(text, found)
    head = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    if any(columns_of(head) >= needed for needed in (COLLECTIVE_COLUMNS, GEMM_COLUMNS)):
        read_table(text, found)
        return found.result("table")
    read_log(text, found)
    return found.result("nccl-tests log")


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        said = getattr(error, "strerror", None) or error
        raise LogError([ParseProblem(path, 0, f"can't be read: {said}")]) from error
    # PowerShell's redirection writes UTF-16 with a mark.
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    return content.decode("utf-16" if wide else "utf-8-sig", errors="replace")


def _read_json(text: str, found: Findings) -> Measurements:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        found.problem(error.lineno, f"JSON is damaged or cut: {error.msg} (column {error.colno})")
        return found.result("json")
    except (RecursionError, ValueError) as error:
        said = "is nested too deep" if isinstance(error, RecursionError) else f"can't be read: {error}"
        found.problem(0, said)
        return found.result("json")
    if document.get("kind") == "bench":
        return read_bench(document, text, found)
    if "results" in document or "nccl_version" in document:
        read_nccl_json(document, found)
        return found.result("nccl-tests json")
    found.problem(1, "is neither a bench result nor nccl-tests' JSON")
    return found.result("json")
