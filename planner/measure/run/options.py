"""What a run is asked to do."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from planner.measure.run.rules import ELEMENT_BYTES, GIB, KIB, OPS, parse_bytes

SECTIONS = ("nccl", "gemm", "attention", "memory", "power", "overlap")
# Measured only where it is asked for: whole training steps, by themselves two minutes, half a minute with --quick;
# serving steps, about a minute.
ON_DEMAND = ("train", "serve")
QUICK_DEADLINE_S, FULL_DEADLINE_S = 55.0, 465.0
# What of the time left a section may take, against those after it; what it leaves goes to them.
SECTION_WEIGHT = {
    "nccl": 38,
    "gemm": 17,
    "attention": 12,
    "memory": 9,
    "power": 16,
    "overlap": 8,
    "train": 40,
    "serve": 40,
}


@dataclass(frozen=True)
class Options:
    """One run, as asked for."""

    sections: tuple[str, ...]
    out: Path
    quick: bool = False
    backend: str = "nccl"
    min_bytes: int = KIB
    max_bytes: int = 8 * GIB
    ops: tuple[str, ...] = OPS
    dtypes: tuple[str, ...] = ("bf16", "fp32", "fp8")
    deadline_s: float = FULL_DEADLINE_S
    processes: int | None = None
    as_json: bool = False

    def recorded(self) -> dict[str, Any]:
        """For the result file: all that bears on what is measured."""
        found = asdict(self)
        del found["out"], found["as_json"]
        return found


def parse(arguments: Sequence[str], program: str = "python -m planner.measure") -> Options:
    """Read a command line; argparse ends the program with a message where it is wrong."""
    parser = _parser(program)
    given = parser.parse_args(list(arguments))
    if given.min_bytes > given.max_bytes:
        parser.error(f"--min-bytes {given.min_bytes} is above --max-bytes {given.max_bytes}")
    if given.deadline is not None and given.deadline <= 0:
        parser.error("--deadline must be above 0 seconds")
    if given.processes is not None and given.processes < 1:
        parser.error("--processes must be 1 or more")
    if given.out.is_dir():
        parser.error(f"{given.out} is a folder; name a file to write")
    if not given.out.absolute().parent.is_dir():
        parser.error(f"the folder of {given.out} doesn't exist; create it first")
    default = QUICK_DEADLINE_S if given.quick else FULL_DEADLINE_S
    return Options(
        sections=given.sections,
        out=given.out,
        quick=given.quick,
        backend=given.backend,
        min_bytes=given.min_bytes,
        max_bytes=given.max_bytes,
        ops=given.ops,
        dtypes=given.dtypes,
        deadline_s=default if given.deadline is None else given.deadline,
        processes=given.processes,
        as_json=given.json,
    )


def time_share(section: str, left: Sequence[str], seconds_left: float) -> float:
    """Seconds a section may take, of those left for it and the sections after it.

    >>> time_share("memory", ["memory", "power"], 50.0)
    18.0
    """
    return seconds_left * SECTION_WEIGHT[section] / sum(SECTION_WEIGHT[name] for name in left)


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        description="Measures this machine's GPUs and writes one JSON file. Starts one process a GPU, or uses "
        "the processes that torchrun or Slurm started (RANK, WORLD_SIZE, MASTER_ADDR).",
    )
    parser.add_argument("sections", nargs="?", default=SECTIONS,
                        type=_several("section", SECTIONS + ON_DEMAND, {"all": SECTIONS}),
                        help=f"comma-separated, of {', '.join(SECTIONS + ON_DEMAND)}; all but train and serve when left out")  # fmt: skip
    parser.add_argument("-o", "--out", type=Path, default=Path("bench.json"), help="result file (bench.json)")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and shapes, within a minute")
    parser.add_argument("--backend", choices=("nccl", "gloo"), default="nccl",
                        help="gloo runs on CPUs, for tests; its results are no GPU measurement")  # fmt: skip
    parser.add_argument("--min-bytes", type=_size, default=KIB, help="smallest message, e.g. 1K")
    parser.add_argument("--max-bytes", type=_size, default=8 * GIB, help="largest message, e.g. 1G (8G)")
    parser.add_argument("--ops", type=_several("collective", OPS), default=OPS, help=f"of {', '.join(OPS)}")
    kinds = tuple(ELEMENT_BYTES)
    parser.add_argument(
        "--dtypes", type=_several("type", kinds), default=kinds, help=f"of {', '.join(kinds)}"
    )
    parser.add_argument("--deadline", type=float, metavar="SECONDS",
                        help=f"stop in order by then ({QUICK_DEADLINE_S:g} quick, {FULL_DEADLINE_S:g} full)")  # fmt: skip
    parser.add_argument("--processes", type=int, help="processes to start (one a visible GPU; 2 with gloo)")
    parser.add_argument("--json", action="store_true", help="print the diagnosis as JSON")
    return parser


def _size(text: str) -> int:
    try:
        return parse_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _several(what: str, known: tuple[str, ...], aliases: dict[str, tuple[str, ...]] | None = None) -> Any:
    def read(text: str) -> tuple[str, ...]:
        if aliases and text in aliases:
            return aliases[text]
        asked = [word.strip() for word in text.split(",") if word.strip()]
        for word in asked:
            if word not in known:
                raise argparse.ArgumentTypeError(f"no {what} '{word}'; there are {', '.join(known)}")
        if not asked:
            raise argparse.ArgumentTypeError(f"name at least one {what}")
        # In the order in which they are measured, each once.
        return tuple(word for word in known if word in asked)

    return read
