"""Being told to stop: what isn't saved is kept safe first, what is being typed included."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import threading
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from textual.app import App

if TYPE_CHECKING:
    from planner.tui.app import PlannerApp

SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""A kill, and a terminal that hangs up."""
PATIENCE_S: Final = 2.0
"""How long leaving may take: a terminal that is gone can hold the last write for ever."""


class Keeping(App[int]):
    """Part of `PlannerApp`: signals, and a plan that may only be looked at."""

    @property
    def _kept_app(self) -> PlannerApp:
        return cast("PlannerApp", self)

    def refuses_edits(self) -> bool:
        """Whether nothing may be changed; says so where that is so."""
        app = self._kept_app
        if app.read_only:
            app.say("read-only: nothing can be changed or written")
        return app.read_only

    def listen_for_signals(self) -> None:
        """Take over what ends a program; where signals can't be had, recovery files stand after each edit all the same."""
        try:
            loop = asyncio.get_running_loop()
            for one in SIGNALS:
                loop.add_signal_handler(one, partial(self.told_to_stop, one))
        except (NotImplementedError, RuntimeError, ValueError):
            return

    def mind_terminal(self) -> None:
        """Leave as at a hang-up where the terminal is gone and nobody sent the signal: reading it would spin for ever."""
        if not self._kept_app.is_headless and terminal_gone():
            self.told_to_stop(getattr(signal, "SIGHUP", signal.SIGTERM))

    def told_to_stop(self, number: int) -> None:
        """Write what isn't saved to the recovery file, and leave with the signal's exit code."""
        app = self._kept_app
        self.keep_typed()
        app.guard()
        code = 128 + int(number)
        timer = threading.Timer(PATIENCE_S, os._exit, (code,))
        timer.daemon = True
        timer.start()
        app.exit(code)

    def keep_typed(self) -> None:
        """A value that is being typed counts as entered."""
        app = self._kept_app
        if not app.read_only and app.screen_stack and app.typing:
            found = app.plan.take()
            if found is not None:
                app.keep(*found)


def terminal_gone(descriptor: int = 0) -> bool:
    """Whether what stood behind a descriptor has hung up."""
    if not hasattr(select, "poll"):
        return False
    watched = select.poll()
    watched.register(descriptor, 0)
    return any(event & (select.POLLHUP | select.POLLNVAL) for _, event in watched.poll(0))
