"""Which figures of the catalog the joint fit moves, and what was believed of them before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.performance.software import Figures
from planner.study.fidelity.training import catalog_figures
from planner.study.fit.solve import Prior

DEVIATIONS_TO_P90: Final = 1.2816
"""Standard deviations from the middle of a normal distribution to its 90th percentile."""

FITTED: Final = (
    "gemm_share_of_peak_ampere_16bit_fraction",
    "gemm_share_of_peak_hopper_16bit_fraction",
    "gemm_share_of_peak_hopper_fp8_fraction",
    "gemm_share_of_peak_blackwell_16bit_fraction",
    "gemm_share_of_peak_blackwell_fp8_fraction",
    "gemm_share_of_peak_blackwell_nvfp4_fraction",
    "gemm_rowwise_fp8_ratio",
    "gemm_fine_scaling_ratio",
    "power_exponent",
    "gemm_shape_constant_16bit",
    "gemm_shape_constant_narrow",
    "attention_share_of_peak_ampere_fraction",
    "attention_share_of_peak_hopper_fraction",
    "attention_share_of_peak_blackwell_fraction",
    "attention_share_of_peak_unfused_fraction",
    "training_score_traffic_bytes_per_entry_unfused",
    "training_misaligned_head_ratio",
    "attention_stack_ratio_torchtitan",
    "attention_stack_ratio_fsdp_2023",
    "attention_sinks_ratio",
    "attention_fast_softmax_ratio",
    "training_attention_sequence_constant_tokens",
    "training_attention_head_dim_exponent",
    "training_memory_traffic_factor_megatron_core",
    "training_memory_traffic_factor_megatron_2021",
    "training_memory_traffic_factor_compiled",
    "training_memory_traffic_factor_fsdp_2023",
    "training_memory_traffic_factor_eager",
    "training_gradient_traffic_bytes_per_parameter",
    "training_layer_fixed_s",
    "tensor_overlap_fraction_megatron_core",
    "tensor_overlap_fraction_mlperf",
    "tensor_overlap_fraction_async",
    "data_overlap_fraction_megatron_core",
    "data_overlap_fraction_mlperf",
    "training_pipeline_bubble_ratio",
    "training_engine_slowdown_fraction_deepspeed",
    "training_context_slowdown_fraction_torch",
    "training_context_step_s",
    "training_sharded_slowdown_fraction",
    "training_sharded_network_share_fraction_older",
    "training_sharded_ring_step_s_older",
    "training_expert_transfer_efficiency_fraction",
    "expert_exposed_fraction_from_2026_06",
    "grouped_gemm_share_ratio",
    "grouped_gemm_share_ratio_blackwell",
    "permute_passes_before_2026_06",
    "permute_passes_from_2026_06",
    "sparse_layer_host_s_2025",
    "training_step_fixed_s",
)
"""At most 50; the other figures of the training model are definitions, or nothing measured moves them."""


@dataclass(frozen=True, slots=True)
class Constants:
    """Figures that a fit moves.

    Attributes:
        keys: Their names.
        prior: Of their logarithms: the middle of low and high, which are P10 and P90 and are not left.
        given: The catalog's own figures, for all others.
    """

    keys: tuple[str, ...]
    prior: Prior
    given: Figures

    def figures(self, parameters: Floats) -> Figures:
        """Figures with those of the fit in their places.

        Args:
            parameters: Logarithms, shape (draws, parameters).

        Returns:
            Figures of shape (draws, 1) for those of the fit, (1,) for others.
        """
        values = {key: np.exp(parameters[:, at : at + 1]) for at, key in enumerate(self.keys)}

        def figure(key: str) -> Floats:
            return values[key] if key in values else self.given(key)

        return figure


def constants(catalog: Catalog) -> Constants:
    """The figures of `FITTED` with their ranges in a catalog.

    A prior doesn't look at a figure's value, so a fit that was written down doesn't move the next one.
    """
    ranges = [catalog.figure("performance", key)[0] for key in FITTED]
    low = np.log([figure.low or figure.value for figure in ranges])
    high = np.log([figure.high or figure.value for figure in ranges])
    prior = Prior((low + high) / 2.0, (high - low) / (2.0 * DEVIATIONS_TO_P90), low, high)
    return Constants(FITTED, prior, catalog_figures(catalog))
