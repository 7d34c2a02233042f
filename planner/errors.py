"""What can go wrong with a user's input, said with place and remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

INTERNAL: Final = 70
"""Exit code of a fault of ours: never one that means a result."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where in a file a problem stands; line and column count from 1, 0 means the whole file."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        parts = [self.path]
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts)


@dataclass(frozen=True, slots=True)
class Remedy:
    """What would put a problem right, and the edit of the scenario that does it.

    Attributes:
        words: For people.
        path: Field to write, such as ``("site", "cooling")``; empty where no edit of the scenario does it.
        value: What to write there; None for the planner's own choice.
        more: Further fields, with their values, that have to change with it.
    """

    words: str
    path: tuple[str | int, ...] = ()
    value: Any = None
    more: tuple[tuple[tuple[str | int, ...], Any], ...] = ()

    @property
    def edits(self) -> tuple[tuple[tuple[str | int, ...], Any], ...]:
        """Every field to write, with its value; empty where no edit does it."""
        return ((self.path, self.value), *self.more) if self.path else ()


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, what, and what would put it right.

    Attributes:
        remedy: Remedies in words, with semicolons between them; of `remedies` where it isn't given.
        remedies: The same one by one, with the edits that do them, where they are known.

    >>> problem = Problem("liquid is needed", remedies=(Remedy("cooling immersion", ("site", "cooling"), "immersion"),))
    >>> problem.remedy, problem.offered[0].edits
    ('cooling immersion', ((('site', 'cooling'), 'immersion'),))
    >>> [one.words for one in Problem("too large", remedy="more planes; fewer GPUs").offered]
    ['more planes', 'fewer GPUs']
    """

    message: str
    place: Place | None = None
    key: str = ""
    remedy: str = ""
    remedies: tuple[Remedy, ...] = ()

    def __post_init__(self) -> None:
        if self.remedies and not self.remedy:
            object.__setattr__(self, "remedy", "; ".join(one.words for one in self.remedies))

    @property
    def offered(self) -> tuple[Remedy, ...]:
        """Remedies one by one; without an edit where only their words are known."""
        parts = (part.strip() for part in self.remedy.split(";"))
        return self.remedies or tuple(Remedy(part) for part in parts if part)

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        what = f"{self.key}: {self.message}" if self.key else self.message
        return where + what + (f" ({self.remedy})" if self.remedy else "")


class PlannerError(Exception):
    """Base of everything the planner says about a user's files or wishes.

    Carries every problem found, not the first one.
    """

    def __init__(self, problems: Problem | str | Iterable[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem(problems)
        if isinstance(problems, Problem):
            problems = (problems,)
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type, tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


class InputError(PlannerError):
    """A file is wrong.

    Attributes:
        read: The file's data (`planner.documents.Document`) where all of it could be read in spite of the problems:
            what else is wrong with it may be said at once.
    """

    read: object = None


class CatalogError(InputError):
    """A catalog item is wrong or missing."""


class ScenarioError(InputError):
    """A scenario asks for something that is malformed.

    Attributes:
        readable: The scenario without the malformed fields, where that can be read: what it names
            may be looked up, so that those problems are said at once too.
    """

    readable: object = None


class DesignError(PlannerError):
    """The files are right and the cluster can't be built."""


class CalibrationError(PlannerError):
    """A measurement can't be fitted."""


def nearest(word: str, known: Iterable[str], *, count: int = 3) -> str:
    """Names closest to a mistyped one, as a remedy; empty when nothing is close.

    >>> nearest("osfp-800-2xdr4", ["osfp-800g-2xdr4", "qm9790"])
    'nearest: osfp-800g-2xdr4'
    """
    found: Sequence[str] = get_close_matches(word, list(known), n=count, cutoff=0.5)
    return f"nearest: {', '.join(found)}" if found else ""
