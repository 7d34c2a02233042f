"""Corrections of collectives between boxes by what was measured between boxes of this kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.arrays import Floats
from planner.catalog.profiles import CollectiveFit, Mode, Path
from planner.curves.collective import curve_time_s, stack_curves
from planner.performance.collectives import Collective
from planner.performance.ladder import regimes_of
from planner.performance.links import (
    RATIO_SIZES_BYTES,
    Links,
    NetworkRatios,
    exchange_time_s,
    group_time_s,
)
from planner.performance.shelf import Shelf


def network_ratios(shelf: Shelf, links: Links, asked: tuple[int, int] | None = None) -> Links:
    """Links with the ratio of measured to predicted time of every operation measured between boxes.

    Of each operation the group asked for speaks where it was measured, else the largest one; of profiles of this
    very accelerator alone, since a network is not told by the link inside the box.

    Args:
        shelf: Profiles.
        links: The network as predicted.
        asked: Ranks and boxes of one group.
    """
    found: dict[Collective, tuple[CollectiveFit, str]] = {}
    for entry in shelf.own:
        for fit in entry.item.collectives:
            if fit.path is not Path.NETWORK or fit.nodes < 2 or fit.op not in set(Collective):
                continue
            operation = Collective(fit.op)
            if operation not in found or _order(fit, asked) > _order(found[operation][0], asked):
                found[operation] = (fit, entry.item.id)
    if not found:
        return replace(links, measured=NetworkRatios())
    return replace(
        links,
        measured=NetworkRatios(
            ratios=np.stack(
                [_ratios(links, operation, fit) for operation, (fit, _) in found.items()], axis=1
            ),
            groups={operation: (fit.ranks, fit.nodes) for operation, (fit, _) in found.items()},
            profiles={operation: profile for operation, (_, profile) in found.items()},
            spans_bytes={op: (float(fit.min_bytes), float(fit.max_bytes)) for op, (fit, _) in found.items()},
        ),
    )


def _ratios(links: Links, operation: Collective, fit: CollectiveFit) -> Floats:
    """Measured over predicted time at every size of the table, shape (n, sizes)."""
    sizes = np.clip(RATIO_SIZES_BYTES, fit.min_bytes, fit.max_bytes)
    curve = stack_curves([regimes_of(fit)])
    measured = curve_time_s(curve, curve=np.zeros(1, dtype=np.intp), message_bytes=sizes)
    return np.asarray(measured / _predicted(links, operation, fit, sizes[:, None]).T)


def _order(fit: CollectiveFit, asked: tuple[int, int] | None) -> tuple[bool, int, int, bool]:
    return (fit.ranks, fit.nodes) == asked, fit.nodes, fit.ranks, fit.mode is Mode.DEVICE


def _predicted(links: Links, operation: Collective, fit: CollectiveFit, sizes: Floats) -> Floats:
    ranks, near = np.array([float(fit.ranks)]), np.array([fit.ranks / fit.nodes])
    if operation is Collective.ALL_TO_ALL:
        return exchange_time_s(
            links, message_bytes=sizes, ranks=ranks, ranks_per_domain=near, outside_bytes_ratio=np.ones(1)
        )
    return group_time_s(links, operation, message_bytes=sizes, ranks=ranks, ranks_per_domain=near)
