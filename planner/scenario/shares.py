"""Which workload gets which share of the scheduled GPU-hours."""

from __future__ import annotations

from planner.ledger import Ledger
from planner.ledger.nodes import added
from planner.scenario.parts import Parts


def enter_shares(ledger: Ledger, parts: Parts) -> None:
    """Enter ``workload.<id>.scheduled_fraction`` of every workload, and their sum.

    What is not given out stands idle.
    """
    lines = [
        ledger.given(
            f"workload.{workload.id}.scheduled_fraction", f"Share of the scheduled hours, {workload.id}",
            "fraction", workload.share_fraction, parts.loaded.source("workloads", index, "share_fraction"),
        )
        for index, workload in enumerate(parts.loaded.scenario.workloads)
    ]  # fmt: skip
    ledger.derive(
        "workload.scheduled_fraction",
        "Share of the scheduled hours given to workloads",
        "fraction",
        added(lines),
    )
