"""Names of measured files find the items of the catalog, or say why not."""

from __future__ import annotations

import pytest

from planner.catalog.store import Catalog
from planner.performance.stacks import stack_of
from planner.resources import shipped
from planner.study.fidelity.machines import behaviour_of, nic_gbit_per_s_per_gpu, power_limit_w
from planner.study.fidelity.names import Chip, Names
from planner.study.fidelity.schema import Arch, Experts
from planner.study.fidelity.stacks import recipe_of

NAMES = Names(Catalog([shipped("catalog")]))


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("A100-40GB", "a100-sxm4-40gb"),
        ("A100 PCIe", "a100-pcie-80gb"),
        ("H100", "h100-sxm5-80gb"),
        ("NVIDIA H100-NVL-94GB", "h100-nvl-94gb"),
        ("NVIDIA H100-SXM-80GB", "h100-sxm5-80gb"),
        ("NVIDIA GH200 Grace Hopper Superchip 144GB", "gh200"),
        ("GB200 (4-GPU tray, NVL72)", "gb200"),
        ("b200_sxm", "b200-sxm-180gb"),
        ("16,384 H100 (Meta RoCE cluster)", "h100-sxm5-80gb"),
        ("AMD MI300X-NPS1-SPX-192GB-750W", "mi300x"),
        ("RTX PRO 6000 Blackwell Server", "rtx-pro-6000"),
        ("TPU v5p", "tpu-v5p"),
        ("L40S (PCIe)", "l40s"),
    ],
)
def test_an_accelerators_name_finds_its_item(text: str, item: str) -> None:
    found = NAMES.chip(text)
    assert isinstance(found, Chip), found
    assert found.entry.item.id == item


@pytest.mark.parametrize("item", NAMES.catalog.ids(type(NAMES.chip("H100").entry.item)))  # type: ignore[union-attr]
def test_every_accelerator_is_found_by_its_own_id_without_a_guess(item: str) -> None:
    found = NAMES.chip(item)
    assert isinstance(found, Chip), found
    assert (found.entry.item.id, found.assumed) == (item, ())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("V100 SXM (NDv2)", "no accelerator of the catalog is called"),
        ("AMD MI300X 192GB (x32), AMD MI325X 256GB (x16)", "several accelerators: mi300x and mi325x"),
        ("", "no accelerator"),
    ],
)
def test_what_names_no_accelerator_or_several_says_so(text: str, why: str) -> None:
    found = NAMES.chip(text)
    assert isinstance(found, str)
    assert why in found


def test_a_variant_the_catalog_lacks_is_named_as_assumed() -> None:
    found = NAMES.chip("H100 (96GB HBM2e, 500W)")
    assert isinstance(found, Chip)
    assert "taken as h100-sxm5-80gb" in found.assumed[0]
    assert power_limit_w(found.entry.item, "H100 (96GB HBM2e, 500W)") == 500.0
    assert power_limit_w(found.entry.item, "H100 700W") is None


def test_models_are_found_by_name_and_by_shape() -> None:
    by_name = NAMES.model("Qwen/Qwen3-235B-A22B-FP8")
    assert by_name is not None
    assert by_name.item.id == "qwen3-235b-a22b"
    assert NAMES.model("Qwen3") is None
    arch = Arch(layers=48, hidden=2048, heads=32, kv_heads=4, moe=Experts(experts=128, topk=8, moe_ffn=768))
    by_shape = NAMES.model_of_shape(arch)
    assert by_shape is not None
    assert by_shape.item.id == "qwen3-30b-a3b"
    assert NAMES.model_of_shape(arch.model_copy(update={"moe": None})) is None


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("Omni-Path 4x100 Gb/s per node (Jean Zay)", 50.0),
        ("RDMA 400 Gb/s per GPU", 400.0),
        ("NVLink4 + EFA 32x100 Gb/s per node (p5)", 400.0),
        ("1x Ethernet 100Gb/Sec, 8x NVIDIA Quantum-2 CX7 InfiniBand (400Gb/s)", 400.0),
        (
            "Management: 1x Bluefield-2 DPU Ethernet 100Gb/Sec, Compute: 8x ConnectX-7 InfiniBand NDR 400Gb/Sec",
            400.0,
        ),
        ("not stated", None),
    ],
)
def test_the_rate_of_a_gpu_is_read_out_of_words(text: str, rate: float | None) -> None:
    assert nic_gbit_per_s_per_gpu(text, node_gpus=8) == rate


def test_fabrics_stacks_and_recipes_are_told_by_their_words() -> None:
    assert behaviour_of("NVLink4 + EFA 32x100 Gb/s per node (p5)") == "efa-srd"
    stacks = {
        "Megatron-DeepSpeed (2022)": "Megatron-DeepSpeed of 2022", "torchtitan (PyTorch)": "torch.compile with FSDP2",
        "MLPerf Training v5.1, NVIDIA NeMo": "MLPerf submission", "Megatron-Bridge, NeMo 26.04": "Megatron Core",
    }  # fmt: skip
    found = {name: stack.name for name in stacks if (stack := stack_of(name)) is not None}
    assert found == stacks
    assert not recipe_of("FP8 per-tensor (current scaling)").fine_scaling
