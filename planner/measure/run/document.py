"""The result file: one JSON document, put in place at once each time.

Top level: `schema_version`, `kind` ('bench'), `backend`, `usable_for_calibration`, `complete`, `options`,
`environment`, `groups` (which ranks measured together), `sections` (a name to a list of points),
`section_seconds`, `telemetry` (clocks and power by rank and section), `notes` and, at the end, `diagnosis`. A point
holds what was run, `median_us`, `p10_us`, `p99_us` and `samples_us` (each the mean of `iterations` calls back to
back), the rates that follow, `rank_median_us` where every rank measured, or `error` in their stead. The unit ends
a key's name; bytes are binary sizes, GB/s and TFLOP/s decimal.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
import time
from pathlib import Path
from typing import Any

SCHEMA_VERSION = 1
NOT_A_GPU = "backend is gloo: not a GPU measurement, not usable for calibration"


def utc_now() -> str:
    """Date and time in UTC.

    >>> utc_now().endswith("Z")
    True
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def new_document(backend: str, options: dict[str, Any]) -> dict[str, Any]:
    """An empty result that already says what it may be used for."""
    on_gpu = backend != "gloo"
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "bench",
        "backend": backend,
        "usable_for_calibration": on_gpu,
        "complete": False,
        "started_utc": utc_now(),
        "finished_utc": None,
        "options": options,
        "environment": {},
        "groups": {},
        "sections": {},
        "section_seconds": {},
        "telemetry": [],
        "notes": [] if on_gpu else [NOT_A_GPU],
    }


def finite(value: Any) -> Any:
    """The value with what JSON can't hold (nan, infinity) replaced by null.

    >>> finite({"a": [1.0, float("nan")]})
    {'a': [1.0, None]}
    """
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def to_text(document: dict[str, Any]) -> str:
    """JSON with one measured point a line, so that files stay small and a diff stays readable."""
    lines = ["{"]
    last = len(document) - 1
    for place, (key, item) in enumerate(document.items()):
        comma = "" if place == last else ","
        lines.append(f" {json.dumps(key)}: {_value_text(finite(item))}{comma}")
    return "\n".join([*lines, "}"]) + "\n"


def _value_text(item: Any) -> str:
    if isinstance(item, dict) and any(isinstance(part, list) for part in item.values()):
        parts = [f"  {json.dumps(key)}: {_value_text(part)}" for key, part in item.items()]
        return "{\n" + ",\n".join(parts) + "\n }"
    if isinstance(item, list) and not all(isinstance(part, (int, float)) for part in item):
        return "[\n" + ",\n".join("   " + _flat(part) for part in item) + "\n  ]"
    return _flat(item)


def _flat(item: Any) -> str:
    return json.dumps(item, separators=(",", ":"), allow_nan=False)


def write_document(path: Path, document: dict[str, Any]) -> None:
    """Put the document in place; a reader finds the earlier whole file or this one, never a part.

    Raises:
        OSError: The folder is missing or can't be written.
    """
    text = to_text(document)
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:60]}-", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def add_note(path: Path, note: str) -> bool:
    """Append a note to a result on disk; false where there is no readable one."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        document["notes"].append(note)
    except (OSError, ValueError, KeyError, AttributeError):
        return False
    write_document(path, document)
    return True
