"""Screens that are made when they are first brought to the front, so that the first frame waits for none of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, cast

from textual.app import App
from textual.containers import Container

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp
    from planner.tui.state import State


HERE: Final = "here"
"""Name of the open plan as it stands, where plans are chosen to be compared."""


class Pane(Protocol):
    """What the program asks of a screen."""

    def show(self, state: State) -> None:
        """Draw a state."""

    def text(self) -> str:
        """What is shown, as plain text for the clipboard."""

    def front(self) -> None:
        """Take the focus."""


@dataclass(frozen=True, slots=True)
class Extra:
    """One screen: its digit, id, name, and how it is made.

    Attributes:
        help: One line for the help screen.
    """

    digit: str
    pane: str
    title: str
    help: str
    make: Callable[[], Container]


def shell(app: App[object]) -> PlannerApp:
    """The program a screen belongs to."""
    return cast("PlannerApp", app)


class Deferred(Container):
    """Stands for a screen until it is first in front."""

    DEFAULT_CSS = "Deferred { height: 1fr; }"

    def __init__(self, extra: Extra) -> None:
        super().__init__(id=extra.pane)
        self.extra = extra
        self.inner: Container | None = None

    @property
    def pane(self) -> Pane | None:
        """The screen, once it is made."""
        return cast("Pane | None", self.inner)

    def show(self, state: State) -> None:
        """Draw a state; the screen is made where it wasn't yet."""
        if self.inner is None:
            self.inner = self.extra.make()
            self.mount(self.inner)
            self.call_after_refresh(self._first, state)
        elif self.pane is not None and self.inner.is_mounted:
            self.pane.show(state)

    def _first(self, state: State) -> None:
        if self.pane is not None:
            self.pane.show(state)
            self.pane.front()

    def front(self) -> None:
        """Give the screen the focus."""
        if self.pane is not None and self.inner is not None and self.inner.is_mounted:
            self.pane.front()

    def text(self) -> str:
        """What is shown."""
        return self.pane.text() if self.pane is not None else ""

    @property
    def foot(self) -> str:
        """Name of the keys at the foot: of the section in front, where the screen has several."""
        return str(getattr(self.inner, "foot", self.id))


def _compare() -> Container:
    from planner.tui.screen_compare import ComparePane

    return ComparePane(id="compare-pane")


def _study() -> Container:
    from planner.tui.screen_study import StudyPane

    return StudyPane(id="study-pane")


def _calibration() -> Container:
    from planner.tui.screen_calibration import CalibrationPane

    return CalibrationPane(id="calibration-pane")


EXTRA: Final = (
    Extra(
        "4", "compare", "Compare",
        "two to four plans side by side, differences first, and what would turn the choice over", _compare,
    ),
    Extra(
        "5", "study", "Study",
        "the plan search with its front of time and cost; what moves a result and would change a decision", _study,
    ),
    Extra(
        "7", "calibration", "Calibration",
        "measured points against the curves a plan uses, their errors and age; a log fitted into a profile", _calibration,
    ),
)  # fmt: skip

DEFERRED: Final = frozenset(one.pane for one in EXTRA)
"""Ids of these screens."""


def tab_names(screens: Sequence[tuple[str, str, str]], front: str, width: int) -> list[tuple[str, bool]]:
    """Names of the screens as tabs, and which is in front; the last ones are only digits where there is no room.

    >>> [name for name, _ in tab_names((("1", "a", "Plan"), ("2", "b", "Network"), ("3", "c", "Study")), "a", 22)]
    ['[1 Plan]', '  2 Network', '  3']
    """
    bare: set[str] = set()
    while True:
        found = []
        for at, (digit, pane, title) in enumerate(screens):
            told = f"[{digit} {title}]" if pane == front else digit if pane in bare else f"{digit} {title}"
            found.append((f"{'  ' if at else ''}{told}", pane == front))
        left_whole = [pane for _, pane, _ in screens if pane != front and pane not in bare]
        if sum(len(name) for name, _ in found) <= width or not left_whole:
            return found
        bare.add(left_whole[-1])
