"""The benchmark's command: start the ranks, or be one."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from planner.measure.run.context import load_torch
from planner.measure.run.diagnosis import tell
from planner.measure.run.document import add_note
from planner.measure.run.launch import STARTED, launch
from planner.measure.run.options import Options, parse
from planner.measure.run.worker import place_in, work


def main(arguments: Sequence[str], program: str = "python -m planner.measure") -> int:
    """Measure and write the result.

    Returns:
        0 when the result is whole, 130 when it was interrupted and holds a part, 1 when a process failed,
        2 when nothing could be measured here.
    """
    options = parse(arguments, program)
    # Loading torch takes seconds of the time there is, under torchrun too.
    os.environ.setdefault(STARTED, repr(time.time()))
    place = place_in(os.environ)
    try:
        torch = load_torch()
    except ImportError as error:
        return _refuse(f"torch can't be imported here ({error}); run this where PyTorch is installed")
    if place is not None:
        if "MASTER_ADDR" not in os.environ:
            return _refuse(
                "MASTER_ADDR isn't set; give every process the first host's address, and MASTER_PORT"
            )
        return work(options, place)
    count = options.processes or (torch.cuda.device_count() if options.backend == "nccl" else 2)
    if options.backend == "nccl" and not (torch.cuda.is_available() and count):
        return _refuse("no GPU is visible to PyTorch here; --backend gloo runs on CPUs, for tests alone")
    return _start(options, arguments, count)


def _start(options: Options, arguments: Sequence[str], count: int) -> int:
    # A result of an earlier run must not be taken for this one's.
    options.out.unlink(missing_ok=True)
    command = [sys.executable, "-m", "planner.measure", *arguments]
    # Loading torch above has taken some of the time.
    spent = time.time() - float(os.environ[STARTED])
    outcome = launch(command, count, options.deadline_s - spent)
    for note in outcome.notes:
        print(note, file=sys.stderr)
        add_note(options.out, note)
    tell(options.out, as_json=options.as_json)
    if outcome.notes and options.out.exists():
        print(f"what was measured is in {options.out}", file=sys.stderr)
    return outcome.code


def _refuse(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return 2
