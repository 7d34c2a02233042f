"""Reads a scenario with its bases and command-line changes, keeping the place of every value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner.documents import Document, Path_, is_file, load_document, parse_document
from planner.errors import InputError, Place, Problem, ScenarioError, nearest
from planner.resources import shipped
from planner.scenario.layering import laid_over
from planner.scenario.schema import Scenario
from planner.schema_errors import problems_of
from planner.sourced import Basis, Source


@dataclass(frozen=True, slots=True)
class Loaded:
    """A scenario, and where each of its values stands.

    Attributes:
        scenario: The validated wishes.
        document: Merged plain data, with the place of every value in the file it came from.
        path: The file that was asked for.
        bases: Files it extends, nearest first.
    """

    scenario: Scenario
    document: Document
    path: Path
    bases: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """Name for output files."""
        return self.path.stem

    def digest(self) -> str:
        """Hash over the merged input: two scenarios that ask the same have the same."""
        text = json.dumps(self.scenario.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def stands(self, path: Path_) -> str:
        """Where a value stands: ``file``, ``base``, ``set`` or ``default``."""
        place = self.document.places.get(path)
        if place is None:
            return "default"
        if place.path.startswith("--set"):
            return "set"
        return "file" if place.path == self.document.path else "base"

    def source(self, *path: str | int, note: str = "") -> Source:
        """Source of a value the user wrote, or of the schema's default."""
        place = self.document.places.get(path)
        if place is None:
            return Source(
                where="default",
                source="planner-defaults",
                basis=Basis.ESTIMATE,
                verified=False,
                note=note or f"default of {'.'.join(str(part) for part in path)}",
                field=path,
            )
        where = f"{place.path}:{place.line}" if place.line else place.path
        return Source(where=where, note=note, field=path)


def shipped_scenarios() -> tuple[str, ...]:
    """Names of the scenarios that ship, sorted."""
    return tuple(sorted(path.stem for path in (shipped("templates") / "scenarios").glob("*.yaml")))


def find_scenario(name: str, *, beside: Path | None = None) -> Path:
    """File of a scenario given as a path or as the name of a shipped one.

    Raises:
        ScenarioError: Neither; the nearest shipped names are in it.
    """
    path = Path(name)
    candidates = [beside / path] if beside is not None and not path.is_absolute() else []
    candidates.append(path)
    if "/" not in name:
        candidates.append(shipped("templates") / "scenarios" / f"{name}.yaml")
    for candidate in candidates:
        if is_file(candidate):
            return candidate
    raise ScenarioError(
        Problem(
            f"no scenario file '{name}', and none of this name ships",
            remedy=nearest(path.stem, shipped_scenarios()) or f"shipped: {', '.join(shipped_scenarios())}",
        )
    )


def load_scenario(name: str | Path, *, changes: Sequence[str] = ()) -> Loaded:
    """Read, merge and validate a scenario.

    Args:
        name: File, or the name of a shipped scenario.
        changes: ``key.path=value`` as given to ``--set``.

    Raises:
        ScenarioError: Every problem found, each with file, line and column.
    """
    path = find_scenario(str(name))
    try:
        document, bases = _merged(path, ())
    except InputError as error:
        raise _with_the_rest(error, path) from error
    problems = _change(document, changes)
    try:
        found = validated(document, path, bases)
    except ScenarioError as error:
        refused = ScenarioError([*problems, *error.problems])
        refused.readable = error.readable
        raise refused from error
    if problems:
        refused = ScenarioError(problems)
        refused.readable = found
        raise refused
    return found


def _with_the_rest(error: InputError, path: Path) -> ScenarioError:
    """What is wrong with a scenario's text, and with its fields where the text could be read to its end."""
    refused = ScenarioError(error.problems)
    if isinstance(error.read, Document) and error.read.path == _shown(path):
        try:
            merged, bases = _extended(error.read, path, ())
            validated(merged, path, bases)
        except InputError as rest:
            told = {problem.key for problem in error.problems if problem.key}
            more = [problem for problem in rest.problems if problem.key not in told]
            refused = ScenarioError([*error.problems, *more])
            refused.readable = getattr(rest, "readable", None)
    return refused


def load_text(text: str, path: Path) -> Loaded:
    """Validate a scenario that an editor holds; ``path`` tells where its bases lie.

    Raises:
        ScenarioError: Every problem found.
    """
    document, bases = merge_text(text, path)
    return validated(document, path, bases)


def load_texts(texts: Sequence[tuple[str, str]], *, changes: Sequence[str] = ()) -> Loaded:
    """Validate a scenario that a file carries with all it extends, without looking for any of them.

    Args:
        texts: Name and text of the scenario, then of those it extends, as `Document.texts` has them.
        changes: ``key.path=value`` as given to ``--set``.

    Raises:
        ScenarioError: Every problem found.
    """
    try:
        documents = [parse_document(text, name=name) for name, text in texts]
    except InputError as error:
        raise ScenarioError(error.problems) from error
    merged = documents[-1]
    for document in reversed(documents[:-1]):
        merged = laid_over(merged, document)
    problems = _change(merged, changes)
    if problems:
        raise ScenarioError(problems)
    return validated(merged, Path(texts[0][0]), tuple(name for name, _ in texts[1:]))


def merge_text(text: str, path: Path) -> tuple[Document, tuple[str, ...]]:
    """Plain data of a scenario that an editor holds, merged with its bases but not validated.

    Raises:
        ScenarioError: The text is no YAML that is taken, or a base can't be read.
    """
    try:
        return _extended(parse_document(text, name=_shown(path)), path, ())
    except InputError as error:
        raise ScenarioError(error.problems) from error


def validated(document: Document, path: Path, bases: tuple[str, ...]) -> Loaded:
    """Validate merged plain data; cheap enough for every key that is pressed.

    Raises:
        ScenarioError: Every problem found, each with its place.
    """
    if not isinstance(document.data, dict):
        raise ScenarioError(
            Problem("a scenario is a mapping of keys", Place(document.path), remedy="see planner init")
        )
    try:
        scenario = Scenario.model_validate(document.data)
    except ValidationError as error:
        refused = ScenarioError(problems_of(error, document, Scenario))
        refused.readable = _readable(error, document, path, bases)
        raise refused from error
    return Loaded(scenario, document, path, bases)


def _readable(
    error: ValidationError, document: Document, path: Path, bases: tuple[str, ...]
) -> Loaded | None:
    """The scenario without its malformed fields; None where what is left is no scenario."""
    data = deepcopy(document.data)
    for detail in error.errors(include_url=False):
        here = data
        *way, last = detail["loc"] or ("",)
        for step in way:
            here = here[step] if _holds(here, step) else here
        if isinstance(here, dict) and last in here:
            del here[last]
    try:
        return Loaded(Scenario.model_validate(data), document, path, bases)
    except ValidationError:
        return None


def _holds(container: Any, step: Any) -> bool:
    """Whether plain data has something under a step of a location; pydantic adds names of union members."""
    if isinstance(container, dict):
        return step in container
    return isinstance(container, list) and isinstance(step, int) and step < len(container)


def _merged(path: Path, above: tuple[Path, ...]) -> tuple[Document, tuple[str, ...]]:
    return _extended(load_document(path, name=_shown(path)), path, above)


def _shown(path: Path) -> str:
    """A shipped file by its short name, any other as the user wrote it."""
    try:
        return f"templates/{path.relative_to(shipped('templates'))}"
    except ValueError:
        return str(path).encode("utf-8", "replace").decode()


def _extended(document: Document, path: Path, above: tuple[Path, ...]) -> tuple[Document, tuple[str, ...]]:
    base_name = document.data.get("extends") if isinstance(document.data, dict) else None
    if base_name is None:
        return document, ()
    place = document.place(("extends",))
    if not isinstance(base_name, str):
        raise ScenarioError(Problem("is the name of one scenario", place, "extends"))
    try:
        base_path = find_scenario(base_name, beside=path.parent)
    except ScenarioError as error:
        raise ScenarioError(
            Problem(problem.message, place, "extends", problem.remedy) for problem in error.problems
        ) from error
    chain = (*above, path.resolve())
    if base_path.resolve() in chain:
        names = " > ".join(one.name for one in (*chain, base_path))
        raise ScenarioError(
            Problem(f"goes in a circle: {names}", place, "extends", "extend another scenario")
        )
    if len(chain) > 8:
        raise ScenarioError(Problem("more than eight scenarios deep", place, "extends"))
    base, bases = _merged(base_path, chain)
    if not isinstance(base.data, dict):
        raise ScenarioError(
            Problem(f"'{base_name}' is no scenario: a mapping of keys is needed", place, "extends")
        )
    return laid_over(base, document), (_shown(base_path), *bases)


def _change(document: Document, changes: Iterable[str]) -> list[Problem]:
    """Put ``key=value`` changes into a document; what can't be put is returned as problems."""
    problems: list[Problem] = []
    for change in changes:
        place = Place(f"--set {change}")
        key, equals, text = change.partition("=")
        if not equals or not key.strip():
            problems.append(Problem("is not key=value", place, remedy="write --set site.pue=1.2"))
            continue
        try:
            value = parse_document(text, name=str(place)).data
            _put(document, key.strip(), value, place)
        except InputError as error:
            problems += error.problems
    return problems


def _put(document: Document, dotted: str, value: Any, place: Place) -> None:
    """Set one value; list items are named by id or by index from 0."""
    parts = dotted.replace("[", ".").replace("]", "").split(".")
    if parts[0] == "extends":
        raise ScenarioError(Problem("bases are read before changes", place, remedy="write extends in a file"))
    if parts[0] == "overrides" and len(parts) > 1:
        parts = ["overrides", dotted.partition(".")[2]]  # ledger keys hold dots of their own
    here: Any = document.data
    path: Path_ = ()
    for position, part in enumerate(parts):
        last = position == len(parts) - 1
        step: str | int = part
        if isinstance(here, list):
            found = [i for i, item in enumerate(here) if isinstance(item, dict) and item.get("id") == part]
            found = found or (
                [int(part)] if part.isascii() and part.isdigit() and int(part) < len(here) else []
            )
            if not found:
                ids = [str(item.get("id")) for item in here if isinstance(item, dict)]
                raise ScenarioError(
                    Problem(f"no item '{part}' in {'.'.join(parts[:position])}", place,
                            remedy=f"items: {', '.join(ids)}")
                )  # fmt: skip
            step = found[0]
        elif not isinstance(here, dict):
            raise ScenarioError(Problem(f"{'.'.join(parts[:position])} holds a value, not fields", place))
        path = (*path, step)
        if last:
            here[step] = value
            document.places = {k: v for k, v in document.places.items() if k[: len(path)] != path}
            for below, _ in [((), None), *_paths(value)]:
                document.places[(*path, *below)] = place
        else:
            if isinstance(here, dict) and not isinstance(here.get(part), (dict, list)):
                here[part] = {}
                document.places[path] = place
            here = here[step]


def _paths(value: Any) -> list[tuple[Path_, Any]]:
    from planner.documents import walk

    return list(walk(value))
