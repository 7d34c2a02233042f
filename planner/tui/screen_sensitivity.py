"""Screen 5, second half: what moves a result, and what would change the decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message

from planner.evaluate import Evaluation
from planner.present.view.flips import flips_table
from planner.present.view.model import Table
from planner.present.view.outcomes import OUTCOMES
from planner.present.view.reading import Reading
from planner.present.view.risk_parts import risk_figures, risk_lead, risk_tables
from planner.study.flips import LimitFlips, limit_flips
from planner.study.risk import KEY, Effort, with_risk, with_swings
from planner.tui.drawing import figure_lines, table_lines
from planner.tui.lines import Line, LinesView, plain, wrapped
from planner.tui.listed import ListPane
from planner.tui.state import State
from planner.tui.working import Desk

KEYS = (
    KEY,
    *(one.key for one in OUTCOMES),
    "outcome.ttft_p99_s",
    "unit.usd_per_training_run",
    "opex.year1_usd",
)
"""Results that can be taken apart, cost of ownership first."""
WIDEST = 130


@dataclass(frozen=True, slots=True)
class Swung:
    """What was found for one result of one plan."""

    evaluation: Evaluation
    flips: tuple[LimitFlips, ...]
    key: str
    source: Evaluation


class SensitivityPane(ListPane):
    """Draws the tornado of one result and what would turn the plan's limits."""

    NAME: ClassVar[str] = "sensitivity"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "result(-1)", "result", show=False, id="sensitivity.previous"),
        Binding("right", "result(1)", "result", show=False, id="sensitivity.next"),
        Binding("g", "full", "all draws", id="sensitivity.full"),
    ]

    class Explains(Message):
        """The derivation of a line is wanted."""

        def __init__(self, evaluation: Evaluation, key: str) -> None:
            super().__init__()
            self.evaluation, self.key = evaluation, key

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.result = KEY
        self.swung: Swung | None = None
        self.asked: tuple[Evaluation, str] | None = None

    def show(self, state: State) -> None:
        """Draw a state; a plan that hasn't been taken apart is."""
        self.state = state
        if self.display and self.is_mounted:
            self._ask()
            self.fill()

    @property
    def plan(self) -> Evaluation | None:
        """The last evaluation that has values."""
        last = self.state.last
        return last.evaluation if last is not None else None

    @property
    def results(self) -> list[str]:
        """Results that this plan has."""
        return [key for key in KEYS if self.plan is not None and key in self.plan.ledger]

    def _ask(self) -> None:
        plan = self.plan
        if plan is None or self.state.awaiting or not plan.feasible:
            return
        if self.result not in plan.ledger:
            self.result = KEY
        key = self.result
        if self.asked is not None and self.asked[0] is plan and self.asked[1] == key:
            return
        self.asked = (plan, key)
        self.work(lambda desk: _swung(desk, plan, key), "moving every input to its P10 and P90 …")

    def took(self, found: Any) -> None:
        """Keep what was found."""
        self.swung = found

    def action_result(self, step: int) -> None:
        """Take another result apart."""
        keys = self.results
        if keys:
            at = keys.index(self.result) if self.result in keys else 0
            self.result = keys[(at + step) % len(keys)]
            self.view.cursor = 0
            self._ask()
            self.fill()

    def action_full(self) -> None:
        """Draw ten thousand times: shares of the variance, odds of the limits, what each answer would narrow."""
        plan, key = self.plan, self.result
        if plan is None or not plan.feasible or self.state.awaiting:
            self.app.bell()
            return
        self.asked = (plan, key)
        self.work(lambda desk: _drawn(desk, plan, key), "drawing …")

    @on(LinesView.Chosen, "#sensitivity-list")
    def _chosen(self, event: LinesView.Chosen) -> None:
        event.stop()
        if self.swung is not None and self.view.key in self.swung.evaluation.ledger:
            self.post_message(self.Explains(self.swung.evaluation, self.view.key))

    def fill(self) -> None:
        """Draw the head and what was found."""
        if not self.is_mounted:
            return
        width = min(WIDEST, (self.size.width or self.app.size.width) - 1)
        stale = "~ " if self.swung is not None and self.swung.source is not self.plan else ""
        plan = self.plan
        name = (
            plan.ledger[self.result].label
            if plan is not None and self.result in plan.ledger
            else "no result yet"
        )
        told = f" ← {stale}{name} →"
        if self.busy:
            self.head([plain(f"{told}   {self.said}  esc cancels", "warn")])
        else:
            self.head([plain(f"{told}   g draws 10,000 times", "head")])
        lines = [plain(f" ✗ {one}", "bad") for text in self.wrong for one in wrapped(text, width - 2)]
        if self.swung is not None:
            lines += swung_lines(self.swung, width)
        elif not self.busy:
            lines.append(plain(" nothing to take apart: the plan has no values", "dim"))
        self.view.show(lines)


def _swung(desk: Desk, plan: Evaluation, key: str) -> Swung:
    """The quick half: one call for the bars, one for each limit."""
    found = with_swings(plan, key)
    desk.go_on("looking for what turns a limit …")
    return Swung(found, limit_flips(plan), key, plan)


def _drawn(desk: Desk, plan: Evaluation, key: str) -> Swung:
    """The whole: what ``planner risk`` prints."""
    found = with_risk(plan, key, effort=Effort(), say=desk.go_on)
    desk.go_on("looking for what turns a limit …")
    return Swung(found, limit_flips(plan), key, plan)


def swung_lines(found: Swung, width: int) -> list[Line]:
    """Sentence, tornado, what would change the decision, and what to do next."""
    evaluation = found.evaluation
    assert evaluation.built is not None and evaluation.risk is not None
    reading = Reading(evaluation, evaluation.built)
    lines = [plain(f" {one}") for one in wrapped(risk_lead(reading, evaluation.risk), width - 2)]
    lines += [Line(), *_flipping(flips_table(evaluation, found.flips), width)]
    for figure in risk_figures(reading, evaluation.risk):
        lines += [Line(), *figure_lines(figure, width)]
    for table in risk_tables(reading, evaluation.risk):
        lines += [Line(), *table_lines(table, width)]
    return lines


def _flipping(table: Table, width: int) -> list[Line]:
    """Sentences: a table would cut what has to be read whole."""
    lines = [plain(f" {table.caption}", "head")]
    for limit, stands, value, said in table.rows:
        text = f"{limit.text} is {stands.text} ({value.text}): {said.text}"
        rows = wrapped(text, width - 3, "  ")
        lines += [plain(f"  {row}", key=said.key or limit.key, stop=at == 0) for at, row in enumerate(rows)]
    if not table.rows:
        lines.append(plain("  the scenario states no limits", "dim"))
    return lines
