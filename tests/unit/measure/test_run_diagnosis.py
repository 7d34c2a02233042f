"""What the diagnosis says of healthy machines and of broken ones."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from planner.measure.run.diagnosis import conclude, diagnose, text
from planner.measure.run.document import write_document

DATA = Path(__file__).with_name("data")
Document = dict[str, Any]


@cache
def _saved(name: str) -> Document:
    return json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))


def saved(name: str = "h200-x2") -> Document:
    return copy.deepcopy(_saved(name))


def sentences(document: Document, code: str) -> list[str]:
    return [item["sentence"] for item in diagnose(document)["findings"] if item["code"] == code]


def severities(document: Document, code: str) -> set[str]:
    return {item["severity"] for item in diagnose(document)["findings"] if item["code"] == code}


@pytest.mark.parametrize("name", ["h200-x2", "h200-x2-again"])
def test_a_healthy_machine_has_no_warning(name: str) -> None:
    found = diagnose(saved(name))
    assert found["verdict"] == "note"
    assert {item["severity"] for item in found["findings"]} == {"ok", "note"}


def test_bus_bandwidth_stands_in_bytes_and_bits_beside_the_link_and_what_is_expected() -> None:
    said = sentences(saved(), "nccl.bandwidth.intra_node")[0]
    assert "8 GiB bf16: bus bandwidth 347 GB/s (2,780 Gbit/s), 77 % of 450 GB/s one way" in said
    assert said.endswith("expected for 2 GPUs at this size 324-374 GB/s: healthy.")


def test_the_same_figures_are_judged_by_the_hardware_they_come_from() -> None:
    document = saved("h200-x2-again")
    for device in document["environment"]["devices"]:
        device["name"] = "NVIDIA B200"
    said = sentences(document, "nccl.bandwidth.intra_node")
    assert all("of 900 GB/s one way" in one for one in said)
    assert any("too low" in one for one in said)


def test_an_accelerator_that_nobody_knows_is_not_judged() -> None:
    document = saved()
    for device in document["environment"]["devices"]:
        device["name"] = "Some GPU"
    found = diagnose(document)
    assert found["verdict"] == "note"
    assert "No expectation is known for Some GPU" in sentences(document, "expectation.unknown")[0]
    assert not [item for item in found["findings"] if "expected" in item["sentence"]]


def test_peer_to_peer_off_is_a_fault_with_rate_and_reason() -> None:
    document = saved("h200-x2-peer-to-peer-off")
    (said,) = sentences(document, "p2p.off")
    assert said == (
        "Peer-to-peer is off: 28.5 GB/s (228 Gbit/s) through host memory. NCCL_P2P_DISABLE=1 is set; unset it."
    )
    assert diagnose(document)["findings"][0]["code"] == "p2p.off"
    assert severities(document, "nccl.bandwidth.intra_node") == {"warning"}


def test_refused_peer_access_names_the_pairs() -> None:
    document = saved("h200-x2-peer-to-peer-off")
    del document["environment"]["variables"]["NCCL_P2P_DISABLE"]
    document["environment"]["peer_access"] = [[True, False], [False, True]]
    assert "CUDA refuses access between devices 0-1" in sentences(document, "p2p.off")[0]


def _slow(document: Document, rank: int, factor: float, section: str) -> None:
    for point in document["sections"][section]:
        if point.get("rank_median_us"):
            point["rank_median_us"][rank] *= factor


def test_a_rank_slower_than_the_scatter_of_its_samples_is_named() -> None:
    document = saved()
    _slow(document, 1, 1.18, "gemm")
    (said,) = sentences(document, "ranks.slow.gemm")
    assert said.startswith("Rank 1 is 1")
    assert "slower than the others in GEMM" in said
    figures = next(i["figures"] for i in diagnose(document)["findings"] if i["code"] == "ranks.slow.gemm")
    assert figures["excess_fraction"] == pytest.approx(0.18, abs=0.02)


def test_a_rank_that_lies_within_the_scatter_is_not_named_however_the_scatter_is() -> None:
    document = saved()
    _slow(document, 1, 1.05, "gemm")
    named = bool(sentences(document, "ranks.slow.gemm"))
    for point in document["sections"]["gemm"]:
        if point.get("median_us"):
            point["p99_us"] = point["median_us"] * 1.5
    assert named
    assert not sentences(document, "ranks.slow.gemm")


def test_gloo_is_no_gpu_measurement() -> None:
    document = saved("h200-x2-again")
    document["backend"] = "gloo"
    found = diagnose(document)
    assert (
        found["findings"][0]["sentence"]
        == "Backend is gloo: not a GPU measurement, not usable for calibration."
    )
    assert {item["code"].split(".")[0] for item in found["findings"]} == {"backend", "nccl"}
    assert not sentences(document, "nccl.bandwidth.intra_node")


def test_what_was_summed_is_said_and_a_wrong_sum_is_a_fault() -> None:
    document = saved("h200-x2-again")
    assert "bf16 sums of whole numbers from -8 to 8" in sentences(document, "nccl.results")[0]
    document["sections"]["nccl"][0]["wrong_elements"] = 3
    (said,) = sentences(document, "nccl.wrong_results")
    assert said.startswith("Wrong results: 3 elements in 1 of 198 points (all-reduce bf16 over 2 ranks)")
    assert diagnose(document)["verdict"] == "fault"


def _two_hosts(transports: dict[str, int], **environment: Any) -> Document:
    document = saved("h200-x2-again")
    document["environment"] |= {"hosts": 2, "nccl_transports": transports, **environment}
    document["environment"]["devices"][1]["host"] = 1
    for point in document["sections"]["nccl"]:
        point |= {"tier": "inter_node", "group": "inter_node_2", "hosts": 2}
    return document


PORT = {
    "adapter": "mlx5_0",
    "port": "1",
    "rate": "400 Gb/sec (4X NDR)",
    "state": "4: ACTIVE",
    "pci_root": "pci0000:16",
}


def test_gpudirect_rdma_off_names_every_reason_that_was_recorded() -> None:
    document = _two_hosts(
        {"NET/IB": 8}, peer_memory_module=False, driver_kind="proprietary", iommu_groups=40, iommu_passthrough=False,
        acs_bridges=3, network=[PORT],
    )  # fmt: skip
    document["environment"]["devices"][0]["pci_root"] = "pci0000:97"
    (said,) = sentences(document, "gdr.off")
    assert said.startswith(
        "GPUDirect RDMA is not in use (NET/IB): no peer-memory module (nvidia_peermem) is loaded"
    )
    for reason in ("can't hand memory over by DMA-BUF", "ACS sends peer traffic", "3 PCIe bridges", "an IOMMU is in the path",
                   "NIC and GPU are under different PCIe roots for rank 0"):  # fmt: skip
        assert reason in said


def test_gpudirect_rdma_on_is_said_and_no_reason_is_invented() -> None:
    document = _two_hosts({"NET/IB/GDRDMA": 8}, network=[PORT], peer_memory_module=False)
    assert severities(document, "gdr.on") == {"ok"}
    assert not sentences(document, "gdr.off")


def test_a_group_over_hosts_stands_beside_the_adapters_and_is_not_judged() -> None:
    (said, *_) = sentences(_two_hosts({"NET/IB/GDRDMA": 8}, network=[PORT]), "nccl.bandwidth.inter_node")
    assert "one GPU of each of 2 hosts" in said
    assert "50 GB/s (400 Gbit/s) each" in said
    assert "no expectation is known" in said


def test_sockets_between_hosts_are_a_fault() -> None:
    (said,) = sentences(_two_hosts({"NET/Socket": 4}, network=[]), "rdma.off")
    assert "not RDMA: no RDMA adapter is visible here" in said


def _lower_limit(document: Document) -> None:
    document["environment"]["devices"][0]["power_limit_w"] = 500.0


def _lose_links(document: Document) -> None:
    document["environment"]["devices"][1]["nvlink"] |= {"links_up": 12, "links_down": 6}


def _throttle(document: Document) -> None:
    document["telemetry"][2]["clock_reason_fraction"]["thermal (hardware)"] = 0.25


def _hold_clocks(document: Document) -> None:
    document["telemetry"][1] |= {"p95_sm_clock_mhz": 1410.0, "clock_reason_fraction": {}}


def _narrow(document: Document) -> None:
    document["environment"]["devices"][0]["pcie_lanes"] = 8


BROKEN: list[tuple[Callable[[Document], None], str, str]] = [
    (_lower_limit, "power.limit", "The power limit is lowered to 500 W of 700 W (rank 0)"),
    (_lose_links, "nvlink.missing", "Rank 1 has 12 NVLinks up of 18 (6 down)"),
    (_throttle, "clocks.throttled", "Clocks were throttled: thermal (hardware), 25 % of the time in gemm"),
    (_hold_clocks, "clocks.low", "The SM clock stayed at 1410 of 1980 MHz in nccl (rank 0)"),
    (_narrow, "pcie.lanes", "Rank 0 is on 8 PCIe lanes of 16"),
]


@pytest.mark.parametrize(("damage", "code", "said"), BROKEN, ids=[code for _, code, _ in BROKEN])
def test_a_broken_device_is_named(damage: Callable[[Document], None], code: str, said: str) -> None:
    document = saved()
    assert not sentences(document, code)
    damage(document)
    assert said in sentences(document, code)[0]
    assert diagnose(document)["verdict"] in ("warning", "fault")


def test_eager_latency_bound_by_the_host_is_told_from_the_graph() -> None:
    (said,) = sentences(saved(), "latency.host_bound")
    assert "41.8 us eager, 20.6 us in a CUDA graph: eager latency is bound by the host" in said


def test_products_memory_and_overlap_are_said_as_shares() -> None:
    document = saved()
    assert "700 TFLOP/s, 71 % of the dense peak of 989; expected" in sentences(document, "gemm.rate")[0]
    assert "88 % of 4800 GB/s" in sentences(document, "memory.copy")[0]
    assert "84 % of the shorter is hidden" in sentences(document, "overlap")[0]


def test_slow_memory_is_too_low() -> None:
    document = saved()
    for point in document["sections"]["memory"]:
        if point["family"] == "device_copy":
            point["gbyte_per_s"] *= 0.6
    assert severities(document, "memory.copy") == {"warning"}


def test_a_run_that_was_cut_says_so_and_keeps_its_judgement() -> None:
    document = saved("h200-x2-again")
    document |= {"complete": False, "notes": ["interrupted; what was measured before is kept"]}
    assert "interrupted" in sentences(document, "run.incomplete")[0]
    assert severities(document, "nccl.bandwidth.intra_node") == {"ok"}


@pytest.mark.parametrize("name", ["h200-x2", "h200-x2-peer-to-peer-off"])
def test_the_text_fits_a_terminal(name: str) -> None:
    lines = text(diagnose(saved(name))).splitlines()
    assert lines[0].startswith("Diagnosis: ")
    assert max(len(line) for line in lines) <= 80


def test_the_diagnosis_is_stored_in_the_result(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    write_document(path, saved("h200-x2-again"))
    found = conclude(path)
    assert found is not None
    assert json.loads(path.read_text())["diagnosis"] == found
    assert conclude(tmp_path / "missing.json") is None


def test_an_op_that_was_cut_after_small_messages_is_not_judged_by_them() -> None:
    document = saved("h200-x2-again")
    document["sections"]["nccl"] = [
        point
        for point in document["sections"]["nccl"]
        if point["op"] != "sendrecv" or point["size_bytes"] < 1 << 16
    ]
    said = " ".join(sentences(document, "nccl.bandwidth.intra_node"))
    assert "All-reduce" in said
    assert "Send/receive" not in said


def test_the_text_folds_what_is_well_and_keeps_what_is_not() -> None:
    document = saved("h200-x2-again")
    for point in document["sections"]["nccl"]:
        if point["op"] == "broadcast":
            point["busbw_gbyte_per_s"] /= 3
    shown = " ".join(text(diagnose(document)).split())
    assert "each as expected: all-gather" in shown
    assert "WARN Broadcast over 2 GPUs" in shown
    assert "Reduce-scatter over 2 GPUs" not in shown
