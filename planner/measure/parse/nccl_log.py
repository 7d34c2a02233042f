"""nccl-tests' printed output as people keep it.

Lines may carry a launcher's prefix, be wrapped or cut, and have NCCL's own messages between or inside them.
Every row is checked: time against algorithm bandwidth, and that against bus bandwidth, which also shows a wrong
program or number of ranks. Host names are counted and dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from planner.measure.parse.nccl_row import (
    NUMBER,
    ROW_START,
    Row,
    RowError,
    Side,
    bus_agrees,
    payload_share,
    read_row,
)
from planner.measure.parse.points import OP_OF_PROGRAM, CollectivePoint, Findings, version_text

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PREFIX = re.compile(
    r"\s*(?:\[\d+,\d+\](?:<std\w+>)?\s?:\s?"  # mpirun --tag-output
    r"|\[[\w.,/-]+\]\s?:?\s?"  # mpiexec -l, kubectl logs --prefix
    r"|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)\s"  # kubectl logs --timestamps
    r"|[\w.-]+(?:<\w+>)?\s?:\s)"  # srun --label, pdsh
)
# A host's name is taken from its first letter, since it may be glued to the figure before it.
_NOISE = re.compile(
    r"(?:[A-Za-z][\w.-]*|^\s*\d[\w.-]*):\d+:\d+ \[-?\d+\] .*|NCCL version \d.*|(?:NCCL|RCCL) (?:INFO|WARN)\b.*"
)
_PROGRAM = re.compile(r"(?<![a-z_])(" + "|".join(sorted(OP_OF_PROGRAM, key=len, reverse=True)) + r")_perf")
_SETTINGS = re.compile(r"#\s*nThread\s+(\d+)\s+nGpus\s+(\d+)\s+minBytes")
_GRAPH = re.compile(r"\bgraph:\s*(\d+)")
_DEVICE = re.compile(
    r"#\s*Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device\s+\d+\s+\[[^\]]*\]\s*(.*)"
)
_COMMUNICATOR = re.compile(r"\bn[rR]anks\s+(\d+)(?:\s+nNodes\s+(\d+))?")
_LIBRARY = re.compile(r"NCCL version (\d+(?:\.\d+)+)|nccl-library=(\d+)")
_WIDTHS = (80, 100, 120, 132, 160)
_LONGEST = 4000
"""Longer lines are no output of nccl-tests (its longest has some 200 characters), and looking through them takes minutes."""
_NOT_RUN = re.compile(r"#\s*Collective test concluded")


@dataclass
class Run:
    """One program's run, from its settings line to the next one's."""

    number: int
    op: str
    library: str = ""
    threads_times_gpus: int = 0
    mode: str = "eager"
    hosts: dict[str, dict[int, str]] = field(default_factory=dict)
    devices: dict[str, None] = field(default_factory=dict)
    communicator: tuple[int, int] | None = None
    per_side: int = 4
    cpu_time: bool = False
    refused: bool = False
    split: bool = False
    waiting: list[tuple[int, Row]] = field(default_factory=list)

    def ranks_and_nodes(self) -> tuple[int, int] | None:
        """From the device lines, else NCCL's own message, else the settings of a single process."""
        ranks = [rank for of_host in self.hosts.values() for rank in of_host]
        if ranks:
            # A line lost in the middle leaves a gap, and so do the ranks of other groups.
            return len(ranks) if self.split else max(ranks) + 1, len(self.hosts)
        if self.communicator:
            return self.communicator
        if self.threads_times_gpus > 1:
            return self.threads_times_gpus, 1
        return None


@dataclass
class Stream:
    """State of the lines under one prefix."""

    run: Run | None = None
    library: str = ""
    group: str | None = None
    open_line: int = 0
    open_text: str = ""
    # Device name that ends at the terminal's edge, so that the next line may hold its rest.
    open_device: str = ""


class _Reader:
    def __init__(self, found: Findings, program: str, cut_line: int = 0) -> None:
        self.found = found
        self.cut_line = cut_line
        self.streams: dict[str, Stream] = {}
        self.program = program
        self.program_of_name = program
        self.runs: list[Run] = []

    def line(self, number: int, raw: str) -> None:
        if len(raw) > _LONGEST:
            self.found.skip(f"lines of more than {_LONGEST:,} characters")
            return
        prefix, text = split_prefix(_COLOUR.sub("", raw).rstrip())
        noise = _NOISE.search(text)
        stream = self.streams.setdefault(prefix, Stream())
        if noise and not text.lstrip().startswith("#"):
            self._noise(stream, noise[0])
            text = text[: noise.start()].rstrip()
            if not text.strip():
                return
        half_device, stream.open_device = stream.open_device, ""
        if text.lstrip().startswith("#"):
            self._flush(stream)
            self._header(stream, text.lstrip())
            if stream.open_device and len(text) not in _WIDTHS:
                stream.open_device = ""
        elif half_device and not ROW_START.match(text):
            self._rest_of_device(stream, half_device, text)
        elif ROW_START.match(text):
            self._flush(stream)
            if stream.run and (stream.run.ranks_and_nodes() or (0, 0))[0] == 1:
                self.found.skip("rows of a single rank (nccl-tests built without MPI prints these)")
                return
            stream.open_line, stream.open_text = number, text
            self._try_whole(stream)
        elif text.strip():
            self._other(stream, number, text)

    def end(self) -> None:
        for stream in self.streams.values():
            self._flush(stream)
        for run in self.runs:
            if run.waiting:
                self.found.problem(
                    run.waiting[0][0],
                    "which program ran isn't said, and the figures fit more than one; "
                    "name the file after it, such as alltoall.log",
                )

    def _noise(self, stream: Stream, text: str) -> None:
        self.found.skip("lines with NCCL messages in them")
        run = stream.run or next((other.run for other in self.streams.values() if other.run), None)
        seen = _COMMUNICATOR.search(text)
        if seen and seen[2] and run:
            run.communicator = run.communicator or (int(seen[1]), int(seen[2]))
        library = _LIBRARY.search(text)
        if library and library[1] and run:
            run.library = library[1]

    def _header(self, stream: Stream, text: str) -> None:
        program = _PROGRAM.search(text)
        if program and not _NOT_RUN.match(text):
            self.program = program[1]
        library = _LIBRARY.search(text)
        if library:
            stream.library = library[1] or version_text(int(library[2]))
        settings = _SETTINGS.match(text)
        if settings:
            self._start(stream)
            assert stream.run is not None
            stream.run.threads_times_gpus = int(settings[1]) * int(settings[2])
            graph = _GRAPH.search(text)
            stream.run.mode = "graph" if graph and int(graph[1]) else "eager"
            return
        device = _DEVICE.match(text)
        if device:
            self._device(stream, device)
        elif " algbw " in text and " size " in text and stream.run:
            stream.run.per_side = 8 if "i_min" in text else 4
            stream.run.cpu_time = "cputime" in text
        elif "Out of bounds values" in text and "FAILED" in text:
            self.found.remark("nccl-tests reported wrong results (out of bounds values)")

    def _start(self, stream: Stream) -> Run:
        stream.run = Run(len(self.runs) + 1, OP_OF_PROGRAM.get(self.program, ""), stream.library)
        stream.library, stream.group = "", None
        self.program = self.program_of_name
        self.runs.append(stream.run)
        return stream.run

    def _device(self, stream: Stream, match: re.Match[str]) -> None:
        run = stream.run or self._start(stream)
        group = match[2] or "0"
        stream.group = stream.group or group
        if group != stream.group:
            run.split = True
            self.found.remark("several groups ran at once; ranks are those of the first")
            return
        run.hosts.setdefault(match[3], {})[int(match[1])] = match[4]
        if match[4].strip():
            stream.open_device = match[4].strip()
            run.devices.setdefault(stream.open_device)

    def _rest_of_device(self, stream: Stream, half: str, text: str) -> None:
        assert stream.run is not None
        stream.run.devices.pop(half, None)
        stream.run.devices.setdefault(half + text.rstrip())

    def _other(self, stream: Stream, number: int, text: str) -> None:
        """A line that is neither header nor row: the rest of a row, a command, or something of another's."""
        if stream.open_text:
            if _continues(text):
                for glue in (" ", ""):
                    if self._try_whole(stream, glue + text.strip()):
                        return
                stream.open_text += " " + text.strip()
                return
            self._flush(stream)
        program = _PROGRAM.search(text)
        if program:
            self.program = program[1]
        elif number == self.cut_line:
            self.found.skip("rows cut before their end (a complete out-of-place side is kept)")
        elif re.match(r"\s*\d+\s+\d+\s", text):
            self.found.problem(number, "starts like a result row, but its third column is no data type")
        else:
            self.found.skip("lines that are no part of nccl-tests' output")

    def _try_whole(self, stream: Stream, more: str = "") -> bool:
        text = stream.open_text + more
        run = stream.run or self._start(stream)
        if run.cpu_time:
            self.found.skip("rows with CPU time (-C) in the place of time")
            stream.open_text = ""
            return True
        try:
            row, whole = read_row(text, share=self._share(run), per_side=run.per_side)
        except RowError:
            return False
        if whole:
            self._take(run, stream.open_line, row)
            stream.open_text = ""
        return whole

    def _flush(self, stream: Stream) -> None:
        """Give up waiting for the rest of a row."""
        text, stream.open_text = stream.open_text, ""
        if not text:
            return
        run = stream.run or self._start(stream)
        try:
            row, _ = read_row(text, share=self._share(run), per_side=run.per_side)
        except RowError as error:
            self.found.problem(stream.open_line, str(error))
            return
        self.found.skip("rows cut before their end (a complete out-of-place side is kept)")
        self._take(run, stream.open_line, row)

    def _share(self, run: Run) -> float:
        known = run.ranks_and_nodes()
        return payload_share(run.op, known[0] if known else None)

    def _take(self, run: Run, line: int, row: Row) -> None:
        known = run.ranks_and_nodes()
        if run.refused or not self._usable(run, line, row, known):
            return
        assert known is not None
        run.op = run.op or _op_of_row(row, known[0])
        run.waiting.append((line, row))
        if not run.op:
            return
        for place, waiting in run.waiting:
            for side, in_place in ((waiting.out_of_place, False), (waiting.in_place, True)):
                if side is not None:
                    self._point(run, place, waiting, side, in_place, known)
        run.waiting.clear()

    def _usable(self, run: Run, line: int, row: Row, known: tuple[int, int] | None) -> bool:
        if row.size_bytes == 0:
            self.found.skip("rows of 0 bytes")
            return False
        if known is None:
            run.refused = True
            self.found.problem(
                line, "no device lines ('#  Rank  0 ... on host device ...') say how many ranks ran"
            )
            return False
        return True

    def _point(
        self, run: Run, line: int, row: Row, side: Side, in_place: bool, known: tuple[int, int]
    ) -> None:
        if not _counted(side.wrong):
            self.found.skip("figures with wrong results (#wrong above 0)")
            return
        if not bus_agrees(run.op, known[0], side):
            run.refused = True
            self.found.problem(
                line,
                f"busbw {side.busbw} isn't algbw {side.algbw} times the factor of {run.op} over {known[0]} ranks: "
                "another program or number of ranks than the header says, or a damaged row",
            )
            return
        self.found.collectives.append(
            CollectivePoint(
                op=run.op,
                dtype=row.dtype,
                bytes=row.size_bytes,
                ranks=known[0],
                nodes=known[1],
                time_s=float(side.time_us) / 1e6,
                in_place=in_place,
                source_line=line,
                path=self.found.path,
                run=run.number,
                mode=run.mode,
                device=", ".join(run.devices),
                library=f"nccl {run.library}" if run.library else "",
            )
        )


def read_log(text: str, found: Findings) -> None:
    """Read a log into the findings; the file's name says the program where nothing inside does."""
    named = _PROGRAM.search(found.path.name + "_perf") or re.search(
        "|".join(sorted(OP_OF_PROGRAM, key=len, reverse=True)), found.path.name
    )
    lines = re.split(r"\r\n|\n|\r", text)
    # A copy that stopped in the middle of a line has no line end after it.
    reader = _Reader(found, named[named.re.groups] if named else "", cut_line=len(lines))
    for number, line in enumerate(lines, 1):
        reader.line(number, line)
    reader.end()


def split_prefix(text: str) -> tuple[str, str]:
    """A launcher's prefix and the rest, where the rest is a header line or figures.

    >>> split_prefix("[1,0]<stdout>:# Using devices")
    ('[1,0]<stdout>:', '# Using devices')
    >>> split_prefix("all_reduce_perf: not found")
    ('', 'all_reduce_perf: not found')
    """
    start = 0
    while match := _PREFIX.match(text, start):
        start = match.end()
    rest = text[start:]
    tagged = re.match(r"\s*\[\d+,\d+\]", text)
    if start and (tagged or rest.lstrip().startswith("#") or ROW_START.match(rest) or _continues(rest)):
        return re.sub(r"\d{4}-\S+\s", "", text[:start]).strip(), rest
    return "", text


def _continues(text: str) -> bool:
    words = text.split()
    return bool(words) and all(NUMBER.match(word) for word in words)


def _counted(wrong: str) -> bool:
    """Whether the result counts: nothing wrong, not checked, or an old version's rounding error.

    Old versions print the largest error; a sum of halves may be off by some hundredths.
    """
    return wrong == "N/A" or float(wrong) < 0.1


def _op_of_row(row: Row, ranks: int) -> str:
    """The one op that a row's reduction and bandwidth factor leave, or nothing.

    At two ranks all-reduce has the factor of reduce; the two are then not told apart.
    """
    side = row.out_of_place or row.in_place
    if side is None or float(side.algbw) < 1:
        return ""
    if row.redop in ("", "none"):
        candidates = ["all_gather", "all_to_all", "broadcast", "sendrecv", "gather", "scatter"]
    else:
        candidates = ["all_reduce", "reduce_scatter", "reduce"]
    fitting = [op for op in candidates if bus_agrees(op, ranks, side)]
    return fitting[0] if len(fitting) == 1 else ""
