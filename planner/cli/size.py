"""The search command for a serving workload: sizes fleets, prints them, and writes the scenario with the best one."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner.catalog.store import open_catalog
from planner.choices import Precision, WeightFormat
from planner.cli.size_object import as_object, as_rows
from planner.cli.size_text import as_text, fields_in_words
from planner.documents import Path_
from planner.errors import InputError, Place, Problem, ScenarioError, nearest
from planner.present.files import write_atomically
from planner.present.text import explanation, find_keys
from planner.scenario.edit import override, remove_key, stands_in_text
from planner.scenario.load import Loaded, load_scenario
from planner.scenario.schema import WorkloadKind
from planner.study.serving_search import Answer, FleetGoal, search_serving
from planner.study.sizing_machines import Edit
from planner.study.sizing_pools_price import PricedPools
from planner.study.sizing_price import Priced


def serving_workload(name: str, workload: str | None, changes: Sequence[str]) -> int | None:
    """Place of the serving workload that is meant: the one of this id, or the first where nothing trains.

    Returns:
        None where a training workload is meant, or no workload has the id.

    Raises:
        ScenarioError: The scenario can't be read.
    """
    try:
        loaded = load_scenario(name, changes=changes)
    except ScenarioError:
        # what the changes lack may be what an option says; if it isn't, it is said when they are read again
        loaded = load_scenario(name)
    found = loaded.scenario.workloads
    serving = [place for place, one in enumerate(found) if one.kind is WorkloadKind.SERVING]
    if workload is not None:
        return next((place for place in serving if found[place].id == workload), None)
    return serving[0] if len(serving) == len(found) else None


def size_scenario(
    name: str,
    place: int,
    *,
    top: int,
    by: str | None,
    output: Path | None,
    write: Path | None,
    explain: str | None,
    servers: Sequence[str],
    precisions: Sequence[str],
    weights: Sequence[str],
    rate: float | None,
    spare: int | None,
    startup: float | None,
    pools: bool,
    sure: float | None,
    changes: Sequence[str],
    catalog: Sequence[Path],
    as_json: bool,
) -> int:
    """Size, print and write.

    Args:
        place: Of the workload.
        pools: Whether separate pools are written and explained instead of the best fleet.
        sure: Share of draws in which the fleet that is written has to meet the objective.
        write: File for the scenario with the best fleet.
        explain: Key of one number of the best fleet to walk down instead.
        rate, spare, startup: Of the load, before the scenario's.

    Raises:
        InputError: Wrong options, all of them at once.
        PlannerError: The scenario is wrong, or no fleet keeps the objective.
    """
    goal, formats, forms = _checked(by, precisions, weights, output, write, sure)
    stated = (("requests_per_s", rate), ("spare_replicas", spare), ("startup_s", startup))
    loads = [f"workloads.{place}.load.{field}={value}" for field, value in stated if value is not None]
    loaded = load_scenario(name, changes=[*changes, *loads])
    if sure is not None and loaded.scenario.workloads[place].load is None:
        where = loaded.document.place(("workloads", place))
        raise InputError(
            Problem(
                "--sure: no load is stated that a fleet could be sure to carry",
                where,
                remedy="state --rate N",
            )
        )
    found = search_serving(
        loaded,
        open_catalog(catalog),
        place,
        servers=servers,
        precisions=formats,
        weights=forms,
        goal=goal,
        top=top,
        sure=sure,
    )
    chosen = _pools(found, place) if pools else found.sure.fleet if found.sure is not None else found.best
    if explain is not None:
        print(_explained(chosen, explain))
        return 0
    answer = as_object(found)
    if output is not None:
        write_atomically(output, _file(output, answer, as_rows(found)))
        print(f"{output}: written", file=sys.stderr)
    if write is not None:
        write_atomically(write, with_edits(loaded, chosen.edits).encode())
        print(f"{write}: written, {fields_in_words(chosen.edits)}", file=sys.stderr)
    print(json.dumps(answer, indent=1, allow_nan=False) if as_json else as_text(found))
    return 0


def _checked(
    by: str | None,
    precisions: Sequence[str],
    weights: Sequence[str],
    output: Path | None,
    write: Path | None,
    sure: float | None,
) -> tuple[FleetGoal, list[Precision], list[WeightFormat]]:
    problems = []
    goals, formats = [one.value for one in FleetGoal], [one.value for one in Precision]
    if by is not None and by not in goals:
        remedy = nearest(by, goals) or f"one of {', '.join(goals)}"
        problems.append(Problem(f"--by: no goal '{by}' for a serving workload", remedy=remedy))
    forms = [one.value for one in WeightFormat]
    for option, word, given, known in (
        ("--precision", "precision", precisions, formats), ("--weights", "format", weights, forms),
    ):  # fmt: skip
        for one in given:
            if one not in known:
                remedy = nearest(one, known) or f"one of {', '.join(known)}"
                problems.append(Problem(f"{option}: no {word} '{one}'", remedy=remedy))
    if sure is not None and not 0.0 < sure < 1.0:
        problems.append(
            Problem(f"--sure: {sure:g} is no share of draws", remedy="above 0 and below 1, such as 0.9")
        )
    if output is not None and output.suffix not in (".csv", ".json"):
        problems.append(
            Problem(
                "fleets are written as CSV or JSON",
                Place(str(output)),
                remedy="end the name in .csv or .json",
            )
        )
    if write is not None and write.suffix not in (".yaml", ".yml"):
        problems.append(
            Problem("a scenario is written as YAML", Place(str(write)), remedy="end the name in .yaml")
        )
    elif write is not None and write.exists():
        problems.append(Problem("is there already", Place(str(write)), remedy="write to another name"))
    if problems:
        raise InputError(problems)
    chosen = [Precision(one) for one in precisions], [WeightFormat(one) for one in weights]
    return FleetGoal(by or FleetGoal.GPUS), *chosen


def _pools(found: Answer, place: int) -> PricedPools:
    """Separate pools of the answer.

    Raises:
        InputError: There are none.
    """
    if found.pools is None:
        where = found.loaded.document.place(("workloads", place))
        raise InputError(
            Problem(
                "--pools: no separate pools keep the objective, or the plan has no network between servers",
                where, remedy="without --pools, or a wider objective",
            )
        )  # fmt: skip
    return found.pools


def with_edits(loaded: Loaded, edits: Sequence[Edit]) -> str:
    """The scenario's text with what was found, and with what was changed on the command line.

    Raises:
        InputError: Other workloads share the scenario's cluster, which is sized for one.
    """
    if len(loaded.scenario.workloads) > 1:
        raise InputError(
            Problem(
                "a fleet is sized for one workload, and this scenario has others on the same cluster",
                loaded.document.place(("workloads",)), "workloads",
                remedy="keep the serving workload in a scenario of its own; extends takes the rest over",
            )
        )  # fmt: skip
    text = loaded.path.read_text(encoding="utf-8")
    for path, value in (*_typed(loaded), *edits):
        if value is not None:
            text = override(text, loaded.document.data, path, value)
        elif (own := stands_in_text(text, loaded.document.data, path)) is not None:
            text = remove_key(text, own)
    return text


def _typed(loaded: Loaded) -> list[tuple[Path_, object]]:
    """Fields that were set on the command line, the outermost of each, with their values."""
    typed = {path for path, place in loaded.document.places.items() if place.path.startswith("--set")}
    outer = [path for path in typed if not any(path[:size] in typed for size in range(1, len(path)))]
    return [(path, _at(loaded.document.data, path)) for path in sorted(outer, key=str)]


def _at(data: Any, path: Path_) -> Any:
    for step in path:
        data = data[step]
    return data


def _explained(chosen: Priced | PricedPools, key: str) -> str:
    evaluation = chosen.evaluation
    if evaluation is None:
        raise InputError(Problem(f"--explain: the best fleet can't be priced: {chosen.why_not}"))
    if key not in evaluation.ledger:
        near = find_keys(key or "sizing", evaluation.ledger)
        remedy = f"perhaps {', '.join(near)}" if near else "such as sizing.gpus or unit.usd_per_gpu_hour"
        raise InputError(Problem(f"--explain: no ledger line '{key}'", remedy=remedy))
    return explanation(evaluation, key, depth=6)


def _file(path: Path, answer: dict[str, object], rows: list[dict[str, object]]) -> bytes:
    if path.suffix == ".json":
        return (json.dumps(answer, indent=1, allow_nan=False) + "\n").encode()
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
