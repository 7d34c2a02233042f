"""Screen 3: the network as built, what goes into its cages, and remedies that were tried with what each costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message

from planner.documents import Path_
from planner.tui.drawing import section_lines
from planner.tui.lines import Line, Lines, LinesView, plain, wrapped
from planner.tui.panes import WIDEST, SectionPane
from planner.tui.state import State
from planner.tui.working import Desk, WorkPane

if TYPE_CHECKING:
    from planner.evaluate import Evaluation, Tried
    from planner.present.view.model import Section
    from planner.scenario.load import Loaded

SECTIONS = (("design", "network"), ("optics", "optics"), ("fixes", "fixes"))
OPTICS, FIXES = 1, 2
APPLY = "apply:"
"""Before the number of an offer in the key of its line."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Edits that make something of the plan, and what a person is told of them.

    Attributes:
        figures: What it would come to, name and value.
    """

    name: str
    edits: tuple[tuple[Path_, Any], ...]
    figures: tuple[tuple[str, str], ...] = ()
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Offered:
    """What was worked out for one plan: a lead, offers, and more to read."""

    source: object
    lead: str
    offers: tuple[Offer, ...]
    section: Section | None = None


class NetworkPane(SectionPane, WorkPane):
    """The network section, the optics decision and tried remedies, one at a time."""

    DEFAULT_CSS = "NetworkPane { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "section(0)", "design", id="network.design"),
        Binding("o", "section(1)", "optics", id="network.optics"),
        Binding("f", "section(2)", "fixes", id="network.fixes"),
        Binding("g", "again", "work out", id="network.go"),
    ]

    class Takes(Message):
        """Edits that were chosen."""

        def __init__(self, name: str, edits: tuple[tuple[Path_, Any], ...]) -> None:
            super().__init__()
            self.name, self.edits = name, edits

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(SECTIONS, id=id)
        self.found: dict[int, Offered] = {}
        self.asked = 0

    def compose(self) -> ComposeResult:
        """Names of the sections over one list."""
        yield Lines([Line()], id="network-names")
        yield LinesView(id="network-lines")

    def show(self, state: State) -> None:
        """Draw a state."""
        super().show(state)
        if self.display:
            self._ask()

    def action_section(self, number: int) -> None:
        """Another section; what it needs is worked out."""
        self.choose(number)
        self._ask()

    def action_again(self) -> None:
        """Work it out anew."""
        self.found.pop(self.at, None)
        self._ask()

    @property
    def source(self) -> Evaluation | None:
        """What offers are worked out from: the plan as evaluated, built or refused."""
        answer = self.state.answer
        return answer.evaluation if answer is not None and not self.state.awaiting else None

    def _ask(self) -> None:
        source = self.source
        held = self.found.get(self.at)
        if self.at not in (OPTICS, FIXES) or source is None or (held is not None and held.source is source):
            return
        if self.busy and self.asked == self.at:
            return
        self.asked = self.at
        said = "evaluating every way to join the switches …" if self.at == OPTICS else "trying remedies …"
        work = _optics if self.at == OPTICS else _remedies
        self.work(lambda desk: work(desk, source), said)

    def took(self, found: Any) -> None:
        """Keep what was worked out."""
        self.found[self.asked] = found

    def fill(self) -> None:
        """Draw the section in front."""
        if self.is_mounted and self.state.draft is not None:
            self._fill()

    def _lines(self, width: int, at: int) -> list[Line]:
        if at not in (OPTICS, FIXES):
            return super()._lines(width, at)
        lines = [plain(f" ✗ {one}", "bad") for text in self.wrong for one in wrapped(text, width - 2)]
        if self.busy and self.asked == at:
            lines.append(plain(f" {self.said}  esc cancels", "warn"))
        held = self.found.get(at)
        if held is None:
            return lines or [plain(" the plan has no values yet", "dim")]
        if held.source is not self.source:
            lines.append(plain(" ~ of the plan before the last edit; g works it out again", "warn"))
        return [*lines, *offered_lines(held, min(width, WIDEST))]

    @on(LinesView.Chosen, "#network-lines")
    def _offer_chosen(self, event: LinesView.Chosen) -> None:
        key = event.view.key
        if not key.startswith(APPLY):
            return
        event.stop()
        held, number = self.found.get(self.at), int(key.removeprefix(APPLY))
        if held is None or number >= len(
            held.offers
        ):  # enter came before the list of another section was drawn
            return
        one = held.offers[number]
        if one.why_not or not one.edits:
            self.wrong = (one.why_not or f"{one.name}: the plan is that already",)
            self.fill()
        else:
            self.post_message(self.Takes(one.name, one.edits))

    @on(LinesView.Moved)
    def _moved(self, event: LinesView.Moved) -> None:
        event.stop()


def offered_lines(found: Offered, width: int) -> list[Line]:
    """Lead, each offer with what it comes to, then the tables behind them."""
    lines = [plain(f" {one}") for one in wrapped(found.lead, width - 2)] if found.lead else []
    for number, one in enumerate(found.offers):
        lines.append(Line())
        head = wrapped(f"{number + 1} {one.name}", width - 4, "   ")
        lines.append(
            plain(f" {head[0]}", "dim" if one.why_not else "accent", key=f"{APPLY}{number}", stop=True)
        )
        lines += [plain(f" {text}") for text in head[1:]]
        said = one.why_not or " · ".join(f"{name} {value}" for name, value in one.figures)
        lines += [
            plain(f"    {text}", "warn" if one.why_not else "plain") for text in wrapped(said, width - 5)
        ]
    if found.offers:
        lines += [Line(), plain(" enter applies the one under the cursor; u undoes", "dim")]
    if found.section is not None:
        lines += [Line(), *section_lines(found.section, width)]
    return lines


def _optics(desk: Desk, source: Evaluation) -> Offered:
    """The optics decision, as ``planner optics`` makes it, with an offer for every variant.

    Raises:
        DesignError: The plan has no switches, or no variant can be built.
    """
    from planner.present.view.optics import lead, optics_section
    from planner.scenario.alternatives import beside
    from planner.study.optics import compare_optics

    desk.go_on()
    found = compare_optics(source.loaded, beside(source.parts.catalog))
    offers = []
    for one in found.variants:
        figures = () if one.evaluation is None else _figures(one.ledger, OPTICS_KEYS)
        road = f"not orderable: {'; '.join(one.plan.roadmap)}" if one.plan.roadmap else ""
        edits = _differing(source.loaded, one.plan.changes)
        same = one.evaluation is not None and not edits
        mark = " (costs least)" if one is found.best else " (as planned)" if same else ""
        offers.append(Offer(f"{one.approach.value}{mark}", edits, figures, one.why_not or road))
    return Offered(source, lead(found), tuple(offers), replace(optics_section(found), lead=""))


OPTICS_KEYS = (
    ("purchase", "capex.total_usd", "USD"), ("modules", "optics.modules_w", "W"), ("switches", "optics.switches_w", "W"),
    ("failures a year", "optics.failures_per_year", "1"), ("lead time", "optics.lead_time_weeks", "weeks"),
    ("NPV with lost work", "optics.npv_with_lost_work_usd", "USD"),
)  # fmt: skip


def _figures(ledger: Any, keys: tuple[tuple[str, str, str], ...]) -> tuple[tuple[str, str], ...]:
    from planner.present import format as fmt

    return tuple((name, fmt.quantity(ledger.scalar(key), unit)) for name, key, unit in keys if key in ledger)


def _differing(loaded: Loaded, changes: Mapping[str, object]) -> tuple[tuple[Path_, Any], ...]:
    """Changes that the scenario doesn't say already, by path."""
    found = []
    for name, value in changes.items():
        path: Path_ = tuple(name.split("."))
        here: Any = loaded.scenario
        for step in path:
            here = getattr(here, str(step), None)
        if here != value:
            found.append((path, value))
    return tuple(found)


def _remedies(desk: Desk, source: Evaluation) -> Offered:
    """Remedies of what can't be built or misses a limit, each tried on a copy of the plan."""
    from planner.present.view.remedies import tried_table
    from planner.study.remedies import problems_of, with_remedies

    problems = problems_of(source)
    if not problems:
        return Offered(source, "Everything fits, and every limit the scenario states is met.", ())
    desk.go_on("trying up to a dozen changes of the plan …")
    found = with_remedies(source)
    table = tried_table(found)
    rows = table.rows if table is not None else ()
    offers = tuple(_offer(one, row, table) for one, row in zip(found.tried, rows, strict=True))
    said = "; ".join(problem.message for problem in problems)
    lead = f"In the way: {said}." + ("" if offers else " No remedy that was tried cures it.")
    return Offered(source, lead, offers)


def _offer(tried: Tried, row: Any, table: Any) -> Offer:
    """A tried remedy with every figure that its table has."""
    names = [column.name for column in table.columns[2:]]
    figures = tuple(
        (f"{name.lower()}:", cell.text) for name, cell in zip(names, row[2:], strict=True) if cell.text != "–"
    )
    return Offer(row[1].text, tried.remedy.edits, figures)


__all__ = ["NetworkPane", "Offer", "Offered", "offered_lines"]
