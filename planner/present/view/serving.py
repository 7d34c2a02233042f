"""Serving workloads: the operating point, and its latencies against the objective."""

from __future__ import annotations

from planner.performance.serve import Served
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Table
from planner.present.view.reading import Reading, number, share, words


def serving_tables(reading: Reading, served: Served) -> list[Table]:
    """Operating point and latency of one serving workload."""
    return [_point(reading, served), _latency(reading, served)]


def _point(reading: Reading, served: Served) -> Table:
    key = served.key
    replicas = reading.value("cluster.gpus") // reading.value(f"{key}.replica_gpus")
    rows = []
    for name in (
        "input_tokens", "output_tokens", "replica_gpus", "attention_gpus", "batch_sequences",
        "output_tokens_per_s_per_gpu", "output_tokens_per_s", "communication_fraction", "mfu_fraction",
        "goodput_fraction",
    ):  # fmt: skip
        rows.append((words(reading.ledger[f"{key}.{name}"].label), reading.quantity(f"{key}.{name}")))
        if name == "replica_gpus":
            rows.append((words("Replicas"), Cell(fmt.count(replicas), replicas)))
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
