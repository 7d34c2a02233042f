"""Plans AI clusters: which hardware, wired how, powered and cooled how, delivering what, costing what.

>>> import planner
>>> found = planner.plan("h100-8-lab", changes=["cluster.groups.lab.gpus=8"])
>>> found.feasible, found.ledger.scalar("design.racks")
(True, 1.0)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from planner.scenario.quote_reader import read_quotes_with

if TYPE_CHECKING:
    from planner.catalog.store import Catalog, open_catalog
    from planner.evaluate import Evaluation
    from planner.scenario.load import Loaded, load_scenario
    from planner.study.plan import plan

__version__ = "0.1.0"

__all__ = [
    "Catalog",
    "Evaluation",
    "Loaded",
    "__version__",
    "load_scenario",
    "open_catalog",
    "plan",
]

_HOMES = {
    "Catalog": "planner.catalog.store",
    "Evaluation": "planner.evaluate",
    "Loaded": "planner.scenario.load",
    "load_scenario": "planner.scenario.load",
    "open_catalog": "planner.catalog.store",
    "plan": "planner.study.plan",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package is cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module 'planner' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


# a scenario may name quotes that are workbooks, which only planner.intake opens
read_quotes_with(lambda paths: import_module("planner.intake.quotes").read_quotes(paths))
