"""The shipped plan with two kinds of GPUs, with changes: for tests of pools on machines of their own."""

from __future__ import annotations

from functools import cache

from planner.catalog.store import Catalog, open_catalog
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_scenario

NAME, KEY = "b200-h200-disaggregated", "performance.serving"
WISH = "workloads.chat.disaggregated"


@cache
def shelf() -> Catalog:
    """The shipped catalog."""
    return open_catalog()


@cache
def evaluated(*changes: str) -> Evaluation:
    """The plan with changes as given to ``--set``."""
    found = evaluate(load_scenario(NAME, changes=changes), shelf())
    assert found.built is not None, found.refusal
    return found


def value(found: Evaluation, name: str) -> float:
    """A line of the serving workload."""
    return found.ledger.scalar(f"{KEY}.{name}")


def tokens(*changes: str) -> float:
    """Output tokens a second of a GPU."""
    return value(evaluated(*changes), "output_tokens_per_s_per_gpu")


def named(prefill: str, decode: str) -> str:
    """A change that names the groups of both pools."""
    return f"{WISH}={{prefill_group: {prefill}, decode_group: {decode}}}"
