"""The driver's management library through ctypes; what a device doesn't tell is None.

Constants and layouts: nvml.h, as the Python package nvidia-ml-py 13 repeats them.
"""

from __future__ import annotations

import ctypes
from typing import Any

LIBRARIES = ("libnvidia-ml.so.1", "libnvidia-ml.so", "/usr/local/nvidia/lib64/libnvidia-ml.so.1")
CLOCK_SM, CLOCK_MEMORY = 1, 2
FIELD_NVLINK_SPEED_COMMON_MBYTE_PER_S, FIELD_NVLINK_LINKS = 90, 91
FIELD_NVLINK_SPEED, FIELD_POWER_INSTANT = 164, 186
MOST_LINKS = 18
P2P_READ, P2P_WRITE, P2P_NVLINK = 0, 1, 2
P2P_STATUS = {0: "ok", 1: "chipset not supported", 2: "GPU not supported", 3: "topology not supported",
              4: "disabled by registry key", 5: "not supported", 6: "unknown"}  # fmt: skip
TOPOLOGY = {0: "same board", 10: "one PCIe switch", 20: "several PCIe switches", 30: "one host bridge",
            40: "one NUMA node", 50: "across NUMA nodes"}  # fmt: skip
REASONS = {
    0x1: "idle", 0x2: "application clocks", 0x4: "power cap", 0x8: "hardware slowdown", 0x10: "sync boost",
    0x20: "thermal (software)", 0x40: "thermal (hardware)", 0x80: "power brake", 0x100: "display clocks",
}  # fmt: skip


class _FieldValue(ctypes.Structure):
    class _Value(ctypes.Union):
        _fields_ = (("double", ctypes.c_double), ("uint", ctypes.c_uint), ("ulong", ctypes.c_ulong),
                    ("ulonglong", ctypes.c_ulonglong), ("longlong", ctypes.c_longlong))  # fmt: skip

    _fields_ = (("field_id", ctypes.c_uint32), ("scope_id", ctypes.c_uint32), ("timestamp", ctypes.c_int64),
                ("latency_us", ctypes.c_int64), ("value_type", ctypes.c_uint), ("status", ctypes.c_uint),
                ("value", _Value))  # fmt: skip


class _PciInfo(ctypes.Structure):
    _fields_ = (("legacy_bus_id", ctypes.c_char * 16), ("domain", ctypes.c_uint), ("bus", ctypes.c_uint),
                ("device", ctypes.c_uint), ("device_id", ctypes.c_uint), ("subsystem_id", ctypes.c_uint),
                ("bus_id", ctypes.c_char * 32))  # fmt: skip


_VALUE_NAMES = {0: "double", 1: "uint", 2: "ulong", 3: "ulonglong", 4: "longlong"}


class Nvml:
    """The library, opened."""

    def __init__(self, library: Any) -> None:
        self._library = library

    @classmethod
    def open(cls) -> Nvml | None:
        """The library, or None where there is no NVIDIA driver."""
        for name in LIBRARIES:
            try:
                library = ctypes.CDLL(name)
                if library.nvmlInit_v2() == 0:
                    return cls(library)
            except (OSError, AttributeError):
                continue
        return None

    def call(self, name: str, *arguments: Any) -> bool:
        """Call a function of the library; false where it is missing or says no."""
        try:
            function = getattr(self._library, name)
        except AttributeError:
            return False
        return bool(function(*arguments) == 0)

    def number(self, name: str, *arguments: Any, kind: Any = ctypes.c_uint) -> int | None:
        """A figure that a function writes to its last argument."""
        found = kind()
        return int(found.value) if self.call(name, *arguments, ctypes.byref(found)) else None

    def text(self, name: str, *arguments: Any) -> str | None:
        """A text that a function writes to a buffer."""
        buffer = ctypes.create_string_buffer(96)
        if not self.call(name, *arguments, buffer, ctypes.c_uint(96)):
            return None
        return buffer.value.decode(errors="replace")

    def devices(self) -> int:
        """Devices the driver shows, hidden ones (CUDA_VISIBLE_DEVICES) included."""
        return self.number("nvmlDeviceGetCount_v2") or 0

    def device(self, index: int) -> Device | None:
        """A device by the driver's own index."""
        handle = ctypes.c_void_p()
        found = self.call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(handle))
        return Device(self, handle) if found else None

    def device_by(self, uuid: str) -> Device | None:
        """A device by its identifier, which CUDA knows too."""
        handle = ctypes.c_void_p()
        name = uuid if uuid.startswith(("GPU-", "MIG-")) else f"GPU-{uuid}"
        found = self.call("nvmlDeviceGetHandleByUUID", ctypes.c_char_p(name.encode()), ctypes.byref(handle))
        return Device(self, handle) if found else None


class Device:
    """One GPU as the driver sees it."""

    def __init__(self, nvml: Nvml, handle: Any) -> None:
        self.nvml = nvml
        self.handle = handle

    def number(self, name: str, *arguments: Any, kind: Any = ctypes.c_uint) -> int | None:
        """A figure of this device."""
        return self.nvml.number(name, self.handle, *arguments, kind=kind)

    def field(self, field_id: int, scope: int = 0) -> float | None:
        """A field value by number."""
        item = _FieldValue(field_id=field_id, scope_id=scope)
        if not self.nvml.call("nvmlDeviceGetFieldValues", self.handle, ctypes.c_int(1), ctypes.byref(item)):
            return None
        name = _VALUE_NAMES.get(item.value_type)
        return float(getattr(item.value, name)) if item.status == 0 and name else None

    def power_w(self) -> float | None:
        """Power now; an average over a second where the device has no momentary figure."""
        now = self.field(FIELD_POWER_INSTANT)
        if not now:
            now = self.number("nvmlDeviceGetPowerUsage")
        return None if now is None else now / 1e3

    def power_is_instant(self) -> bool:
        """Whether `power_w` is momentary."""
        return bool(self.field(FIELD_POWER_INSTANT))

    def energy_j(self) -> float | None:
        """Energy since the driver was loaded."""
        found = self.number("nvmlDeviceGetTotalEnergyConsumption", kind=ctypes.c_ulonglong)
        return None if found is None else found / 1e3

    def clock_mhz(self, clock: int) -> int | None:
        """A clock now."""
        return self.number("nvmlDeviceGetClockInfo", ctypes.c_uint(clock))

    def most_clock_mhz(self, clock: int) -> int | None:
        """A clock's maximum."""
        return self.number("nvmlDeviceGetMaxClockInfo", ctypes.c_uint(clock))

    def temperature_c(self) -> int | None:
        """Temperature of the chip."""
        return self.number("nvmlDeviceGetTemperature", ctypes.c_uint(0))

    def reasons(self) -> int | None:
        """Why the clocks are what they are, as bits."""
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            found = self.number(name, kind=ctypes.c_ulonglong)
            if found is not None:
                return found
        return None

    def limit_w(self) -> float | None:
        """The power limit in force."""
        found = self.number("nvmlDeviceGetEnforcedPowerLimit")
        return None if found is None else found / 1e3

    def bus_id(self) -> str | None:
        """PCI address as the kernel's folders spell it."""
        info = _PciInfo()
        if not self.nvml.call("nvmlDeviceGetPciInfo_v3", self.handle, ctypes.byref(info)):
            return None
        return f"{info.domain:04x}:{info.bus:02x}:{info.device:02x}.0"

    def links(self) -> dict[str, Any]:
        """NVLink: how many are up, and the rate of one, one way.

        The driver's figure is the raw rate, some 6 % above what data sheets count.
        """
        states = [self.number("nvmlDeviceGetNvLinkState", ctypes.c_uint(link)) for link in range(MOST_LINKS)]
        speed = self.field(FIELD_NVLINK_SPEED, 0) or self.field(FIELD_NVLINK_SPEED_COMMON_MBYTE_PER_S)
        return {
            "links_up": sum(state == 1 for state in states),
            "links_down": sum(state == 0 for state in states),
            "links_told": self.field(FIELD_NVLINK_LINKS),
            "link_version": self.number("nvmlDeviceGetNvLinkVersion", ctypes.c_uint(0)),
            "link_raw_mbyte_per_s_one_way": speed,
        }

    def toward(self, other: Device) -> dict[str, Any]:
        """How this device reaches another one."""
        told = {}
        for word, index in (("read", P2P_READ), ("write", P2P_WRITE), ("nvlink", P2P_NVLINK)):
            status = self.number("nvmlDeviceGetP2PStatus", other.handle, ctypes.c_int(index))
            told[word] = None if status is None else P2P_STATUS.get(status, str(status))
        level = self.number("nvmlDeviceGetTopologyCommonAncestor", other.handle)
        return {**told, "path": None if level is None else TOPOLOGY.get(level, str(level))}


def reason_words(bits: int) -> list[str]:
    """Clock reasons in words.

    >>> reason_words(0x24)
    ['power cap', 'thermal (software)']
    """
    return [word for bit, word in REASONS.items() if bits & bit]


def device_of(nvml: Nvml, torch: Any, index: int) -> Device | None:
    """The driver's view of a CUDA device, matched by identifier and, on older torch, by index."""
    uuid = getattr(torch.cuda.get_device_properties(index), "uuid", None)
    if uuid is not None:
        found = nvml.device_by(str(uuid))
        if found is not None:
            return found
    return nvml.device(index)
