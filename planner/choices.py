"""Choices that a scenario offers and the models understand."""

from __future__ import annotations

from enum import StrEnum


class Topology(StrEnum):
    """Shape of the scale-out fabric. A cluster that fits on one switch is built on it."""

    RAIL_OPTIMISED = "rail-optimised"
    RAIL_ONLY = "rail-only"
    SINGLE_SWITCH = "single-switch"
    NONE = "none"


class Precision(StrEnum):
    """Arithmetic of the large matrix products."""

    BF16 = "bf16"
    FP8 = "fp8"
    FP4 = "fp4"


class Recompute(StrEnum):
    """Activations that are computed again in the backward pass."""

    NONE = "none"
    SELECTIVE = "selective"
    FULL = "full"


class Sharding(StrEnum):
    """What data-parallel ranks share out among themselves."""

    ZERO1 = "zero1"
    FSDP = "fsdp"
