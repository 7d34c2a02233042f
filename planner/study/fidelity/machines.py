"""What publications say of a measured machine: its network, its variant, its power limit."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from planner.catalog.schema import Accelerator, Server
from planner.catalog.schema import Fabric as FabricKind
from planner.catalog.store import Catalog
from planner.performance.hardware import Hardware
from planner.scenario.parts import BEHAVIOUR_BY_FABRIC
from planner.units import BITS_PER_BYTE, GIB

EFA = "efa-srd"
_COUNTED = re.compile(
    r"(\d+)\s*x\s*(?:[^,;:()]*?\s)?\(?(\d+)\s*G(b/s|bps|bit/s|b/sec|B/s|Bps)?\b", re.IGNORECASE
)
_BYTES = ("B/s", "Bps")
_WHOLE = re.compile(r"(\d+)\s*Gb/s per (node|gpu)", re.IGNORECASE)


def nic_gbit_per_s_per_gpu(text: str, *, node_gpus: int) -> float | None:
    """Network rate of one accelerator that a publication states, Gbit/s one direction; None where it doesn't.

    The largest product of a count and a rate counts, which leaves storage and management ports aside.

    >>> nic_gbit_per_s_per_gpu("InfiniBand NDR 8x400G/node", node_gpus=8)
    400.0
    >>> nic_gbit_per_s_per_gpu("RoCE 1600 Gb/s per node", node_gpus=8)
    200.0
    >>> nic_gbit_per_s_per_gpu("EFA v4 8x50 GB/s per node", node_gpus=8)
    400.0
    >>> nic_gbit_per_s_per_gpu("8x HDR InfiniBand 200 Gb/s per node (Selene)", node_gpus=8)
    200.0
    >>> nic_gbit_per_s_per_gpu("Storage: 2x BF3 400Gb/s, Compute: 4x ConnectX-7 IB NDR 400 Gb/s", node_gpus=4)
    400.0
    """
    counted = [
        float(count) * float(rate) * (BITS_PER_BYTE if unit in _BYTES else 1.0)
        for count, rate, unit in _COUNTED.findall(text)
    ]
    if counted:
        return max(counted) / node_gpus
    whole = _WHOLE.search(text)
    if whole is None:
        return None
    return float(whole[1]) / (1 if whole[2].lower() == "gpu" else node_gpus)


def behaviour_of(text: str) -> str:
    """Fabric of the catalog that a network's description names; InfiniBand where it names none.

    >>> behaviour_of("RoCE 1600 Gb/s per node"), behaviour_of("not stated")
    ('ethernet-ecmp-tuned', 'infiniband-adaptive')
    """
    low = text.lower()
    if re.search(r"\befa\b", low):
        return EFA
    wired = "roce" in low or ("ethernet" in low and "infiniband" not in low and " ib " not in low)
    return BEHAVIOUR_BY_FABRIC[FabricKind.ETHERNET if wired else FabricKind.INFINIBAND]


_WATTS = re.compile(r"(\d{3,4})\s*W\b")
_MEMORY = re.compile(r"([\d.]+)\s*TB/s")
_SIZE = re.compile(r"(\d+)\s*GB\b")


def power_limit_w(accelerator: Accelerator, text: str) -> float | None:
    """Power limit that a variant's name states and that differs from the catalog's; None otherwise."""
    found = _WATTS.search(text)
    if found is None or accelerator.tdp_w is None or float(found[1]) == accelerator.tdp_w.value:
        return None
    return float(found[1])


def as_variant(machine: Hardware, text: str) -> Hardware:
    """Hardware with the memory rate and size that a variant's description states."""
    rate, size, chip = _MEMORY.search(text), _SIZE.search(text), machine.chip
    if rate is not None:
        chip = replace(chip, memory_bytes_per_s=np.array([float(rate[1]) * 1e12]))
    if size is not None:
        chip = replace(chip, memory_bytes=np.array([float(size[1]) * GIB]))
    return replace(machine, chip=chip)


def server_like(catalog: Catalog, chip: Accelerator) -> Server | None:
    """The first server of the catalog with accelerators of the same maker and generation; None without one.

    >>> from planner.resources import shipped
    >>> catalog = Catalog([shipped("catalog")])
    >>> server_like(catalog, catalog.get(Accelerator, "h800-sxm-80gb")).id
    'dgx-h100'
    """
    for item_id in catalog.ids(Server):
        server = catalog.get(Server, item_id)
        other = catalog.get(Accelerator, server.accelerator)
        if server.orderable and (other.vendor, other.generation) == (chip.vendor, chip.generation):
            return server
    return None
