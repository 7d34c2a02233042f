"""Serving workloads: the operating point, and its latencies against the objective."""

from __future__ import annotations

from dataclasses import replace

from planner.ledger import Kind
from planner.performance.serve import Served
from planner.present import format as fmt
from planner.present.view.anchored import anchor_tables
from planner.present.view.model import Cell, Column, Table
from planner.present.view.reading import Reading, number, share, words

FIRST = "performance.serving"
"""Key of the first serving workload, whose tokens have unit costs."""
COSTS = (
    "usd_per_mtoken_output", "usd_per_mtoken_input", "usd_per_mtoken_output_decode", "usd_per_mtoken_total",
    "usd_per_mtoken_output_saturated", "objective_premium_fraction", "usd_per_mtoken_output_at_load", "tokens_per_j",
    "total_tokens_per_j",
)  # fmt: skip


def serving_tables(reading: Reading, served: Served) -> list[Table]:
    """Operating point and latency of one serving workload; its load, and what tokens of the first one cost."""
    found = [_point(reading, served), _latency(reading, served)]
    found += anchor_tables(reading, served)
    if served.pools is not None:
        found.append(_pools(reading, served))
    if reading.has(f"{served.key}.load.requests_per_s"):
        found.append(_load(reading, served))
    if served.key == FIRST:
        found.append(_costs(reading, served))
    return found


def _point(reading: Reading, served: Served) -> Table:
    key = served.key
    replicas = reading.value("cluster.gpus") // reading.value(f"{key}.replica_gpus")
    if served.pools is not None:
        replicas = reading.value(f"{key}.pools.decode_replicas")
    rows = []
    for name in (
        "input_tokens", "prefix_hit_fraction", "output_tokens", "replica_gpus", "attention_gpus", "batch_sequences",
        "output_tokens_per_s_per_gpu", "output_tokens_per_s", "communication_fraction", "mfu_fraction",
        "goodput_fraction",
    ):  # fmt: skip
        if not reading.has(f"{key}.{name}"):
            continue
        line = reading.ledger[f"{key}.{name}"]
        cell = reading.quantity(line.key)
        if line.kind is Kind.GIVEN:  # a prompt of 2,048 tokens isn't one of 2,050
            cell = replace(cell, text=fmt.given(reading.value(line), line.unit))
        rows.append((words(line.label), cell))
        if name == "replica_gpus":
            rows.append(
                (
                    words("Replicas" if served.pools is None else "Decode replicas"),
                    Cell(fmt.count(replicas), replicas),
                )
            )
    note = reading.ledger[f"{key}.batch_sequences"].note
    return Table(
        f"serving-{served.workload.id}",
        f"Operating point of {served.workload.id} ({served.workload.model}): {note}",
        (Column("Quantity", numeric=False), Column("Value")),
        tuple(rows),
    )


def _latency(reading: Reading, served: Served) -> Table:
    key = served.key
    rows = []
    for name, label in (
        ("ttft", "Time to first token (TTFT)"),
        ("tpot", "Time for each output token (TPOT)"),
    ):
        limit, p99 = reading.value(f"{key}.slo.{name}_p99_s"), reading.value(f"{key}.{name}_p99_s")
        rows.append(
            (
                words(label),
                reading.number(f"{key}.{name}_mean_s", 1e3),
                reading.number(f"{key}.{name}_p99_s", 1e3),
                number(limit * 1e3),
                share(1 - p99 / limit),
            )
        )
    return Table(
        f"latency-{served.workload.id}",
        f"Latency of {served.workload.id} against its objective",
        (
            Column("Latency", numeric=False),
            Column("Mean", "ms"),
            Column("p99", "ms"),
            Column("Limit of p99", "ms"),
            Column("To spare", "%"),
        ),
        tuple(rows),
    )


def _pools(reading: Reading, served: Served) -> Table:
    """Separate pools, the way between them, and whether they pay."""
    key = f"{served.key}.pools"
    title = f"Separate pools for prompts and answers of {served.workload.id}"
    gain, mixed = f"{key}.gain_fraction", len(served.placed) > 1
    if not reading.has(gain):
        title += ": without them nothing keeps the objective"
    else:
        percent = reading.value(gain) * 100.0
        verdict = "they pay" if percent > 0.0 else "they don't pay"
        against = "each kind of GPU by itself" if mixed else "the same GPUs together"
        title += f": {verdict}, {percent:+.3g} % tokens against {against}"
    better = f"{key}.assignment_gain_fraction"
    if reading.has(better):
        line = reading.ledger[better]
        what = line.label.removeprefix("Tokens gained by ")
        percent = reading.value(better) * 100.0
        # of two ways that serve alike the first is planned
        title += f"; {what}, " + (
            f"{percent:+.3g} % {line.note}"
            if percent >= 0.1
            else f"no better than {line.note.removeprefix('against ')}"
        )
    own = [kind.server.item.id for kind in reading.built.cluster.parts.kinds] if mixed else []
    names = (
        "prefill_replicas", "prefill_replica_gpus", "decode_replicas", "decode_replica_gpus", "idle_gpus",
        "prefill_busy_fraction", "prefill_mfu_fraction", "decode_mfu_fraction", "prefill_communication_fraction",
        "decode_communication_fraction", "cache_bytes", "path_bytes_per_s", "path_busy_fraction",
        "path_in_busy_fraction", "cache_path_s", "transfer_left_s", "transfer_s",
        *(f"{one}.together_output_tokens_per_s_per_gpu" for one in own),
        "together_output_tokens_per_s_per_gpu", "gain_fraction", "other_output_tokens_per_s_per_gpu",
        "assignment_gain_fraction",
    )  # fmt: skip
    keys = [f"{key}.{name}" for name in names if reading.has(f"{key}.{name}")]
    return _defined(reading, f"pools-{served.workload.id}", title, keys)


def _load(reading: Reading, served: Served) -> Table:
    key = f"{served.key}.load"
    names = (
        "requests_per_s", "mean_requests_per_s", "spare_replicas", "replicas", "gpus", "mean_gpus",
        "covered_fraction",
    )  # fmt: skip
    short = reading.value(f"{key}.covered_fraction") < 1.0
    title = f"What the load of {served.workload.id} needs at this operating point"
    if short:
        title += ": more GPUs than the plan has, see planner search"
    return _defined(reading, f"load-{served.workload.id}", title, [f"{key}.{name}" for name in names])


def _costs(reading: Reading, served: Served) -> Table:
    keys = [f"unit.{name}" for name in COSTS if reading.has(f"unit.{name}")]
    if reading.has("rent.usd_per_mtoken_output"):
        keys.insert(1, "rent.usd_per_mtoken_output")
    return _defined(
        reading,
        f"tokens-{served.workload.id}",
        f"What tokens of {served.workload.id} cost, and how each is defined",
        keys,
    )


def _defined(reading: Reading, name: str, title: str, keys: list[str]) -> Table:
    """Lines with their values and definitions."""
    rows = [
        (words(reading.ledger[key].label), reading.quantity(key), words(reading.ledger[key].note))
        for key in keys
    ]
    columns = (Column("Quantity", numeric=False), Column("Value"), Column("Definition", numeric=False))
    return Table(name, title, columns, tuple(rows))
