"""Points measured on one's own endpoint beside what the model says of them, without and with their correction."""

from __future__ import annotations

import numpy as np

from planner.performance.serve import Served
from planner.performance.serving_anchors import Anchored
from planner.performance.serving_corrected import endpoint_for, off_by
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Table
from planner.present.view.reading import Reading, number, words


def anchor_tables(reading: Reading, served: Served) -> list[Table]:
    """One table for the endpoint that corrects a workload's times for each token; none without anchors of it."""
    group = None if served.apart is None else served.apart.decode.group
    found = endpoint_for(reading.built.cluster, served.workload, group)
    if found is None:
        return []
    token, first = (
        reading.value(f"{served.key}.{name}") for name in ("model_error_ratio", "first_token_error_ratio")
    )
    title = (
        f"Measured points of {found.endpoint} beside the model: TPOT x {fmt.significant(token)} and TTFT x "
        f"{fmt.significant(first)} correct {served.workload.id}, the mean of all points drawn towards 1 by their number and "
        "scatter"
    )
    columns = (
        Column("Point", numeric=False), Column("Requests in flight"), Column("TPOT measured", "ms"),
        Column("TPOT, model", "ms"), Column("TPOT, corrected", "ms"), Column("TTFT measured", "ms"),
        Column("TTFT, model", "ms"), Column("TTFT, corrected", "ms"), Column("Remark", numeric=False),
    )  # fmt: skip
    return [Table(f"anchors-{served.workload.id}", title, columns, tuple(_rows(found, token, first)))]


def _rows(found: Anchored, token: float, first: float) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for one, said in zip(found.anchors, found.latencies, strict=True):
        point, tpot, ttft = one.point, float(said.per_token_s[0]) * 1e3, float(said.first_token_s[0]) * 1e3
        queued = not np.isfinite(ttft)
        rows.append(
            (
                words(f"{one.place}"), number(float(point.concurrency)), number(point.tpot_ms), number(tpot),
                number(tpot * token), Cell(fmt.NOTHING) if point.ttft_ms is None else number(point.ttft_ms),
                *((Cell(fmt.NOTHING),) * 2 if queued else (number(ttft), number(ttft * first))),
                words(off_by(one, said) or ("TTFT is a queue's, which isn't predicted" if queued else "")),
            )
        )  # fmt: skip
    return rows
