"""What a run shows of its devices: products, attention, memory, host link, clocks and power."""

from __future__ import annotations

from typing import Any

from planner.measure.run.findings import Finding, Run, judged, percent, rate_text, size_text
from planner.measure.run.stats import significant

# Reasons that say a device protects itself or lacks power, at whatever load.
PROTECTING = ("hardware slowdown", "thermal (software)", "thermal (hardware)", "power brake")
LOADED = ("gemm", "attention", "power.gemm")


def device_findings(run: Run) -> list[Finding]:
    """All of them."""
    return [*gemm_findings(run), *attention_findings(run), *memory_findings(run), *host_findings(run),
            *limit_findings(run), *clock_findings(run)]  # fmt: skip


def gemm_findings(run: Run) -> list[Finding]:
    """The large square products and the best shape, as a share of the dense peak."""
    found = []
    for dtype in dict.fromkeys(point["dtype"] for point in run.points("gemm")):
        points = [
            point for point in run.points("gemm") if point["dtype"] == dtype and point.get("tflop_per_s")
        ]
        squares = {point["m"]: point for point in points if point["family"] == "square"}
        side = next((side for side in (8192, 4096) if side in squares), None)
        best = max(points, key=lambda point: float(point["tflop_per_s"]))
        if side is not None:
            found.append(_product(run, squares[side], f"square_{side}_{dtype}", ""))
        if side is None or best is not squares[side]:
            found.append(_product(run, best, f"best_{dtype}", "Best of the shapes measured, "))
    return found


def _product(run: Run, point: dict[str, Any], quantity: str, which: str) -> Finding:
    rate = float(point["tflop_per_s"])
    shape = f"{point['m']} x {point['k']} x {point['n']}"
    said = f"{which}GEMM in {point['dtype']}, {shape}: {rate:.0f} TFLOP/s"
    figures: dict[str, Any] = {key: point[key] for key in ("dtype", "m", "k", "n")} | {"tflop_per_s": rate}
    peak = run.expectation.peak_tflop_per_s(point["dtype"]) if run.expectation else None
    if run.expectation is None or peak is None:
        return Finding("gemm.rate", "note", f"{said}; no peak is known to compare with.", figures)
    severity, end, more = judged(run.expectation.share(quantity), rate / peak, peak, "TFLOP/s")
    if quantity.startswith("best") and severity == "warning":
        # Published best shapes come from a search over many more than are measured here.
        severity, end = "note", end.replace("too low", "a search over more shapes found more")
    said = f"{said}, {percent(rate / peak)} of the dense peak of {peak:g}; {end}."
    return Finding("gemm.rate", severity, said, {**figures, "share": significant(rate / peak), **more})


def attention_findings(run: Run) -> list[Finding]:
    """Forward, and forward with backward, at the longest length that is usually measured; decode by bytes."""
    found = []
    for family, words in (("forward", "forward"), ("forward_backward", "forward and backward")):
        points = [p for p in run.points("attention") if p["family"] == family and p.get("tflop_per_s")]
        for length in (16384, 4096):
            there = [point for point in points if point["length"] == length]
            if there:
                best = max(there, key=lambda point: float(point["tflop_per_s"]))
                found.append(_attention(run, best, f"attention_{family}_{length}", words))
                break
    decode = [p for p in run.points("attention") if p["family"] == "decode" and p.get("gbyte_per_s")]
    if decode:
        best = max(decode, key=lambda point: float(point["gbyte_per_s"]))
        bandwidth = run.expectation.memory_gbyte_per_s if run.expectation else None
        rate = float(best["gbyte_per_s"])
        share = f", {percent(rate / bandwidth)} of {bandwidth:g} GB/s" if bandwidth else ""
        found.append(Finding("attention.decode", "ok" if bandwidth else "note",
            f"Attention in decode, at best (batch {best['batch']} at {best['length']:,} tokens): reads {rate_text(rate)}{share}.",
            {"gbyte_per_s": rate, "batch": best["batch"], "length": best["length"]}))  # fmt: skip
    return found


def _attention(run: Run, point: dict[str, Any], quantity: str, words: str) -> Finding:
    rate = float(point["tflop_per_s"])
    said = f"Attention {words}, {point['length']:,} tokens, {point['backend']}: {rate:.0f} TFLOP/s (causal half counted)"
    figures = {"backend": point["backend"], "length": point["length"], "tflop_per_s": rate}
    peak = run.expectation.peak_tflop_per_s("bf16") if run.expectation else None
    if run.expectation is None or peak is None:
        return Finding("attention.rate", "note", f"{said}; no peak is known to compare with.", figures)
    severity, end, more = judged(run.expectation.share(quantity), rate / peak, peak, "TFLOP/s")
    said = f"{said}, {percent(rate / peak)} of the dense peak of {peak:g}; {end}."
    return Finding("attention.rate", severity, said, {**figures, "share": significant(rate / peak), **more})


def memory_findings(run: Run) -> list[Finding]:
    """Copy, read and write on the device at 1 GiB, or the largest size there is."""
    found = []
    bandwidth = run.expectation.memory_gbyte_per_s if run.expectation else None
    for kind in ("copy", "read", "write"):
        points = [p for p in run.points("memory") if p["family"] == f"device_{kind}"]
        if not points:
            continue
        point = min(points, key=lambda one: abs(int(one["size_bytes"]) - (1 << 30)))
        rate = float(point["gbyte_per_s"])
        said = f"Memory {kind}, {size_text(point['size_bytes'])}: {rate_text(rate)}"
        figures = {"size_bytes": point["size_bytes"], "gbyte_per_s": rate}
        if run.expectation is None or bandwidth is None:
            found.append(
                Finding(f"memory.{kind}", "note", f"{said}; no bandwidth is known to compare with.", figures)
            )
            continue
        known = run.expectation.share(f"memory_{kind}") if point["size_bytes"] == 1 << 30 else None
        severity, end, more = judged(known, rate / bandwidth, bandwidth, "GB/s")
        said = f"{said}, {percent(rate / bandwidth)} of {bandwidth:g} GB/s; {end}."
        found.append(
            Finding(
                f"memory.{kind}", severity, said, {**figures, "share": significant(rate / bandwidth), **more}
            )
        )
    return found


def host_findings(run: Run) -> list[Finding]:
    """Copies between host and device, and whether the PCIe link has all its lanes."""
    found = []
    for device in run.devices:
        lanes, most = device.get("pcie_lanes"), device.get("most_pcie_lanes")
        if lanes and most and lanes < most:
            found.append(Finding("pcie.lanes", "warning",
                f"Rank {device['rank']} is on {lanes} PCIe lanes of {most}: its host link has {percent(lanes / most)} of its rate.",
                {"rank": device["rank"], "pcie_lanes": lanes, "most_pcie_lanes": most}))  # fmt: skip
    for family, words in (("h2d", "host to device"), ("d2h", "device to host")):
        points = [p for p in run.points("memory") if p["family"] == family and p["gpus_active"] == 1]
        pinned = [p for p in points if p["pinned"]]
        if pinned:
            plain = [p for p in points if not p["pinned"]]
            found.append(_host_copy(run, words, max(pinned, key=lambda p: int(p["size_bytes"])), plain))
    return found


def _host_copy(run: Run, words: str, point: dict[str, Any], plain: list[dict[str, Any]]) -> Finding:
    rate = float(point["gbyte_per_s"])
    said = f"Copies {words}, pinned: {rate_text(rate)}"
    if plain:
        slow = max(plain, key=lambda p: int(p["size_bytes"]))
        said += f" (unpinned {float(slow['gbyte_per_s']):.3g} GB/s)"
    figures = {"size_bytes": point["size_bytes"], "gbyte_per_s": rate}
    device = run.devices[0] if run.devices else {}
    link = run.expectation.host_link(device.get("most_pcie_generation")) if run.expectation else None
    if link is None or (device.get("most_pcie_lanes") or 16) != 16:
        return Finding("host.copy", "note", f"{said}; no expectation is known.", figures)
    severity, end, more = judged(link[1], rate / link[0], link[0], "GB/s")
    said = f"{said}, {percent(rate / link[0])} of {link[0]:g} GB/s of PCIe {device['most_pcie_generation']} x16; {end}."
    return Finding("host.copy", severity, said, {**figures, "link_gbyte_per_s": link[0], **more})


def limit_findings(run: Run) -> list[Finding]:
    """Whether somebody lowered the power limit."""
    sold = run.expectation.power_limit_w if run.expectation else None
    low = [d for d in run.devices if sold and d.get("power_limit_w") and d["power_limit_w"] < sold]
    if not sold or not low:
        return []
    limits = sorted({float(device["power_limit_w"]) for device in low})
    ranks = ", ".join(str(device["rank"]) for device in low)
    return [Finding("power.limit", "warning",
        f"The power limit is lowered to {' and '.join(f'{limit:g}' for limit in limits)} W of {sold:g} W (rank {ranks}): "
        "products under load run at lower clocks.", {"limits_w": limits, "sold_w": sold})]  # fmt: skip


def clock_findings(run: Run) -> list[Finding]:
    """Clock reasons that say trouble, and clocks below their maximum with no load to explain them."""
    rows = [row for row in run.document.get("telemetry") or [] if row.get("samples")]
    found = _protecting(rows)
    most = {device["rank"]: device.get("most_sm_clock_mhz") for device in run.devices}
    capped = [
        row
        for row in rows
        if row["state"] in LOADED and (row.get("clock_reason_fraction") or {}).get("power cap")
    ]
    if capped:
        worst = max(capped, key=lambda row: float(row["clock_reason_fraction"]["power cap"]))
        share, clock = worst["clock_reason_fraction"]["power cap"], worst.get("mean_sm_clock_mhz")
        top = most.get(worst["rank"])
        at = f", SM clock {clock:.0f} of {top} MHz on average" if clock and top else ""
        found.append(Finding("clocks.power_cap", "note",
            f"The power cap held the clocks {percent(share)} of the time under {worst['state']} (rank {worst['rank']}{at}); "
            "usual for large products at full power.", {"state": worst["state"], "fraction": share, "mean_sm_clock_mhz": clock}))  # fmt: skip
    return found + _held(rows, most)


def _protecting(rows: list[dict[str, Any]]) -> list[Finding]:
    found = []
    for reason in PROTECTING:
        hit = [(float(row["clock_reason_fraction"][reason]), row) for row in rows
               if (row.get("clock_reason_fraction") or {}).get(reason)]  # fmt: skip
        if hit:
            share, row = max(hit, key=lambda one: one[0])
            ranks = sorted({one["rank"] for _, one in hit})
            hot = (
                f" at {row['p95_temperature_c']:.0f} C"
                if row.get("p95_temperature_c") and "thermal" in reason
                else ""
            )
            found.append(Finding("clocks.throttled", "warning",
                f"Clocks were throttled: {reason}, {percent(share)} of the time in {row['state']}{hot} "
                f"(rank {', '.join(map(str, ranks))}).", {"reason": reason, "fraction": share, "ranks": ranks}))  # fmt: skip
    return found


def _held(rows: list[dict[str, Any]], most: dict[Any, Any]) -> list[Finding]:
    """States under load in which the clock never came near its maximum though no cap or heat is told."""
    held: dict[Any, dict[str, Any]] = {}
    for row in rows:
        top, reached = most.get(row["rank"]), row.get("p95_sm_clock_mhz")
        other = set(row.get("clock_reason_fraction") or {}) - {"application clocks", "idle"}
        if row["state"] in (*LOADED, "nccl") and top and reached and reached < top and not other:
            held.setdefault(row["rank"], row)
    if not held:
        return []
    row = next(iter(held.values()))
    why = (
        "application clocks are set"
        if "application clocks" in (row.get("clock_reason_fraction") or {})
        else "no reason is told; locked clocks look so"
    )
    return [Finding("clocks.low", "warning",
        f"The SM clock stayed at {row['p95_sm_clock_mhz']:.0f} of {most[row['rank']]} MHz in {row['state']} "
        f"(rank {', '.join(map(str, held))}): {why} (nvidia-smi -rgc and -rac undo it).",
        {"ranks": list(held), "p95_sm_clock_mhz": row["p95_sm_clock_mhz"]})]  # fmt: skip
