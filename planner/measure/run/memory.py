"""Memory: on the device, between host and device, and between devices."""

from __future__ import annotations

from typing import Any

from planner.measure.run.cases import Case, run_cases
from planner.measure.run.context import Context
from planner.measure.run.timing import Call

MIB = 1024 * 1024


def run(context: Context) -> None:
    """Measure the device on all ranks at once; the host's links alone and at once; pairs of devices."""
    run_cases(context, "memory", device_cases(context))
    if not context.on_gpu:
        context.note("memory: host and peer copies need a GPU")
        return
    context.free()
    run_cases(context, "memory", host_cases(context), alone=True)
    if context.world > 1:
        run_cases(context, "memory", host_cases(context))
    context.free()
    run_cases(context, "memory", peer_cases(context), alone=True)
    context.free()


def device_cases(context: Context) -> list[Case]:
    """Copy, read (a sum) and write (a fill); a copy counts its bytes twice, read and written."""
    sizes = [size * MIB for size in ((256, 1024) if context.quick else (16, 64, 256, 1024, 4096))]
    if not context.on_gpu:
        sizes = [MIB]
    return [_device(context, kind, size) for kind in ("copy", "read", "write") for size in sizes]


def _device(context: Context, kind: str, size: int) -> Case:
    torch = context.torch

    def build(_found: dict[str, Any]) -> list[Call]:
        here = torch.randn(size // 4, device=context.device, dtype=torch.float32)
        if kind == "copy":
            there = torch.empty_like(here)
            return [lambda: there.copy_(here)]
        if kind == "read":
            return [lambda: torch.sum(here)]
        return [lambda: here.fill_(1.5)]

    moved = float(size * 2 if kind == "copy" else size)
    return Case({"family": f"device_{kind}", "size_bytes": size}, build, moved_bytes=moved)


def host_cases(context: Context) -> list[Case]:
    """Host to device and back, from pinned and pageable memory."""
    sizes = [size * MIB // 16 for size in ((256, 4096) if context.quick else (1, 16, 256, 1024, 4096, 16384))]
    return [
        _host(context, direction, pinned, size)
        for pinned in (True, False)
        for direction in ("h2d", "d2h")
        for size in sizes
    ]


def _host(context: Context, direction: str, pinned: bool, size: int) -> Case:
    torch = context.torch

    def build(_found: dict[str, Any]) -> list[Call]:
        # Written once, so that the pages exist before the clock runs.
        host = torch.ones(size, dtype=torch.uint8)
        if pinned:
            host = host.pin_memory()
        device = torch.ones(size, dtype=torch.uint8, device=context.device)
        if direction == "h2d":
            return [lambda: device.copy_(host, non_blocking=pinned)]
        return [lambda: host.copy_(device, non_blocking=pinned)]

    named = {"family": direction, "pinned": pinned, "size_bytes": size}
    return Case(named, build, moved_bytes=float(size))


def peer_cases(context: Context) -> list[Case]:
    """Copies from this device to each other one that this process sees, one way and both at once."""
    torch = context.torch
    here = torch.device(context.device).index or 0
    others = [index for index in range(torch.cuda.device_count()) if index != here]
    if not others:
        context.note("memory: no second GPU visible to one process, so no peer copy")
    sizes = [size * MIB // 16 for size in ((4096,) if context.quick else (1, 16, 256, 4096, 16384))]
    return [
        _peer(context, here, other, both, size)
        for other in (others[:1] if context.quick else others[:7])
        for both in (False, True)
        for size in sizes
    ]


def _peer(context: Context, here: int, other: int, both: bool, size: int) -> Case:
    torch = context.torch

    def build(found: dict[str, Any]) -> list[Call]:
        found["peer_access"] = bool(torch.cuda.can_device_access_peer(here, other))
        near = [torch.ones(size, dtype=torch.uint8, device=f"cuda:{here}") for _ in range(2)]
        far = [torch.ones(size, dtype=torch.uint8, device=f"cuda:{other}") for _ in range(2)]
        if not both:
            return [lambda: far[0].copy_(near[0], non_blocking=True)]
        # Each way on a stream of its own (a copy runs on its source's stream and waits for its target's).
        out = (torch.cuda.Stream(here), torch.cuda.Stream(other))
        back = (torch.cuda.Stream(here), torch.cuda.Stream(other))

        def exchange() -> None:
            main = torch.cuda.current_stream(here)
            for stream in (*out, *back):
                stream.wait_stream(main)
            with torch.cuda.stream(out[1]), torch.cuda.stream(out[0]):
                far[0].copy_(near[0], non_blocking=True)
            with torch.cuda.stream(back[1]), torch.cuda.stream(back[0]):
                near[1].copy_(far[1], non_blocking=True)
            for stream in (*out, *back):
                main.wait_stream(stream)

        return [exchange]

    named = {"family": "peer_both_ways" if both else "peer", "from_device": here, "to_device": other,
             "size_bytes": size, "counted": "one way"}  # fmt: skip
    return Case(named, build, moved_bytes=float(size))
