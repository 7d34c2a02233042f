"""A screen that works for longer than a key press: one job at a time, progress, cancel, and no stale result."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message
from textual.worker import Worker, get_current_worker

from planner.errors import PlannerError
from planner.study.withdrawn import WithdrawnError

EVERY_S = 0.1
"""Progress is told no more often than this."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What a job is given: a way to tell how far it is, and to ask whether it is still wanted."""

    tell: Callable[[str], None]
    cancelled: Callable[[], bool]

    def go_on(self, said: str = "") -> None:
        """Tell how far the job is.

        Raises:
            WithdrawnError: It isn't wanted any more.
        """
        if self.cancelled():
            raise WithdrawnError
        if said:
            self.tell(said)


Job = Callable[[Desk], Any]


class WorkPane(Container):
    """Runs one job at a time in a thread; a later job withdraws the one before.

    What comes of a job is given to `took`; one that failed has `wrong` set and nothing else.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "cancel", show=False)]

    class Told(Message):
        """How far a job is."""

        def __init__(self, number: int, said: str) -> None:
            super().__init__()
            self.number, self.said = number, said

    class Done(Message):
        """A job is done: what came of it, or what went wrong in words."""

        def __init__(self, number: int, found: Any, wrong: tuple[str, ...], fault: str) -> None:
            super().__init__()
            self.number, self.found, self.wrong, self.fault = number, found, wrong, fault

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.number = 0
        self.busy = False
        self.said = ""
        self.wrong: tuple[str, ...] = ()
        self._worker: Worker[None] | None = None

    def work(self, job: Job, said: str) -> None:
        """Start a job; the one before is withdrawn, and what may still come of it is dropped."""
        self.number += 1
        self.busy, self.said, self.wrong = True, said, ()
        self._worker = self.run_worker(
            partial(self._do, self.number, job), thread=True, exclusive=True, group=f"{self.id}-work"
        )
        self.fill()

    def _do(self, number: int, job: Job) -> None:
        worker, last = get_current_worker(), [0.0]

        def tell(said: str) -> None:
            now = time.monotonic()
            if now - last[0] >= EVERY_S:
                last[0] = now
                self.post_message(self.Told(number, said))

        found: Any = None
        wrong: tuple[str, ...] = ()
        fault = ""
        try:
            found = job(Desk(tell, lambda: worker.is_cancelled or number != self.number))
        except WithdrawnError:
            return
        except PlannerError as error:
            wrong = tuple(str(problem) for problem in error.problems)
        except Exception:  # a fault of ours must not take the edits with it
            fault = traceback.format_exc()
        if not worker.is_cancelled:
            self.post_message(self.Done(number, found, wrong, fault))

    def on_work_pane_told(self, event: Told) -> None:
        """Show how far it is."""
        event.stop()
        if event.number == self.number and self.busy:
            self.said = event.said
            self.fill()

    def on_work_pane_done(self, event: Done) -> None:
        """Take what came of it, unless it was withdrawn in between."""
        event.stop()
        if event.number != self.number:
            return
        self.busy, self.said, self.wrong = False, "", event.wrong
        if event.fault:
            self.wrong = (self.faulted(event.fault),)
        elif not event.wrong:
            self.took(event.found)
        self.fill()

    def faulted(self, fault: str) -> str:
        """Keep our own fault and say where; the app knows the folder."""
        shelf, clock = getattr(self.app, "shelf", None), getattr(self.app, "clock", None)
        if shelf is None or clock is None:
            return f"internal error: {fault.strip().splitlines()[-1]}"
        return f"internal error, saved to {shelf.fault(fault, clock())}"

    def action_cancel(self) -> None:
        """Call the job off; without one, escape means what it means elsewhere."""
        if not self.busy:
            raise SkipAction
        self.number += 1
        if self._worker is not None:
            self._worker.cancel()
        self.busy, self.said, self.wrong = False, "", ("cancelled",)
        self.fill()

    def took(self, found: Any) -> None:
        """Keep what came of a job."""
        raise NotImplementedError

    def fill(self) -> None:
        """Draw the pane."""
        raise NotImplementedError
