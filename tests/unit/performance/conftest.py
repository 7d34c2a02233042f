"""A machine, models and corrections that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from planner.arrays import Floats
from planner.catalog.store import open_catalog
from planner.performance.collectives import Link
from planner.performance.group_curves import Bands, DomainCurves, LinkRates
from planner.performance.inference import GemmRates, ServingConstants, ServingFormat
from planner.performance.ladder import domain_curves
from planner.performance.layers import TrainingConstants
from planner.performance.links import Links, NetworkRatios
from planner.performance.memory import MemoryConstants
from planner.performance.models import ModelShape, model_shape
from planner.performance.parallelism import Plan
from planner.performance.queueing import Tails
from planner.performance.roofline import ChipRates
from planner.performance.serving import Server
from planner.performance.shelf import Shelf
from planner.performance.training import StateBytes


def one(value: float) -> Floats:
    """A number as the core wants it."""
    return np.array([float(value)])


@dataclass(frozen=True)
class Bench:
    """Llama-3.1-70B on eight-GPU H100 nodes in 16 bits."""

    shape: ModelShape
    chip: ChipRates
    links: Links
    constants: TrainingConstants
    state: StateBytes
    memory: MemoryConstants

    def plan(self, **changes: float) -> Plan:
        """Tensor 4, pipeline 4, context 2, data 2: the published 64-GPU recipe."""
        values = {
            "tensor_ranks": 4, "pipeline_ranks": 4, "context_ranks": 2, "data_ranks": 2, "expert_ranks": 1,
            "expert_tensor_ranks": 1, "virtual_stages": 5, "microbatch_sequences": 1,
            "global_batch_sequences": 128, "sequence_tokens": 8192, "zero_stage": 1,
            "recomputed_layers_fraction": 0, "recomputed_attention_fraction": 0,
        }  # fmt: skip
        return Plan(**{name: one(value) for name, value in (values | changes).items()})


TRAINING = {
    "gemm_share_of_peak_fraction": 0.72, "gemm_shape_constant": 85, "head_gemm_share_of_peak_fraction": 0.72,
    "head_gemm_shape_constant": 85, "gemm_element_bytes": 2, "attention_share_of_peak_fraction": 0.45,
    "attention_sequence_constant_tokens": 512, "attention_full_rate_head_dim": 128,
    "attention_head_dim_exponent": 0.5, "attention_backward_flop_ratio": 2.5,
    "attention_backward_rate_fraction": 0.85, "memory_share_fraction": 0.85, "memory_traffic_factor": 1,
    "memory_backward_ratio": 1.8, "cast_bytes_per_element": 0, "gradient_traffic_bytes_per_parameter": 8,
    "logit_traffic_bytes_per_entry": 20, "layer_fixed_s": 2e-4, "tensor_overlap_fraction": 0.47,
    "data_overlap_fraction": 0.65, "data_overlap_slowdown_fraction": 0.05, "pipeline_exposed_fraction": 0.5,
    "pipeline_interleaved_exposed_ratio": 0.5, "expert_transfer_efficiency_fraction": 0.79,
    "expert_exposed_fraction": 1, "expert_once_per_domain_fraction": 0, "grouped_gemm_share_ratio": 0.84,
    "permute_passes": 5.1, "sparse_layer_host_s": 1e-3, "sharded_hiding_fraction": 0.7,
    "sharded_slowdown_fraction": 0.12, "optimiser_bytes_per_parameter": 34, "step_fixed_s": 0.015,
    "straggler_fraction_per_doubling": 0.0025,
    # neutral: what these add to the model shows in their own tests
    "engine_slowdown_fraction": 0, "attention_flop_ratio": 1, "weight_cast_bytes_per_parameter": 0,
    "separate_projections": 0, "context_slowdown_fraction": 0, "sharded_ring_step_s": 0, "context_step_s": 0,
    "sharded_network_share_fraction": 1, "pipeline_bubble_ratio": 1, "misaligned_head_ratio": 1,
    "score_traffic_bytes_per_entry": 0,
}  # fmt: skip

SERVING = {
    "expert_tile_tokens": 16, "expert_skew": 0.5, "expert_imbalance_ratio": 0.25, "kv_bytes_per_s": 2.5e12,
    "kv_flop_per_s": 5e14, "kv_fill_sequences": 0, "prefill_flop_per_s": 4.8e14, "all_reduce_ratio": 1.1,
    "all_reduce_gain_ratio": 1.35, "layer_fixed_s": 26e-6, "sparse_layer_fixed_s": 10e-6, "query_key_norm_s": 7e-6,
    "element_bytes_per_value": 32, "expert_traffic_factor": 2.4, "traffic_bytes_per_s": 2.8e12, "step_fixed_s": 1.2e-3,
    "sequence_fixed_s": 10e-6, "replica_sequence_fixed_s": 3e-6, "request_host_s": 1.7e-3,
    "first_token_fixed_s": 0.011, "first_token_decode_steps": 3.7, "lockstep_fraction": 0.08,
    "offline_sequence_ratio": 0.47, "memory_use_fraction": 0.92, "reserved_bytes": 3e9, "memory_of_free_fraction": 1,
}  # fmt: skip


def serving_constants(**changes: float) -> ServingConstants:
    """Corrections like vLLM's on H100 in 8 bits."""
    narrow, wide = (
        GemmRates(one(2.9e12), one(1.1e15), one(4e-6)),
        GemmRates(one(3e12), one(8e14), one(2.6e-6)),
    )
    gemms = {"attention_gemm": narrow, "feed_forward_gemm": narrow, "expert_gemm": narrow, "head_gemm": wide}
    return ServingConstants(**gemms, **{name: one(value) for name, value in (SERVING | changes).items()})


NVLINK_4 = LinkRates(
    bytes_per_s=360e9, pair_bytes_per_s=360e9, start_s=5e-6, hop_s=8e-7, half_rate_bytes=2.5e6,
    reduction_gain_ratio=1.35, raw_bytes_per_s=450e9, ceiling_bytes_per_s=0, reduction_ceiling_bytes_per_s=0,
)  # fmt: skip
BANDS = Bands(0.08, 0.15, 0.3, 0.05)


def physics(domain_ranks: int = 8, rates: LinkRates = NVLINK_4) -> DomainCurves:
    """Curves of a domain on which nothing was measured."""
    return domain_curves(Shelf(open_catalog(), (), ()), rates, domain_ranks=domain_ranks, bands=BANDS)


def links_of(inside: DomainCurves, outside: Link, *, fill_s: float = 5e-4, **changes: Floats) -> Links:
    """Domains of eight ranks on rails."""
    values = {
        "domain_ranks": one(8), "node_ranks": one(8), "rail_only_overhead_fraction": one(0),
        "pipeline_fill_s": one(fill_s), "reduction_gain_ratio": one(1), "inside_ratio": one(1),
    }  # fmt: skip
    return Links(
        inside=inside,
        outside=outside,
        outside_all_to_all=outside,
        measured=NetworkRatios(),
        **(values | changes),
    )


@pytest.fixture(name="curves_of_a_link")
def _curves_of_a_link() -> Callable[..., DomainCurves]:
    """Curves from a link's rate; see `physics`."""
    return physics


@pytest.fixture(name="links_on_rails")
def _links_on_rails() -> Callable[..., Links]:
    """Domains of eight ranks on rails; see `links_of`."""
    return links_of


@pytest.fixture
def llama_70b() -> ModelShape:
    """Llama-3.1-70B."""
    return model_shape(layers=80, hidden=8192, heads=64, kv_heads=8, vocab=128256, ffn=28672)


@pytest.fixture
def bench(llama_70b: ModelShape) -> Bench:
    """Training of Llama-3.1-70B on H100."""
    outside = Link(one(42.5e9), one(2e-5), one(3e-6), one(1e6))
    return Bench(
        shape=llama_70b,
        chip=ChipRates(one(989e12), one(989e12), one(3.35e12), one(85e9)),
        links=links_of(physics(), outside),
        constants=TrainingConstants(**{name: one(value) for name, value in TRAINING.items()}),
        state=StateBytes(one(2), one(4), one(12)),
        memory=MemoryConstants(one(0.5), one(4), one(3e9)),
    )


@pytest.fixture
def server(llama_70b: ModelShape) -> Server:
    """Llama-3.1-70B in FP8 on H100."""
    return Server(
        shape=llama_70b,
        chip=ChipRates(one(1979e12), one(989e12), one(3.35e12), one(85e9)),
        link=Link(one(360e9), one(2e-6), one(4e-7), one(6e5)),
        constants=serving_constants(),
        form=ServingFormat(one(1), one(1)),
        tails=Tails(one(1), one(1)),
    )
