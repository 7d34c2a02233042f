"""The terminal interface in a browser of the same machine, through textual-serve."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from planner.errors import InputError, Problem

HOST: Final = "127.0.0.1"
"""Loopback alone: whoever reaches the page edits files as the user who started it."""


def command(
    scenario: str | None, catalog_folders: Sequence[Path], *, read_only: bool, keymap: Path | None = None
) -> str:
    """The command that is run for each visitor.

    >>> command("mine.yaml", [], read_only=True).endswith("-m planner tui mine.yaml --read-only")
    True
    """
    words = [sys.executable, "-m", "planner", "tui"]
    words += [scenario] if scenario is not None else []
    for folder in catalog_folders:
        words += ["--catalog", str(folder)]
    words += ["--keymap", str(keymap)] if keymap is not None else []
    return shlex.join([*words, "--read-only"] if read_only else words)


def allowed(host: str, origin: str | None, port: int) -> bool:
    """Whether a request comes from the page itself: another site's page may not open a socket here.

    >>> allowed("127.0.0.1:8000", "http://127.0.0.1:8000", 8000), allowed("127.0.0.1:8000", "http://example.org", 8000)
    (True, False)
    >>> allowed("rebound.example.org:8000", None, 8000)
    False
    """
    names = {f"{name}:{port}" for name in (HOST, "localhost")} | (
        {HOST, "localhost"} if port == 80 else set()
    )
    return host in names and (origin is None or origin in {f"http://{name}" for name in names})


def serve(
    scenario: str | None,
    catalog_folders: Sequence[Path],
    *,
    port: int,
    read_only: bool,
    keymap: Path | None = None,
) -> int:
    """Serve until interrupted.

    Raises:
        InputError: The extra isn't installed.
    """
    if find_spec("textual_serve") is None:
        raise InputError(
            Problem(
                "serving needs textual-serve, which isn't installed",
                remedy="pip install 'cluster-planner[serve]'",
            )
        )
    told = command(scenario, catalog_folders, read_only=read_only, keymap=keymap)
    _server(told, port).serve()
    return 0


def _server(told: str, port: int) -> Any:
    from aiohttp import web
    from textual_serve.server import Server

    async def only_from_here(request: Any, handler: Any) -> Any:
        if not allowed(request.host, request.headers.get("Origin"), port):
            raise web.HTTPForbidden(text="only pages of this server may talk to it")
        return await handler(request)

    class LocalServer(Server):  # type: ignore[misc, unused-ignore]  # the extra may not be installed
        """Turns away what other sites' pages send."""

        async def _make_app(self) -> Any:
            app = await super()._make_app()
            app.middlewares.append(web.middleware(only_from_here))
            return app

    return LocalServer(told, host=HOST, port=port, title="cluster-planner")
