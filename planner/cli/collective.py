"""The collective command: predicted time and bandwidth of one operation on a named system."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap

import numpy as np

from planner.catalog.schema import Accelerator, FabricBehaviour, Nic, ScaleUp, Server, Switch
from planner.catalog.store import Catalog, open_catalog
from planner.errors import InputError, Problem, nearest
from planner.measure.parse.points import DTYPES
from planner.measure.run.findings import size_text
from planner.measure.run.rules import parse_bytes
from planner.performance.collective_model import CollectiveModel, Network, Prediction, System
from planner.performance.collectives import Collective
from planner.performance.exchange_model import predict_exchange
from planner.performance.expert_exchange import Kernel, Phase, TokenWork, token_bytes
from planner.performance.group_curves import Rung
from planner.performance.hardware import host_slot_bytes_per_s
from planner.performance.ladder import NARROW
from planner.scenario.parts import BEHAVIOUR_BY_FABRIC
from planner.units import BITS_PER_BYTE, GIGA, bytes_per_s

OPERATIONS: dict[str, Collective | Phase] = {
    **{one.value: one for one in Collective},
    "alltoall": Collective.ALL_TO_ALL, "sendrecv": Collective.SEND_RECEIVE,
    "moe_dispatch": Phase.DISPATCH, "moe_combine": Phase.COMBINE,
}  # fmt: skip
"""Names of the product and of nccl-tests."""


def predict_one(
    *,
    op: str,
    size: str,
    gpus: int,
    system: str,
    nodes: int | None,
    nic: str | None,
    switch: str | None,
    dtype: str,
    in_network: bool,
    staged: bool,
    profiles: Sequence[str],
    exchange: ExchangeOptions,
    catalog: Sequence[Path],
    as_json: bool,
) -> int:
    """Predict and print.

    Raises:
        InputError: Wrong options, all of them at once.
        CatalogError: No such part or profile.
    """
    operation, message_bytes = _checked(op, size, dtype)
    shelf = open_catalog(catalog)
    built = system_of(
        shelf, system, gpus=gpus, nodes=nodes, nic=nic, switch=switch, in_network=in_network, profiles=profiles,
        staged=staged,
    )  # fmt: skip
    boxes = nodes or boxes_for(shelf, system, gpus)
    if isinstance(operation, Phase):
        answer = _exchanged(built, operation, message_bytes, gpus, boxes, DTYPES[dtype], exchange)
        print(json.dumps(answer, indent=1, allow_nan=False) if as_json else as_text(answer))
        return 0
    model = CollectiveModel(built, dtype=DTYPES.get(dtype, dtype))
    for refused in model.domain.shelf.refused:
        print(f"not used: profile {refused}", file=sys.stderr)
    found = model.predict(operation, message_bytes=np.array([float(message_bytes)]), ranks=gpus, nodes=boxes)
    answer = as_object(found, operation, message_bytes, gpus, boxes)
    print(json.dumps(answer, indent=1, allow_nan=False) if as_json else as_text(answer))
    return 0


@dataclass(frozen=True, slots=True)
class ExchangeOptions:
    """What an expert exchange needs beside its bytes."""

    hidden: int = 7168
    top_k: int = 8
    experts: int = 256
    low_latency: bool = False


def _exchanged(
    system: System, phase: Phase, size: int, gpus: int, nodes: int, dtype: str, options: ExchangeOptions
) -> dict[str, object]:
    """An expert exchange of so many bytes a rank sends, under the names of the contract."""
    width = np.array([1.0 if dtype in NARROW else 2.0])
    one = np.ones(1)
    token = TokenWork(
        one, one * options.hidden, one * options.top_k, one * options.experts, width, one * np.inf
    )
    tokens = size / float(token_bytes(token)[0] * options.top_k)
    found = predict_exchange(
        system, phase=phase, kernel=Kernel.LOW_LATENCY if options.low_latency else Kernel.NORMAL,
        work=replace(token, tokens=one * tokens), ranks=gpus, nodes=nodes,
    )  # fmt: skip
    return {
        "op": f"moe_{phase.value}", "bytes": size, "gpus": gpus, "nodes": nodes, "time_s": found.time_s,
        "low_s": found.low_s, "high_s": found.high_s, "algbw_gbyte_per_s": size / found.time_s / GIGA,
        "busbw_gbyte_per_s": found.logical_bytes / found.payload_s / GIGA,
        "algorithm": "low-latency kernels" if options.low_latency else "normal kernels",
        "limited_by": "NIC" if nodes > 1 else "scale-up link", "rung": found.rung.value,
        "extrapolated": found.rung is not Rung.MEASURED, "profile": None, "how": found.how,
    }  # fmt: skip


def _checked(op: str, size: str, dtype: str) -> tuple[Collective | Phase, int]:
    problems = []
    if op not in OPERATIONS:
        problems.append(
            Problem(
                f"no operation '{op}'", remedy=nearest(op, OPERATIONS) or f"one of {', '.join(OPERATIONS)}"
            )
        )
    if dtype not in DTYPES:
        problems.append(
            Problem(f"no data type '{dtype}'", remedy=nearest(dtype, DTYPES) or f"one of {', '.join(DTYPES)}")
        )
    count = 0
    try:
        count = parse_bytes(size)
    except ValueError as error:
        problems.append(Problem(f"--bytes: {error}"))
    else:
        if count < 1:
            problems.append(Problem("--bytes is 0, and a message has bytes"))
    if problems:
        raise InputError(problems)
    return OPERATIONS[op], count


def boxes_for(catalog: Catalog, system: str, gpus: int) -> int:
    """Servers or racks that so many GPUs fill."""
    return -(-gpus // catalog.get(Server, system).gpus)


def system_of(
    catalog: Catalog,
    server_id: str,
    *,
    gpus: int,
    nodes: int | None,
    nic: str | None = None,
    switch: str | None = None,
    in_network: bool = False,
    profiles: Sequence[str] = (),
    staged: bool = False,
) -> System:
    """The machine that the options describe.

    Args:
        catalog: Where parts are looked up.
        server_id: Server or rack.
        gpus: Ranks.
        nodes: Servers or racks they stand in; as few as hold them by default.
        nic, switch: Other parts than the server's own NIC and a 64-port leaf.
        in_network: Whether the network's switches add up.
        profiles: Calibration profiles that go first.
        staged: Whether peer-to-peer is off inside a server.

    Raises:
        InputError: The ranks don't spread evenly, or don't fit.
        CatalogError: No such part.
    """
    server = catalog.entry(Server, server_id).item
    accelerator = catalog.entry(Accelerator, server.accelerator)
    scaleup = catalog.entry(ScaleUp, accelerator.item.scaleup) if accelerator.item.scaleup else None
    boxes = nodes or boxes_for(catalog, server_id, gpus)
    what = "racks" if server.is_rack else "servers"
    if gpus % boxes:
        raise InputError(
            Problem(f"{gpus} GPUs don't spread evenly over {boxes} {what}", remedy="change --gpus or --nodes")
        )
    if gpus // boxes > server.gpus:
        raise InputError(
            Problem(f"{gpus // boxes} GPUs don't fit a {server.name} of {server.gpus}", remedy=f"--nodes {boxes_for(catalog, server_id, gpus)}")
        )  # fmt: skip
    network = _network(catalog, server, nic, switch, in_network) if boxes > 1 else None
    return System(
        catalog,
        accelerator,
        scaleup,
        server.scaleup_domain_gpus,
        gpus // boxes,
        network,
        tuple(profiles),
        staged,
    )


def _network(
    catalog: Catalog, server: Server, nic_id: str | None, switch_id: str | None, in_network: bool
) -> Network:
    nic = catalog.get(Nic, nic_id or server.compute_nics.nic)
    fabric, leaf = nic.fabrics[0], 32.0
    if switch_id is not None:
        switch = catalog.get(Switch, switch_id)
        if switch.fabric not in nic.fabrics:
            raise InputError(
                Problem(f"{switch.name} is {switch.fabric.value}, which {nic.name} doesn't speak",
                        remedy="choose another --switch or --nic")
            )  # fmt: skip
        fabric = switch.fabric
        rate = nic.port_rate_gbit_per_s.value
        per_cage = min(switch.links_per_cage_max, max(1, int(switch.cage_rate_gbit_per_s // rate)))
        leaf = switch.cages * per_cage / 2.0
    behaviour = "efa-srd" if nic.id.startswith("efa") else BEHAVIOUR_BY_FABRIC[fabric]
    entry = catalog.entry(FabricBehaviour, behaviour)
    gain = entry.item.in_network_reduction_gain
    if in_network and gain is None:
        raise InputError(
            Problem(f"{entry.item.name} has no switches that add up", remedy="leave --in-network out")
        )
    rate = nic.port_rate_gbit_per_s.value * nic.ports * server.compute_nics.count / server.gpus
    return Network(
        behaviour=entry, nic_bytes_per_s=bytes_per_s(rate), host_bytes_per_s=host_slot_bytes_per_s(catalog, nic),
        leaf_nodes=leaf, reduction_gain_ratio=gain.value if in_network and gain is not None else 1.0,
    )  # fmt: skip


def as_object(
    found: Prediction, operation: Collective, size: int, gpus: int, nodes: int
) -> dict[str, object]:
    """The answer under the names of the contract."""
    return {
        "op": operation.value, "bytes": size, "gpus": gpus, "nodes": nodes, "time_s": float(found.time_s[0]),
        "low_s": float(found.low_s[0]), "high_s": float(found.high_s[0]),
        "algbw_gbyte_per_s": float(found.algbw_bytes_per_s[0]) / GIGA,
        "busbw_gbyte_per_s": float(found.busbw_bytes_per_s[0]) / GIGA, "algorithm": found.algorithm,
        "limited_by": found.limited_by[0], "rung": found.rung.value, "extrapolated": bool(found.extrapolated[0]),
        "profile": found.profile or None, "how": found.how,
    }  # fmt: skip


def _wrapped(text: str, rung: str) -> list[str]:
    """The rung and what it rests on, within 80 columns."""
    said = text if text.startswith(rung) else f"{rung}: {text}"
    return wrap(said, 78, initial_indent="  rung       ", subsequent_indent=" " * 13)


def as_text(answer: dict[str, object]) -> str:
    """The answer for a terminal."""
    microseconds = [float(str(answer[key])) * 1e6 for key in ("time_s", "low_s", "high_s")]
    algorithm, bus = (float(str(answer[key])) for key in ("algbw_gbyte_per_s", "busbw_gbyte_per_s"))
    boxes = "one server or rack" if answer["nodes"] == 1 else f"{answer['nodes']} servers or racks"
    lines = [
        f"{answer['op']} of {size_text(int(str(answer['bytes'])))}, {answer['gpus']} GPUs in {boxes}",
        f"  time       {microseconds[0]:,.1f} us   (P10 {microseconds[1]:,.1f}, P90 {microseconds[2]:,.1f})",
        f"  algorithm  {algorithm:,.1f} GB/s = {algorithm * BITS_PER_BYTE:,.0f} Gbit/s",
        f"  bus        {bus:,.1f} GB/s = {bus * BITS_PER_BYTE:,.0f} Gbit/s",
        f"  runs as    {answer['algorithm']}",
        f"  limited by {answer['limited_by']}",
        *_wrapped(
            f"{answer['how']}" + (" (extrapolated)" if answer["extrapolated"] else ""), str(answer["rung"])
        ),
        f"  profile    {answer['profile'] or 'none'}",
    ]
    return "\n".join(lines)
