"""This project's bench results (`planner/measure/run/document.py`)."""

from __future__ import annotations

import math
from typing import Any

from planner.measure.parse.points import CollectivePoint, Findings, GemmPoint, Measurements
from planner.measure.run.document import SCHEMA_VERSION


def read_bench(document: dict[str, Any], text: str, found: Findings) -> Measurements:
    """Read a result; sections other than nccl and gemm are handed on as they are.

    Raises:
        LogError: The document is damaged or empty.
    """
    version = document.get("schema_version")
    if version != SCHEMA_VERSION:
        found.problem(0, f"schema_version is {version!r}, and this planner reads {SCHEMA_VERSION}")
        return found.result("bench")
    sections = document.get("sections")
    environment = document.get("environment")
    if not isinstance(sections, dict) or not isinstance(environment, dict):
        found.problem(0, "a bench result needs 'sections' and 'environment'")
        return found.result("bench")
    for note in document.get("notes") or []:
        found.remark(str(note))
    if document.get("complete") is False:
        found.remark("the run was stopped before its end")
    devices = environment.get("devices") or []
    names = dict.fromkeys(str(device["name"]) for device in devices if device.get("name"))
    device, library = ", ".join(names), f"nccl {environment.get('nccl_version') or ''}".strip()
    staged = staged_through_host(environment)
    for section in ("nccl", "gemm"):
        first = _first_line(text, section)
        for place, point in enumerate(sections.get(section) or []):
            line = first + place if first else 1
            try:
                if section == "nccl":
                    _collective(point, line, device, library, staged, found)
                else:
                    _gemm(point, line, device, found)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                found.problem(line, f"{section}[{place}] is no point of a bench result ({error!r})")
    others = {name: tuple(points) for name, points in sections.items() if name != "nccl" and points}
    usable = bool(document.get("usable_for_calibration"))
    return found.result(
        "bench", usable=usable, device=device, others=others, environment=environment,
        as_of=str(document.get("started_utc") or "")[:10],
    )  # fmt: skip


def staged_through_host(environment: dict[str, Any]) -> bool:
    """Whether collectives inside a host went through its memory: shared memory was used and no peer access.

    >>> staged_through_host({"nccl_transports": {"SHM/direct/direct": 6}})
    True
    >>> staged_through_host({"nccl_transports": {"P2P/CUMEM": 56}})
    False
    """
    used = [str(name) for name in environment.get("nccl_transports") or {}]
    return any(name.startswith("SHM") for name in used) and not any(name.startswith("P2P") for name in used)


def _first_line(text: str, section: str) -> int:
    """Line of a section's first point, or 0 where the document has not one point a line.

    >>> _first_line('{\\n "sections": {\\n  "nccl": [\\n   {"op":1},\\n', "nccl")
    4
    """
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() == f'"{section}": [':
            return number + 1
    return 0


def _collective(
    point: dict[str, Any], line: int, device: str, library: str, staged: bool, found: Findings
) -> None:
    if "error" in point:
        found.skip("points with an error in the place of a time")
        return
    if point["wrong_elements"]:
        found.skip("points with wrong results")
        return
    found.collectives.append(
        CollectivePoint(
            op=str(point["op"]),
            dtype=str(point["dtype"]),
            bytes=int(point["size_bytes"]),
            ranks=int(point["ranks"]),
            nodes=int(point["hosts"]),
            time_s=_seconds(point),
            in_place=bool(point["in_place"]),
            source_line=line,
            path=found.path,
            mode=str(point["mode"]),
            device=device,
            library=library,
            link="network" if int(point["hosts"]) > 1 else "host_staged" if staged else "scale_up",
        )
    )


def _gemm(point: dict[str, Any], line: int, device: str, found: Findings) -> None:
    if "error" in point:
        found.skip("points with an error in the place of a time")
        return
    found.gemms.append(
        GemmPoint(
            m=int(point["m"]),
            n=int(point["n"]),
            k=int(point["k"]),
            dtype=str(point["dtype"]),
            time_s=_seconds(point),
            source_line=line,
            path=found.path,
            mode=str(point["mode"]),
            device=device,
            impl=str(point["family"]),
        )
    )


def _seconds(point: dict[str, Any]) -> float:
    microseconds = float(point["median_us"])
    if not (math.isfinite(microseconds) and microseconds > 0):
        raise ValueError(f"median_us is {microseconds}")
    return microseconds / 1e6
