"""Screen 5, first half: the plan search, its front of time against cost, and any point taken into the plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message

from planner.documents import Path_
from planner.performance.search import Goal
from planner.present import format as fmt
from planner.present.view.search import KEY, PlanSpot, ordered, search_lead, search_table, spots
from planner.scenario.load import load_text
from planner.scenario.workload import WorkloadKind
from planner.study.plan_search import FoundPlans, PlanPoint, find_plans, points
from planner.study.scenario_plan import scenario_plan
from planner.tui.draft import Draft, preview
from planner.tui.drawing import table_lines
from planner.tui.lines import Line, Lines, LinesView, plain, wrapped
from planner.tui.plot import Dot, Ticks, scatter
from planner.tui.screens import shell
from planner.tui.state import State
from planner.tui.working import Desk, WorkPane

TOP = 20
"""Plans kept by each goal; with the front they are what a person looks through."""
PLOT_ROWS, WIDE = 9, 140
HERE = "◆"
"""The plan under the cursor, in the plot."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search found, and the text of the plan it was made for."""

    found: FoundPlans
    points: tuple[PlanPoint, ...]
    text: str


class SearchPane(WorkPane):
    """Runs the plan search and shows what it found."""

    DEFAULT_CSS = """
    SearchPane { height: 1fr; }
    SearchPane #search-head { height: auto; }
    SearchPane #search-body { height: 1fr; layout: vertical; }
    SearchPane #search-plot { height: 9; display: none; }
    SearchPane #search-list { height: 1fr; }
    SearchPane.found #search-plot { display: block; }
    SearchPane.wide #search-body { layout: horizontal; }
    SearchPane.wide #search-list { width: 3fr; }
    SearchPane.wide #search-plot { width: 2fr; height: 1fr; border-left: solid $foreground 20%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("g", "go", "search", id="search.go"),
        Binding("o", "order", "order", id="search.order"),
        Binding("z", "zero_bubble", "zero bubble", id="search.zero_bubble"),
        Binding("left", "workload(-1)", "workload", show=False, id="search.previous"),
        Binding("right", "workload(1)", "workload", show=False, id="search.next"),
    ]

    class Takes(Message):
        """A plan found is to be written into the scenario."""

        def __init__(self, path: Path_, plan: dict[str, object]) -> None:
            super().__init__()
            self.path, self.plan = path, plan

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.state = State()
        self.goal = Goal.TIME
        self.zero_bubble = False
        self.at = 0
        self.searched: Searched | None = None
        self.shown: list[PlanPoint] = []

    def compose(self) -> ComposeResult:
        """Settings and sentence, plot, list."""
        yield Lines([Line()], id="search-head")
        with Horizontal(id="search-body"):
            yield LinesView(id="search-list")
            yield Lines([Line()], id="search-plot")

    @property
    def view(self) -> LinesView:
        """The list of plans."""
        return self.query_one("#search-list", LinesView)

    def show(self, state: State) -> None:
        """Draw a state; what was found for another plan is marked as such."""
        self.state = state
        if self.display:
            self.fill()

    def on_resize(self, event: events.Resize) -> None:
        """The plot stands beside the list where there is room."""
        self.set_class(event.size.width >= WIDE, "wide")
        self.call_after_refresh(self.fill)

    @property
    def workloads(self) -> list[tuple[int, str]]:
        """Training workloads of the plan, by place and id."""
        draft = self.state.draft
        if draft is None or draft.loaded is None:
            return []
        return [
            (place, one.id)
            for place, one in enumerate(draft.loaded.scenario.workloads)
            if one.kind is WorkloadKind.TRAINING
        ]

    # What it does

    def action_go(self) -> None:
        """Search every legal plan of the workload in front."""
        draft = self.state.draft
        if draft is None or draft.loaded is None or not self.workloads:
            self.app.bell()
            return
        place, _ = self.workloads[self.at % len(self.workloads)]
        self.work(lambda desk: self._search(desk, draft, place), "drawing the cluster …")

    def _search(self, desk: Desk, draft: Draft, place: int) -> Searched:
        assert draft.loaded is not None
        open_to_all = preview(draft, ("workloads", place, "plan"), "auto").loaded or draft.loaded
        desk.go_on()

        def progress(total: int) -> Any:
            def told(done: int, _: int) -> None:
                desk.go_on(f"{done:,} of {total:,} plans")

            return told

        found = find_plans(
            load_text(draft.text, draft.path), open_to_all, shell(self.app).catalog(), index=place, goal=self.goal,
            top=TOP, zero_bubble=self.zero_bubble, progress=progress,
        )  # fmt: skip
        return Searched(found, points(found), draft.text)

    def took(self, found: Any) -> None:
        """Keep what a search found."""
        self.searched = found
        self.view.cursor = 0

    def action_order(self) -> None:
        """Order by time, cost or energy."""
        goals = list(Goal)
        self.goal = goals[(goals.index(self.goal) + 1) % len(goals)]
        self.view.cursor = 0
        self.fill()

    def action_zero_bubble(self) -> None:
        """Try the zero-bubble schedule too, or not."""
        self.zero_bubble = not self.zero_bubble
        self.fill()

    def action_workload(self, step: int) -> None:
        """Another training workload."""
        self.at += step
        self.fill()

    @on(LinesView.Chosen, "#search-list")
    def _chosen(self, event: LinesView.Chosen) -> None:
        event.stop()
        if self.view.key == "go":
            self.action_go()
        elif self.view.key.startswith(KEY) and self.searched is not None:
            one = self.shown[int(self.view.key.removeprefix(KEY))]
            path = ("workloads", self.searched.found.index, "plan")
            self.post_message(self.Takes(path, scenario_plan(one.ranked.plan)))

    @on(LinesView.Moved, "#search-list")
    def _moved(self, event: LinesView.Moved) -> None:
        event.stop()
        self._plot()

    # What it shows

    def fill(self) -> None:
        """Draw settings, list and plot."""
        if not self.is_mounted:
            return
        self.query_one("#search-head", Lines).show(self._head())
        self.query_one("#search-head", Lines).refresh(layout=True)
        self.set_class(self.searched is not None and bool(self.searched.points), "found")
        self.view.show(self._lines())
        self._plot()

    @property
    def width(self) -> int:
        """Cells of a line of the list."""
        whole = self.size.width or self.app.size.width
        return max(20, (whole * 3 // 5 if self.has_class("wide") else whole) - 2)

    def _head(self) -> list[Line]:
        names = self.workloads
        stale = "~ " if self.searched is not None and not self._current else ""
        zero = "with" if self.zero_bubble else "without"
        told = " no training workload"
        if names:
            name = names[self.at % len(names)][1]
            told = f" {stale}workload {name}   by {self.goal.value}   {zero} zero bubble"
        if self.busy:
            return [plain(f"{told}   {self.said}  esc cancels", "warn")]
        room = (self.size.width or self.app.size.width) - 4
        wrong = [plain(f" ✗ {one}", "bad") for text in self.wrong for one in wrapped(text, room)]
        lines = [plain(told, "head"), *wrong]
        if self.searched is not None:
            said = search_lead(self.searched.found, self.searched.points)
            lines += [plain(f" {one}") for one in wrapped(said, (self.size.width or self.app.size.width) - 2)]
            if not self._current:
                lines.append(
                    plain(" ~ found for the plan as it was before the last edits; g searches again", "warn")
                )
        return lines

    @property
    def _current(self) -> bool:
        draft = self.state.draft
        return self.searched is not None and draft is not None and self.searched.text == draft.text

    def _lines(self) -> list[Line]:
        lines: list[Line] = []
        if self.searched is None:
            told = "  g or enter: search every legal plan of this workload on this cluster"
            if not self.workloads:
                return [*lines, plain("  only training workloads have plans to search", "dim")]
            return [*lines, plain(told, key="go", stop=True)]
        self.shown = ordered(self.searched.points, self.goal)
        if not self.shown:
            return lines
        return [*lines, *table_lines(search_table(self.shown, self.goal), self.width, caption=False)]

    def _plot(self) -> None:
        plot = self.query_one("#search-plot", Lines)
        if self.searched is None or not self.shown:
            plot.show([Line()])
            return
        wide = self.has_class("wide")
        whole = self.size.width or self.app.size.width
        width = whole * 2 // 5 - 3 if wide else whole - 2
        height = min(24, self.size.height - 4) if wide else PLOT_ROWS
        here = int(self.view.key.removeprefix(KEY)) if self.view.key.startswith(KEY) else -1
        plot.show(_plotted(spots(self.shown), here, width, height))


def _plotted(found: list[PlanSpot], here: int, width: int, height: int) -> list[Line]:
    """Time against cost: the front over the rest, the plan under the cursor over all."""
    ranks = {"·": 0, "●": 1, "*": 2}
    dots = [Dot(one.days, one.million_usd, one.mark, ranks[one.mark]) for one in found]
    if 0 <= here < len(dots):
        dots[here] = replace(dots[here], glyph=HERE, rank=3)
    days, usd = [one.days for one in found], [one.million_usd for one in found]
    x = Ticks(
        fmt.significant(min(days)), fmt.significant(max(days)), f"days   ● on the front, * own, {HERE} chosen"
    )
    y = Ticks(fmt.significant(min(usd)), fmt.significant(max(usd)), "M USD of the run")
    return scatter(dots, x, y, width, height)
