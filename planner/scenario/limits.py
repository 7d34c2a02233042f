"""Limits of a scenario that more than one stage judges by."""

from __future__ import annotations

from planner.scenario.schema import Scenario

LOAD_OUTCOME = "outcome.serving_load_fraction"
"""Ledger line of the GPUs that a serving load takes over those it gets, the fullest workload's."""


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
