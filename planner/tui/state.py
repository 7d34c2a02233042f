"""The state of the program: one frozen value; everything on the screen is drawn from it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from planner.documents import Path_
from planner.errors import Problem
from planner.present.view.changes import Change, changes
from planner.present.view.model import Headline, Remedy, View
from planner.tui.draft import Draft
from planner.tui.evaluating import Answer
from planner.tui.timeline import Timeline

if TYPE_CHECKING:
    from planner.evaluate import Evaluation


class Stand(StrEnum):
    """How the values on the screen stand to the plan."""

    EMPTY = "empty"
    LOADING = "loading"
    CURRENT = "current"
    STALE = "stale"
    INVALID = "invalid"
    REFUSED = "refused"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Pin:
    """What changes are counted against.

    Attributes:
        chosen: Whether somebody pinned it; else it is the state the plan was opened in.
        evaluation: What its sections can be made from; let go of once they are.
        view: All its sections, once a screen asked for them.
    """

    text: str
    headlines: tuple[Headline, ...]
    name: str
    chosen: bool = False
    evaluation: Evaluation | None = None
    view: View | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Everything that is shown.

    Attributes:
        draft: The plan; None before one is opened.
        previewed: The plan with the value that is being typed; None while nothing is.
        asked: Number of the last question.
        last: The last answer that had values.
        answer: The last answer of all.
        late: Whether an answer has been awaited for longer than people notice.
        said: A message for the sentence row; goes away with the next change.
        settled: Cells of the plan as last kept, against which the next edit is counted.
        focus: Field that was edited last; a rule over several fields is shown there.
        ranges: Whether the bar's third row shows P10 to P90 in place of changes.
        fault_file: Where our own fault was written.
        guided: Whether the list of what to try next is shown.
        exported: Whether a report of this plan was written since it was opened.
        applying: Whether the next digit applies a remedy.
    """

    draft: Draft | None = None
    previewed: Draft | None = None
    timeline: Timeline = field(default_factory=lambda: Timeline(""))
    asked: int = 0
    last: Answer | None = None
    answer: Answer | None = None
    late: bool = False
    waited: float = 0.0
    pin: Pin | None = None
    said: str = ""
    settled: tuple[Headline, ...] = ()
    focus: Path_ = ()
    ranges: bool = False
    fault_file: str = ""
    guided: bool = False
    exported: bool = False
    applying: bool = False

    @property
    def shown(self) -> Draft | None:
        """The plan as on the screen, with what is being typed."""
        return self.previewed or self.draft

    @property
    def awaiting(self) -> bool:
        """Whether a question is out."""
        return self.answer is None or self.answer.question.number != self.asked

    @property
    def stand(self) -> Stand:
        """How the values stand to the plan."""
        draft = self.shown
        if draft is None:
            return Stand.EMPTY
        if draft.loaded is None:
            return Stand.INVALID
        if self.awaiting:
            if self.last is None:
                return Stand.LOADING
            return Stand.STALE if self.late else Stand.CURRENT
        assert self.answer is not None
        if self.answer.fault:
            return Stand.FAULT
        if self.answer.problems:
            return Stand.INVALID
        return Stand.REFUSED if self.answer.refusal else Stand.CURRENT

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the input: by the schema, or by the catalog."""
        draft = self.shown
        if draft is None:
            return ()
        found = draft.problems
        if not found and not self.awaiting and self.answer is not None:
            found = self.answer.problems
        at = ".".join(str(step) for step in self.focus)
        return tuple(one if one.key else replace(one, key=at) for one in found)

    @property
    def refusal(self) -> tuple[Remedy, ...]:
        """Why the plan can't be built."""
        return () if self.awaiting or self.answer is None else self.answer.refusal

    @property
    def headlines(self) -> tuple[Headline, ...]:
        """Cells of the bar: of the last answer that had values."""
        return self.last.headlines if self.last is not None else ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """Change of each cell against the pin."""
        return changes(self.pin.headlines, self.headlines) if self.pin is not None and self.last else ()

    @property
    def marked(self) -> frozenset[Path_]:
        """Fields with problems."""
        return frozenset(tuple(_steps(one.key)) for one in self.problems)


def _steps(key: str) -> list[str | int]:
    return [int(part) if part.isdigit() else part for part in key.split(".") if part]


def _seen(pin: Pin | None, answer: Answer) -> Pin | None:
    """The pin with its sections, where the answer brought them."""
    if pin is None or answer.pinned is None or answer.question.pinned is not pin.evaluation:
        return pin
    return replace(pin, view=answer.pinned, evaluation=None)


def taken(state: State, answer: Answer) -> State:
    """The state with an answer; one whose question is no longer the last is dropped."""
    if answer.question.number != state.asked:
        return state
    found = replace(state, answer=answer, late=False, waited=0.0)
    if not answer.good:
        return found
    pin = _seen(state.pin, answer) or Pin(
        state.timeline.first, answer.headlines, "opened state", evaluation=answer.evaluation, view=answer.view
    )
    if answer.question.preview:
        return replace(found, last=answer, pin=pin)
    judged = state.timeline.judged(changes(state.settled, answer.headlines))
    return replace(found, last=answer, pin=pin, timeline=judged, settled=answer.headlines)
