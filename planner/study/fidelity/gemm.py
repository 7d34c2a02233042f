"""Measured matrix products of a table, beside the accelerator's measured curve, or a product of training without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from planner.catalog.profile_kernels import GemmFit
from planner.catalog.profiles import Profile
from planner.catalog.store import Catalog, Entry
from planner.choices import Precision
from planner.curves.gemm import GemmConstants, gemm_kernel_time_s
from planner.errors import PlannerError
from planner.measure.parse.read import read_points
from planner.performance.machines import Machine, Machines
from planner.performance.roofline import gemm_time_s
from planner.performance.shelf import shelf_for
from planner.study.fidelity.names import Names
from planner.study.fidelity.schema import GemmRow
from planner.study.fidelity.scoring import Result, without
from planner.study.fidelity.stacks import recipe_of
from planner.units import GIGA, TERA

FORMATS = {
    "bf16": Precision.BF16, "fp16": Precision.BF16, "fp8": Precision.FP8, "fp8_block": Precision.FP8,
    "nvfp4": Precision.FP4,
}  # fmt: skip


def predict_gemm(rows: Sequence[GemmRow], catalog: Catalog) -> list[Result]:
    """Predicted time beside the measured one, a result for each row, in the rows' order."""
    names, machines = Names(catalog), Machines(catalog)
    alike: dict[tuple[str, str, str], list[int]] = {}
    for index, row in enumerate(rows):
        alike.setdefault((row.gpu, row.dtype, row.impl), []).append(index)
    found: dict[int, Result] = {}
    for (gpu, dtype, impl), places in alike.items():
        some = [rows[place] for place in places]
        curve = _curve(gpu, dtype, impl, names)
        if curve is not None:
            made = _on_curve(some, *curve, catalog)
        else:
            machine = _machine(gpu, dtype, names, machines)
            made = (
                [without(_empty(row), machine) for row in some]
                if isinstance(machine, str)
                else _timed(some, machine, dtype)
            )
        found.update(zip(places, made, strict=True))
    return [found[index] for index in range(len(rows))]


def _curve(gpu: str, dtype: str, impl: str, names: Names) -> tuple[GemmFit, Entry[Profile]] | None:
    """The fitted curve of this implementation on this accelerator; a table that names none gets no curve."""
    chip = names.chip(gpu)
    if isinstance(chip, str):
        return None
    own = shelf_for(names.catalog, chip.entry.item).own
    fits = ((fit, entry) for entry in own for fit in entry.item.gemm)
    return next((one for one in fits if (one[0].implementation, one[0].dtype) == (impl, dtype)), None)


def _on_curve(
    rows: Sequence[GemmRow], fit: GemmFit, profile: Entry[Profile], catalog: Catalog
) -> list[Result]:
    """All products of one curve in one call; the band is the error on shapes that the fit left out."""
    folder = catalog.path_of(Profile, profile.item.id).parent
    fitted = {
        (one.m, one.n, one.k)
        for raw in profile.item.raw
        for one in read_points(folder / raw.file).gemms
        if (one.impl or "torch", one.dtype) == (fit.implementation, fit.dtype)
    }
    m, n, k = (np.array([float(getattr(row, name)) for row in rows]) for name in ("m", "n", "k"))
    seconds = gemm_kernel_time_s(
        m=m, n=n, k=k, element_bytes=np.array([fit.element_bytes]),
        peak_flop_per_s=np.array([fit.peak_tflop_per_s * TERA]),
        memory_bytes_per_s=np.array([fit.memory_gbyte_per_s * GIGA]),
        constants=GemmConstants.from_values(fit.values.model_dump()),
    )  # fmt: skip
    width = 1.0 + fit.left_out.p90_fraction
    return [
        replace(
            _empty(row), predicted=float(one) * 1e6, low=float(one) / width * 1e6, high=float(one) * width * 1e6,
            in_sample=(row.m, row.n, row.k) in fitted, assumed=("rung: measured",),
        )
        for row, one in zip(rows, seconds, strict=True)
    ]  # fmt: skip


def _empty(row: GemmRow) -> Result:
    return Result(row.id, "time_us", row.family, row.gpu, row.src, unit="us", measured=row.time_us)


def _machine(gpu: str, dtype: str, names: Names, machines: Machines) -> Machine | str:
    precision = FORMATS.get(dtype)
    if precision is None:
        return f"products of {dtype} aren't modelled"
    chip = names.chip(gpu)
    if isinstance(chip, str):
        return chip
    server = names.server(chip)
    if server is None:
        return f"the catalog has no server with {chip.entry.item.name}"
    try:
        return machines.get(server, precision)
    except PlannerError as error:
        return "; ".join(problem.message for problem in error.problems)


def _timed(rows: Sequence[GemmRow], machine: Machine, dtype: str) -> list[Result]:
    """All products of one machine and format in one call; the band is that of the sustained share of peak."""
    chip, constants = machine.hardware.chip, machine.constants
    scaling = machine.assumed("gemm_fine_scaling_ratio") if recipe_of(dtype).fine_scaling else np.ones(1)
    m, n, k = (np.array([float(getattr(row, name)) for row in rows]) for name in ("m", "n", "k"))
    seconds = gemm_time_s(
        m=m, n=n, k=k, peak_flop_per_s=chip.peak_flop_per_s,
        share_of_peak_fraction=constants.gemm_share_of_peak_fraction * scaling,
        shape_constant=constants.gemm_shape_constant,
        memory_bytes_per_s=chip.memory_bytes_per_s * constants.memory_share_fraction,
        element_bytes=constants.gemm_element_bytes,
    )  # fmt: skip
    band = machine.assumed("model_band_unknown_stack_fraction")[0]
    return [
        replace(
            _empty(row), predicted=float(one) * 1e6, low=float(one * (1.0 - band)) * 1e6,
            high=float(one * (1.0 + band)) * 1e6,
        )
        for row, one in zip(rows, seconds, strict=True)
    ]  # fmt: skip
