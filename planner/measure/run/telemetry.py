"""Samples power, clocks, temperature and clock reasons beside the run, by what the GPU was doing."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

from planner.measure.run.nvml import CLOCK_MEMORY, CLOCK_SM, Device, reason_words
from planner.measure.run.stats import percentile, significant

PERIOD_S = 0.05


@dataclass(frozen=True)
class Sample:
    """One look at the device."""

    time_s: float
    state: str
    power_w: float | None
    sm_mhz: int | None
    memory_mhz: int | None
    temperature_c: int | None
    reasons: int | None


class Telemetry:
    """A thread that looks at one device about twenty times a second."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.samples: list[Sample] = []
        self._state = "start"
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin to sample."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._done.set()
        self._thread.join(timeout=2)

    def state(self, name: str) -> None:
        """Say what the device does from now on."""
        self._state = name

    def look(self) -> Sample:
        """Sample once."""
        device = self.device
        return Sample(time.monotonic(), self._state, device.power_w(), device.clock_mhz(CLOCK_SM),
                      device.clock_mhz(CLOCK_MEMORY), device.temperature_c(), device.reasons())  # fmt: skip

    def _watch(self) -> None:
        while not self._done.wait(PERIOD_S):
            self.samples.append(self.look())


def summary(samples: list[Sample]) -> dict[str, Any]:
    """Mean and p95 of what was sampled in one state."""
    found: dict[str, Any] = {"samples": len(samples)}
    columns: tuple[tuple[str, list[float]], ...] = (
        ("power_w", [item.power_w for item in samples if item.power_w is not None]),
        ("sm_clock_mhz", [float(item.sm_mhz) for item in samples if item.sm_mhz is not None]),
        ("memory_clock_mhz", [float(item.memory_mhz) for item in samples if item.memory_mhz is not None]),
        ("temperature_c", [float(item.temperature_c) for item in samples if item.temperature_c is not None]),
    )
    for name, values in columns:
        if values:
            found[f"mean_{name}"] = significant(sum(values) / len(values))
            found[f"p95_{name}"] = significant(percentile(values, 95))
    told = [item.reasons for item in samples if item.reasons is not None]
    words = sorted({word for bits in told for word in reason_words(bits)})
    found["clock_reason_fraction"] = {
        word: significant(sum(word in reason_words(bits) for bits in told) / len(told), 3) for word in words
    }
    return found


def summaries(samples: list[Sample]) -> list[dict[str, Any]]:
    """One summary for each state, in the order in which the states came."""
    by_state: dict[str, list[Sample]] = {}
    for item in samples:
        by_state.setdefault(item.state, []).append(item)
    return [{"state": state, **summary(items)} for state, items in by_state.items()]
