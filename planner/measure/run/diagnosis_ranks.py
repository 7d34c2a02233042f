"""What a run shows of its ranks and its host: a slow GPU, launches that bound latency, overlap."""

from __future__ import annotations

from typing import Any

from planner.measure.run.findings import Finding, Run, op_text, percent, size_text
from planner.measure.run.stats import percentile, significant

# Sections in which each rank works for itself, so that one's time isn't the others'.
ALONE = {"gemm": "GEMM", "attention": "attention", "memory": "memory"}


def rank_findings(run: Run) -> list[Finding]:
    """All of them."""
    return [*slow_ranks(run), *latency_findings(run), *overlap_findings(run)]


def slow_ranks(run: Run) -> list[Finding]:
    """Ranks whose times lie above the others' by more than the samples of one rank scatter."""
    found = []
    for section, words in ALONE.items():
        points = [p for p in run.points(section) if len(_times(p)) > 1 and _steady(p)]
        if points:
            found += _slow_in(section, words, points)
    found += _slow_in_collectives(run)
    judged = [
        words for section, words in ALONE.items() if any(len(_times(p)) > 1 for p in run.points(section))
    ]
    if judged and not found:
        return [Finding("ranks.even", "ok",
                        f"No GPU is slower than the others in {', '.join(judged)} by more than its samples scatter.")]  # fmt: skip
    return found


def _times(point: dict[str, Any]) -> list[float | None]:
    return list(point.get("rank_median_us") or [])


def _steady(point: dict[str, Any]) -> bool:
    """Copies of unpinned memory hang on the host's pages, not on the GPU."""
    return bool(point.get("pinned", True))


def excess(points: list[dict[str, Any]], rank: int) -> float | None:
    """How much longer a rank takes than the middle of the others, in the middle of the points.

    >>> excess([{"rank_median_us": [10.0, 10.0, 12.0]}, {"rank_median_us": [5.0, 5.0, 6.0]}], 2)
    0.2
    """
    ratios = []
    for point in points:
        times = _times(point)
        if len(times) <= rank:
            continue
        mine = times[rank]
        others = [time for place, time in enumerate(times) if place != rank and time]
        if mine and others:
            ratios.append(mine / percentile(others, 50) - 1)
    return round(percentile(ratios, 50), 4) if ratios else None


def scatter(points: list[dict[str, Any]]) -> float:
    """How far apart the samples of one rank lie, p10 to p99, in the middle of the points.

    >>> scatter([{"p10_us": 9.0, "median_us": 10.0, "p99_us": 11.0}])
    0.2
    """
    return percentile([(p["p99_us"] - p["p10_us"]) / p["median_us"] for p in points], 50)


def _slow_in(section: str, words: str, points: list[dict[str, Any]]) -> list[Finding]:
    ranks = max(len(_times(point)) for point in points)
    spread = scatter(points)
    found = []
    for rank in range(ranks):
        more = excess(points, rank)
        if more is not None and more > spread:
            found.append(Finding(f"ranks.slow.{section}", "warning",
                f"Rank {rank} is {percent(more)} slower than the others in {words} (middle of {len(points)} points; "
                f"samples of one rank scatter by {spread * 100:.1f} %).",
                {"rank": rank, "excess_fraction": more, "scatter_fraction": significant(spread), "points": len(points)}))  # fmt: skip
    return found


def _slow_in_collectives(run: Run) -> list[Finding]:
    """Ranks of one collective end together, so that a difference here is one of the link or its launch."""
    found = []
    for label in dict.fromkeys(point["group"] for point in run.points("nccl")):
        points = [
            p
            for p in run.points("nccl")
            if p["group"] == label and p["mode"] == "eager" and p["size_bytes"] >= 1 << 20
        ]
        members = (run.document.get("groups") or {}).get(label)
        for finding in _slow_in("nccl", f"collectives of {label}", points) if points else []:
            place = finding.figures["rank"]
            rank = members[place] if members else place
            said = finding.sentence.replace(f"Rank {place} ", f"Rank {rank} ", 1)
            found.append(Finding(finding.code, finding.severity, said, {**finding.figures, "rank": rank}))
    return found


def latency_findings(run: Run) -> list[Finding]:
    """The smallest message, launched by the host and inside a CUDA graph: what the host adds."""
    found = []
    points = run.points("nccl")
    for label in dict.fromkeys(point["group"] for point in points):
        pairs: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
        for point in points:
            if point["group"] == label and point["op"] == "all_reduce":
                pairs.setdefault((point["dtype"], point["size_bytes"]), {})[point["mode"]] = point
        both = [key for key, modes in pairs.items() if {"eager", "graph"} <= set(modes)]
        if both:
            key = min(both, key=lambda one: one[1])
            found.append(_latency(label, pairs[key]["eager"], pairs[key]["graph"]))
    return found


def _latency(label: str, eager: dict[str, Any], graph: dict[str, Any]) -> Finding:
    slow, fast = float(eager["median_us"]), float(graph["median_us"])
    spread = max(0.0, float(eager["p99_us"]) - float(eager["p10_us"])) / 2
    figures = {"group": label, "size_bytes": eager["size_bytes"], "eager_us": slow, "graph_us": fast,
               "launch_us": eager.get("launch_median_us")}  # fmt: skip
    start = f"all-reduce of {size_text(eager['size_bytes'])} over {eager['ranks']} GPUs ({label}): {slow:.1f} us eager, {fast:.1f} us in a CUDA graph"
    start = start[0].upper() + start[1:]
    if fast > slow + spread:
        return Finding(
            "latency.graph_slower", "warning", f"{start}: the graph should not be slower.", figures
        )
    bound = float(eager.get("launch_median_us") or 0.0)
    if slow > fast and bound > fast:
        return Finding("latency.host_bound", "note",
                       f"{start}: eager latency is bound by the host, whose launch alone takes {bound:.1f} us.", figures)  # fmt: skip
    return Finding("latency.device_bound", "ok", f"{start}.", figures)


def overlap_findings(run: Run) -> list[Finding]:
    """For each collective, the largest size beside the products: how much was hidden, and at what price."""
    found = []
    records = [record for record in run.records("overlap") if "hidden_fraction" in record]
    for op in dict.fromkeys(record["op"] for record in records):
        there = [record for record in records if record["op"] == op]
        record = max(there, key=lambda one: (one["size_bytes"], one["m"]))
        hidden = float(record["hidden_fraction"])
        share = f"{percent(hidden)} of the shorter is hidden" if hidden > 0 else "nothing is hidden"
        found.append(Finding("overlap", "note",
            f"{op_text(op)[0].upper()}{op_text(op)[1:]} of {size_text(record['size_bytes'])} beside GEMM "
            f"{record['m']} x {record['k']} x {record['n']}: {share}; the GEMM takes {record['gemm_slowdown']:.2f} times as "
            f"long, the collective {record['collective_slowdown']:.2f} times.",
            {key: record[key] for key in ("op", "size_bytes", "hidden_fraction", "gemm_slowdown", "collective_slowdown")}))  # fmt: skip
    return found
