"""The PyTorch profiler's trace (Kineto, Chrome's trace format), one file a rank.

Events of the categories kernel, gpu_memcpy and gpu_memset are the GPU's; a collective's kernel carries its
operation, elements, type and group in its arguments, or has them on the host's event record_param_comms with the
same external id (older profilers). Source: torch/csrc/profiler/util.h names the arguments.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from planner.measure.parse.points import LogError, ParseProblem
from planner.measure.parse.trace_spans import COLLECTIVE, COMPUTE, MEMORY, NAMELESS, RankTrace, Span

ELEMENT_BYTES = {
    "Byte": 1, "Char": 1, "Bool": 1, "Short": 2, "Int": 4, "Long": 8, "Half": 2, "BFloat16": 2, "Float": 4, "Double": 8,
    "ComplexFloat": 8, "ComplexDouble": 16, "Float8_e4m3fn": 1, "Float8_e5m2": 1, "Float8_e4m3fnuz": 1,
    "Float8_e5m2fnuz": 1, "Float8_e8m0fnu": 1,
}  # fmt: skip
# In the order in which they are looked for: a name may hold several.
_OPS = (
    ("reduce_scatter", ("reducescatter", "reduce_scatter")),
    ("all_gather", ("allgather", "all_gather")),
    ("all_reduce", ("allreduce", "all_reduce", "cross_device_reduce", "barrier")),
    ("all_to_all", ("alltoall", "all_to_all")),
    ("broadcast", ("broadcast",)),
    ("sendrecv", ("sendrecv", "send", "recv")),
    ("reduce", ("reduce",)),
    ("gather", ("gather",)),
    ("scatter", ("scatter",)),
)
# Libraries' own kernels that exchange data without NCCL, beside NCCL's and RCCL's.
_EXCHANGING = re.compile(
    r"^(nccl|rccl|mscclKernel)|cross_device_reduce|(one|two)_shot_all_reduce|multimem_all_(reduce|gather)"
)
_GPU = {"kernel": COMPUTE, "gpu_memcpy": MEMORY, "gpu_memset": MEMORY}
MOST_PROBLEMS = 20


def op_of(name: str) -> str:
    """The collective that a kernel or an argument names.

    >>> op_of("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)"), op_of("_allgather_base"), op_of("alltoall_base")
    ('all_reduce', 'all_gather', 'all_to_all')
    """
    low = name.lower()
    return next((op for op, words in _OPS if any(word in low for word in words)), NAMELESS)


def read_kineto(text: str, path: Path) -> RankTrace:
    """Read one rank's trace.

    Raises:
        LogError: The file is damaged, tells no rank, or holds nothing that ran on a GPU.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        said = f"JSON is damaged or cut at offset {error.pos}: {error.msg} (column {error.colno})"
        raise LogError([ParseProblem(path, error.lineno, said)]) from error
    except (RecursionError, ValueError) as error:
        said = "is nested too deep" if isinstance(error, RecursionError) else f"can't be read: {error}"
        raise LogError([ParseProblem(path, 0, said)]) from error
    events = document.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(events, list):
        raise LogError([ParseProblem(path, 1, "has no list 'traceEvents', so it is no profiler trace")])
    problems: list[ParseProblem] = []
    spans = tuple(_spans(events, path, problems))
    if problems:
        raise LogError(problems[:MOST_PROBLEMS])
    if not spans:
        raise LogError(
            [ParseProblem(path, 0, "holds nothing that ran on a GPU; profile with ProfilerActivity.CUDA")]
        )
    named = {
        str(event.get("name"))
        for event in events
        if isinstance(event, dict) and event.get("cat") == "user_annotation"
    }
    steps = sum(name.startswith("ProfilerStep#") for name in named)
    return RankTrace(_rank(document, path), path, spans, steps)


def _rank(document: Any, path: Path) -> int:
    told = document.get("distributedInfo") if isinstance(document, dict) else None
    if isinstance(told, dict) and isinstance(told.get("rank"), int):
        return int(told["rank"])
    named = re.search(r"rank[-_.]?(\d+)", path.name)
    if named:
        return int(named[1])
    # -1: the caller knows whether there are others to tell it from.
    return -1


def _spans(events: list[Any], path: Path, problems: list[ParseProblem]) -> Iterable[Span]:
    told = _told_by_host(events)
    for place, event in enumerate(events):
        if not isinstance(event, dict):
            problems.append(ParseProblem(path, 0, f"traceEvents[{place}] is no event"))
            continue
        kind = _GPU.get(str(event.get("cat")))
        if kind is None or event.get("ph") != "X":
            continue
        start, duration = event.get("ts"), event.get("dur")
        if not (_time(start) and _time(duration) and float(duration) >= 0):  # type: ignore[arg-type]
            problems.append(
                ParseProblem(path, 0, f"traceEvents[{place}]: ts is {start!r} and dur {duration!r}")
            )
            continue
        yield _span(event, kind, float(start), float(duration), told)  # type: ignore[arg-type]


def _time(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _told_by_host(events: list[Any]) -> dict[Any, dict[str, Any]]:
    found = {}
    for event in events:
        if isinstance(event, dict) and event.get("name") == "record_param_comms":
            arguments = event.get("args")
            if isinstance(arguments, dict) and arguments.get("Collective name") not in (None, "wait"):
                found[arguments.get("External id")] = arguments
    return found


def _span(
    event: dict[str, Any], kind: str, start: float, duration: float, told: dict[Any, dict[str, Any]]
) -> Span:
    arguments = event.get("args")
    arguments = arguments if isinstance(arguments, dict) else {}
    name = str(event.get("name"))
    if kind != COMPUTE:
        return Span(kind, name.split(" (", maxsplit=1)[0], start, duration, _whole(arguments.get("bytes")))
    if "Collective name" not in arguments and not _EXCHANGING.search(name):
        return Span(COMPUTE, name, start, duration)
    if "Collective name" not in arguments:
        arguments = {**arguments, **told.get(arguments.get("External id"), {})}
    op = op_of(str(arguments.get("Collective name") or name))
    if op == NAMELESS:
        op = op_of(name)
    # Kernels of coalesced sends carry one of them alone, so the kernel's name is the surer word.
    if op != "all_to_all" and "sendrecv" in name.lower():
        op = "sendrecv"
    return Span(COLLECTIVE, op, start, duration, _size(arguments), _whole(arguments.get("Group size")),
                f"{arguments.get('Process Group Name', '')} {arguments.get('Process Group Ranks', '')}".strip(),
                _members(arguments), _whole(arguments.get("Seq")), _peer(arguments))  # fmt: skip


def _size(arguments: dict[str, Any]) -> int | None:
    width = ELEMENT_BYTES.get(str(arguments.get("dtype")))
    counts = [_whole(arguments.get(name)) for name in ("In msg nelems", "Out msg nelems")]
    known = [count for count in counts if count]
    return max(known) * width if width and known else None


def _members(arguments: dict[str, Any]) -> tuple[int, ...]:
    """The group's ranks: listed, or (long lists are cut) by first rank, stride and count."""
    listed = str(arguments.get("Process Group Ranks") or "")
    if listed.startswith("[") and "..." not in listed:
        return tuple(int(word) for word in re.findall(r"\d+", listed))
    start, stride, count = (
        _whole(arguments.get(name)) for name in ("Global rank start", "Global rank stride", "Group size")
    )
    if start is None or not stride or not count:
        return ()
    return tuple(range(start, start + stride * count, stride))


def _peer(arguments: dict[str, Any]) -> int | None:
    """The other rank of a send or receive, of all ranks; the trace gives its place in the group."""
    place = next((_whole(arguments[name]) for name in ("Dst Rank", "Src Rank") if name in arguments), None)
    members = _members(arguments)
    return members[place] if place is not None and place < len(members) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
