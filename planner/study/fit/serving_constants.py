"""Which figures of serving the joint fit moves, and what was believed of them before."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.catalog.store import Catalog
from planner.performance.assumed import SERVING_FILE
from planner.study.fidelity.serving_batch import serving_figures
from planner.study.fit.constants import DEVIATIONS_TO_P90, Constants
from planner.study.fit.solve import Prior

ENGINES: Final = ("tensorrt_llm", "vllm", "sglang")
SHARED: Final = (
    "serving_memory_share_ratio", "serving_gemm_share_ratio", "serving_expert_gemm_share_ratio",
    "serving_expert_tile_tokens", "serving_expert_skew", "serving_expert_imbalance_ratio", "serving_kv_share_ratio",
    "serving_kv_arithmetic_share_ratio", "serving_prefill_attention_share_ratio", "serving_all_reduce_ratio",
    "serving_gemm_fixed_ratio", "serving_quantise_fixed_ratio_fp8", "serving_quantise_fixed_ratio_fp8_block",
    "serving_quantise_fixed_ratio_nvfp4", "serving_fixed_ratio_blackwell", "serving_layer_fixed_s",
    "serving_sparse_layer_fixed_s", "serving_query_key_norm_s", "serving_element_bytes_per_value",
    "serving_expert_traffic_factor", "serving_offline_sequence_ratio",
)  # fmt: skip
"""Kernels and machines, alike for all engines."""
OF_ENGINE: Final = ("step_fixed_s", "sequence_fixed_s", "replica_sequence_fixed_s")
OF_CLIENT: Final = ("first_token_fixed_s", "first_token_decode_steps", "request_host_s")
FITTED: Final = (
    *SHARED,
    *(
        f"serving_{name}_{engine}"
        for name in (*OF_ENGINE, *OF_CLIENT, "lockstep_fraction")
        for engine in ENGINES
    ),
    *(f"serving_{name}_{engine}_fixed_lengths" for name in OF_CLIENT for engine in ENGINES),
    "serving_lockstep_fraction_sglang_fixed_lengths",
    "serving_first_token_decode_steps_tensorrt_llm_before_2026",
)
"""The other figures are tables of matrix products, rules of engines for memory, or nothing measured moves them."""


def serving_parameters(catalog: Catalog) -> Constants:
    """The figures of `FITTED` with their ranges in a catalog, which are priors and don't look at the values."""
    ranges = [catalog.figure(SERVING_FILE, key)[0] for key in FITTED]
    low = np.log([figure.low or figure.value for figure in ranges])
    high = np.log([figure.high or figure.value for figure in ranges])
    prior = Prior((low + high) / 2.0, (high - low) / (2.0 * DEVIATIONS_TO_P90), low, high)
    return Constants(FITTED, prior, serving_figures(catalog))
