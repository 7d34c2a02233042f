"""Where a run was made: devices, software, links, buses, variables. Host names and serials stay out."""

from __future__ import annotations

import os
import platform
import re
import socket
from collections import Counter
from pathlib import Path
from typing import Any

from planner.measure.run.context import Context, covered
from planner.measure.run.nvml import CLOCK_MEMORY, CLOCK_SM, Device, Nvml, device_of, reason_words
from planner.measure.run.pci import acs_bridges, driver_kind, pci_root

PREFIXES = ("NCCL_", "TORCH_NCCL_", "TORCH_SYMM_MEM_", "CUDA_", "NVSHMEM_", "UCX_", "GLOO_", "NVIDIA_TF32", "OMP_NUM_THREADS",
            "PYTORCH_CUDA_ALLOC_CONF", "FI_", "SHARP_")  # fmt: skip
# Values that say where a machine is rather than how it is set.
UNTOLD = ("NCCL_COMM_ID", "NCCL_DEBUG_FILE", "NCCL_HOSTID", "NVSHMEM_BOOTSTRAP")
_TRANSPORT = re.compile(r"\[\d+\].*\bvia\s+((?:P2P|SHM|NET|COLLNET|NVLS)[/()\w]*)")


def gather_environment(context: Context, nvml: Nvml | None) -> dict[str, Any]:
    """Everything about the machine, on every rank (each device is told by its own rank)."""
    torch = context.torch
    ranks = context.gather(_rank(context, nvml))
    found: dict[str, Any] = {
        "python_version": platform.python_version(),
        "architecture": platform.machine(),
        "cpu": _cpu(),
        "cpu_threads": os.cpu_count(),
        "numa_nodes": len(list(_listed("/sys/devices/system/node", "node[0-9]*"))),
        "torch_version": str(torch.__version__),
        "cuda_version": torch.version.cuda,
        "hip_version": getattr(torch.version, "hip", None),
        "nccl_version": _nccl_version(context),
        "cudnn_version": torch.backends.cudnn.version() if context.on_gpu else None,
        "driver_version": nvml.text("nvmlSystemGetDriverVersion") if nvml else None,
        "ranks": context.world,
        "hosts": len(set(context.hosts)),
        "variables": variables(dict(os.environ), socket.gethostname()),
        "network": _network(),
        "peer_memory_module": _module_loaded("nvidia_peermem", "nv_peer_mem"),
        "driver_kind": driver_kind(_read(Path("/proc/driver/nvidia/version")) or ""),
        "iommu_groups": len(list(_listed("/sys/kernel/iommu_groups", "*"))),
        "iommu_passthrough": bool(re.search(r"\biommu=pt\b", _read(Path("/proc/cmdline")) or "")),
        "acs_bridges": acs_bridges(),
        "devices": ranks,
    }
    if context.on_gpu:
        found["peer_access"] = _peer_access(torch)
        found["topology"] = _topology(torch, nvml) if nvml else None
    return found


def _rank(context: Context, nvml: Nvml | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "rank": context.rank,
        "host": context.hosts[context.rank] if context.hosts else 0,
    }
    if not context.on_gpu:
        return {**found, "name": "CPU"}
    torch = context.torch
    index = context.device.index
    properties = torch.cuda.get_device_properties(index)
    found |= {
        "device_index": index,
        "name": properties.name,
        "memory_bytes": int(properties.total_memory),
        "multiprocessors": int(properties.multi_processor_count),
        "l2_bytes": getattr(properties, "L2_cache_size", None),
        "compute_capability": f"{properties.major}.{properties.minor}",
    }
    device = device_of(nvml, torch, index) if nvml else None
    return {**found, **(_driver_view(device) if device else {})}


def _driver_view(device: Device) -> dict[str, Any]:
    reasons = device.reasons()
    bus = device.bus_id()
    return {
        "pci_bus_id": bus,
        "numa_node": _read(Path("/sys/bus/pci/devices") / bus / "numa_node") if bus else None,
        "pci_root": pci_root(Path("/sys/bus/pci/devices") / bus) if bus else None,
        "power_limit_w": device.limit_w(),
        "most_sm_clock_mhz": device.most_clock_mhz(CLOCK_SM),
        "most_memory_clock_mhz": device.most_clock_mhz(CLOCK_MEMORY),
        "clock_reasons_at_start": None if reasons is None else reason_words(reasons),
        "pcie_generation": device.number("nvmlDeviceGetCurrPcieLinkGeneration"),
        "pcie_lanes": device.number("nvmlDeviceGetCurrPcieLinkWidth"),
        "most_pcie_generation": device.number("nvmlDeviceGetMaxPcieLinkGeneration"),
        "most_pcie_lanes": device.number("nvmlDeviceGetMaxPcieLinkWidth"),
        "nvlink": device.links(),
    }


def variables(present: dict[str, str], host: str) -> dict[str, str]:
    """Variables that bear on the result; host names and addresses in their values are covered.

    >>> variables({"NCCL_DEBUG": "INFO", "HOME": "/root", "NCCL_SOCKET_IFNAME": "n1-eth"}, "n1")
    {'NCCL_DEBUG': 'INFO', 'NCCL_SOCKET_IFNAME': '(host)-eth'}
    """
    found = {}
    for name in sorted(present):
        if not name.startswith(PREFIXES) or name.startswith(UNTOLD):
            continue
        found[name] = covered(present[name], host)
    return found


def transports(log: str) -> dict[str, int]:
    """How NCCL connected its channels, counted from its own log.

    >>> transports("x:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM")
    {'P2P/CUMEM': 1}
    """
    counted: Counter[str] = Counter()
    for line in log.splitlines():
        match = _TRANSPORT.search(line)
        if match:
            counted[re.sub(r"/\d+(\(\d+\))?", "", match[1])] += 1
        elif "NVLS multicast support is available" in line:
            counted["NVLS multicast available"] += 1
        elif "NVLS multicast support is not available" in line:
            counted["NVLS multicast not available"] += 1
    return dict(sorted(counted.items()))


def _nccl_version(context: Context) -> str | None:
    if not context.on_gpu:
        return None
    try:
        told = context.torch.cuda.nccl.version()
    except (AttributeError, RuntimeError):
        return None
    return ".".join(str(part) for part in told) if isinstance(told, tuple) else str(told)


def _peer_access(torch: Any) -> list[list[bool]]:
    count = torch.cuda.device_count()
    return [
        [a == b or bool(torch.cuda.can_device_access_peer(a, b)) for b in range(count)] for a in range(count)
    ]


def _topology(torch: Any, nvml: Nvml) -> list[dict[str, Any]]:
    devices = [device_of(nvml, torch, index) for index in range(torch.cuda.device_count())]
    return [
        {"from_device": a, "to_device": b, **one.toward(other)}
        for a, one in enumerate(devices)
        for b, other in enumerate(devices)
        if a < b and one is not None and other is not None
    ]


def _network() -> list[dict[str, Any]]:
    """RDMA ports: their name, rate and kind."""
    found = []
    for port in sorted(_listed("/sys/class/infiniband", "*/ports/*")):
        adapter = port.parent.parent
        found.append({
            "adapter": adapter.name,
            "port": port.name,
            "rate": _read(port / "rate"),
            "state": _read(port / "state"),
            "link_layer": _read(port / "link_layer"),
            "numa_node": _read(adapter / "device" / "numa_node"),
            "pci_root": pci_root(adapter / "device"),
        })  # fmt: skip
    return found


def _module_loaded(*names: str) -> bool:
    loaded = {line.split()[0] for line in (_read(Path("/proc/modules")) or "").splitlines() if line.split()}
    return any(name in loaded for name in names)


def _cpu() -> str | None:
    for line in (_read(Path("/proc/cpuinfo")) or "").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return None


def _listed(folder: str, pattern: str) -> list[Path]:
    try:
        return list(Path(folder).glob(pattern))
    except OSError:
        return []


def _read(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None
