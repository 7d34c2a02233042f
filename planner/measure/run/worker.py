"""One rank of a run: joins the others, runs the sections, and (rank 0) writes the result as it grows."""

from __future__ import annotations

import gc
import hashlib
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import NoReturn

from planner.measure.run import attention, gemm, memory, nccl, overlap, power, serve, train
from planner.measure.run.context import Context, error_text, load_torch
from planner.measure.run.diagnosis import tell
from planner.measure.run.document import new_document, utc_now
from planner.measure.run.environment import gather_environment, transports
from planner.measure.run.groups import host_indexes
from planner.measure.run.launch import STARTED, WORKER
from planner.measure.run.nvml import Nvml, device_of
from planner.measure.run.options import Options, time_share
from planner.measure.run.telemetry import Telemetry, summaries

# Lets one machine play several hosts in a test: so many ranks on each.
RANKS_PER_HOST = "PLANNER_MEASURE_RANKS_PER_HOST"
OWN_LOG = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT"}


@dataclass(frozen=True)
class Place:
    """Where a process stands among the others."""

    rank: int
    world: int
    local_rank: int


def place_in(variables: Mapping[str, str]) -> Place | None:
    """The place that a launcher (ours, torchrun, Slurm) gave this process; None where there is none.

    >>> place_in({"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1"})
    Place(rank=3, world=4, local_rank=1)
    >>> place_in({"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}) is None
    True
    """
    if "RANK" in variables and "WORLD_SIZE" in variables:
        return Place(
            int(variables["RANK"]), int(variables["WORLD_SIZE"]), int(variables.get("LOCAL_RANK", "0"))
        )
    if int(variables.get("SLURM_NTASKS", "1")) > 1 and "SLURM_PROCID" in variables:
        return Place(int(variables["SLURM_PROCID"]), int(variables["SLURM_NTASKS"]),
                     int(variables.get("SLURM_LOCALID", "0")))  # fmt: skip
    return None


def work(options: Options, place: Place) -> int:
    """Run all sections; 0 when the result is whole."""
    os.environ.update(RANK=str(place.rank), WORLD_SIZE=str(place.world), LOCAL_RANK=str(place.local_rank))
    os.environ.setdefault("MASTER_PORT", "29500")
    if os.environ.get(WORKER):
        _end_with_parent()
    log = _nccl_log(place) if options.backend == "nccl" else None
    context = _join(options, place)
    # torch collects garbage before each CUDA graph; what is loaded by now needn't be looked at again.
    gc.freeze()
    _stop_on_signal(context)
    nvml = Nvml.open() if context.on_gpu else None
    telemetry = _telemetry(context, nvml)
    try:
        context.hosts = host_indexes([int(tag) for tag in context.gather(_host_tag(place.rank))])
        context.document["environment"] = gather_environment(context, nvml)
        if log:
            for name in OWN_LOG:
                context.document["environment"]["variables"].pop(name, None)
        context.save()
        _sections(context, telemetry)
        if telemetry:
            telemetry.stop()
        told = context.gather(
            [{"rank": place.rank, **row} for row in summaries(telemetry.samples if telemetry else [])]
        )
        if place.rank == 0:
            context.document["telemetry"] = [row for rank in told for row in rank]
            if log:
                context.document["environment"]["nccl_transports"] = transports(_text(log))
            context.document["finished_utc"] = utc_now()
            context.save()
            context.say(f"wrote {options.out}")
            if not os.environ.get(WORKER):
                tell(options.out, as_json=options.as_json)
    finally:
        if log:
            log.unlink(missing_ok=True)
    _leave(context)
    code = 130 if context.stop else 0
    if {"train", "serve"} & set(options.sections):
        _end(code)
    return code


def _join(options: Options, place: Place) -> Context:
    torch = load_torch()
    on_gpu = options.backend == "nccl"
    device = torch.device("cpu")
    if on_gpu:
        # Where Slurm shows each process its own GPU only, there is one to choose from.
        device = torch.device("cuda", place.local_rank % torch.cuda.device_count())
        torch.cuda.set_device(device)
    torch.manual_seed(1234 + place.rank)
    dist = torch.distributed
    dist.init_process_group(options.backend, timeout=timedelta(minutes=30))
    started = float(os.environ.get(STARTED, repr(time.time())))
    ends_at = time.monotonic() + options.deadline_s - (time.time() - started)
    document = new_document(options.backend, options.recorded())
    return Context(torch, dist, place.rank, place.world, device, on_gpu, options, document, ends_at)


def _sections(context: Context, telemetry: Telemetry | None) -> None:
    runs: dict[str, Callable[[], None]] = {
        "nccl": lambda: nccl.run(context),
        "gemm": lambda: gemm.run(context),
        "attention": lambda: attention.run(context),
        "memory": lambda: memory.run(context),
        "power": lambda: power.run(context, telemetry),
        "overlap": lambda: overlap.run(context),
        "train": lambda: train.run(context, telemetry),
        "serve": lambda: serve.run(context, telemetry),
    }
    asked = context.options.sections
    context.section_ends_at = context.ends_at
    for place, name in enumerate(asked):
        if context.agree_max([float(context.out_of_time())])[0]:
            context.ran_out(f"stopped before {name}; missing: {', '.join(asked[place:])}")
            return
        start = time.monotonic()
        context.section_ends_at = start + time_share(name, asked[place:], context.ends_at - start)
        context.say(f"== {name}")
        context.state(name)
        try:
            runs[name]()
        except Exception as error:  # the sections after this one are still worth measuring
            print(f"rank {context.rank}: {name}: {error_text(error)}", file=sys.stderr, flush=True)
            context.ran_out(f"{name} broke off: {error_text(error)}")
        context.free()
        context.section_ends_at = context.ends_at
        context.document["section_seconds"][name] = round(time.monotonic() - start, 2)
        context.save()
    context.state("end")
    context.document["complete"] = not (context.stop or context.missing)


def _telemetry(context: Context, nvml: Nvml | None) -> Telemetry | None:
    device = device_of(nvml, context.torch, context.device.index) if nvml else None
    if device is None:
        return None
    found = Telemetry(device)
    context.state = found.state
    found.start()
    return found


def _host_tag(rank: int) -> int:
    """A number that differs from host to host and from which no name can be read back in practice."""
    played = os.environ.get(RANKS_PER_HOST)
    if played:
        return rank // int(played)
    told = f"{socket.gethostname()} {_text(Path('/proc/sys/kernel/random/boot_id')).strip()}"
    return int.from_bytes(hashlib.sha256(told.encode()).digest()[:6], "big")


def _stop_on_signal(context: Context) -> None:
    """The first signal asks for an orderly stop, the second one ends the process."""

    def handle(number: int, _frame: FrameType | None) -> None:
        if context.stop:
            raise SystemExit(128 + number)
        context.stop = True

    signal.signal(signal.SIGINT, handle)
    signal.signal(signal.SIGTERM, handle)


def _end_with_parent() -> None:
    """A launcher that is killed outright can't end its processes; they look for it themselves."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _nccl_log(place: Place) -> Path | None:
    """Has NCCL write how it connects to a file of our own, unless the user set its log otherwise."""
    if place.rank != 0 or any(name.startswith("NCCL_DEBUG") for name in os.environ):
        return None
    handle, name = tempfile.mkstemp(prefix="planner-nccl-", suffix=".log")
    os.close(handle)
    os.environ.update(OWN_LOG, NCCL_DEBUG_FILE=name)
    return Path(name)


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _end(code: int) -> NoReturn:
    """End this process without tearing its libraries down, whose order is left to chance.

    Sharded models and captured collectives keep groups of processes alive to the very end, and now and then a thread
    of theirs is still running when they go: C++ then aborts a process whose work is done and written.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _leave(context: Context) -> None:
    try:
        context.barrier()
        context.dist.destroy_process_group()
    except RuntimeError as error:
        print(f"rank {context.rank}: leaving: {error_text(error)}", file=sys.stderr, flush=True)
