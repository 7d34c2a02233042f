"""What a run shows of its links: bus bandwidth by group, peer-to-peer, NVLink, GPUDirect RDMA."""

from __future__ import annotations

import re
from typing import Any

from planner.measure.run.findings import Finding, Run, judged, op_text, percent, rate_text, size_text
from planner.measure.run.stats import significant

# The driver tells the raw rate of a link; what data sheets count is 0.9412 of it.
# Source: stas00/ml-engineering, network/README.md (450 of 478.1 GB/s, 900 of 956.3 GB/s).
PAYLOAD_OF_RAW = 0.9412
_TIERS = {
    "intra_node": "inside one host",
    "inter_node": "one GPU of each of {hosts} hosts",
    "mixed": "all of {hosts} hosts",
}


def link_findings(run: Run) -> list[Finding]:
    """All of them."""
    return [*peer_findings(run), *rdma_findings(run), *nvlink_findings(run), *bandwidth_findings(run)]


def largest_points(run: Run) -> list[dict[str, Any]]:
    """The largest eager message of each group and op, in the type measured first; sweeps cut short are left out."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for point in run.points("nccl"):
        if point["mode"] != "eager":
            continue
        key = (point["group"], point["op"])
        best = found.get(key)
        if best is None or (point["dtype"] == best["dtype"] and point["size_bytes"] > best["size_bytes"]):
            found[key] = point
    largest = {
        group: max(int(point["size_bytes"]) for key, point in found.items() if key[0] == group)
        for group, _ in found
    }
    # Half: parts of an odd number of ranks make sizes a little smaller than those asked for.
    return [point for (group, _), point in found.items() if 2 * int(point["size_bytes"]) > largest[group]]


def bandwidth_findings(run: Run) -> list[Finding]:
    """Each group's bus bandwidth at its largest message, beside the rate of the link and what is expected."""
    return [_bandwidth(run, point) for point in largest_points(run)]


def _bandwidth(run: Run, point: dict[str, Any]) -> Finding:
    rate, ranks, size = float(point["busbw_gbyte_per_s"]), int(point["ranks"]), int(point["size_bytes"])
    where = _TIERS[point["tier"]].format(hosts=point["hosts"])
    said = f"{op_text(point['op'])} over {ranks} GPUs ({where}), {size_text(size)} {point['dtype']}: bus bandwidth {rate_text(rate)}"
    figures = {key: point[key] for key in ("op", "dtype", "group", "tier", "ranks", "hosts", "size_bytes")}
    figures |= {"busbw_gbyte_per_s": rate, "busbw_gbit_per_s": significant(rate * 8, 5)}
    code = f"nccl.bandwidth.{point['tier']}"
    if point["tier"] != "intra_node":
        return _across_hosts(run, code, said, rate, figures)
    link = run.expectation.link_gbyte_per_s if run.expectation else None
    if run.expectation is None or link is None:
        return Finding(code, "note", f"{_start(said)}; no expectation is known.", figures)
    share = rate / link
    expected = run.expectation.busbw(point["op"], ranks, size)
    severity, end, more = judged(expected, share, link, "GB/s")
    if expected is not None:
        end = end.replace("expected ", f"expected for {ranks} GPUs at this size ", 1)
    elif size < 1 << 24:
        end = "no expectation is known for messages this small"
    said = (
        f"{_start(said)}, {percent(share)} of {link:g} GB/s one way; {end}{_why_low(run, point, severity)}."
    )
    return Finding(
        code,
        severity,
        said,
        {**figures, "link_gbyte_per_s_one_way": link, "share": significant(share), **more},
    )


def _start(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _why_low(run: Run, point: dict[str, Any], severity: str) -> str:
    if severity != "warning" or point["op"] != "all_reduce" or point["ranks"] < 4:
        return ""
    off = run.variables.get("NCCL_NVLS_ENABLE") == "0" or "NVLS multicast not available" in run.transports
    return "; reduction in the switch (NVLS) is off, which figures of 8 GPUs include" if off else ""


def _across_hosts(run: Run, code: str, said: str, rate: float, figures: dict[str, Any]) -> Finding:
    rates = _adapter_rates(run)
    if not rates:
        return Finding(code, "note", f"{_start(said)}; no RDMA adapter was seen to compare with.", figures)
    # A group of one GPU a host uses one adapter at least and all of them at most.
    least, most = max(rates) / 8, sum(rates) / 8
    said = (
        f"{_start(said)}; the host's {len(rates)} RDMA ports give {least:g} GB/s ({max(rates):g} Gbit/s) each and "
        f"{most:g} GB/s together, one way; no expectation is known for groups over several hosts."
    )
    return Finding(code, "note", said, {**figures, "adapter_gbit_per_s": rates})


def _adapter_rates(run: Run) -> list[float]:
    """Rates in Gbit/s of the ports that are up, as the kernel words them: '400 Gb/sec (4X NDR)'."""
    found = []
    for port in run.environment.get("network") or []:
        match = re.match(r"([\d.]+) Gb/sec", str(port.get("rate") or ""))
        if match and "ACTIVE" in str(port.get("state") or "").upper():
            found.append(float(match[1]))
    return found


def peer_findings(run: Run) -> list[Finding]:
    """Whether the GPUs of a host reach each other directly."""
    if len(run.devices) < 2:
        return []
    shared = sum(count for name, count in run.transports.items() if name.startswith("SHM"))
    direct = any(name.startswith(("P2P", "NVLS")) and "not available" not in name for name in run.transports)
    access = run.environment.get("peer_access") or []
    refused = [(a, b) for a, row in enumerate(access) for b, free in enumerate(row) if not free and a < b]
    off = run.variables.get("NCCL_P2P_DISABLE", "0") not in ("", "0")
    if not (shared or refused or (off and not direct)):
        return (
            [Finding("p2p.on", "ok", "Peer-to-peer is on: GPUs of a host write to each other directly.")]
            if direct
            else []
        )
    rates = [
        float(p["busbw_gbyte_per_s"])
        for p in largest_points(run)
        if p["op"] == "all_reduce" and p["tier"] == "intra_node"
    ]
    at = f": {rate_text(max(rates))} through host memory" if rates else "; data goes through host memory"
    reasons = _peer_reasons(run, refused, off)
    return [Finding("p2p.off", "fault", f"Peer-to-peer is off{at}. {reasons}",
                    {"transports": run.transports, "busbw_gbyte_per_s": max(rates, default=None)})]  # fmt: skip


def _peer_reasons(run: Run, refused: list[tuple[int, int]], off: bool) -> str:
    if off:
        return f"NCCL_P2P_DISABLE={run.variables['NCCL_P2P_DISABLE']} is set; unset it."
    if refused:
        pairs = ", ".join(f"{a}-{b}" for a, b in refused[:6]) + (" and more" if len(refused) > 6 else "")
        states = {
            str(pair.get("read"))
            for pair in run.environment.get("topology") or []
            if pair.get("read") not in ("ok", None)
        }
        why = f" The driver says: {', '.join(sorted(states))}." if states else ""
        isolation = (
            " An IOMMU is on, which a virtual machine's GPUs often stand behind."
            if run.environment.get("iommu_groups")
            else ""
        )
        return f"CUDA refuses access between devices {pairs}.{why}{isolation}"
    level = run.variables.get("NCCL_P2P_LEVEL")
    if level:
        return f"NCCL_P2P_LEVEL={level} may forbid it."
    return "CUDA allows it, so NCCL chose against it: processes in containers with separate IPC or PID namespaces, or ACS."


def nvlink_findings(run: Run) -> list[Finding]:
    """Whether every device has the NVLinks that its data sheet counts."""
    found = []
    for device in run.devices:
        links = device.get("nvlink") or {}
        up, down = int(links.get("links_up") or 0), int(links.get("links_down") or 0)
        expected = _links_expected(run, links)
        if expected and up < expected:
            found.append(Finding("nvlink.missing", "fault",
                f"Rank {device['rank']} has {up} NVLinks up of {expected}"
                f"{f' ({down} down)' if down else ''}: its link carries {percent(up / expected)} of its rate.",
                {"rank": device["rank"], "links_up": up, "links_down": down, "links_expected": expected}))  # fmt: skip
    counts = {int((device.get("nvlink") or {}).get("links_up") or 0) for device in run.devices}
    if not found and len(counts) == 1 and (count := counts.pop()):
        links = run.devices[0]["nvlink"]
        raw = links.get("link_raw_mbyte_per_s_one_way")
        each = f", {raw * PAYLOAD_OF_RAW / 1e3:.3g} GB/s each one way" if raw else ""
        found.append(
            Finding("nvlink.up", "ok", f"All {count} NVLinks of every GPU are up{each}.", {"links_up": count})
        )
    return found


def _links_expected(run: Run, links: dict[str, Any]) -> int | None:
    """From the rate of the data sheet and of one link; else what the driver says the device has."""
    raw, told = links.get("link_raw_mbyte_per_s_one_way"), links.get("links_told")
    link = run.expectation.link_gbyte_per_s if run.expectation else None
    scaleup = str(run.expectation.item.get("scaleup") or "") if run.expectation else ""
    if raw and link and scaleup.startswith("nvlink"):
        return round(link / (float(raw) * PAYLOAD_OF_RAW / 1e3))
    return int(told) if told else None


def rdma_findings(run: Run) -> list[Finding]:
    """Between hosts: whether NCCL uses RDMA, and straight from GPU memory."""
    if int(run.environment.get("hosts") or 1) < 2:
        return []
    over = {name: count for name, count in run.transports.items() if name.startswith(("NET", "COLLNET"))}
    rdma = {name: count for name, count in over.items() if "IB" in name or "GDR" in name}
    if over and not rdma:
        return [Finding("rdma.off", "fault",
                        f"Between hosts NCCL uses {', '.join(over)}, not RDMA: {_socket_reasons(run)}.",
                        {"transports": over})]  # fmt: skip
    plain = [name for name in rdma if "GDRDMA" not in name]
    if plain:
        reasons = _gdr_reasons(run)
        said = "; ".join(reasons) if reasons else "nothing recorded here says why; look at NCCL_DEBUG=INFO"
        return [Finding("gdr.off", "fault", f"GPUDirect RDMA is not in use ({', '.join(plain)}): {said}.",
                        {"transports": rdma, "reasons": reasons})]  # fmt: skip
    if rdma:
        return [Finding("gdr.on", "ok", "GPUDirect RDMA is in use between hosts.", {"transports": rdma})]
    return [
        Finding(
            "rdma.unknown",
            "note",
            "How NCCL connects hosts isn't known: no network transport stands in its log.",
        )
    ]


def _socket_reasons(run: Run) -> str:
    if run.variables.get("NCCL_IB_DISABLE", "0") not in ("", "0"):
        return "NCCL_IB_DISABLE is set"
    if not run.environment.get("network"):
        return "no RDMA adapter is visible here (drivers, or a container without /dev/infiniband)"
    if not _adapter_rates(run):
        return "no port of the RDMA adapters is active"
    return "adapters are up, so look at NCCL_IB_HCA, NCCL_NET and a missing network plugin"


def _gdr_reasons(run: Run) -> list[str]:
    """Candidate reasons, as far as the environment recorded them."""
    found = [f"{name}={run.variables[name]} is set" for name in ("NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_C2C", "NCCL_DMABUF_ENABLE")
             if name in run.variables]  # fmt: skip
    environment = run.environment
    if environment.get("peer_memory_module") is False:
        kind = environment.get("driver_kind")
        other = "" if kind is None else f", and the driver's modules are {kind}" + (
            ", which can't hand memory over by DMA-BUF" if kind == "proprietary" else " (DMA-BUF would do instead)")  # fmt: skip
        found.append(f"no peer-memory module (nvidia_peermem) is loaded{other}")
    if environment.get("acs_bridges"):
        found.append(f"ACS sends peer traffic through the root on {environment['acs_bridges']} PCIe bridges")
    if environment.get("iommu_groups") and not environment.get("iommu_passthrough"):
        found.append(
            f"an IOMMU is in the path ({environment['iommu_groups']} groups, not in passthrough mode)"
        )
    apart = _roots_apart(run)
    if apart:
        found.append(f"NIC and GPU are under different PCIe roots for {apart}")
    return found


def _roots_apart(run: Run) -> str:
    roots = {port.get("pci_root") for port in run.environment.get("network") or []} - {None}
    if not roots:
        return ""
    lonely = [f"rank {device['rank']}" for device in run.devices
              if device.get("host") == 0 and device.get("pci_root") and device["pci_root"] not in roots]  # fmt: skip
    return ", ".join(lonely)
