"""What every section of a run shares: torch, the ranks, the clock, the document being filled."""

from __future__ import annotations

import importlib
import json
import re
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.measure.run.document import write_document
from planner.measure.run.options import Options

_ADDRESS = re.compile(r"\b\d{1,3}(\.\d{1,3}){3}\b")


def load_torch() -> Any:
    """The torch module, untyped, so that this package reads and type-checks where torch isn't installed."""
    return importlib.import_module("torch")


def no_state(_name: str) -> None:
    """Stand-in where no telemetry listens."""


@dataclass
class Context:
    """One rank's view of a run."""

    torch: Any
    dist: Any
    rank: int
    world: int
    device: Any
    on_gpu: bool
    options: Options
    document: dict[str, Any]
    ends_at: float
    section_ends_at: float = 0.0
    stop: bool = False
    missing: bool = False
    # Tells telemetry what the GPU is doing.
    state: Callable[[str], None] = no_state
    hosts: list[int] = field(default_factory=list)
    waits: int = 0

    @property
    def quick(self) -> bool:
        """Whether fewer points and repetitions are wanted."""
        return self.options.quick

    def sync(self) -> None:
        """Wait for the device."""
        if self.on_gpu:
            self.torch.cuda.synchronize()

    def tensor(self, values: Sequence[float]) -> Any:
        """A small tensor for agreeing with other ranks."""
        return self.torch.tensor(list(values), dtype=self.torch.float64, device=self.device)

    def agree_max(self, values: Sequence[float], group: Any = None) -> list[float]:
        """Largest of each value over the ranks of a group."""
        shared = self.tensor(values)
        self.dist.all_reduce(shared, op=self.dist.ReduceOp.MAX, group=group)
        return [float(item) for item in shared.cpu().tolist()]

    def barrier(self, group: Any = None) -> None:
        """Wait for the ranks of a group, devices included."""
        self.agree_max([0.0], group)
        self.sync()

    def host_barrier(self) -> None:
        """Wait for all ranks without a kernel on any device: one that spins would share it with what is timed."""
        self.sync()
        self.waits += 1
        store, key = self.dist.distributed_c10d._get_default_store(), f"planner/wait/{self.waits}"
        store.add(key, 1)
        while store.add(key, 0) < self.world:
            time.sleep(0.002)

    def gather(self, item: Any, ranks: int | None = None, group: Any = None) -> list[Any]:
        """What each rank of a group hands in (anything JSON holds), in rank order, on every rank."""
        torch = self.torch
        payload = json.dumps(item).encode()
        length = int(self.agree_max([float(len(payload))], group)[0])
        padded = payload.ljust(length, b" ")
        mine = torch.frombuffer(bytearray(padded), dtype=torch.uint8).to(self.device)
        parts = [torch.empty_like(mine) for _ in range(self.world if ranks is None else ranks)]
        self.dist.all_gather(parts, mine, group=group)
        return [json.loads(bytes(part.cpu().tolist())) for part in parts]

    def out_of_time(self) -> bool:
        """Whether this rank would stop now; ranks that talk to each other agree on it first."""
        return self.stop or self.seconds_left() < 0

    def seconds_left(self) -> float:
        """Until this section must end."""
        return min(self.section_ends_at, self.ends_at) - time.monotonic()

    def note(self, text: str) -> None:
        """Leave a note in the result, once."""
        if self.rank == 0 and text not in self.document["notes"]:
            self.document["notes"].append(text)
            self.say(f"note: {text}")

    def ran_out(self, text: str) -> None:
        """Leave a note that something asked for is missing from the result."""
        self.missing = True
        self.note(text)

    def say(self, text: str) -> None:
        """Progress, from rank 0 alone."""
        if self.rank == 0:
            print(text, file=sys.stderr, flush=True)

    def save(self) -> None:
        """Put what has been measured so far on disk, from rank 0 alone."""
        if self.rank == 0:
            write_document(self.options.out, self.document)

    def free(self) -> None:
        """Hand unused device memory back."""
        if self.on_gpu:
            self.torch.cuda.synchronize()
            self.torch.cuda.empty_cache()

    def free_bytes(self) -> int:
        """Free memory of this rank's device; on a CPU a modest figure."""
        if not self.on_gpu:
            return 1 << 30
        return int(self.torch.cuda.mem_get_info()[0])


def flat_calls(dist: Any) -> tuple[Callable[..., object], Callable[..., object]]:
    """All-gather and reduce-scatter on whole tensors, by torch's newer name (2.13) or the older one."""
    return (
        getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor,
        getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor,
    )


def error_text(error: BaseException) -> str:
    """First line of an error, short enough for a result file and without names or addresses of machines.

    >>> error_text(RuntimeError("read error from 10.0.0.7:1234, more"))
    'RuntimeError: read error from (address):1234, more'
    """
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {covered(lines[0])[:200] if lines else ''}"


def covered(text: str, host: str | None = None) -> str:
    """A text without this machine's name and without addresses."""
    name = socket.gethostname() if host is None else host
    told = _ADDRESS.sub("(address)", text)
    return re.sub(rf"\b{re.escape(name)}\b", "(host)", told) if name else told
