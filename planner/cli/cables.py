"""The cables command: what joins what, of which medium and length, and the cut sheet."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner.catalog.store import open_catalog
from planner.design.cluster import Cluster, draw_cluster
from planner.design.cutsheet import cut_sheet
from planner.design.misfits import every_problem, refuse_misfits
from planner.errors import DesignError
from planner.present.files import write_atomically
from planner.scenario.load import load_scenario
from planner.scenario.parts import Parts, resolve


def write_cables(
    scenario: str, *, output: Path | None, changes: Sequence[str], catalog: Sequence[Path], as_json: bool
) -> int:
    """Design the cabling of a scenario, print it by tier and medium, and write the cut sheet where it is asked for.

    Raises:
        ScenarioError: The scenario is wrong.
        DesignError: It can't be built.
        OSError: The file can't be written.
    """
    loaded, shelf = load_scenario(scenario, changes=changes), open_catalog(catalog)
    cluster = _drawn(resolve(loaded, shelf))
    if output is not None:
        sheet = cut_sheet(cluster.cabling, cluster.media, cluster.layout)
        write_atomically(output, sheet.csv())
        print(f"{output}: {len(sheet.lines):,} lines, {sheet.cables:,} cables", file=sys.stderr)
    answer = as_object(cluster)
    if as_json:
        print(json.dumps(answer, indent=1))
    else:
        print("\n".join(as_text(answer)))
    return 0


def _drawn(parts: Parts) -> Cluster:
    """The design, or everything that is in its way.

    Raises:
        DesignError: All that is known to be wrong, each with its place in the scenario.
    """
    try:
        refuse_misfits(parts)
        return draw_cluster(parts)
    except DesignError as refusal:
        raise every_problem(refusal, parts) from refusal


def as_object(cluster: Cluster) -> dict[str, Any]:
    """Cabling by tier pair and medium, its length classes, and the structured part."""
    rows = [
        {
            "tier": row.tier, "medium": row.medium, "kind": str(row.kind), "optics": row.optics, "links": row.links,
            "cables": row.cables, "modules": row.modules, "fibres": row.fibres, "wavelengths": row.wavelengths,
            "longest_m": round(row.longest_m, 2), "power_w": row.power_w,
            "cost_usd": None if row.cost is None else row.cost.typ_usd,
        }
        for row in cluster.cabling.rows
    ]  # fmt: skip
    classes = [
        {"tier": one.tier, "medium": one.medium, "ordered_m": one.ordered_m, "links": one.links}
        for one in cluster.cabling.classes
    ]
    plant = cluster.plant
    return {
        "rows": rows,
        "length_classes": classes,
        "structured": {
            "channels": plant.channels, "trunks": plant.trunks, "panels": int(plant.panels.sum()),
            "panel_ports": int(plant.panel_ports.sum()),
        },
        "halls": [hall.id for hall in cluster.layout.halls],
        "built_in": _built_in(cluster),
    }  # fmt: skip


def _built_in(cluster: Cluster) -> str:
    """What comes cabled inside rack-scale systems, in a sentence; empty where there are none."""
    found = []
    for server in (kind.server.item for kind in cluster.parts.kinds):
        if server.is_rack:
            known = server.backplane_cables_count
            number = "an unknown number of" if known is None else f"{known.value:,.0f}"
            found.append(
                f"{server.name}: {number} scale-up cables are built into each rack; none of them is pulled on site."
            )
    return " ".join(found)


def as_text(answer: dict[str, Any]) -> list[str]:
    """The same for people, at most 80 columns wide."""
    line = "{:<19} {:<7} {:<18} {:>7} {:>7} {:>7} {:>9}"
    told = [line.format("between", "kind", "of", "links", "cables", "modules", "longest m")]
    for row in answer["rows"]:
        kind = "modules" if row["kind"] == "transceiver-pair" else row["kind"]
        told.append(
            line.format(
                row["tier"][:19], kind, (row["optics"] or row["medium"])[:18], f"{row['links']:,}", f"{row['cables']:,}",
                f"{row['modules']:,}", f"{row['longest_m']:,.1f}",
            )
        )  # fmt: skip
    if not answer["rows"]:
        return ["No network joins the servers: no cables."]
    plant = answer["structured"]
    told += textwrap.wrap(answer["built_in"], 80)
    told += textwrap.wrap(
        f"{plant['channels']:,} fibre cables between switches run from row to row: {plant['trunks']:,} trunks, "
        f"{plant['panels']:,} patch panels.",
        80,
    )
    return told
