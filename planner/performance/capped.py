"""What a power limit set on accelerators leaves of their rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.design.cluster import Cluster
from planner.design.memory_draw import memory_bound_w
from planner.performance.assumed import Assumed
from planner.performance.domain import accelerator_line
from planner.scenario.givens import assume, wish_line
from planner.scenario.parts import GroupParts
from planner.units import KILO

MEMORY_FIGURES = {
    "ready_share": (
        "accelerator_ready_share_of_limit_fraction", "Draw ready for work, share of the limit", "fraction",
    ),
    "w_per_tbyte_per_s": (
        "accelerator_memory_w_per_tbyte_per_s", "Draw of memory traffic beyond a ready one", "W per TB/s",
    ),
    "least_share": (
        "accelerator_memory_least_share_of_limit_fraction", "Least draw of memory-bound work", "fraction",
    ),
}  # fmt: skip
"""Figures of `memory_bound_w`, their labels and units."""


@dataclass(frozen=True, slots=True)
class Capped:
    """Rates under a power limit over the free ones: of matrix products and attention, and of memory traffic."""

    arithmetic: Floats
    memory: Floats


def capped_rate_ratio(*, cap_w: Floats, free_w: Floats, power_exponent: Floats) -> Floats:
    """Rate of a kind of work under a power limit, over the rate it has without.

    The clock falls until the draw is within the limit, and the rate goes with the power of the ratio that
    runs of parts with other limits show. Work that draws less than the limit keeps its rate.

    Args:
        cap_w: Limit set.
        free_w: What the work draws without it.
        power_exponent: Of the catalog, fitted on training runs. Power-capped H200 servers in MLPerf Inference
            v4.1 reach 0.8 of the throughput of others, which it turns into a limit of about 0.68.

    Source:
        planner-training-notes (exponent of the power ratio in the sustained rate).

    >>> import numpy as np
    >>> capped_rate_ratio(cap_w=np.array([490.0, 490.0]), free_w=np.array([700.0, 320.0]),
    ...     power_exponent=np.array([0.573, 0.573])).round(3)
    array([0.815, 1.   ])
    """
    return np.asarray(np.minimum(cap_w / free_w, 1.0) ** power_exponent)


def capped(assumed: Assumed, cluster: Cluster, group: GroupParts | None = None) -> Capped:
    """Those ratios for a scenario's power cap, of a group's accelerators, the first by default; no figure is looked up
    where no cap is set."""
    loaded, accelerator = cluster.parts.loaded, (group or cluster.parts.groups[0]).accelerator
    cap = loaded.scenario.site.power_cap_fraction
    if cap >= 1.0 or accelerator.item.tdp_w is None:
        return Capped(np.ones(1), np.ones(1))
    key = "site.power_cap_fraction"
    if key not in assumed.ledger:
        label = "Power limit set on accelerators, share of the rated one"
        wish_line(assumed.ledger, loaded, key, label, "fraction", cap, "site", "power_cap_fraction")
    limit = assumed.use(accelerator_line(assumed.ledger, accelerator, "tdp_w", "Power limit", "W"))
    rate = accelerator_line(
        assumed.ledger, accelerator, "memory_bandwidth_gbyte_per_s", "Memory bandwidth", "GB/s"
    )
    named = {
        name: assumed.use(assume(assumed.ledger, assumed.catalog, "facility", figure, label, unit))
        for name, (figure, label, unit) in MEMORY_FIGURES.items()
    }
    memory = memory_bound_w(limit_w=limit, memory_tbyte_per_s=assumed.use(rate) / KILO, **named)
    cap_w, exponent = limit * assumed.use(assumed.ledger[key]), assumed("power_exponent")
    return Capped(
        capped_rate_ratio(cap_w=cap_w, free_w=limit, power_exponent=exponent),
        capped_rate_ratio(cap_w=cap_w, free_w=memory, power_exponent=exponent),
    )
