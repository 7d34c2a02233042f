"""Starts one process for each GPU on this host and sees them to their end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

# Set for a process started here, so that it works instead of starting others.
WORKER = "PLANNER_MEASURE_WORKER"
STARTED = "PLANNER_MEASURE_STARTED"
# A run that hangs is ended while a full one is still within eight minutes (465 s and this).
SETTLE_S, FAILED_GRACE_S, LATE_GRACE_S = 30.0, 8.0, 14.0


@dataclass
class Outcome:
    """How the processes ended."""

    code: int
    notes: list[str] = field(default_factory=list)


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environments(count: int, port: int, present: dict[str, str]) -> list[dict[str, str]]:
    """Each process's variables, as torchrun would set them."""
    root = str(Path(__file__).resolve().parents[3])
    path = os.pathsep.join([root, *filter(None, [present.get("PYTHONPATH")])])
    shared = {
        **present,
        "PYTHONPATH": path,
        "PYTHONUNBUFFERED": "1",
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(count),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        WORKER: "1",
        STARTED: present.get(STARTED, repr(time.time())),
    }
    shared.setdefault("GLOO_SOCKET_IFNAME", "lo")
    shared.setdefault("OMP_NUM_THREADS", "1")
    return [{**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(count)]


def launch(
    command: Sequence[str], count: int, deadline_s: float, *, late_grace_s: float = LATE_GRACE_S
) -> Outcome:
    """Run `count` copies of a command to the end.

    Ctrl-C (or SIGTERM) is handed on once: the processes stop after the point in hand and keep what they
    have. A second one ends them. A process that fails takes the others with it, since they'd wait for it.
    """
    earlier = signal.signal(signal.SIGTERM, _as_interrupt)
    running = [_start(command, env) for env in environments(count, free_port(), dict(os.environ))]
    outcome = Outcome(0)
    ends_at = time.monotonic() + deadline_s + late_grace_s
    try:
        while True:
            try:
                _wait(running, ends_at, outcome)
                break
            except KeyboardInterrupt:
                if outcome.code == 130:
                    break
                outcome = Outcome(130, ["interrupted; what was measured before is kept"])
                print(
                    "stopping after the point in hand; Ctrl-C again ends it at once",
                    file=sys.stderr,
                    flush=True,
                )
                _signal(running, signal.SIGINT)
                ends_at = min(ends_at, time.monotonic() + SETTLE_S)
    finally:
        _end(running)
        signal.signal(signal.SIGTERM, earlier)
    return outcome


def _start(command: Sequence[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
    # A group of its own, so that the terminal's Ctrl-C reaches the launcher alone and is handed on once.
    # (Popen's process_group would do the same, but needs Python 3.11.)
    return subprocess.Popen(list(command), env=env, stdin=subprocess.DEVNULL, preexec_fn=os.setpgrp)  # noqa: PLW1509 - no thread runs yet


def _as_interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _wait(running: Sequence[subprocess.Popen[bytes]], ends_at: float, outcome: Outcome) -> None:
    while True:
        codes = [process.poll() for process in running]
        # A process that was asked to stop says so with 130, as a shell does.
        asked = (None, 0, 130) if outcome.code == 130 else (None, 0)
        failed = [(rank, code) for rank, code in enumerate(codes) if code not in asked]
        if all(code is not None for code in codes) or failed:
            break
        if time.monotonic() > ends_at:
            outcome.code = outcome.code or 1
            outcome.notes.append("the processes went on past the deadline and were ended")
            return
        time.sleep(0.05)
    if failed:
        # The others may be failing for the same reason, and say so first.
        patience = time.monotonic() + FAILED_GRACE_S
        while any(process.poll() is None for process in running) and time.monotonic() < patience:
            time.sleep(0.05)
        outcome.code = outcome.code or 1
        rank, code = failed[0][0], failed[0][1] or 0
        outcome.notes.append(
            f"the process of rank {rank} ended with {_ending(code)}; what follows is missing"
        )


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _signal(running: Sequence[subprocess.Popen[bytes]], number: signal.Signals) -> None:
    for process in running:
        if process.poll() is None:
            process.send_signal(number)


def _end(running: Sequence[subprocess.Popen[bytes]]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        _signal(running, number)
        patience = time.monotonic() + 3
        while any(process.poll() is None for process in running) and time.monotonic() < patience:
            time.sleep(0.02)
