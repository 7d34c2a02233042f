"""One evaluation for the screen: a question with its number in, an answer with the same number out."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from planner.documents import Path_
from planner.errors import PlannerError, Problem
from planner.scenario.load import Loaded
from planner.tui.used import Used

if TYPE_CHECKING:
    from planner.catalog.store import Catalog
    from planner.evaluate import Evaluation
    from planner.present.view.model import Headline, Remedy, View

Evaluate = Callable[[Loaded, "Catalog"], "Evaluation"]


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be evaluated; a later question makes an earlier one's answer worthless.

    Attributes:
        whole: Whether a screen wants every section, and not just the headline cells.
        pinned: What changes are counted against, where its sections are wanted too.
    """

    number: int
    loaded: Loaded
    whole: bool = False
    text: str = ""
    preview: bool = False
    pinned: Evaluation | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question.

    Attributes:
        headlines: The nine cells; of a plan that can't be built, without values.
        view: All sections, where they were asked for; of what is pinned in `pinned`.
        refusal: Why it can't be built.
        problems: What is wrong with the input that only the catalog could tell.
        fault: Our own mistake, as a traceback.
        used: What was taken for fields that the plan leaves open.
        evidence: Share of the purchase by the letter of its price, strongest first; not while a value is typed.
        evidence_said: The same in a sentence.
    """

    question: Question
    headlines: tuple[Headline, ...] = ()
    verdict: str = ""
    meets: bool = False
    evaluation: Evaluation | None = None
    view: View | None = None
    pinned: View | None = None
    refusal: tuple[Remedy, ...] = ()
    problems: tuple[Problem, ...] = ()
    fault: str = ""
    seconds: float = 0.0
    used: Mapping[Path_, Used] = field(default_factory=dict)
    evidence: tuple[tuple[str, float], ...] = ()
    evidence_said: str = ""

    @property
    def good(self) -> bool:
        """Whether it has values."""
        return self.evaluation is not None and self.evaluation.feasible and not self.fault


ONE_AT_A_TIME = threading.Lock()


def answer(
    question: Question,
    catalog: Callable[[], Catalog],
    *,
    evaluate: Evaluate | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Answer | None:
    """Evaluate; None where the question was withdrawn before or in between.

    Our own faults come back as a traceback: the editor has to go on. Questions wait for each other,
    so that one withdrawn while waiting costs nothing.
    """
    with ONE_AT_A_TIME:
        if cancelled():
            return None
        started = time.perf_counter()
        try:
            found = _answered(question, catalog, evaluate, cancelled)
        except PlannerError as error:
            found = Answer(question, problems=error.problems)
        except Exception:  # whatever it is, the user's edits must outlive it
            found = Answer(question, fault=traceback.format_exc())
        if found is None or cancelled():
            return None
        return replace(found, seconds=time.perf_counter() - started)


def refined(found: Answer, *, cancelled: Callable[[], bool] = lambda: False) -> Answer | None:
    """The same answer with P10, P90 and odds; None where it has no values or was withdrawn."""
    from planner.study.bands import with_ranges

    if not found.good or found.evaluation is None:
        return None
    with ONE_AT_A_TIME:
        if cancelled():
            return None
        try:
            again = replace(found.question, pinned=None)  # its sections came with the first answer
            told = _told(again, with_ranges(found.evaluation))
            return replace(told, seconds=found.seconds)
        except Exception:  # as above
            return Answer(found.question, fault=traceback.format_exc())


def _answered(
    question: Question,
    catalog: Callable[[], Catalog],
    evaluate: Evaluate | None,
    cancelled: Callable[[], bool],
) -> Answer | None:
    from planner.evaluate import evaluate as real

    evaluation = (evaluate or real)(question.loaded, catalog())
    return None if cancelled() else _told(question, evaluation)


def _told(question: Question, evaluation: Evaluation) -> Answer:
    from planner.present.view.build import view
    from planner.present.view.evidence import capex_shares, evidence_line
    from planner.present.view.outcomes import headlines, refusals, verdict
    from planner.present.view.reading import Reading
    from planner.tui.used import used_values

    cells = headlines(evaluation)
    said, meets = verdict(evaluation, cells)
    whole = view(evaluation) if question.whole else None
    pinned = view(question.pinned) if question.pinned is not None else None
    used = used_values(evaluation) if evaluation.feasible else {}
    found = Answer(question, cells, said, meets, evaluation, whole, pinned, refusals(evaluation), used=used)
    if question.preview or not evaluation.feasible or evaluation.built is None:
        return found
    reading = Reading(evaluation, evaluation.built)
    return replace(found, evidence=capex_shares(reading), evidence_said=evidence_line(reading))
