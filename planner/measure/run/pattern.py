"""Fills buffers with exact, periodic values and checks what a collective made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planner.measure.run.rules import Counts, contributing, modulus, rank_shift, value


@dataclass(frozen=True)
class Segment:
    """A run of elements that must equal the periodic tile from a phase on; summed says which tile."""

    start: int
    length: int
    phase: int
    summed: bool = False


def given(op: str, rank: int, count: Counts, period: int) -> Segment:
    """What a rank holds before the collective."""
    del op
    return Segment(0, count.send, rank_shift(rank, period))


def expected(op: str, rank: int, ranks: int, count: Counts, period: int) -> list[Segment]:
    """What a rank must hold after the collective."""
    if op == "all_reduce":
        return [Segment(0, count.receive, 0, summed=True)]
    if op == "reduce_scatter":
        return [Segment(0, count.receive, rank * count.receive % period, summed=True)]
    if op == "broadcast":
        return [Segment(0, count.receive, rank_shift(0, period))]
    if op == "sendrecv":
        return [Segment(0, count.receive, rank_shift((rank - 1) % ranks, period))]
    part = count.receive // ranks
    # All-gather: sender's whole part. All-to-all: the piece of the sender's buffer that is for this rank.
    offset = rank * part if op == "all_to_all" else 0
    return [
        Segment(sender * part, part, (rank_shift(sender, period) + offset) % period)
        for sender in range(ranks)
    ]


class Patterns:
    """Tiles of one period and more on the device, kept so that filling and checking are plain copies."""

    def __init__(self, torch: Any, device: Any, chunk: int) -> None:
        self._torch = torch
        self._device = device
        self._chunk = chunk
        self._tiles: dict[tuple[str, int, int, bool], Any] = {}

    def tile(self, op: str, dtype: str, ranks: int, *, summed: bool) -> Any:
        """The periodic values, or their sum over all ranks, as raw elements of the type."""
        period = modulus(op, dtype, ranks)
        key = (dtype, period, ranks if summed else 0, summed)
        if key not in self._tiles:
            row = [value(index, 0, period) for index in range(period)]
            if summed:
                shifts = [
                    rank_shift(rank, period) for rank in range(ranks) if contributing(rank, op, dtype, ranks)
                ]
                row = [sum(row[(index + shift) % period] for shift in shifts) for index in range(period)]
            torch = self._torch
            one = torch.tensor(row, dtype=torch.float32, device=self._device)
            whole = one.repeat(self._chunk // period + 2)[: self._chunk + period]
            self._tiles[key] = comparable(torch, whole.to(torch_dtype(torch, dtype)).contiguous())
        return self._tiles[key]

    def fill(self, buffer: Any, op: str, dtype: str, rank: int, ranks: int, count: Counts) -> None:
        """Give a rank's buffer its values."""
        segment = given(op, rank, count, modulus(op, dtype, ranks))
        target = comparable(self._torch, buffer)
        if not contributing(rank, op, dtype, ranks):
            target.zero_()
            return
        tile = self.tile(op, dtype, ranks, summed=False)
        self._each(target, segment, tile, modulus(op, dtype, ranks), lambda part, want: part.copy_(want))

    def wrong(self, buffer: Any, op: str, dtype: str, rank: int, ranks: int, count: Counts) -> int:
        """How many elements of a rank's result differ from what they must be."""
        period = modulus(op, dtype, ranks)
        target = comparable(self._torch, buffer)
        found: list[Any] = []
        for segment in expected(op, rank, ranks, count, period):
            tile = self.tile(op, dtype, ranks, summed=segment.summed)
            self._each(target, segment, tile, period,
                       lambda part, want: found.append(self._torch.count_nonzero(part != want)))  # fmt: skip
        return int(sum(int(item) for item in self._torch.stack(found).cpu().tolist())) if found else 0

    def _each(self, target: Any, segment: Segment, tile: Any, period: int, act: Any) -> None:
        for done in range(0, segment.length, self._chunk):
            length = min(self._chunk, segment.length - done)
            start = segment.start + done
            phase = (segment.phase + done) % period
            act(target[start : start + length], tile[phase : phase + length])


def torch_dtype(torch: Any, dtype: str) -> Any:
    """The type of that name in torch.

    Raises:
        RuntimeError: This torch has no such type.
    """
    name = {"bf16": "bfloat16", "fp32": "float32", "fp8": "float8_e4m3fn"}[dtype]
    if not hasattr(torch, name):
        raise RuntimeError(f"this torch has no {name}")
    return getattr(torch, name)


def comparable(torch: Any, tensor: Any) -> Any:
    """The tensor itself, or its bytes for 8-bit floats, on which torch has hardly an operation."""
    return tensor.view(torch.uint8) if tensor.element_size() == 1 else tensor


def poison(torch: Any, buffer: Any) -> None:
    """Fill with not-a-number in every type, so that an element nobody wrote shows."""
    buffer.view(torch.uint8).fill_(255)
