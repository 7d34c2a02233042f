"""What was measured on one kind of machine, as fitted curves with their errors: the head of a calibration profile.

The raw points lie beside the YAML file, named under ``raw``, so that a profile can be fitted again.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Self

from pydantic import Field, model_validator

from planner.catalog.figure import Date, Finite, Frozen, Id
from planner.catalog.item import Item
from planner.catalog.profile_kernels import (
    AttentionFit,
    FitErrors,
    GemmFit,
    MemoryFit,
    OverlapFit,
    PowerStateFit,
)

COLLECTIVES = (
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive", "reduce",
    "gather", "scatter", "hypercube", "custom_all_reduce",
)  # fmt: skip
"""Operations a profile may hold; ``custom_all_reduce`` are the serving engines' own kernels."""


class Path(StrEnum):
    """What the bytes of a measured collective went through."""

    SCALE_UP = "scale_up"
    HOST_STAGED = "host_staged"
    NETWORK = "network"


class Mode(StrEnum):
    """How the calls were made.

    ``device`` takes graph-captured calls where there are any and eager ones above: what the GPUs need.
    ``eager`` holds the host's work of a call too.
    """

    DEVICE = "device"
    EAGER = "eager"


class RegimeFit(Frozen):
    """One regime of a message-size curve: time = start + ramp x sqrt(bytes) + slope x bytes."""

    from_bytes: Finite = Field(ge=0)
    start_us: Finite = Field(ge=0, le=1e9)
    ramp_ns_per_sqrt_byte: Finite = Field(default=0.0, ge=0, le=1e9)
    ps_per_byte: Finite = Field(ge=0, le=1e9)


class CollectiveFit(Frozen):
    """Time of one operation in one group over message size."""

    op: str
    ranks: int = Field(ge=2)
    nodes: int = Field(default=1, ge=1)
    path: Path = Path.SCALE_UP
    mode: Mode = Mode.DEVICE
    dtype: str
    implementation: str = ""
    """Library or engine and its version."""
    min_bytes: int = Field(ge=1)
    max_bytes: int = Field(ge=1)
    """Sizes that were measured; a prediction outside is an extrapolation."""
    regimes: tuple[RegimeFit, ...] = Field(min_length=1)
    errors: FitErrors
    """On the points fitted."""
    left_out: FitErrors | None = None
    """On sizes left out of the fit, every fourth in turn."""

    @model_validator(mode="after")
    def _is_a_curve(self) -> Self:
        if self.op not in COLLECTIVES:
            raise ValueError(f"'{self.op}' is no collective; known: {', '.join(COLLECTIVES)}")
        sizes = [one.from_bytes for one in self.regimes]
        if sizes != sorted(set(sizes)):
            raise ValueError("regimes must come by rising from_bytes")
        if self.nodes > self.ranks:
            raise ValueError(f"{self.nodes} nodes hold {self.ranks} ranks, and each holds one or more")
        for one in self.regimes:
            if max(one.start_us, one.ramp_ns_per_sqrt_byte, one.ps_per_byte) <= 0:
                raise ValueError("a regime takes no time")
        if self.min_bytes > self.max_bytes:
            raise ValueError(f"min_bytes {self.min_bytes} is above max_bytes {self.max_bytes}")
        return self


class RawFile(Frozen):
    """A file of points a profile was fitted from."""

    file: str
    """Beside the profile, or below it."""
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Profile(Item):
    """A calibration: fitted measurements of one accelerator on one kind of link."""

    family: ClassVar[str] = "profiles"

    accelerator: Id
    scaleup: Id | None = None
    """Link inside the box, an item of ``scaleup``."""
    as_of: Date
    """When it was measured."""
    source: Id | None = None
    """Publication of tables that are not the planner's own; none for runs of ``planner bench``."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Versions and settings: driver, CUDA, torch, NCCL, variables. Never names of machines."""
    raw: tuple[RawFile, ...] = ()
    collectives: tuple[CollectiveFit, ...] = ()
    gemm: tuple[GemmFit, ...] = ()
    attention: tuple[AttentionFit, ...] = ()
    memory: tuple[MemoryFit, ...] = ()
    power: tuple[PowerStateFit, ...] = ()
    overlap: tuple[OverlapFit, ...] = ()
