"""This project's bench results (`planner/measure/run/document.py`)."""

from __future__ import annotations

from typing import Any

from planner.measure.parse.points import LEAST_US, MOST, CollectivePoint, Findings, GemmPoint, Measurements
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
    wrong = wrong_shapes(sections, environment)
    for said in wrong:
        found.problem(0, said)
    if wrong:
        return found.result("bench")
    notes = document.get("notes") or []
    for note in notes if isinstance(notes, list) else [notes]:
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
            except ValueError as error:
                found.problem(line, f"{section}[{place}]: {error}")
            except (KeyError, TypeError, AttributeError) as error:
                found.problem(line, f"{section}[{place}] is no point of a bench result ({error!r})")
    others = {name: tuple(points) for name, points in sections.items() if name != "nccl" and points}
    usable = bool(document.get("usable_for_calibration"))
    return found.result(
        "bench", usable=usable, device=device, others=others, environment=environment,
        as_of=str(document.get("started_utc") or "")[:10],
    )  # fmt: skip


def wrong_shapes(sections: dict[str, Any], environment: dict[str, Any]) -> list[str]:
    """What of a result is no list or mapping where one belongs, in words.

    >>> wrong_shapes({"gemm": 5, "nccl": [{}, None]}, {"devices": []})
    ["section 'gemm' is no list of points", 'nccl[1] is None, and no point']
    """
    lists = {name: points for name, points in sections.items() if isinstance(points, list)}
    return [
        *(f"section '{name}' is no list of points" for name, points in sections.items()
          if points and name not in lists),
        *(f"{name}[{place}] is {point!r:.40}, and no point" for name, points in lists.items()
          for place, point in enumerate(points) if not isinstance(point, dict)),
        *_wrong_environment(environment),
    ]  # fmt: skip


def _wrong_environment(environment: dict[str, Any]) -> list[str]:
    devices = environment.get("devices") or []
    wrong = [] if isinstance(devices, list) and all(isinstance(one, dict) for one in devices) else ["devices"]
    wrong += [
        name for name in ("variables", "nccl_transports")
        if not isinstance(environment.get(name) or {}, dict)
    ]  # fmt: skip
    return [f"environment.{name} is {environment[name]!r:.40}" for name in wrong]


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
            bytes=_count(point, "size_bytes"),
            ranks=_count(point, "ranks", least=2),
            nodes=_count(point, "hosts"),
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
            m=_count(point, "m"),
            n=_count(point, "n"),
            k=_count(point, "k"),
            dtype=str(point["dtype"]),
            time_s=_seconds(point),
            source_line=line,
            path=found.path,
            mode=str(point["mode"]),
            device=device,
            impl=str(point["family"]),
        )
    )


def _count(point: dict[str, Any], name: str, least: int = 1) -> int:
    value = point[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
        raise ValueError(f"{name} is {value!r}, and a whole number from {least} to {MOST} is needed")
    return value


def _seconds(point: dict[str, Any]) -> float:
    microseconds = float(point["median_us"])
    if not LEAST_US <= microseconds <= MOST:
        raise ValueError(f"median_us is {microseconds}, and must be from {LEAST_US} to {MOST}")
    return microseconds / 1e6
