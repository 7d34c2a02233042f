"""What a measurement file holds once it is read, and what can be wrong with one.

Standard library only, like everything below `planner.measure`; the command line turns `LogError` into its own
error class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# nccl-tests' and the tables' names to those of this project's benchmark.
OP_OF_PROGRAM = {
    "all_reduce": "all_reduce",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "all_to_all": "all_to_all",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "sendrecv": "sendrecv",
    "gather": "gather",
    "scatter": "scatter",
    "hypercube": "hypercube",
}
DTYPES = {
    "int8": "int8",
    "uint8": "uint8",
    "int32": "int32",
    "uint32": "uint32",
    "int64": "int64",
    "uint64": "uint64",
    "half": "fp16",
    "float16": "fp16",
    "fp16": "fp16",
    "bfloat16": "bf16",
    "bf16": "bf16",
    "float": "fp32",
    "float32": "fp32",
    "fp32": "fp32",
    "double": "fp64",
    "f8e4m3": "fp8",
    "fp8_e4m3": "fp8",
    "fp8": "fp8",
    "f8e5m2": "fp8_e5m2",
    "fp8_e5m2": "fp8_e5m2",
    # The old programs' name for int8.
    "char": "int8",
}

MOST = 2**50
"""More of anything (bytes, microseconds, ranks) is damage: a petabyte, or 36 years."""
LEAST_US = 1e-3
"""No kernel takes less than a nanosecond."""


@dataclass(frozen=True)
class ParseProblem:
    """One thing wrong with a file; lines count from 1, and 0 means the file as a whole."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else str(self.path)
        return f"{where}: {self.message}"


class LogError(ValueError):
    """A measurement file is wrong; holds every problem found."""

    def __init__(self, problems: Iterable[ParseProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


@dataclass(frozen=True)
class CollectivePoint:
    """One collective at one size.

    `bytes` is nccl-tests' size column: the larger of a rank's send and receive buffer, so the whole gathered
    buffer for all-gather. `run` numbers the runs of a file from 1. `mode` is eager or graph, `impl` the kernel
    where a table names one. `link` says what the bytes went through where the file tells: scale_up, host_staged
    or network.
    """

    op: str
    dtype: str
    bytes: int
    ranks: int
    nodes: int
    time_s: float
    in_place: bool
    source_line: int
    path: Path
    run: int = 1
    mode: str = "eager"
    device: str = ""
    library: str = ""
    impl: str = ""
    link: str = ""


@dataclass(frozen=True)
class GemmPoint:
    """One matrix product, (m, k) by (k, n)."""

    m: int
    n: int
    k: int
    dtype: str
    time_s: float
    source_line: int
    path: Path
    mode: str = "eager"
    device: str = ""
    impl: str = ""


@dataclass(frozen=True)
class Measurements:
    """All of one file. `device` is empty where none is named, and several names are joined by ', '."""

    path: Path
    kind: str
    collectives: tuple[CollectivePoint, ...] = ()
    gemms: tuple[GemmPoint, ...] = ()
    notes: tuple[str, ...] = ()
    device: str = ""
    usable_for_calibration: bool = True
    # Sections of a bench result that have no point class of their own, as they stand in the file.
    others: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    # What a bench result says of the machine, and when it was made.
    environment: Mapping[str, Any] = field(default_factory=dict)
    as_of: str = ""


@dataclass
class Findings:
    """What a parser gathers while it reads one file."""

    path: Path
    collectives: list[CollectivePoint] = field(default_factory=list)
    gemms: list[GemmPoint] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    problems: list[ParseProblem] = field(default_factory=list)

    def skip(self, reason: str) -> None:
        """Count something left out on purpose."""
        self.skipped[reason] += 1

    def remark(self, text: str) -> None:
        """Say something about the file once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def problem(self, line: int, message: str) -> None:
        """Record damage."""
        self.problems.append(ParseProblem(self.path, line, message))

    def result(
        self,
        kind: str,
        *,
        usable: bool = True,
        device: str = "",
        others: Mapping[str, tuple[Mapping[str, Any], ...]] | None = None,
        environment: Mapping[str, Any] | None = None,
        as_of: str = "",
    ) -> Measurements:
        """The measurements, if nothing was wrong.

        Raises:
            LogError: Something was wrong, or nothing was measured.
        """
        if not (self.problems or self.collectives or self.gemms or others):
            said = "; ".join(self._notes())
            self.problem(0, "no measurement found" + (f" ({said})" if said else ""))
        if self.problems:
            raise LogError(self.problems)
        named = [point.device for point in self.collectives] + [point.device for point in self.gemms]
        names = dict.fromkeys(name for name in named if name)
        return Measurements(
            path=self.path,
            kind=kind,
            collectives=tuple(self.collectives),
            gemms=tuple(self.gemms),
            notes=tuple(self._notes()),
            device=device or ", ".join(names),
            usable_for_calibration=usable,
            others=others or {},
            environment=environment or {},
            as_of=as_of,
        )

    def _notes(self) -> list[str]:
        return self.remarks + [f"skipped {count}: {reason}" for reason, count in self.skipped.items()]


def version_text(code: int) -> str:
    """NCCL's version number from its code; before 2.9 it had one digit fewer for the minor version.

    >>> version_text(22907), version_text(2708)
    ('2.29.7', '2.7.8')
    """
    if code >= 10000:
        return f"{code // 10000}.{code // 100 % 100}.{code % 100}"
    return f"{code // 1000}.{code // 100 % 10}.{code % 100}"
