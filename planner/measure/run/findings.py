"""What a diagnosis is made of: findings with a code, a severity, a sentence and the figures behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from planner.measure.run.expected import Expectation, Range, expectation_for
from planner.measure.run.stats import significant

SEVERITIES = ("ok", "note", "warning", "fault")
_OPS = {"all_reduce": "all-reduce", "all_gather": "all-gather", "reduce_scatter": "reduce-scatter",
        "all_to_all": "all-to-all", "broadcast": "broadcast", "sendrecv": "send/receive"}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One thing that a run shows."""

    code: str
    severity: str
    sentence: str
    figures: dict[str, Any] = field(default_factory=dict)

    def recorded(self) -> dict[str, Any]:
        """As it stands in the result."""
        return {
            "code": self.code,
            "severity": self.severity,
            "sentence": self.sentence,
            "figures": self.figures,
        }


class Run:
    """A result document, with what its sections hold at hand."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.environment: dict[str, Any] = document.get("environment") or {}
        self.devices: list[dict[str, Any]] = self.environment.get("devices") or []
        self.variables: dict[str, str] = self.environment.get("variables") or {}
        self.transports: dict[str, int] = self.environment.get("nccl_transports") or {}
        names = {str(device.get("name")) for device in self.devices}
        self.device_name = names.pop() if len(names) == 1 else ""
        self.expectation: Expectation | None = expectation_for(self.device_name)

    @property
    def on_gpu(self) -> bool:
        """Whether GPUs were measured at all."""
        return self.document.get("backend") == "nccl"

    def points(self, section: str) -> list[dict[str, Any]]:
        """The points of a section that were measured."""
        return [point for point in (self.document.get("sections") or {}).get(section) or []
                if point.get("median_us") and "error" not in point]  # fmt: skip

    def records(self, section: str) -> list[dict[str, Any]]:
        """The records of a section that isn't made of timed points, such as power and overlap."""
        found = (self.document.get("sections") or {}).get(section) or []
        return [record for record in found if "error" not in record]


def rate_text(gbyte_per_s: float) -> str:
    """A rate in bytes and in bits, both decimal.

    >>> rate_text(344.2)
    '344 GB/s (2,754 Gbit/s)'
    """
    digits = ".0f" if gbyte_per_s >= 99.5 else ".3g"
    return f"{gbyte_per_s:{digits}} GB/s ({gbyte_per_s * 8:,.{0 if gbyte_per_s >= 1 else 3}f} Gbit/s)"


def size_text(size_bytes: float) -> str:
    """A binary size.

    >>> size_text(1024), size_text(8 * 2**30), size_text(1500), size_text(1000 * 2**20)
    ('1 KiB', '8 GiB', '1.46 KiB', '1000 MiB')
    """
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:.{3 if size_bytes < 1000 * scale else 4}g} {unit}"
    return f"{size_bytes:.0f} B"


def percent(fraction: float) -> str:
    """A share in words.

    >>> percent(0.764)
    '76 %'
    """
    return f"{fraction * 100:.0f} %"


def op_text(op: str) -> str:
    """A collective as one says it.

    >>> op_text("all_to_all")
    'all-to-all'
    """
    return _OPS.get(op, op)


def judged(expected: Range | None, share: float, scale: float, unit: str) -> tuple[str, str, dict[str, Any]]:
    """Severity, the end of a sentence, and figures, for a share beside what is expected of it.

    >>> judged(Range(0.7, 0.8, ("h200",)), 0.75, 450.0, "GB/s")[:2]
    ('ok', 'expected 315-360 GB/s: healthy')
    >>> judged(Range(0.7, None), 0.5, 450.0, "GB/s")[:2]
    ('warning', 'expected 315 GB/s or more: too low')
    """
    if expected is None:
        return "note", "no expectation is known for this", {}
    high = expected.high
    span = f"{expected.low * scale:.0f}" + (
        f" {unit} or more" if high is None else f"-{high * scale:.0f} {unit}"
    )
    verdict = expected.verdict(share)
    word = {"within": "healthy", "below": "too low", "above": "better than known"}[verdict]
    figures = {
        "expected_low": significant(expected.low * scale),
        "expected_high": None if high is None else significant(high * scale),
        "measured_on": list(expected.measured_on),
        "verdict": verdict,
    }
    return ("warning" if verdict == "below" else "ok"), f"expected {span}: {word}", figures
