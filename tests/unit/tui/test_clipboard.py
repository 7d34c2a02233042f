"""Copying inside tmux, with a program of that name that writes down what it is given."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from planner.tui.clipboard import to_tmux


@pytest.fixture
def tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tmux that keeps what it reads; before 3.2 it didn't know ``-w``."""
    program = tmp_path / "tmux"
    program.write_text(
        f'#!/bin/sh\n[ -n "$OLD" ] && [ "$2" = -w ] && exit 1\necho "$@" > {tmp_path}/asked\ncat > {tmp_path}/buffer\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("TMUX", "/tmp/some-socket,1,0")
    return tmp_path


def test_tmux_is_given_the_text(tmux: Path) -> None:
    assert to_tmux("UTIL 44.1 %\nWAIT ▲") is True
    assert (tmux / "buffer").read_text() == "UTIL 44.1 %\nWAIT ▲"
    assert (tmux / "asked").read_text() == "load-buffer -w -\n"


def test_an_old_tmux_fills_its_buffer_alone(tmux: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLD", "1")
    assert to_tmux("text") is True
    assert (tmux / "asked").read_text() == "load-buffer -\n"


def test_outside_tmux_and_without_it_nothing_is_run(tmux: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmux / "empty"))
    assert to_tmux("text") is False
    monkeypatch.delenv("TMUX")
    assert to_tmux("text") is False and not (tmux / "buffer").exists()
