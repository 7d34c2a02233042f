"""A user's own kernels against the reference run of the same accelerator: ratios that correct the models.

The models' shares were found on whole training and serving runs, so a benchmark of single kernels doesn't replace
them. Where two runs of the same benchmark on the same accelerator are known, the shipped one and the user's, their
ratio says how much faster or slower this machine is than the one the models know.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from planner.arrays import Floats
from planner.catalog.profile_kernels import GemmFit, MemoryFit
from planner.catalog.profiles import Profile
from planner.catalog.store import Entry
from planner.choices import Precision
from planner.curves.gemm import GemmConstants, carried_share_of_peak_fraction, gemm_share_of_peak_fraction
from planner.performance.assumed import Assumed
from planner.performance.shelf import Shelf
from planner.sourced import Basis, Source
from planner.units import GIGA, TERA

MOST_RATIO = 1.25
"""Two runs differ by software too; beyond this the machines are not alike."""
LARGE = 8192.0
"""Edge of the product at which two machines are compared: the size of a training layer's."""
READS = "device_read"


def gemm_ratio(assumed: Assumed, shelf: Shelf, precision: Precision, *, own: str = "") -> Floats:
    """Rate of matrix products of the user's machine over the reference run's, shape (n,); 1 without a run.

    Args:
        assumed: Takes the ledger line.
        shelf: Profiles of the accelerator.
        precision: Type of the operands.
        own: Middle of the line's key, for a second kind of accelerator.
    """
    mine, reference = _pair(assumed, shelf)
    for fit, entry in _fits(mine, precision):
        for other, shipped in _fits(reference, precision):
            if fit.implementation == other.implementation and entry.item.id != shipped.item.id:
                ratio = carried_share_of_peak_fraction(
                    share_of_peak_fraction=np.ones(1), measured_fraction=_large_share(fit),
                    reference_measured_fraction=_large_share(other), most_ratio=np.array([MOST_RATIO]),
                )  # fmt: skip
                spread = max(fit.errors.median_fraction, other.errors.median_fraction)
                return _entered(
                    assumed, f"calibration.{own}gemm_{precision.value}_ratio",
                    f"{precision.value} matrix products, this machine over the reference run", float(ratio[0]),
                    spread, entry, f"large products of {entry.item.id} over {shipped.item.id}",
                )  # fmt: skip
    return np.ones(1)


def memory_ratio(assumed: Assumed, shelf: Shelf, *, own: str = "") -> Floats:
    """Rate of reads of the device memory over the reference run's, shape (n,); 1 without a run. `own` as in `gemm_ratio`."""
    mine, reference = _pair(assumed, shelf)
    for fit, entry in _reads(mine):
        for other, shipped in _reads(reference):
            if entry.item.id != shipped.item.id:
                ratio = float(
                    np.clip(fit.rate_gbyte_per_s / other.rate_gbyte_per_s, 1 / MOST_RATIO, MOST_RATIO)
                )
                return _entered(
                    assumed, f"calibration.{own}memory_ratio", "Memory reads, this machine over the reference run",
                    ratio, max(fit.errors.median_fraction, 0.01), entry,
                    f"reads of {entry.item.id} over {shipped.item.id}",
                )  # fmt: skip
    return np.ones(1)


def _pair(assumed: Assumed, shelf: Shelf) -> tuple[Sequence[Entry[Profile]], Sequence[Entry[Profile]]]:
    """The user's profiles of this accelerator, and the shipped ones."""
    layer = assumed.catalog.layer_of
    mine = [entry for entry in shelf.own if layer(Profile, entry.item.id) > 0]
    return mine, [entry for entry in shelf.own if layer(Profile, entry.item.id) == 0]


def _fits(
    entries: Iterable[Entry[Profile]], precision: Precision
) -> Iterable[tuple[GemmFit, Entry[Profile]]]:
    return ((fit, one) for one in entries for fit in one.item.gemm if fit.dtype == precision.value)


def _reads(entries: Iterable[Entry[Profile]]) -> Iterable[tuple[MemoryFit, Entry[Profile]]]:
    return ((fit, one) for one in entries for fit in one.item.memory if fit.family == READS)


def _large_share(fit: GemmFit) -> Floats:
    edge = np.array([LARGE])
    return gemm_share_of_peak_fraction(
        m=edge, n=edge, k=edge, element_bytes=np.array([fit.element_bytes]),
        peak_flop_per_s=np.array([fit.peak_tflop_per_s * TERA]),
        memory_bytes_per_s=np.array([fit.memory_gbyte_per_s * GIGA]),
        constants=GemmConstants.from_values(fit.values.model_dump()),
    )  # fmt: skip


def _entered(
    assumed: Assumed, key: str, label: str, ratio: float, spread: float, entry: Entry[Profile], note: str
) -> Floats:
    if key in assumed.ledger:
        return assumed.use(assumed.ledger[key])
    source = Source(
        where=f"{entry.document.path}:1", source=entry.item.source or "", basis=Basis.MEASURED,
        as_of=entry.item.as_of, note=note,
    )  # fmt: skip
    line = assumed.ledger.given(
        key, label, "1", ratio, source, low=ratio * (1.0 - spread), high=ratio * (1.0 + spread)
    )
    return assumed.use(line)
