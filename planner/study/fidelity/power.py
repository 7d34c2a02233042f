"""Measured draws of servers under load, beside what the power model takes for that server and work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.catalog.figure import Figure
from planner.catalog.schema import Accelerator, CoolingType, Server, Site
from planner.catalog.store import Catalog, Entry
from planner.ledger import Ledger
from planner.power.activity import usual_activity
from planner.power.figures import Figures
from planner.power.pue import annual_pue
from planner.power.server import ServerDraw, built_draw, catalog_server, server_draw
from planner.study.fidelity.machines import power_limit_w, server_like
from planner.study.fidelity.names import Chip, Names, words
from planner.study.fidelity.schema import PowerRow
from planner.study.fidelity.scoring import Result, without

NAMEPLATE_SHARE = "typical_power_share_of_maximum_fraction"
EFFICIENT = "maxq"
"""Word in the name of a system whose accelerators run at an efficient power limit."""
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


@dataclass(frozen=True, slots=True)
class _Box:
    """What a row's node is taken for: parts, its share of them, and what was assumed."""

    draw: ServerDraw
    share: float
    assumed: tuple[str, ...]


def _draw(row: PowerRow, empty: Result, names: Names) -> Result:
    if row.watts_per_node_under_load_mean is None:
        return without(empty, "the row states no draw under load")
    empty = replace(empty, measured=row.watts_per_node_under_load_mean)
    chip = names.chip(row.gpu or row.system)
    if isinstance(chip, str) or chip.entry.item.tdp_w is None:
        why = chip if isinstance(chip, str) else f"no power limit of {chip.entry.item.name} is known"
        return _by_nameplate(row, empty, names.catalog, why)
    figures = Figures(Ledger(months=1), names.catalog)
    cap, assumed = _cap(row, chip, figures)
    box = _box(row, chip, names, figures, cap)
    activity = usual_activity(figures, serving="inference" in row.kind, nodes=row.n_nodes)
    said = [*chip.assumed, *assumed, *box.assumed]
    if "DC" in row.measure:
        watts = box.draw.behind_supplies_w(activity)
        said.append("measured behind the power supplies, and predicted there")
    else:
        watts = box.draw.working_w(activity)
    value = float(watts[0]) * box.share
    low, _, high = _spread(names.catalog.figure("facility", "server_power_error_ratio")[0])
    return replace(empty, predicted=value, low=value * low, high=value * high, assumed=tuple(said))


def _cap(row: PowerRow, chip: Chip, figures: Figures) -> tuple[float, list[str]]:
    """Power limit of the row's accelerators over the catalog's: as named, or that of an efficient setting."""
    item = chip.entry.item
    limit = power_limit_w(item, f"{row.gpu} {row.system}")
    if limit is not None and item.tdp_w is not None:
        return limit / item.tdp_w.value, [f"accelerators limited to {limit:g} W, as named"]
    text = f"{row.system} {row.gpu} {row.source.where}".lower().replace("-", "").replace("_", "")
    if EFFICIENT in text:
        share = float(figures("efficient_setting_power_cap_fraction")[0])
        return share, [f"accelerators of a MaxQ system limited to {share:.0%} of their power"]
    return 1.0, []


def _box(row: PowerRow, chip: Chip, names: Names, figures: Figures, cap: float) -> _Box:
    """The server a row names, else the first with its accelerator, else one built up from its accelerators.

    A variant of an accelerator that a server is made for stands in that server.
    """
    server = _named(row, chip, names) or names.server(chip) or _for_variant(chip, names.catalog)
    limit = np.array([cap])
    gpus = (row.n_gpus or (server.item.gpus if server else 8)) / row.n_nodes
    if server is not None and (server.item.is_rack or gpus == server.item.gpus):
        _, scaleup = catalog_server(names.catalog, server)
        draw = server_draw(figures, server, chip.entry, scaleup, cap_fraction=limit)
        return _Box(draw, gpus / server.item.gpus, (f"server taken as {server.item.id}",))
    whole = max(1, round(gpus))
    draw = built_draw(figures, chip.entry, gpus=whole, cap_fraction=limit)
    said = f"server built up from {whole} accelerators, two CPUs for each eight, and fans"
    return _Box(draw, gpus / whole, (said,))


def _for_variant(chip: Chip, catalog: Catalog) -> Entry[Server] | None:
    """The server of a sibling with the same links and form, as H100 is of H800 and H20; None without one."""
    like, own = server_like(catalog, chip.entry.item), chip.entry.item
    if like is None:
        return None
    sibling = catalog.get(Accelerator, like.accelerator)
    fits = (own.scaleup, own.form_factor) == (sibling.scaleup, sibling.form_factor)
    return catalog.entry(Server, like.id) if fits else None


def _named(row: PowerRow, chip: Chip, names: Names) -> Entry[Server] | None:
    """The server whose id's words, the accelerator's included, all stand in the system's name."""
    said = set(words(row.system))
    for item_id in names.catalog.ids(Server):
        entry = names.catalog.entry(Server, item_id)
        if entry.item.accelerator == chip.entry.item.id and set(words(item_id)) <= said:
            return entry
    return None


def _by_nameplate(row: PowerRow, empty: Result, catalog: Catalog, why: str) -> Result:
    """A share of the nameplate, where nothing is known of the accelerator."""
    if row.nameplate_watts is None:
        return without(empty, f"{why}, and the row states no nameplate")
    low, value, high = (
        row.nameplate_watts * one for one in _spread(catalog.figure("facility", NAMEPLATE_SHARE)[0])
    )
    said = f"{why}: a share of the nameplate, as of other servers"
    return replace(empty, predicted=value, low=low, high=high, assumed=(said,))


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
    low, value, high = annual_pue(catalog, site=row.site, cooling=row.cooling)
    said = ("heat leaves as the planner would choose", "electrical losses as the catalog assumes")
    return replace(empty, predicted=value, low=low, high=high, assumed=said)
