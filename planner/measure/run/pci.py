"""What the PCIe tree and the driver say of how devices reach each other, read from the kernel's files."""

from __future__ import annotations

import re
from pathlib import Path

BRIDGE_CLASS = 6


def driver_kind(version: str) -> str | None:
    """Whether the NVIDIA driver's kernel modules are the open ones, from /proc/driver/nvidia/version.

    >>> driver_kind("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.1"), driver_kind("")
    ('open', None)
    """
    if not version:
        return None
    return "open" if "Open Kernel Module" in version else "proprietary"


def pci_root(device: Path) -> str | None:
    """The host bridge (with its first port) that a device hangs under: what shares it is near.

    The kernel's folder of a device lies below its bridges: /sys/devices/pci0000:16/0000:16:01.0/...
    """
    try:
        parts = device.resolve(strict=True).parts
    except OSError:
        return None
    return next((part for part in parts if re.fullmatch(r"pci[0-9a-f]{4,}:[0-9a-f]{2}", part)), None)


def acs_bridges() -> int | None:
    """PCIe bridges that send requests of one device to another up to the root; None where that can't be read.

    Capabilities beyond the first 64 bytes are shown to root alone.
    """
    seen = [
        data
        for path in Path("/sys/bus/pci/devices").glob("*/config")
        if (data := _bytes(path)) and data[0x0B] == BRIDGE_CLASS
    ]
    readable = [data for data in seen if len(data) > 0x100]
    return sum(redirects(data) for data in readable) if readable else None


def redirects(config: bytes) -> bool:
    """Whether a bridge's access control (ACS) redirects peer-to-peer requests, from its PCIe configuration space.

    Source: PCI Express Base Specification, Access Control Services: extended capability 0x000D, control register
    at offset 6, bit 2 request redirect, bit 3 completion redirect.

    >>> redirects(bytes(0x100) + bytes.fromhex("0d000100") + bytes([0, 0, 0x0C, 0]) + bytes(8))
    True
    >>> redirects(bytes(0x100) + bytes.fromhex("0d000100") + bytes([0, 0, 0x01, 0]) + bytes(8))
    False
    """
    place = 0x100
    for _ in range(64):
        if place < 0x100 or place + 8 > len(config):
            return False
        head = int.from_bytes(config[place : place + 4], "little")
        if head & 0xFFFF == 0x000D:
            return bool(int.from_bytes(config[place + 6 : place + 8], "little") & 0x0C)
        place = head >> 20
    return False


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
