"""Limits of a scenario that more than one stage judges by."""

from __future__ import annotations

from planner.ledger import Ledger
from planner.scenario.schema import Scenario

LOAD_OUTCOME = "outcome.serving_load_fraction"
"""Ledger line of the GPUs that a serving load takes over those it gets, the fullest workload's."""


LOAD_KEY = "performance.serving.load"
"""Beginning of the lines of the first serving workload's load."""
AT_LOAD = {
    "outcome.ttft_p99_s": f"{LOAD_KEY}.ttft_p99_s",
    "outcome.tpot_p99_s": f"{LOAD_KEY}.tpot_p99_s",
}
"""Latencies at the objective's point, and the lines of the same at the stated load, by which limits are judged."""
SATURATED_LOAD = f"{LOAD_KEY}.saturated_fraction"
"""Ledger line of the load's peak over the most that the plan's replicas answer."""


def saturated(ledger: Ledger) -> bool:
    """Whether the stated load is more than the first serving workload's replicas answer, so that waits grow without end."""
    return SATURATED_LOAD in ledger and ledger.scalar(SATURATED_LOAD) >= 1.0


def judged_latency_s(ledger: Ledger, key: str) -> float:
    """A tail latency as limits judge it: at the stated load where there is one, infinite where that saturates the replicas.

    Args:
        ledger: Of a plan.
        key: ``outcome.ttft_p99_s`` or ``outcome.tpot_p99_s``; any other line is taken as it is.
    """
    if key in AT_LOAD and saturated(ledger):
        return float("inf")
    at_load = AT_LOAD.get(key, "")
    return ledger.scalar(at_load if at_load in ledger else key)


def power_limit_mw(scenario: Scenario) -> float | None:
    """The lower of what the plan may draw and what the site's utility can deliver, MW at the meter."""
    known = [limit for limit in (scenario.limits.site_mw, scenario.site.limit_mw) if limit is not None]
    return min(known, default=None)


def power_limit_key(scenario: Scenario) -> str:
    """Field that holds it."""
    stated = scenario.limits.site_mw
    return "limits.site_mw" if stated is not None and stated == power_limit_mw(scenario) else "site.limit_mw"


def load_limit(scenario: Scenario) -> tuple[str, float | None]:
    """Field of the first load that a workload states, and the share of its GPUs that it may take: all of them.

    None as the share where no workload states a load.
    """
    for index, workload in enumerate(scenario.workloads):
        if workload.load is not None:
            return f"workloads.{index}.load.requests_per_s", 1.0
    return "workloads.load.requests_per_s", None
