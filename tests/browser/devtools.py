"""Talks to a headless browser through a pipe: opens a file, listens to what it asks for and complains of."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECONDS = 60.0


class Browser:
    """One page of a browser, driven over file descriptors 3 and 4 of its process."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._rest, self._count, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []

    def start(self) -> None:
        """Attach to a new blank page and listen."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command's answer; events that come before it are kept."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, path: Path) -> None:
        """Load a file and wait until it is there."""
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._next()

    def evaluate(self, script: str) -> Any:
        """Value of a script in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def asked_for(self) -> list[str]:
        """Addresses the page asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[dict[str, Any]]:
        """Exceptions, and errors and warnings of the console."""
        bad = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
        return [event for event in self.events if event["method"] in bad]

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + SECONDS
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            assert ready, f"the browser said nothing for {SECONDS:.0f} s"
            piece = os.read(self._read, 1 << 20)
            assert piece, "the browser ended"
            self._rest += piece
        one, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(one)
        if "method" in answer:
            self.events.append(answer)
        return answer


@contextmanager
def browser(program: str, profile: Path) -> Iterator[Browser]:
    """A headless browser that ends with the block."""
    there, write = os.pipe()
    read, back = os.pipe()

    process = subprocess.Popen(
        [
            # The shell puts the pipe's ends where the browser looks for them, and becomes the browser.
            "bash", "-c", f'exec "$0" "$@" 3<&{there} 4>&{back}', program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}",
            "about:blank",
        ],
        pass_fds=(there, back), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(there)
    os.close(back)
    try:
        page = Browser(write, read)
        page.start()
        yield page
    finally:
        os.close(write)
        os.close(read)
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
