"""Measured draws of servers under load, beside what the power model takes for that server and work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner.catalog.figure import Figure
from planner.catalog.schema import CoolingType, Server, Site
from planner.catalog.store import Catalog, Entry
from planner.study.fidelity.names import Names
from planner.study.fidelity.schema import PowerRow
from planner.study.fidelity.scoring import Result, without

SERVING_SHARE = "serving_power_share_of_maximum_fraction"
OTHER_KINDS = {
    "nameplate": "a nameplate is what circuits are sized for, not a draw under load",
    "gemm_achievable": "a rate of matrix products, not power; a table of products is predicted under gemm",
}


def predict_power(rows: Sequence[PowerRow], catalog: Catalog) -> list[Result]:
    """Watts of a node under load, and the PUE of a stated cooling at a stated site, a result for each row."""
    names = Names(catalog)
    return [_one(row, names) for row in rows]


def _one(row: PowerRow, names: Names) -> Result:
    empty = Result(row.id, row.kind, row.family, row.gpu or row.system, row.src)
    if row.kind.startswith("server_power"):
        return _draw(row, replace(empty, target="watts_per_node_under_load_mean", unit="W"), names)
    if row.kind == "pue":
        return _pue(row, replace(empty, target="pue", unit="1", measured=row.pue), names.catalog)
    measured = row.watts if row.kind == "nameplate" else None
    return without(replace(empty, unit="W", measured=measured), OTHER_KINDS.get(row.kind, "statement"))


def _draw(row: PowerRow, empty: Result, names: Names) -> Result:
    if row.watts_per_node_under_load_mean is None:
        return without(empty, "the row states no draw under load")
    empty = replace(empty, measured=row.watts_per_node_under_load_mean)
    chip = names.chip(row.gpu)
    if isinstance(chip, str):
        return without(empty, chip)
    server = names.server(chip)
    if server is None:
        return without(empty, f"the catalog has no server with {chip.entry.item.name}")
    watts = _watts(server, serving="inference" in row.kind, catalog=names.catalog)
    gpus = (row.n_gpus or server.item.gpus) / row.n_nodes
    share = gpus / server.item.gpus
    low, value, high = (one * share for one in watts)
    said = [*chip.assumed, f"server taken as {server.item.id}"]
    if "DC" in row.measure:
        said.append("measured behind the power supplies, predicted before them")
    return replace(empty, predicted=value, low=low, high=high, assumed=tuple(said))


def _watts(server: Entry[Server], *, serving: bool, catalog: Catalog) -> tuple[float, float, float]:
    """P10, value and P90 of a server's draw: as typical of training, or the serving share of its nameplate."""
    if not serving:
        return _spread(server.item.power_typical_w)
    share, _ = catalog.figure("facility", SERVING_SHARE)
    most = server.item.power_max_w.value
    low, value, high = (most * one for one in _spread(share))
    return low, value, high


def _spread(figure: Figure) -> tuple[float, float, float]:
    low = figure.value if figure.low is None else figure.low
    high = figure.value if figure.high is None else figure.high
    return low, figure.value, high


def _pue(row: PowerRow, empty: Result, catalog: Catalog) -> Result:
    empty = replace(empty, gpu=row.operator or empty.gpu)
    if not row.cooling or not row.site:
        return without(empty, "the row states no cooling method or no site, which the PUE follows from")
    unknown = [
        f"'{name}' in {kind.family}"
        for name, kind in ((row.cooling, CoolingType), (row.site, Site))
        if name not in catalog.ids(kind)
    ]
    if unknown:
        return without(empty, f"the catalog has no {' and no '.join(unknown)}")
    low, value, high = _spread(catalog.get(CoolingType, row.cooling).pue)
    return replace(empty, predicted=value, low=low, high=high)
