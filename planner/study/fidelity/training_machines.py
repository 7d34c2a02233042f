"""Machines of measured training runs: a server of the catalog, or accelerators on a bare host where it has none."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from planner.catalog.schema import Accelerator
from planner.choices import Precision
from planner.performance.links import Links
from planner.performance.machines import Machine, Machines, Node, own_nic_gbit_per_s, with_network
from planner.study.fidelity.machines import behaviour_of, nic_gbit_per_s_per_gpu, server_like
from planner.study.fidelity.names import Names
from planner.study.fidelity.training_draft import Draft
from planner.study.fidelity.unfit import UnfitError

_WIDER = re.compile(r"\b(fp|tf)32\b|\bint8\b|\bfp64\b")
_KNOWN = re.compile(r"fp8|fp4|bf16|fp16|bfloat|float16")


def precision_of(text: str) -> Precision:
    """Narrowest arithmetic of a precision's name.

    Raises:
        UnfitError: Products of that format aren't modelled.

    >>> precision_of("MXFP8").value, precision_of("bf16 / MP PURE").value
    ('fp8', 'bf16')
    """
    low = text.lower()
    wider = _WIDER.search(low)
    if wider is not None and not _KNOWN.search(low):
        raise UnfitError(f"products of {wider[0]} aren't modelled, only those of 16-, 8- and 4-bit floats")
    if "fp4" in low:
        return Precision.FP4
    return Precision.FP8 if "fp8" in low else Precision.BF16


def node_of(draft: Draft, names: Names, machines: Machines) -> Node:
    """The machine a row ran on; settles the arithmetic too.

    Raises:
        UnfitError: The catalog lacks the accelerator.
        DesignError: The accelerator has no such arithmetic.
    """
    row = draft.row
    chip = names.chip(row.gpu)
    if isinstance(chip, str):
        raise UnfitError(chip)
    for said in chip.assumed:
        draft.settle(said)
    draft.precision = _arithmetic(draft, chip.entry.item)
    server = names.server(chip)
    if server is not None:
        return machines.get(server, draft.precision)
    draft.settle(f"bare hosts of {chip.entry.item.id} taken, since the catalog has no server with it")
    return machines.bare(chip.entry, draft.precision, ranks=min(row.n_gpus, row.gpus_per_node or row.n_gpus))


def _arithmetic(draft: Draft, chip: Accelerator) -> Precision:
    """The row's arithmetic, or 16-bit one where 8-bit products run at its rate."""
    asked = precision_of(draft.row.precision)
    narrow = chip.fp8_tflop_per_s
    if asked is not Precision.FP8 or narrow is None or narrow.value > chip.bf16_tflop_per_s.value:
        return asked
    draft.settle(f"16-bit products taken, since {chip.name} has no faster 8-bit ones")
    return Precision.BF16


def links_of(draft: Draft, machine: Node) -> Links:
    """Links of a row's machine in the network that the row states, else in that of its server.

    Raises:
        UnfitError: Nothing says how fast the network is.
    """
    row, found = draft.row, machine.hardware.links
    domain = float(found.domain_ranks[0])
    if domain == machine.node_gpus and row.gpus_per_node is not None and row.gpus_per_node < domain:
        # a box with fewer accelerators than the usual one; trays of a rack and slices of a torus go on outside
        domain = float(row.gpus_per_node)
    node_gpus = row.gpus_per_node or machine.node_gpus
    nodes = row.n_gpus / node_gpus
    inside = replace(found, domain_ranks=np.array([domain]), node_ranks=np.array([float(node_gpus)]))
    rate = nic_gbit_per_s_per_gpu(row.scale_out, node_gpus=node_gpus) or None
    if rate is None and row.n_gpus <= domain and not isinstance(machine, Machine):
        return inside
    if rate is None:
        name, rate = _usual_nics(machine)
        if nodes > 1:
            draft.settle(f"NICs of {name} taken, {rate:g} Gbit/s a GPU")
    made = with_network(
        machine, nodes=nodes, nic_gbit_per_s=rate, behaviour=behaviour_of(row.scale_out), node_gpus=node_gpus
    )
    return replace(made, domain_ranks=inside.domain_ranks)


def _usual_nics(machine: Node) -> tuple[str, float]:
    """A server and the rate of its NICs for each accelerator: the machine's own, else one of the generation."""
    if isinstance(machine, Machine):
        return machine.server.item.id, machine.nic_gbit_per_s
    catalog, chip = machine.assumed.catalog, machine.accelerator.item
    like = server_like(catalog, chip)
    if like is None:
        raise UnfitError(
            f"the row states no network rate, and the catalog has no server of {chip.name} to take one from"
        )
    return like.id, own_nic_gbit_per_s(catalog, like)
