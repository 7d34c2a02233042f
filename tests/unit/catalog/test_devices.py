"""Accelerators by the names that drivers, logs and tables give them."""

from __future__ import annotations

import pytest

from planner.catalog.devices import accelerator_named
from planner.catalog.schema import Accelerator
from planner.catalog.store import open_catalog

CATALOG = open_catalog()
NAMED = {
    "NVIDIA A100-SXM4-80GB": "a100-sxm4-80gb",
    "NVIDIA A100-SXM4-40GB": "a100-sxm4-40gb",
    "NVIDIA A100 80GB PCIe": "a100-pcie-80gb",
    "NVIDIA A100-PCIE-40GB": "a100-pcie-40gb",
    "NVIDIA H100 80GB HBM3": "h100-sxm5-80gb",
    "NVIDIA H100 PCIe": "h100-pcie-80gb",
    "NVIDIA H100 NVL": "h100-nvl-94gb",
    "NVIDIA H200": "h200-sxm-141gb",
    "NVIDIA H200 NVL": "h200-nvl-141gb",
    "NVIDIA H20": "h20-96gb",
    "NVIDIA H800": "h800-sxm-80gb",
    "NVIDIA GH200 480GB": "gh200",
    "NVIDIA B200": "b200-sxm-180gb",
    "NVIDIA GB200": "gb200",
    "NVIDIA GB300": "gb300",
    "NVIDIA L40S": "l40s",
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": "rtx-pro-6000",
    "AMD Instinct MI300X": "mi300x",
    "a100_sxm": "a100-sxm4-80gb",
    "h100_sxm": "h100-sxm5-80gb",
    "b200_sxm": "b200-sxm-180gb",
    "gb200": "gb200",
}
UNKNOWN = (
    "Tesla V100-SXM2-32GB", "NVIDIA L40", "NVIDIA L4", "NVIDIA A10", "NVIDIA A10G", "NVIDIA A800-SXM4-80GB",
    "NVIDIA GeForce RTX 4090", "GeForce 6000", "cpu", "80GB", "SXM", "",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_a_name_means_its_accelerator(name: str) -> None:
    assert accelerator_named(CATALOG, name) == NAMED[name]


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_chip_that_the_catalog_lacks_is_no_other(name: str) -> None:
    assert accelerator_named(CATALOG, name) is None


@pytest.mark.parametrize("item_id", CATALOG.ids(Accelerator))
def test_an_id_means_itself(item_id: str) -> None:
    assert accelerator_named(CATALOG, item_id) == item_id
