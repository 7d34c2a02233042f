"""What each group says of a row, and why it says nothing of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.catalog.store import Catalog
from planner.performance.expert_exchange import Kernel, Phase
from planner.resources import shipped
from planner.study.fidelity.collectives import (
    CollectivePrediction,
    CollectiveRequest,
    predict_collectives,
)
from planner.study.fidelity.gemm import predict_gemm
from planner.study.fidelity.goodput import predict_goodput
from planner.study.fidelity.inference import predict_inference
from planner.study.fidelity.power import predict_power
from planner.study.fidelity.schema import (
    CollectiveRow,
    GemmRow,
    GoodputRow,
    InferenceRow,
    PowerRow,
    TrainingRow,
)  # fmt: skip
from planner.study.fidelity.scoring import Result
from planner.study.fidelity.training import predict_training

CATALOG = Catalog([shipped("catalog")])
LLAMA = {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128256, "glu": True}
RUN: dict[str, Any] = {
    "id": "r", "group": "A", "family": "f", "src": "s", "model": "mine", "arch": LLAMA, "gpu": "H100", "n_gpus": 16,
    "gpus_per_node": 8, "scale_out": "8x400G", "gbs": 64, "mbs": 1, "seq_len": 8192,
    "parallel": {"tp": 2, "pp": 1, "dp": 8}, "precision": "BF16", "recompute": "none",
    "framework": "NeMo/Megatron-Core", "metrics": {"step_time_s": 3.0},
}  # fmt: skip
KEYS = {"family": "f", "src": "s"}


def trained(**changes: Any) -> Result:
    return predict_training([TrainingRow.model_validate(RUN | changes)], CATALOG)[0]


def step_s(**changes: Any) -> float:
    found = trained(**changes)
    assert found.predicted is not None, found.why_not
    return found.predicted


def test_every_rate_stands_for_the_same_step() -> None:
    tokens = 64 * 8192
    step = trained()
    rate = trained(metrics={"tokens_per_s_per_gpu": tokens / 3.0 / 16})
    total = trained(metrics={"tokens_per_s": tokens / 3.0})
    assert (step.target, rate.target) == ("step_time_s", "tokens_per_s_per_gpu")
    assert rate.measured == pytest.approx(3.0)
    assert total.measured == pytest.approx(3.0)
    assert rate.error == pytest.approx(step.error)


def test_model_flop_and_mfu_stand_for_the_same_step() -> None:
    flop = trained(metrics={"model_tflops_per_gpu": 400.0}).measured
    mfu = trained(metrics={"mfu": 400.0 / 989.0}).measured
    assert flop == pytest.approx(mfu, rel=1e-3)  # the datasheet says 989.4
    assert flop is not None
    assert trained(metrics={"hardware_tflops_per_gpu": 400.0}).measured > flop  # type: ignore[operator]


def test_a_measured_time_is_taken_before_a_rate() -> None:
    assert trained(metrics={"mfu": 0.5, "step_time_s": 2.0, "tokens_per_s": 1.0}).measured == 2.0


def test_a_model_that_no_catalog_has_is_predicted_from_its_widths() -> None:
    assert step_s(arch=LLAMA | {"layers": 64}) == pytest.approx(2 * step_s(), rel=0.15)


def test_layout_network_and_software_of_the_row_are_what_is_predicted() -> None:
    plain = step_s()
    assert step_s(recompute="full") > 1.2 * plain
    assert step_s(precision="FP8") < 0.9 * plain
    assert step_s(precision="FP8 rowwise compile") > step_s(precision="FP8")
    assert step_s(scale_out="4x100 Gb/s per node") > plain
    assert step_s(framework="Megatron-LM (2021)") > plain
    assert step_s(gpu="H100 (500W)") > plain
    assert step_s(gpu="B200") < plain
    context = {"tp": 2, "pp": 1, "cp": 2, "dp": 4}
    assert step_s(parallel=context, seq_len=65536, gbs=8) != step_s(seq_len=65536, gbs=8)


@pytest.mark.parametrize(
    ("gpu", "more"),
    [
        ("H800", "H100"),
        ("H100 PCIe", "H100"),
        ("GH200", "B200"),
        ("MI300X", "MI355X"),
        ("TPU v5e", "TPU v5p"),
    ],
)
def test_accelerators_without_a_server_stand_on_bare_hosts(gpu: str, more: str) -> None:
    assert step_s(gpu=gpu) > step_s(gpu=more)


def test_a_cut_link_costs_as_much_as_the_row_talks_over_it() -> None:
    wide = {"parallel": {"tp": 8, "pp": 1, "dp": 2}}
    assert step_s(gpu="H800", **wide) / step_s(**wide) > 1.05 * step_s(gpu="H800") / step_s()


def test_degrees_that_follow_from_others_are_taken() -> None:
    plain = step_s(parallel={"tp": 1, "pp": 1, "dp": 16, "fsdp": 16})
    assert step_s(parallel={"fsdp": 16}) == pytest.approx(plain)
    assert step_s(parallel={"tp": 1, "pp": 1, "fsdp": True}) == pytest.approx(plain)
    context = step_s(parallel={"tp": 2, "pp": 1, "cp": 2, "dp": 4})
    assert step_s(parallel={"tp": 2, "pp": 1, "cp": 2, "dp": 8}) == pytest.approx(context)


def test_a_batch_follows_from_microbatches_and_accumulation() -> None:
    stated = {"tp": 2, "pp": 1, "dp": 8, "ga": 8}
    assert step_s(gbs=None, parallel=stated) == pytest.approx(step_s())


def test_a_named_model_stands_for_dimensions_left_out() -> None:
    found = trained(arch={}, model="Llama-3.1 8B")
    assert found.predicted == pytest.approx(step_s())
    assert "dimensions of llama-3.1-8b taken, as named" in found.assumed
    latent = {
        "layers": 61,
        "hidden": 7168,
        "vocab": 129536,
        "ffn": 18432,
        "moe": {"experts": 256, "topk": 8, "moe_ffn": 2048},
    }
    run = {"n_gpus": 256, "parallel": {"tp": 1, "pp": 4, "ep": 64}, "gbs": 256, "seq_len": 4096}
    named, other = (trained(arch=latent, model=name, **run) for name in ("DeepSeekV3", "mine"))
    assert "dimensions of deepseek-v3 taken, as named" in named.assumed
    assert named.predicted != other.predicted


def test_a_utilisation_above_one_is_per_cent() -> None:
    assert trained(metrics={"mfu": 40.0}).measured == trained(metrics={"mfu": 0.4}).measured


def test_a_box_of_four_holds_a_domain_of_four() -> None:
    wide = {"parallel": {"tp": 8, "pp": 1, "dp": 2}}
    assert step_s(gpus_per_node=4, scale_out="4x400G", **wide) > 1.1 * step_s(**wide)


def test_the_band_of_experts_is_wider() -> None:
    experts = {**LLAMA, "moe": {"experts": 8, "topk": 2, "moe_ffn": 14336}}
    dense, sparse = trained(), trained(arch=experts)
    assert sparse.kind == "moe"
    widths = [(one.high - one.low) / one.predicted for one in (dense, sparse)]  # type: ignore[operator]
    assert widths == pytest.approx([0.16, 0.48])


def test_what_a_row_leaves_out_is_named() -> None:
    found = trained(
        scale_out="not stated", recompute="see config", framework="JAX", parallel={"tp": 2, "pp": 1}
    )
    said = " ".join(found.assumed)
    for words in ("NICs of dgx-h100", "no recompute", "framework 'JAX'", "sharding stage"):
        assert words in said


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"gpu": "V100"}, "no accelerator"),
        ({"gpu": "L40S", "scale_out": "not stated"}, "no network rate"),
        ({"precision": "TF32"}, "products of tf32"),
        ({"parallel": {"tp": 2, "pp": 1, "dp": 4}}, "make up 8 GPUs"),
        ({"parallel": {"tp": 3, "pp": 1}}, "replicas of 3 GPUs"),
        ({"gbs": 4}, "8 data ranks for 4 sequences"),
        ({"arch": {}}, "layers and widths"),
        ({"seq_len": None}, "no sequence length"),
        ({"gbs": None}, "no batch"),
        ({"parallel": {}}, "parallel degrees"),
        ({"metrics": {}}, "no step time and no rate"),
        ({"gpu": "A100-80GB", "precision": "FP8"}, "no fp8 arithmetic"),
    ],
)
def test_a_run_that_says_too_little_has_a_reason(change: dict[str, Any], why: str) -> None:
    found = trained(**change)
    assert found.predicted is None
    assert why in found.why_not


def collective(**changes: Any) -> CollectiveRow:
    data = {"id": "c", "group": "B", "op": "all_reduce", "gpu": "H100 SXM", "n_gpus": 8, "bytes": 2**30}
    return CollectiveRow.model_validate(data | KEYS | changes)


def time_us(**changes: Any) -> float:
    (found,) = predict_collectives([collective(busbw_GBps=300.0, **changes)], CATALOG)
    assert found.predicted is not None, found.why_not
    return found.predicted


def test_operations_are_known_by_any_spelling() -> None:
    assert (
        time_us(op="ncclAllReduce") == time_us(op="all-reduce") == time_us(op="all_reduce_perf") == time_us()
    )
    assert time_us(op="alltoallv") == time_us(op="alltoall")


def test_operations_with_a_root_take_the_time_of_its_link() -> None:
    assert time_us(op="reduce") == time_us(op="broadcast")
    assert time_us(op="gather") == time_us(op="scatter")
    # 450 GB/s of the root's link, and seven of eight parts come over it
    assert 0.875 * 2**30 / 450e9 < time_us(op="gather") * 1e-6 < 1.5 * 0.875 * 2**30 / 450e9
    (refused,) = predict_collectives([collective(op="hypercube", time_us=1.0)], CATALOG)
    assert "no collective that is modelled" in refused.why_not


def test_boxes_are_full_where_a_row_states_no_number_of_them() -> None:
    assert time_us(n_gpus=64) == time_us(n_gpus=64, n_nodes=8)
    assert time_us(n_gpus=64, gpu="H800") == time_us(n_gpus=64, gpu="H800", n_nodes=8)
    # a slice of a torus is one box
    assert time_us(n_gpus=64, gpu="TPU v5p") == time_us(n_gpus=64, gpu="TPU v5p", n_nodes=1)
    (refused,) = predict_collectives([collective(n_gpus=64, n_nodes=1, gpu="H800", time_us=1.0)], CATALOG)
    assert "64 GPUs a node, and a box of H800 80GB SXM5 holds 8" in refused.why_not


def test_trays_of_a_rack_share_its_links() -> None:
    inside = time_us(gpu="GB200", n_gpus=64)
    assert time_us(gpu="GB200", n_gpus=64, n_nodes=16) == inside
    assert time_us(gpu="GB200", n_gpus=64, n_nodes=2) > inside
    assert time_us(gpu="GB200", n_gpus=144, n_nodes=36) == time_us(gpu="GB200", n_gpus=144, n_nodes=2)


def at_100_gbyte_per_s(request: CollectiveRequest, catalog: Catalog) -> CollectivePrediction | str:
    """A stand-in model."""
    if request.nodes > 8:
        return "too many nodes"
    time = request.bytes / 100e9
    return CollectivePrediction(time, 0.9 * time, 1.1 * time, "physics", in_sample=request.nodes == 1)


def asked(row: CollectiveRow) -> Result:
    return predict_collectives([row], CATALOG, predictor=at_100_gbyte_per_s)[0]


def test_a_bandwidth_is_scored_as_the_time_it_stands_for() -> None:
    time_us = 2**30 / 50e9 * 1e6
    by_time, by_alg = asked(collective(time_us=time_us)), asked(collective(algbw_GBps=50.0))
    by_bus = asked(collective(busbw_GBps=50.0 * 1.75))
    assert by_time.measured == pytest.approx(time_us)
    assert [by_alg.measured, by_bus.measured] == pytest.approx([time_us, time_us])
    assert by_bus.error == pytest.approx(-0.5)
    assert by_bus.in_sample


def test_a_row_becomes_the_request_it_describes() -> None:
    seen: list[CollectiveRequest] = []

    def keep(request: CollectiveRequest, catalog: Catalog) -> CollectivePrediction | str:
        seen.append(request)
        return "seen"

    efa = collective(
        n_gpus=32, n_nodes=4, fabric="NVLink4 + EFA 32x100 Gb/s per node (p5)", time_us=1.0, dtype="fp32"
    )
    ring = collective(id="d", fabric="NVLink4, NVLS disabled (ring)", busbw_GBps=360.0)
    exchange = collective(
        id="e",
        op="moe_combine_bf16_lowlatency",
        bytes=None,
        workload="128 tokens, hidden 7168, top-8",
        busbw_GBps=40.0,
    )
    predict_collectives([efa, ring, exchange], CATALOG, predictor=keep)
    assert (seen[0].server, seen[0].nic_gbit_per_s, seen[0].behaviour) == ("dgx-h100", 400.0, "efa-srd")
    assert (seen[1].in_network, seen[1].nic_gbit_per_s) == (False, None)
    case = seen[2].case
    assert (seen[2].operation, seen[2].bytes) == ("moe_combine", 128 * 7168 * 8 * 2)
    assert case is not None and (case.kernel, case.phase) == (Kernel.LOW_LATENCY, Phase.COMBINE)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "acceptance_threshold", "busbw_GBps": 460.0}, "floor for acceptance"),
        ({"op": "host_to_device_copy", "busbw_GBps": 50.0}, "no collective"),
        ({"gpu": "V100", "time_us": 1.0}, "no accelerator"),
        ({"n_nodes": 16, "n_gpus": 128, "time_us": 1.0}, "too many nodes"),
        ({"bytes": None, "busbw_GBps": 1.0}, "no size"),
        ({}, "no time and no bandwidth"),
    ],
)
def test_a_collective_that_cant_be_asked_has_a_reason(change: dict[str, Any], why: str) -> None:
    found = asked(collective(**change))
    assert found.predicted is None
    assert why in found.why_not


def served(**changes: Any) -> list[Result]:
    data = {
        "id": "i", "group": "C", "model": "Llama-3.1-70B", "gpu": "H100", "n_gpus": 4, "tp": 4, "precision": "FP8",
        "isl": 1024, "osl": 1024, "concurrency": 32, "engine": "vLLM 0.19", "scenario": "agg",
        "metrics": {"ttft_mean_ms": 200.0, "tpot_mean_ms": 15.0, "output_tokens_per_s_per_gpu": 500.0},
    }  # fmt: skip
    return predict_inference([InferenceRow.model_validate(data | KEYS | changes)], CATALOG)


def test_each_target_of_a_serving_row_has_its_own_result() -> None:
    found = served()
    assert [one.id for one in found] == ["i.throughput", "i.tpot", "i.ttft"]
    assert all(one.predicted is not None and one.low < one.predicted < one.high for one in found)  # type: ignore[operator]


def test_a_closed_loop_keeps_as_many_requests_in_flight_as_the_row_says() -> None:
    """Requests in flight are rate x time in the system (Little)."""
    rate, tpot, ttft = (one.predicted for one in served())
    assert rate is not None and tpot is not None and ttft is not None
    requests_per_s = rate * 4 / 1024
    assert requests_per_s * (ttft + 1024 * tpot) == pytest.approx(32, rel=0.01)


def test_more_requests_in_flight_wait_longer() -> None:
    few, many = ([one.predicted for one in served(concurrency=count)] for count in (4, 64))
    assert np.all(np.array(many) > np.array(few))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"scenario": "disagg"}, "how many workers"),
        ({"isl": None}, "lengths"),
        ({"model": "Nobody-9B"}, "no model"),
        ({"tp": 16, "n_gpus": 16, "gpu": "L40S"}, "reaches over hosts of 8"),
        ({"tp": 1, "n_gpus": 1, "precision": "BF16"}, "no room"),
        ({"precision": "int3"}, "none of 4, 8 and 16 bits"),
    ],
)
def test_a_serving_row_that_cant_be_expressed_has_a_reason(change: dict[str, Any], why: str) -> None:
    for found in served(**change):
        assert found.predicted is None
        assert why in found.why_not


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tp": None}, "one replica of 4 GPUs taken"),
        ({"tp": 16, "n_gpus": 16}, "own NICs taken between the domains"),
        ({"gpu": "MI300X", "precision": "FP4"}, "widened to 16 bits"),
        ({"engine": "HomeMade 1"}, "taken as vLLM"),
    ],
)
def test_what_a_serving_row_leaves_open_is_settled_and_said(change: dict[str, Any], said: str) -> None:
    for found in served(**change):
        assert found.predicted is not None
        assert any(said in one for one in found.assumed)


def reliable(**data: Any) -> Result:
    return predict_goodput([GoodputRow.model_validate({"id": "g", "group": "D"} | KEYS | data)], CATALOG)[0]


def test_interruptions_grow_with_gpus_and_days() -> None:
    row = {"kind": "interruptions_total", "system": "H100", "unexpected": 400, "gpus_per_node": 8}
    one, both = reliable(n_gpus=8000, days=10, **row), reliable(n_gpus=16000, days=20, **row)
    assert both.predicted == pytest.approx(4 * one.predicted)  # type: ignore[operator]


def test_a_published_rate_of_a_source_of_the_model_is_in_sample() -> None:
    row = {"kind": "interruptions_total", "system": "H100", "unexpected": 400, "n_gpus": 8, "days": 1}
    assert reliable(source={"url": "https://arxiv.org/abs/2407.21783"}, **row).in_sample
    assert not reliable(**row).in_sample


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"kind": "throughput_gain", "statement": "faster"}, "statement"),
        ({"kind": "mttf_job", "basis": "projected", "n_gpus": 9, "mttf_hours": 1}, "not measured"),
        (
            {"kind": "component_interruptions", "component": "SSD", "count": 3, "n_gpus": 9, "days": 1},
            "components",
        ),
        ({"kind": "checkpoint", "checkpoint_TB": 2.0, "save_seconds": 9}, "no number of GPUs"),
    ],
)
def test_statements_and_projections_are_not_predicted(row: dict[str, Any], why: str) -> None:
    found = reliable(**row)
    assert found.predicted is None
    assert why in found.why_not


H100S = {"system": "16,384 H100", "gpus_per_node": 8}


def test_length_and_count_may_be_stated_in_other_terms() -> None:
    plain = reliable(kind="interruptions_total", n_gpus=16384, days=30, unexpected=200, gpus_per_node=8)
    other = reliable(kind="interruptions_total", hours=720, total=230, planned=30, **H100S)
    assert (other.measured, other.predicted) == (200, pytest.approx(plain.predicted))
    assert reliable(kind="mtbf", mttf_hours=3.0, **H100S).predicted == pytest.approx(
        720 / plain.predicted  # type: ignore[operator]
    )
    rate = reliable(kind="failure_rate", derived={"per_million_gpu_hours": 20.0}, **H100S)
    assert rate.measured == pytest.approx(20e-6 * 8 * 24_000)


def test_words_where_a_number_may_stand_are_no_number() -> None:
    found = reliable(kind="interruptions_total", months="several", total="many", unexpected=9, **H100S)
    assert found.why_not == "the row states no number of GPUs or days"


def test_effective_time_follows_from_what_a_checkpoint_holds() -> None:
    usual = reliable(kind="ettr", ettr=0.9, **H100S)
    small, large = (reliable(kind="ettr", ettr=90, checkpoint_TB=size, **H100S) for size in (5.6, 560.0))
    assert small.measured == usual.measured == 0.9
    assert small.predicted > usual.predicted > large.predicted  # type: ignore[operator]
    # a run of that size reports more than 0.9
    assert 0.85 < small.predicted < 0.97  # type: ignore[operator]


def test_links_and_switches_fail_as_the_operations_table_says() -> None:
    link = reliable(kind="link_failure_rate", rate_per_month=0.001)
    yearly = reliable(kind="link_failure_rate", derived={"annual": 0.012})
    switch = reliable(kind="switch_failure_rate", rate_per_month=0.001, src="hpn")
    assert (link.predicted, yearly.measured) == (yearly.predicted, pytest.approx(0.001))
    assert switch.predicted != link.predicted and switch.in_sample


@pytest.mark.parametrize("component", ["GPU", "GPU failures", "host", "software"])
def test_failures_of_a_kind_of_part_are_predicted_whole(component: str) -> None:
    found = reliable(kind="component_interruptions", component=component, count=30, days=30, **H100S)
    assert found.predicted == pytest.approx(
        2
        * reliable(kind="component_interruptions", component=component, count=30, days=15, **H100S).predicted  # type: ignore[operator]
    )


def draw(**data: Any) -> Result:
    return predict_power([PowerRow.model_validate({"id": "p", "group": "E"} | KEYS | data)], CATALOG)[0]


LOAD = {"gpu": "H100", "n_gpus": 8, "n_nodes": 1, "watts_per_node_under_load_mean": 7000}
TRAINING, INFERENCE = ({"kind": f"server_power_{kind}"} | LOAD for kind in ("training", "inference"))


def test_a_node_draws_by_its_server_and_its_work() -> None:
    training, serving = draw(**TRAINING), draw(**INFERENCE)
    assert "server taken as dgx-h100" in training.assumed
    assert training.predicted is not None and serving.predicted is not None
    assert 6000 < serving.predicted < training.predicted < 7752  # typical draw of the catalog, above runs


def test_nodes_that_wait_for_each_other_draw_less() -> None:
    alone, several = draw(**TRAINING), draw(**TRAINING | {"n_gpus": 64, "n_nodes": 8})
    assert alone.predicted is not None and several.predicted is not None
    assert 0.8 < several.predicted / alone.predicted < 0.95


def test_what_is_measured_behind_the_supplies_is_predicted_there() -> None:
    wall, behind = draw(**TRAINING), draw(**TRAINING, measure="DC-side or after conversion")
    assert wall.predicted is not None and behind.predicted is not None
    assert 0.93 < behind.predicted / wall.predicted < 0.97


def test_a_named_server_wins_over_the_first_with_its_accelerator() -> None:
    row = TRAINING | {"gpu": "B200", "system": "Lenovo SR780a V3 8x B200 SXM"}
    assert "server taken as lenovo-sr780a-v3" in draw(**row).assumed


def test_efficient_and_named_limits_lower_the_draw() -> None:
    free = draw(**INFERENCE)
    efficient = draw(**INFERENCE, source={"where": "results/H100-SXM-80GBx8_TRT_MaxQ/x"})
    named = draw(**INFERENCE | {"gpu": "H100 (500W)"})
    assert free.predicted is not None and efficient.predicted is not None and named.predicted is not None
    assert max(efficient.predicted, named.predicted) < free.predicted


def test_a_server_the_catalog_lacks_is_built_up_from_its_accelerators() -> None:
    four, eight = (draw(**INFERENCE | {"gpu": "L40S", "n_gpus": gpus}) for gpus in (4, 8))
    assert four.predicted is not None and eight.predicted is not None
    assert 4 * 350 * 0.6 < four.predicted < 4 * 350 + 1200
    assert eight.predicted == pytest.approx(2 * four.predicted, rel=0.01)


def test_a_rack_is_counted_by_the_accelerators_of_a_node() -> None:
    tray = draw(**TRAINING | {"gpu": "GB200", "n_gpus": 72, "n_nodes": 18})
    rack = draw(**TRAINING | {"gpu": "GB200", "n_gpus": 72, "n_nodes": 1})
    assert tray.predicted is not None and rack.predicted is not None
    assert tray.predicted < rack.predicted / 15
    assert 90e3 < rack.predicted < 132e3


def test_an_unknown_accelerator_is_told_by_the_nameplate_or_not_at_all() -> None:
    known = draw(**TRAINING | {"gpu": "NPU 9"}, nameplate_watts=9000)
    assert known.predicted == pytest.approx(0.76 * 9000)
    assert "no accelerator" in draw(**TRAINING | {"gpu": "NPU 9"}).why_not


def test_a_pue_needs_its_cooling_and_its_site() -> None:
    assert "no cooling" in draw(kind="pue", pue=1.2).why_not
    assert draw(kind="pue", pue=1.2, cooling="air", site="finland").predicted is not None
    assert "no 'mars' in sites" in draw(kind="pue", pue=1.2, cooling="air", site="mars").why_not


def test_products_of_one_table_keep_their_order() -> None:
    rows = [
        GemmRow(id=f"{m}-{dtype}", gpu="h100", m=m, n=4096, k=4096, dtype=dtype, time_us=10.0, **KEYS)
        for m in (128, 4096)
        for dtype in ("bf16", "int4", "fp8")
    ]
    found = predict_gemm(rows, CATALOG)
    assert [one.id for one in found] == [row.id for row in rows]
    assert found[3].predicted > found[0].predicted  # type: ignore[operator]
    assert "aren't modelled" in found[1].why_not


def test_products_of_a_release_that_was_fitted_lie_on_its_curve_and_say_whether_they_made_it() -> None:
    # two rows of the published table; the first was kept for the fit
    shapes = {"fitted": (4096, 8192, 8192, 672.77), "unseen": (4096, 4096, 4096, 174.29)}
    rows = [
        GemmRow(
            id=name, gpu="h100", m=m, n=n, k=k, dtype="bf16", time_us=time, impl="trtllm 1.3.0rc20", **KEYS
        )
        for name, (m, n, k, time) in shapes.items()
    ]
    small = {"m": 1, "n": 256, "k": 256}
    rows += [rows[0].model_copy(update=small), rows[0].model_copy(update={**small, "impl": "another 1.0"})]
    found = predict_gemm(rows, CATALOG)
    assert [one.in_sample for one in found] == [True, False, False, False]
    for one in found[:2]:
        # the curve's P90 on left-out shapes is 13 %
        assert one.error == pytest.approx(0.0, abs=0.13)
        assert one.low < one.predicted < one.high  # type: ignore[operator]
    # a release that nobody fitted is told by the model of training, which knows no start
    assert found[3].predicted < found[2].predicted / 2.0  # type: ignore[operator]


def test_a_box_alone_lends_no_network_to_the_boxes_of_the_next_row() -> None:
    alone, joined = (
        collective(id=name, n_gpus=8 * n, n_nodes=n, time_us=9.0) for name, n in (("one", 1), ("two", 2))
    )
    together = {one.id: one.predicted for one in predict_collectives([alone, joined], CATALOG)}
    apart = {one.id: one.predicted for row in (alone, joined) for one in predict_collectives([row], CATALOG)}
    assert together == apart
    assert None not in together.values()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"n_gpus": 9, "n_nodes": 2}, "9 GPUs don't spread evenly over 2 nodes"),
        ({"n_gpus": 8, "n_nodes": 16}, "8 GPUs don't spread evenly over 16 nodes"),
        ({"n_gpus": 1_000_000, "n_nodes": 1}, "1,000,000 GPUs a node"),
    ],
)
def test_gpus_that_cannot_stand_in_their_nodes_are_not_predicted(changes: dict[str, int], why: str) -> None:
    (found,) = predict_collectives([collective(**changes)], CATALOG)
    assert found.predicted is None
    assert why in found.why_not
