"""Corrections by kind of software: what each kind changes in a step, and laws that hold for all of them."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from planner.catalog.store import open_catalog
from planner.performance.corrections import TrainingConstants
from planner.performance.models import model_shape
from planner.performance.parallelism import Plan
from planner.performance.software import Scaling, Setting, Software, training_constants
from planner.performance.training import TrainingStep, total_s, training_step
from tests.unit.performance.conftest import Bench, one

CATALOG = open_catalog([])
PLANS = {
    "pipeline": {},
    "sharded": {
        "tensor_ranks": 1, "pipeline_ranks": 1, "context_ranks": 1, "data_ranks": 64, "virtual_stages": 1,
        "zero_stage": 3,
    },
    "context": {"tensor_ranks": 2, "pipeline_ranks": 1, "context_ranks": 8, "virtual_stages": 1},
}  # fmt: skip


def figure(key: str) -> np.ndarray:
    return one(CATALOG.figure("performance", key)[0].value)


def corrected(software: Software, **changes: object) -> TrainingConstants:
    setting = {"generation": "hopper", "form": "16bit"} | changes
    return training_constants(figure, Setting(software=software, **setting))  # type: ignore[arg-type]


def step(bench: Bench, constants: TrainingConstants, plan: Plan, **changes: object) -> TrainingStep:
    parts = {"shape": bench.shape, "chip": bench.chip, "links": bench.links, "state": bench.state} | changes
    return training_step(plan=plan, constants=constants, **parts)  # type: ignore[arg-type]


@pytest.mark.parametrize("software", list(Software))
@pytest.mark.parametrize("plan", PLANS)
def test_parts_add_up_and_more_bandwidth_never_slows(bench: Bench, software: Software, plan: str) -> None:
    constants, layout = corrected(software), bench.plan(**PLANS[plan])
    found = step(bench, constants, layout)
    total = sum(getattr(found.parts, part.name)[0] for part in fields(found.parts))
    assert total == pytest.approx(found.step_s[0], rel=1e-12)
    np.testing.assert_array_equal(total_s(found.parts), found.step_s)
    assert all(getattr(found.parts, part.name)[0] >= 0.0 for part in fields(found.parts))
    outside = bench.links.outside
    for more in (1.5, 4.0, 40.0):
        links = replace(bench.links, outside=replace(outside, bytes_per_s=outside.bytes_per_s * more))
        assert step(bench, constants, layout, links=links).step_s[0] <= found.step_s[0] * (1.0 + 1e-12)
        chip = replace(bench.chip, memory_bytes_per_s=bench.chip.memory_bytes_per_s * more)
        assert step(bench, constants, layout, chip=chip).step_s[0] <= found.step_s[0] * (1.0 + 1e-12)


@pytest.mark.parametrize("generation", ["ampere", "hopper", "blackwell", "other"])
@pytest.mark.parametrize("software", list(Software))
def test_every_kind_of_software_has_all_its_figures_on_every_generation(
    software: Software, generation: str
) -> None:
    for form in ("16bit", "fp8", "nvfp4"):
        constants = corrected(software, generation=generation, form=form, windowed=True)
        for field in fields(TrainingConstants):
            value = getattr(constants, field.name)
            assert value.shape == (1,) and np.all(np.isfinite(value)), field.name


def test_attention_in_steps_grows_with_heads_and_fused_attention_does_not(bench: Bench) -> None:
    few = model_shape(layers=48, hidden=6144, heads=48, vocab=51200, ffn=24576, glu=False)
    many = replace(few, heads=one(96), kv_heads=one(96), head_dim=one(64), value_head_dim=one(64))
    plan = bench.plan(sequence_tokens=2048, context_ranks=1)
    for software, more in ((Software.MEGATRON_2021, 1.05), (Software.MEGATRON_CORE, 1.0)):
        constants = replace(corrected(software), attention_head_dim_exponent=one(0))
        times = [step(bench, constants, plan, shape=shape).step_s[0] for shape in (few, many)]
        assert times[1] >= times[0] * more
        if software is Software.MEGATRON_CORE:
            assert times[1] == pytest.approx(times[0], rel=1e-9)


def test_heads_off_a_multiple_of_eight_cost_a_quarter_of_a_step(bench: Bench) -> None:
    # BLOOM's search: 163 s with heads of 108 against 125 s with 144, all else alike
    base = model_shape(layers=78, hidden=13824, heads=96, vocab=250000, ffn=55296, glu=False)
    odd = replace(base, heads=one(128), kv_heads=one(128), head_dim=one(108), value_head_dim=one(108))
    plan = bench.plan(
        tensor_ranks=8, pipeline_ranks=6, context_ranks=1, data_ranks=8, virtual_stages=1,
        microbatch_sequences=4, global_batch_sequences=2048, sequence_tokens=2048, recomputed_layers_fraction=1,
    )  # fmt: skip
    chip = replace(bench.chip, peak_flop_per_s=one(312e12), peak_16bit_flop_per_s=one(312e12))
    constants = corrected(Software.DEEPSPEED_2022, generation="ampere")
    even_s, odd_s = (step(bench, constants, plan, shape=shape, chip=chip).step_s[0] for shape in (base, odd))
    assert 1.15 < odd_s / even_s < 1.45


def test_deepspeed_is_slower_than_megatron_by_its_figure(bench: Bench) -> None:
    plan = bench.plan()
    old, engine = (
        step(bench, corrected(software), plan)
        for software in (Software.MEGATRON_2021, Software.DEEPSPEED_2022)
    )
    slower = figure("training_engine_slowdown_fraction_deepspeed")[0]
    assert 1.0 + 0.8 * slower < engine.step_s[0] / old.step_s[0] < 1.0 + slower


def test_sharding_of_2021_waits_longer_the_more_ranks_there_are(bench: Bench) -> None:
    waits = []
    for ranks in (64, 256, 1024):
        layout = PLANS["sharded"] | {"data_ranks": ranks, "global_batch_sequences": 4 * ranks}
        new, old = (
            step(bench, corrected(software), bench.plan(**layout)).parts.data_exposed_s[0]
            for software in (Software.FSDP_COMPILED, Software.ZERO3_2021)
        )
        waits.append(old)
        assert old > 3.0 * new
    assert waits[0] < waits[1] < waits[2]


def test_operators_run_again_cost_less_than_layers_and_more_than_nothing(bench: Bench) -> None:
    constants = corrected(Software.FSDP_COMPILED)
    plain = bench.plan(**PLANS["sharded"])
    some = replace(plain, recomputed_linear_fraction=one(0.5))
    whole = replace(plain, recomputed_layers_fraction=one(1))
    nothing, half, full = (step(bench, constants, plan).parts.recompute_s[0] for plan in (plain, some, whole))
    assert nothing == 0.0 < half < 0.7 * full


def test_without_sequence_parallelism_norms_are_done_by_every_rank(bench: Bench) -> None:
    constants = corrected(Software.MEGATRON_2021)
    shared = bench.plan(tensor_ranks=8)
    alone = replace(shared, sequence_parallel=one(0))
    assert step(bench, constants, alone).step_s[0] > step(bench, constants, shared).step_s[0]
    single = bench.plan(tensor_ranks=1)
    np.testing.assert_array_equal(
        step(bench, constants, single).step_s,
        step(bench, constants, replace(single, sequence_parallel=one(0))).step_s,
    )


def test_rowwise_scaling_is_slower_than_tensorwise_and_pieces_hide_exchange() -> None:
    tensor, row = (
        corrected(Software.FSDP_COMPILED, form="fp8", scaling=scaling)
        for scaling in (Scaling.TENSOR, Scaling.ROW)
    )
    assert row.gemm_share_of_peak_fraction[0] < 0.75 * tensor.gemm_share_of_peak_fraction[0]
    pieces = corrected(Software.FSDP_COMPILED, async_tensor=True)
    assert pieces.tensor_overlap_fraction[0] > tensor.tensor_overlap_fraction[0]


def test_late_releases_hide_the_exchange_of_experts() -> None:
    early, late = (corrected(Software.MEGATRON_CORE, release=release) for release in ((2025, 9), (2026, 6)))
    assert late.expert_exposed_fraction[0] < 0.5 * early.expert_exposed_fraction[0]
    assert late.sparse_layer_host_s[0] < early.sparse_layer_host_s[0]
    unknown = corrected(Software.MEGATRON_CORE)
    assert unknown.expert_exposed_fraction[0] == early.expert_exposed_fraction[0]


def test_an_untabulated_generation_keeps_a_part_of_its_best_measured_product() -> None:
    guessed, wide, both = (
        corrected(Software.MEGATRON_CORE, generation="other", form="fp8", best_shares=shares)
        for shares in ((0.0, 0.0), (0.5, 0.0), (0.5, 0.8))
    )
    kept = float(figure("training_products_over_best_ratio")[0])
    assert both.gemm_share_of_peak_fraction[0] == pytest.approx(0.8 * kept)
    assert wide.head_gemm_share_of_peak_fraction[0] == pytest.approx(0.5 * kept)
    # without an 8-bit product measured, the guess for it moves as the 16-bit one does
    assert wide.gemm_share_of_peak_fraction / guessed.gemm_share_of_peak_fraction == pytest.approx(
        wide.head_gemm_share_of_peak_fraction / guessed.head_gemm_share_of_peak_fraction
    )


def test_best_products_say_nothing_of_a_tabulated_generation() -> None:
    plain, told = (
        corrected(Software.MEGATRON_CORE, best_shares=shares) for shares in ((0.0, 0.0), (0.3, 0.3))
    )
    assert plain.gemm_share_of_peak_fraction == told.gemm_share_of_peak_fraction
