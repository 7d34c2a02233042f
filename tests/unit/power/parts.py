"""Servers and scenarios that tests of the power chain share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from planner.catalog.schema import Accelerator, ScaleUp, Server
from planner.catalog.store import Catalog, Entry
from planner.evaluate import Evaluation, evaluate
from planner.ledger import Ledger
from planner.power.figures import Figures
from planner.power.server import ServerDraw, catalog_server, server_draw
from planner.resources import shipped
from planner.scenario.load import load_text

CATALOG = Catalog([shipped("catalog")])
PLAN = """\
name: power
workloads:
  - {{id: job, kind: training, model: llama-3.1-70b, precision: bf16, sequence_tokens: 8192, plan: auto, share_fraction: 0.6}}
{more}
cluster: {{groups: [{{id: main, server: {server}, gpus: {gpus}}}]}}
network: {{leaf: {{switch: {leaf}}}}}
site: {{location: us-virginia, cooling: {cooling}{site}}}
{end}
"""


def parts_of(server_id: str) -> tuple[Entry[Server], Entry[Accelerator], Entry[ScaleUp] | None]:
    """A catalog server with its accelerator and links."""
    entry = CATALOG.entry(Server, server_id)
    return entry, *catalog_server(CATALOG, entry)


def of_server(server_id: str, cap: float = 1.0) -> ServerDraw:
    """Draws of a catalog server."""
    figures = Figures(Ledger(months=1), CATALOG)
    return server_draw(figures, *parts_of(server_id), cap_fraction=np.array([cap]))


def planned(
    *,
    server: str = "hgx-h200",
    gpus: int = 64,
    site: str = "",
    cooling: str = "air",
    more: str = "",
    end: str = "",
) -> Evaluation:
    """A small plan, evaluated."""
    text = PLAN.format(
        server=server, gpus=gpus, leaf="qm9700", cooling=cooling, site=f", {site}" if site else "", more=more, end=end
    )  # fmt: skip
    return evaluate(load_text(text, Path("power.yaml")), CATALOG)


def value(evaluation: Evaluation, key: str) -> float:
    """A line of a plan that can be built."""
    assert evaluation.built is not None, evaluation.refusal
    return evaluation.ledger.scalar(key)
