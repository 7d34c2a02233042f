"""Figures beyond all sense are refused where they stand, before any arithmetic meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from planner.catalog.bounds import BOUNDS, beyond
from planner.catalog.figure import Figure
from planner.catalog.schema import Assumptions, CoolingType, Nic, PowerConversion, Storage
from planner.catalog.store import open_catalog
from planner.errors import CatalogError
from planner.resources import shipped
from planner.sourced import Basis

CASES = [
    (Nic, "connectx-7-400g", ("port_rate_gbit_per_s",), 0.0),
    (Nic, "bluefield-3", ("port_rate_gbit_per_s",), 1e-300),
    (CoolingType, "direct-liquid", ("liquid_fraction",), 1e300),
    (PowerConversion, "transformer", ("rating_kw",), 1e-300),
    (PowerConversion, "transformer", ("step_kw",), 1e300),
    (Storage, "flash-parallel-500tb", ("read_gbyte_per_s",), 0.0),
    (Storage, "flash-parallel-500tb", ("capacity_tb",), 1e-300),
    (Assumptions, "network", ("figures", "ufm_links_per_fabric_count"), -1.0),
    (Assumptions, "network", ("figures", "oob_links_per_node_count"), 1e300),
    (Assumptions, "network", ("figures", "inband_oversubscription_ratio"), 0.0),
    (Assumptions, "network", ("figures", "model_load_target_s"), 0.0),
    (Assumptions, "network", ("figures", "checkpoint_write_share_of_interval_fraction"), 0.0),
]


@pytest.mark.parametrize(("kind", "item", "field", "value"), CASES)
def test_a_figure_beyond_its_unit_is_refused_by_name(
    kind: type[Nic], item: str, field: tuple[str, ...], value: float, tmp_path: Path
) -> None:
    data = YAML(typ="safe").load((shipped("catalog") / kind.family / f"{item}.yaml").read_text())
    figure = data
    for name in field:
        figure = figure[name]
    figure.update(value=value, low=value, high=value)
    (tmp_path / kind.family).mkdir()
    (tmp_path / kind.family / f"{item}.yaml").write_text(json.dumps(data, default=str))
    with pytest.raises(CatalogError, match=rf"{field[-1]} .*must "):
        open_catalog([tmp_path]).get(kind, item)


@pytest.mark.parametrize(("end", "low", "high"), BOUNDS)
def test_bounds_themselves_are_taken_and_what_lies_beyond_is_not(end: str, low: float, high: float) -> None:
    def said(value: float) -> str:
        return beyond(f"x{end}", Figure(value=value, source="s", basis=Basis.PUBLISHED, as_of="2026"))

    assert said(low) == said(high) == ""
    assert said(high * 1.01) and said(low - 1e-4 * high)
