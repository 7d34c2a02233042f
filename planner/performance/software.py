"""Corrections of the training model by kind of software, arithmetic and accelerator.

Year and kind of the software decide more than its name: stacks of 2021 and 2022 write attention scores to memory
and hide no communication, compiled ones lose in attention, and mixtures of experts changed between releases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.catalog.schema import Accelerator
from planner.choices import Scaling, Software
from planner.performance.corrections import TrainingConstants

__all__ = [
    "MEASURED_SHARES",
    "TORCH",
    "UNFUSED",
    "Figures",
    "Scaling",
    "Setting",
    "Software",
    "best_shares",
    "has_fast_softmax",
    "other_share",
    "training_constants",
]

Figures = Callable[[str], Floats]
"""A figure of ``catalog/assumptions/performance.yaml`` by its key."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What decides which corrections hold.

    Attributes:
        generation: ``ampere``, ``hopper``, ``blackwell`` or ``other``.
        form: ``16bit``, ``fp8`` or ``nvfp4``.
        release: Year and month of the framework's release; None where it isn't known, which counts as 2025.
        windowed: Its attention has windows and sinks.
        async_tensor: Tensor-parallel communication runs in pieces beside the matrix products.
        fast_softmax: The accelerator takes twice the exponentials of its generation, as Blackwell Ultra does.
        power_ratio: Power limit over that of the part on which the rate was found.
        head_power_ratio: The same for 16-bit products.
        best_shares: Share of peak of the best product measured on an accelerator whose generation isn't tabulated,
            of 16-bit and of 8-bit products; 0 where none was measured.
    """

    software: Software
    generation: str
    form: str
    scaling: Scaling = Scaling.TENSOR
    release: tuple[int, int] | None = None
    windowed: bool = False
    async_tensor: bool = False
    fast_softmax: bool = False
    power_ratio: float = 1.0
    head_power_ratio: float = 1.0
    best_shares: tuple[float, float] = (0.0, 0.0)


UNFUSED: Final = frozenset({Software.MEGATRON_2021, Software.DEEPSPEED_2022, Software.ZERO3_2021})
"""Software whose attention runs in steps."""
TORCH: Final = frozenset({Software.FSDP_COMPILED, Software.FSDP_EAGER})
"""Software written in plain PyTorch: projections apart, context parallelism by PyTorch's ring."""
ELEMENT_BYTES: Final = {"16bit": 2.0, "fp8": 1.0, "nvfp4": 0.5625}
MEASURED_SHARES: Final = frozenset(
    {("ampere", "16bit"), ("hopper", "16bit"), ("hopper", "fp8"), ("blackwell", "16bit"), ("blackwell", "fp8"),
     ("blackwell", "nvfp4")}
)  # fmt: skip
_TRAFFIC: Final = {
    Software.MEGATRON_CORE: "megatron_core", Software.MLPERF: "megatron_core", Software.FSDP_COMPILED: "compiled",
    Software.FSDP_EAGER: "eager", Software.FSDP_2023: "fsdp_2023",
}  # fmt: skip
_OVERLAP: Final = {Software.MEGATRON_CORE: "megatron_core", Software.MLPERF: "mlperf"}
_ATTENTION: Final = {
    Software.FSDP_COMPILED: "attention_stack_ratio_torchtitan",
    Software.FSDP_EAGER: "attention_stack_ratio_torchtitan",
    Software.FSDP_2023: "attention_stack_ratio_fsdp_2023",
}


def has_fast_softmax(accelerator: Accelerator) -> bool:
    """Whether an accelerator takes twice the exponentials of its generation's first parts."""
    return accelerator.generation == "blackwell-ultra"


def training_constants(figure: Figures, setting: Setting) -> TrainingConstants:
    """All corrections for a setting, from the catalog's figures.

    Args:
        figure: Reads a figure.
        setting: Software, arithmetic, accelerator.

    Returns:
        Fields of the shape that `figure` returns.

    Source:
        planner-training-notes, sections 3, 4 and 9.
    """
    special = (
        _products(figure, setting)
        | _attention(figure, setting)
        | _communication(figure, setting)
        | _experts(figure, setting)
    )
    old = setting.software in UNFUSED
    special["memory_traffic_factor"] = figure(
        f"training_memory_traffic_factor_{'megatron_2021' if old else _TRAFFIC[setting.software]}"
    )
    deepspeed = setting.software is Software.DEEPSPEED_2022
    special["engine_slowdown_fraction"] = (
        figure("training_engine_slowdown_fraction_deepspeed") if deepspeed else np.zeros(1)
    )
    plain = {
        field.name: figure(f"training_{field.name}")
        for field in fields(TrainingConstants)
        if field.name not in special
    }
    return TrainingConstants(**special, **plain)


def _products(figure: Figures, setting: Setting) -> dict[str, Floats]:
    form = setting.form
    width = "16bit" if form == "16bit" else "narrow"
    exponent = figure("power_exponent")
    share = _share(figure, setting, form) * setting.power_ratio**exponent
    if form != "16bit" and setting.scaling is Scaling.ROW:
        share = share * figure("gemm_rowwise_fp8_ratio")
    if form != "16bit" and setting.scaling is Scaling.FINE:
        share = share * figure("gemm_fine_scaling_ratio")
    return {
        "gemm_share_of_peak_fraction": share,
        "gemm_shape_constant": figure(f"gemm_shape_constant_{width}"),
        "head_gemm_share_of_peak_fraction": _share(figure, setting, "16bit")
        * setting.head_power_ratio**exponent,
        "head_gemm_shape_constant": figure("gemm_shape_constant_16bit"),
        "gemm_element_bytes": np.array([ELEMENT_BYTES[form]]),
        "separate_projections": np.array([float(setting.software in TORCH)]),
        "cast_bytes_per_element": figure(f"training_cast_bytes_per_element_{width}"),
        "weight_cast_bytes_per_parameter": figure(f"training_weight_cast_bytes_per_parameter_{width}"),
    }


def _share(figure: Figures, setting: Setting, form: str) -> Floats:
    if (setting.generation, form) in MEASURED_SHARES:
        return figure(f"gemm_share_of_peak_{setting.generation}_{form}_fraction")
    shares = np.array([setting.best_shares[0]]), np.array([setting.best_shares[1]])
    return other_share(figure, form, best_wide_fraction=shares[0], best_narrow_fraction=shares[1])


def other_share(
    figure: Figures, form: str, *, best_wide_fraction: Floats, best_narrow_fraction: Floats
) -> Floats:
    """Share of peak that a training step's products reach on an accelerator whose generation isn't tabulated.

    Tabulated generations keep in training a part of what their best product reaches. Where only 16-bit products were
    measured, 8-bit ones stand to them as the guesses do.

    Args:
        figure: Reads a figure.
        form: ``16bit``, or a narrower format.
        best_wide_fraction: Share of peak of the best 16-bit product; 0 where none was measured.
        best_narrow_fraction: Of the best 8-bit product, likewise.

    Source:
        ml-engineering-accelerators (best shapes), planner-training-notes (training steps).

    >>> figures = {"training_products_over_best_ratio": 0.9, "gemm_share_of_peak_other_16bit_fraction": 0.6,
    ...     "gemm_share_of_peak_other_fp8_fraction": 0.5}
    >>> half = np.array([0.5])
    >>> [float(other_share(lambda key: np.array([figures[key]]), form, best_wide_fraction=half,
    ...     best_narrow_fraction=np.zeros(1))[0]) for form in ("16bit", "fp8")]
    [0.45, 0.375]
    """
    kept, wide = (
        figure("training_products_over_best_ratio"),
        figure("gemm_share_of_peak_other_16bit_fraction"),
    )
    found = np.where(best_wide_fraction > 0.0, best_wide_fraction * kept, wide)
    if form == "16bit":
        return found
    narrow = figure("gemm_share_of_peak_other_fp8_fraction") * found / wide
    return np.where(best_narrow_fraction > 0.0, best_narrow_fraction * kept, narrow)


def best_shares(accelerator: Accelerator) -> tuple[float, float]:
    """Shares of peak of an accelerator's best measured products, 16-bit and 8-bit; 0 where none was measured."""
    wide, narrow = accelerator.gemm_bf16_share_of_peak_fraction, accelerator.gemm_fp8_share_of_peak_fraction
    return (0.0 if wide is None else wide.value, 0.0 if narrow is None else narrow.value)


def _attention(figure: Figures, setting: Setting) -> dict[str, Floats]:
    if setting.software in UNFUSED:
        return {
            "attention_share_of_peak_fraction": figure("attention_share_of_peak_unfused_fraction"),
            "attention_flop_ratio": np.array([2.0]),
            "score_traffic_bytes_per_entry": figure("training_score_traffic_bytes_per_entry_unfused"),
            "attention_backward_flop_ratio": np.array([2.0]),
            "attention_backward_rate_fraction": np.ones(1),
            "attention_sequence_constant_tokens": np.zeros(1),
        }
    share = figure(f"attention_share_of_peak_{setting.generation}_fraction")
    if setting.software in _ATTENTION:
        share = share * figure(_ATTENTION[setting.software])
    if setting.fast_softmax:
        share = share * figure("attention_fast_softmax_ratio")
    if setting.windowed:
        share = share * figure("attention_sinks_ratio")
    return {
        "attention_share_of_peak_fraction": share,
        "attention_flop_ratio": np.ones(1),
        "score_traffic_bytes_per_entry": np.zeros(1),
    }


def _communication(figure: Figures, setting: Setting) -> dict[str, Floats]:
    software = setting.software
    old = software in UNFUSED
    tensor = "async" if setting.async_tensor else _OVERLAP.get(software, "older")
    data = "older" if old else "mlperf" if software is Software.MLPERF else "megatron_core"
    zero3 = software is Software.ZERO3_2021
    overlap = figure(f"tensor_overlap_fraction_{tensor}")
    if software in _OVERLAP:
        # a stack that hides more by itself loses nothing by running in pieces
        overlap = np.maximum(overlap, figure(f"tensor_overlap_fraction_{_OVERLAP[software]}"))
    return {
        "tensor_overlap_fraction": overlap,
        "data_overlap_fraction": figure(f"data_overlap_fraction_{data}"),
        "sharded_hiding_fraction": figure(f"training_sharded_hiding_fraction{'_older' if old else ''}"),
        "sharded_network_share_fraction": figure("training_sharded_network_share_fraction_older")
        if zero3
        else np.ones(1),
        "context_slowdown_fraction": figure("training_context_slowdown_fraction_torch")
        if software in TORCH
        else np.zeros(1),
        "sharded_ring_step_s": figure("training_sharded_ring_step_s_older") if zero3 else np.zeros(1),
    }


def _experts(figure: Figures, setting: Setting) -> dict[str, Floats]:
    """Exchange, permutation, host and grouped products by release."""
    release = setting.release or (2025, 1)
    late = release >= (2026, 6)
    spread = "from_2026" if release >= (2026, 1) else "before_2026"
    grouped = "_blackwell" if setting.generation == "blackwell" else ""
    return {
        "expert_exposed_fraction": figure(f"expert_exposed_fraction_{'from' if late else 'before'}_2026_06"),
        "permute_passes": figure(f"permute_passes_{'from' if late else 'before'}_2026_06"),
        "sparse_layer_host_s": figure(f"sparse_layer_host_s_{'from_2026_06' if late else '2025'}"),
        "expert_once_per_domain_fraction": figure(f"expert_once_per_domain_fraction_{spread}"),
        "grouped_gemm_share_ratio": figure(f"grouped_gemm_share_ratio{grouped}"),
    }
