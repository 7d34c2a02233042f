"""An answer of a comparing command: printed, and written to a file where one is named."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner.errors import Place, Problem
from planner.present.files import write_atomically


def output_problems(output: Path | None) -> list[Problem]:
    """What is wrong with the name of the file for an answer."""
    if output is None or output.suffix in (".json", ".txt"):
        return []
    return [
        Problem(
            "the comparison is written as JSON or text",
            Place(str(output)),
            remedy="end the name in .json or .txt",
        )
    ]


def answer(found: Mapping[str, Any], text: str, *, output: Path | None, as_json: bool) -> None:
    """Write the answer to its file, if there is one, and print it."""
    whole = json.dumps(found, indent=1, allow_nan=False)
    if output is not None:
        write_atomically(output, f"{whole if output.suffix == '.json' else text}\n".encode())
        print(f"{output}: written", file=sys.stderr)
    print(whole if as_json else text)
