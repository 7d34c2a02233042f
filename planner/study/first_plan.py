"""Choices for a first plan that can be built: a switch that fits the servers, and GPUs that fill a power budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planner.catalog.network import Switch
from planner.catalog.schema import Server
from planner.catalog.store import Catalog
from planner.errors import PlannerError
from planner.scenario.edit import with_value
from planner.scenario.load import load_text
from planner.scenario.yamltext import block
from planner.units import MEGA

if TYPE_CHECKING:
    from planner.evaluate import Evaluation

GPUS: Final = ("cluster", "groups", 0, "gpus")
SWITCH: Final = ("network", "leaf", "switch")
MOST_GPUS: Final = 262_144
"""A search for a power budget ends there; a site of that size is several plans."""


def scenario_text(data: Mapping[str, Any], *, head: str = "") -> str:
    """A scenario's text from plain data, a blank line between its groups.

    >>> print(scenario_text({"name": "x", "site": {"location": "us-virginia"}}, head="made by hand"), end="")
    # made by hand
    schema_version: 1
    name: x
    <BLANKLINE>
    site:
      location: us-virginia
    """
    lines = [f"# {one}" for one in head.splitlines()] + ["schema_version: 1"]
    for key, value in data.items():
        if isinstance(value, dict | list):
            lines.append("")
        lines += block({key: value})
    return "\n".join(lines) + "\n"


def evaluated(data: Mapping[str, Any], catalog: Catalog) -> Evaluation | None:
    """What plain data comes to; None where it is no plan."""
    from planner.evaluate import evaluate  # the terminal's first frame would wait for it

    try:
        return evaluate(load_text(scenario_text(data), Path("plan.yaml")), catalog)
    except PlannerError:
        return None


def with_switch(data: Mapping[str, Any], catalog: Catalog, preferred: str) -> dict[str, Any]:
    """The plan with a leaf switch it can be built with: the preferred one, else the first of the catalog that fits.

    Where none does, the preferred one stands, and the plan's refusal says what is in the way.
    """
    plan = dict(data)
    others = sorted(one for one in catalog.ids(Switch) if one != preferred)
    for name in (preferred, *others):
        found = evaluated(with_value(plan, SWITCH, name), catalog)
        if found is not None and found.feasible:
            return dict(with_value(plan, SWITCH, name))
    return dict(with_value(plan, SWITCH, preferred))


def filled(
    data: Mapping[str, Any],
    catalog: Catalog,
    limit_mw: float,
    *,
    cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """The plan with as many GPUs, in whole servers, as stay within a power limit at their peak.

    The count is found by halving: peak power grows with every server. One server stands where none fits.
    """
    server = catalog.entry(Server, str(data["cluster"]["groups"][0]["server"])).item
    step = int(server.gpus)

    def fits(servers: int) -> bool:
        found = evaluated(with_value(data, GPUS, servers * step), catalog)
        if found is None or not found.feasible:
            return False
        return found.ledger.scalar("power.facility_peak_w") <= limit_mw * MEGA

    low, high = 1, 2
    while high * step <= MOST_GPUS and fits(high) and not cancelled():
        low, high = high, high * 2
    while high - low > 1 and not cancelled():
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return dict(with_value(data, GPUS, low * step))
