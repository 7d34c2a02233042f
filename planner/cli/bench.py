"""The bench commands: measure, diagnose a saved result, and explain where a job waits."""

from __future__ import annotations

import gzip
import importlib.util
import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.errors import InputError, Place, Problem

if TYPE_CHECKING:
    from planner.measure.parse.trace_split import Expected


def measure(arguments: Sequence[str]) -> int:
    """Measure this machine, as `python -m planner.measure` does; narration on stderr, the diagnosis on stdout.

    Raises:
        InputError: torch isn't installed.
    """
    from planner.measure.run.main import main
    from planner.measure.run.options import parse

    parse(arguments, "planner bench")
    if importlib.util.find_spec("torch") is None:
        raise InputError(
            Problem(
                "measuring needs torch, and it isn't installed here",
                remedy="pip install 'cluster-planner[bench]'",
            )
        )
    return main(arguments, "planner bench")


def diagnose_saved(paths: Sequence[Path], *, as_json: bool) -> int:
    """Print the diagnosis of saved results, made anew from what they hold.

    Raises:
        InputError: A file isn't a bench result; every problem at once.
    """
    from planner.measure.run.diagnosis import diagnose, text

    found: list[tuple[Path, dict[str, Any]]] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            found.append((path, diagnose(bench_result(path))))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    if as_json:
        rows = [{"file": str(path), **diagnosis} for path, diagnosis in found]
        print(json.dumps(rows[0] if len(rows) == 1 else rows, indent=1))
        return 0
    for path, diagnosis in found:
        if len(found) > 1:
            print(f"{path}:")
        print(text(diagnosis), end="")
    return 0


def bench_result(path: Path) -> dict[str, Any]:
    """A result of planner bench, plain or gzipped.

    Raises:
        InputError: It can't be read, or is none.
    """
    where = Place(str(path))
    try:
        content = path.read_bytes()
        document = json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
    except json.JSONDecodeError as error:
        raise InputError(
            Problem(f"JSON is damaged or cut: {error.msg}", Place(str(path), error.lineno, error.colno))
        ) from None
    except RecursionError:
        raise InputError(Problem("is nested too deep", where)) from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise InputError(
            Problem(f"can't be read: {getattr(error, 'strerror', None) or error}", where)
        ) from None
    if (
        not isinstance(document, dict)
        or document.get("kind") != "bench"
        or not isinstance(document.get("sections"), dict)
    ):
        raise InputError(
            Problem("is no result of planner bench", where, remedy="planner bench -o FILE writes one")
        )
    from planner.measure.parse.bench import wrong_shapes

    environment = document.get("environment") or {}
    if not isinstance(environment, dict):
        raise InputError(Problem(f"environment is {environment!r:.40}", where))
    if wrong := wrong_shapes(document["sections"], environment):
        raise InputError([Problem(said, where) for said in wrong])
    return document


def explain_traces(
    paths: Sequence[Path], *, system: str | None, nodes: int, gpus_per_node: int | None, as_json: bool
) -> int:
    """Say where a step's time goes and whom everyone waits for.

    Raises:
        InputError: A trace is damaged, or the system isn't known.
    """
    from planner.measure.parse.trace import read_traces
    from planner.measure.parse.trace_split import explain
    from planner.present.bench_text import explanation_data, explanation_text

    model = expectation(system, nodes)
    with _as_input_error():
        found = explain(read_traces(paths), model)
    if as_json:
        print(json.dumps(explanation_data(found, gpus_per_node=gpus_per_node), indent=1))
    else:
        print(explanation_text(found, modelled=model is not None, gpus_per_node=gpus_per_node), end="")
    return 0


def expectation(system: str | None, nodes: int) -> Expected | None:
    """The model's time of a collective by op, bytes and ranks on a system; None where no system is named.

    Raises:
        CatalogError: No such system.
    """
    if system is None:
        return None
    import numpy as np

    from planner.catalog.schema import Server
    from planner.catalog.store import open_catalog
    from planner.cli.collective import OPERATIONS, system_of
    from planner.performance.collective_model import CollectiveModel
    from planner.performance.collectives import Collective

    shelf = open_catalog()
    gpus = shelf.get(Server, system).gpus * nodes
    model = CollectiveModel(system_of(shelf, system, gpus=gpus, nodes=nodes))

    def expected(op: str, size: float, ranks: int) -> tuple[float, float, float] | None:
        operation = OPERATIONS.get(op)
        if not isinstance(operation, Collective) or ranks < 2 or size <= 0 or ranks > gpus:
            return None
        boxes = max(1, -(-ranks // model.system.node_ranks))
        if ranks % boxes:
            return None
        found = model.predict(operation, message_bytes=np.array([size]), ranks=ranks, nodes=boxes)
        return float(found.low_s[0]), float(found.time_s[0]), float(found.high_s[0])

    return expected


@contextmanager
def _as_input_error() -> Iterator[None]:
    from planner.measure.parse.points import LogError

    try:
        yield
    except LogError as error:
        raise InputError(
            [Problem(one.message, Place(str(one.path), one.line)) for one in error.problems]
        ) from error
