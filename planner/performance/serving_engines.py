"""Corrections of the serving model by engine, client, accelerator and formats."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from planner.arrays import Floats
from planner.choices import Engine, WeightFormat
from planner.performance.inference import GemmRates, ServingConstants
from planner.performance.roofline import ChipRates
from planner.performance.serving_formats import WIDE, Formats, arithmetic
from planner.performance.software import Figures

ENGINE_KEY: Final = {Engine.VLLM: "vllm", Engine.TENSORRT_LLM: "tensorrt_llm", Engine.SGLANG: "sglang"}
MEASURED: Final = ("hopper", "blackwell")
"""Generations whose matrix products are tabulated; others are taken as Hopper."""


CHANGED: Final = (("first_token_decode_steps", Engine.TENSORRT_LLM),)
"""What releases of 2026 do otherwise than those before."""


class Client(StrEnum):
    """Who asks: what a benchmark sees before the first token differs between harnesses."""

    SPREAD = "spread"
    """Streams over HTTP, lengths spread: InferenceX, and anyone's users."""
    FIXED = "fixed"
    """Requests of one length, which run in lock-step."""


@dataclass(frozen=True, slots=True)
class ServingSetting:
    """What decides which corrections hold.

    Attributes:
        generation: ``ampere``, ``hopper``, ``blackwell`` or ``other``.
        formats: Of weights and caches.
        client: Who asks.
        sparse: Whether the model has routed experts; without them their figures aren't read.
        weight_only: Weights are widened and products run in 16 bits, whatever the accelerator could do.
        four_bit_products: The accelerator multiplies 4 bits though its generation has no table: the share of 8-bit
            products is taken, of its own 4-bit peak.
        older: A release of the engine from before 2026.
    """

    engine: Engine
    generation: str
    formats: Formats
    client: Client = Client.SPREAD
    sparse: bool = True
    weight_only: bool = False
    four_bit_products: bool = False
    older: bool = False

    def arithmetic(self, form: WeightFormat) -> str:
        """Arithmetic of products with weights in a format."""
        return WIDE if self.weight_only else arithmetic(form, self.generation)


def serving_constants(
    figure: Figures,
    setting: ServingSetting,
    chip: ChipRates,
    *,
    gemm_ratio: Floats | None = None,
    cap_ratio: Floats | None = None,
) -> ServingConstants:
    """Corrections of a setting.

    Args:
        figure: Reads `catalog/assumptions/serving.yaml`.
        setting: Engine, accelerator, formats and client.
        chip: Peaks and rates of the accelerator.
        gemm_ratio, cap_ratio: Matrix products and attention of this machine over the one that the tables know.

    Returns:
        Fields of shape (n,), or (draws, 1) where the figures are draws of a fit.
    """
    one = np.ones(1)
    gemm, cap = (one if given is None else given for given in (gemm_ratio, cap_ratio))
    known = setting.generation if setting.generation in MEASURED else "hopper"
    own, engine = setting.formats, ENGINE_KEY[setting.engine]
    wide = chip.peak_16bit_flop_per_s * figure(_share(known, WIDE)) * cap
    memory = chip.memory_bytes_per_s * figure(f"serving_traffic_share_{_memory(setting.generation)}_fraction")
    pace = figure("serving_fixed_ratio_blackwell") if known == "blackwell" else one

    def gemms(form: str) -> GemmRates:
        # chip's narrow peak is the one of 4 bits then
        form = "fp8" if form == "nvfp4" and setting.four_bit_products else form
        return gemm_rates(figure, form, known, setting.generation, chip, gemm if form != WIDE else cap, pace)

    def of_engine(name: str) -> Floats:
        return figure(f"serving_{name}_{engine}")

    def of_client(name: str) -> Floats:
        kind = "_fixed_lengths" if setting.client is Client.FIXED else ""
        if not kind and setting.older and (name, setting.engine) in CHANGED:
            kind = "_before_2026"
        return figure(f"serving_{name}_{engine}{kind}")

    def of_experts(name: str) -> Floats:
        return figure(f"serving_{name}") if setting.sparse else one

    expert = gemms(setting.arithmetic(own.experts))
    return ServingConstants(
        attention_gemm=gemms(setting.arithmetic(own.attention)),
        feed_forward_gemm=gemms(setting.arithmetic(own.feed_forward)),
        expert_gemm=GemmRates(
            expert.memory_bytes_per_s,
            expert.flop_per_s * of_experts("expert_gemm_share_ratio"),
            expert.fixed_s,
        ),
        head_gemm=gemms(WIDE),
        expert_tile_tokens=of_experts("expert_tile_tokens"),
        expert_skew=of_experts("expert_skew"),
        expert_imbalance_ratio=of_experts("expert_imbalance_ratio"),
        kv_bytes_per_s=memory * figure("serving_memory_share_ratio") * figure("serving_kv_share_ratio"),
        kv_flop_per_s=wide * figure("serving_gemm_share_ratio") * figure("serving_kv_arithmetic_share_ratio"),
        kv_fill_sequences=figure("serving_kv_fill_sequences"),
        prefill_flop_per_s=wide * figure("serving_prefill_attention_share_ratio"),
        all_reduce_ratio=figure("serving_all_reduce_ratio"),
        all_reduce_gain_ratio=one,
        layer_fixed_s=pace * figure("serving_layer_fixed_s"),
        sparse_layer_fixed_s=pace * of_experts("sparse_layer_fixed_s"),
        query_key_norm_s=pace * figure("serving_query_key_norm_s"),
        element_bytes_per_value=figure("serving_element_bytes_per_value"),
        expert_traffic_factor=of_experts("expert_traffic_factor"),
        traffic_bytes_per_s=memory,
        step_fixed_s=of_engine("step_fixed_s"),
        sequence_fixed_s=of_engine("sequence_fixed_s"),
        replica_sequence_fixed_s=of_engine("replica_sequence_fixed_s"),
        request_host_s=of_client("request_host_s"),
        first_token_fixed_s=of_client("first_token_fixed_s"),
        first_token_decode_steps=of_client("first_token_decode_steps"),
        lockstep_fraction=_lockstep(figure, setting, engine),
        offline_sequence_ratio=figure("serving_offline_sequence_ratio"),
        memory_use_fraction=of_engine("memory_use_fraction"),
        reserved_bytes=of_engine("reserved_bytes"),
        memory_of_free_fraction=of_engine("memory_of_free_fraction"),
    )


def _lockstep(figure: Figures, setting: ServingSetting, engine: str) -> Floats:
    """Requests of one length run in lock-step where prefill goes first, as in SGLang."""
    fixed = setting.client is Client.FIXED and setting.engine is Engine.SGLANG
    return figure(f"serving_lockstep_fraction_{engine}{'_fixed_lengths' if fixed else ''}")


def _share(known: str, form: str) -> str:
    return f"serving_gemm_share_of_peak_{known}_{form}_fraction"


def _memory(generation: str) -> str:
    return generation if generation in MEASURED else "other"


def gemm_rates(
    figure: Figures, form: str, known: str, generation: str, chip: ChipRates, ratio: Floats, pace: Floats
) -> GemmRates:
    """What products of one arithmetic sustain in serving: the table's figures times what serving leaves of them.

    A product in a narrow format also brings its input to that format; of this, serving hides another share.

    Args:
        figure: Reads figures.
        form: ``16bit``, ``fp8``, ``fp8_block`` or ``nvfp4``.
        known: Generation whose table is read; generation: the accelerator's own.
        chip: Peaks and rates.
        ratio: Of this machine's products over the table's.
        pace: Of this generation's fixed times.
    """
    form = form if form != "nvfp4" or known == "blackwell" else WIDE
    peak = chip.peak_16bit_flop_per_s if form == WIDE else chip.peak_flop_per_s
    start = figure(f"serving_gemm_fixed_s_{known}_{WIDE}")
    fixed = start * figure("serving_gemm_fixed_ratio")
    if form != WIDE:
        more = figure(f"serving_gemm_fixed_s_{known}_{form}") - start
        fixed = fixed + np.maximum(more, 0.0) * figure(f"serving_quantise_fixed_ratio_{form}")
    share = figure(f"serving_gemm_memory_share_{known}_{form}_fraction")
    if generation not in MEASURED:
        share = (
            share
            * figure("serving_traffic_share_other_fraction")
            / figure("serving_traffic_share_hopper_fraction")
        )
    return GemmRates(
        memory_bytes_per_s=chip.memory_bytes_per_s * share * figure("serving_memory_share_ratio"),
        flop_per_s=peak * figure(_share(known, form)) * figure("serving_gemm_share_ratio") * ratio,
        fixed_s=pace * fixed,
    )
