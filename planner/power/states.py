"""Draw of an accelerator and of a server by what they do.

An accelerator in matrix products runs at its power limit. Memory-bound work draws by the rate of its memory, and
a waiting one a third of the way from ready to the limit (measured on H200, see `catalog/assumptions/facility.yaml`).
What a job draws follows from the shares of its time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.design.memory_draw import memory_bound_w
from planner.power.capping import capped_w
from planner.power.psu import Curve, inlet_w

BITS_OF_A_GBYTE = 8e9
W_OF_A_PICOJOULE = 1e-12


@dataclass(frozen=True, slots=True)
class Activity:
    """Shares of an accelerator's time; what is left of one it is ready and does nothing.

    Attributes:
        arithmetic_fraction: In matrix products.
        memory_fraction: In work bound by memory.
        waiting_fraction: In communication and waiting for others.
    """

    arithmetic_fraction: Floats
    memory_fraction: Floats
    waiting_fraction: Floats


@dataclass(frozen=True, slots=True)
class ChipDraw:
    """Draw of one accelerator, W, in each thing it can do; all within its power limit."""

    idle_w: Floats
    ready_w: Floats
    waiting_w: Floats
    memory_w: Floats
    arithmetic_w: Floats
    limit_w: Floats


@dataclass(frozen=True, slots=True)
class HostDraw:
    """What a server has beside its accelerators, W, behind the supplies and without fans.

    Attributes:
        busy_w, idle_w, peak_w: CPUs, memory, boards and drives while accelerators work, idle, and at most.
        links_w: Network adapters and scale-up switches, which draw alike in every state.
        fan_fraction: Fans over all other draw: their share of the heat that leaves in air.
    """

    busy_w: Floats
    idle_w: Floats
    peak_w: Floats
    links_w: Floats
    fan_fraction: Floats


@dataclass(frozen=True, slots=True)
class Supply:
    """Supplies of a server: together they are rated for `rating_w` and share the load."""

    rating_w: Floats
    curve: Curve


def chip_draw(
    *,
    limit_w: Floats,
    idle_w: Floats,
    memory_tbyte_per_s: Floats,
    arithmetic_share: Floats,
    ready_share: Floats,
    memory_w_per_tbyte_per_s: Floats,
    memory_least_share: Floats,
    waiting_share: Floats,
    cap_fraction: Floats,
) -> ChipDraw:
    """Draws of an accelerator from its limit and the rate of its memory.

    Args:
        limit_w: Power limit as sold.
        idle_w: Without a program.
        memory_tbyte_per_s: Rate of the device memory.
        arithmetic_share: Matrix products, share of the limit.
        ready_share: With a program that does nothing, share of the limit.
        memory_w_per_tbyte_per_s: What memory-bound work draws beyond a ready one.
        memory_least_share: Least that memory-bound work draws, share of the limit.
        waiting_share: Waiting, share of the way from ready to the limit.
        cap_fraction: Power limit set over the one as sold.

    Source:
        planner-bench (idle, gemm, memory and collectives states of H200).

    >>> import numpy as np
    >>> draw = chip_draw(limit_w=np.array([700.0]), idle_w=np.array([75.0]), memory_tbyte_per_s=np.array([4.8]),
    ...     arithmetic_share=np.array([0.99]), ready_share=np.array([0.177]),
    ...     memory_w_per_tbyte_per_s=np.array([100.0]), memory_least_share=np.array([0.6]),
    ...     waiting_share=np.array([0.335]), cap_fraction=np.array([1.0]))
    >>> draw.memory_w.round(1), draw.waiting_w.round(1)
    (array([603.9]), array([316.9]))
    """
    ready = limit_w * ready_share
    memory = memory_bound_w(
        limit_w=limit_w, memory_tbyte_per_s=memory_tbyte_per_s, ready_share=ready_share,
        w_per_tbyte_per_s=memory_w_per_tbyte_per_s, least_share=memory_least_share,
    )  # fmt: skip
    arithmetic, cap = limit_w * arithmetic_share, limit_w * cap_fraction
    return ChipDraw(
        idle_w=idle_w,
        ready_w=np.maximum(ready, idle_w),
        waiting_w=capped_w(wanted_w=ready + (limit_w - ready) * waiting_share, cap_w=cap),
        memory_w=capped_w(wanted_w=np.minimum(memory, arithmetic), cap_w=cap),
        arithmetic_w=capped_w(wanted_w=arithmetic, cap_w=cap),
        limit_w=cap,
    )


def working_w(draw: ChipDraw, activity: Activity) -> Floats:
    """Mean draw of one accelerator over the shares of its time.

    >>> import numpy as np
    >>> one = lambda value: np.array([value])
    >>> draw = ChipDraw(one(75.0), one(124.0), one(317.0), one(604.0), one(693.0), one(700.0))
    >>> working_w(draw, Activity(one(0.5), one(0.3), one(0.2)))
    array([591.1])
    """
    ready = 1.0 - activity.arithmetic_fraction - activity.memory_fraction - activity.waiting_fraction
    return (
        activity.arithmetic_fraction * draw.arithmetic_w
        + activity.memory_fraction * draw.memory_w
        + activity.waiting_fraction * draw.waiting_w
        + np.maximum(ready, 0.0) * draw.ready_w
    )


def behind_supplies_w(*, accelerators_w: Floats, parts_w: Floats, host: HostDraw) -> Floats:
    """Draw of a server behind its supplies: accelerators, the host's parts, links, and the fans over them.

    >>> import numpy as np
    >>> host = HostDraw(np.array([800.0]), np.array([500.0]), np.array([1200.0]), np.array([700.0]), np.array([0.1]))
    >>> behind_supplies_w(accelerators_w=np.array([4500.0]), parts_w=host.busy_w, host=host)
    array([6600.])
    """
    return (accelerators_w + parts_w + host.links_w) * (1.0 + host.fan_fraction)


def server_w(*, accelerators_w: Floats, parts_w: Floats, host: HostDraw, supply: Supply) -> Floats:
    """Draw of a server at its inlet, losses of its supplies included. This is IT power.

    >>> import numpy as np
    >>> one = np.array([1.0])
    >>> host = HostDraw(800.0 * one, 500.0 * one, 1200.0 * one, 700.0 * one, 0.1 * one)
    >>> server_w(accelerators_w=4500.0 * one, parts_w=host.busy_w, host=host,
    ...     supply=Supply(13200.0 * one, [(0.5, 0.96 * one)]))
    array([6875.])
    """
    out = behind_supplies_w(accelerators_w=accelerators_w, parts_w=parts_w, host=host)
    return inlet_w(output_w=out, rating_w=supply.rating_w, curve=supply.curve)


def scale_up_switch_w(*, gpus: Floats, gbyte_per_s: Floats, pj_per_bit: Floats) -> Floats:
    """Draw of the switches of a scale-up domain, from the rate of its accelerators, both directions.

    Source:
        recalled (energy for a bit).

    >>> import numpy as np
    >>> scale_up_switch_w(gpus=np.array([8.0]), gbyte_per_s=np.array([450.0]), pj_per_bit=np.array([5.0]))
    array([288.])
    """
    return gpus * 2.0 * gbyte_per_s * BITS_OF_A_GBYTE * pj_per_bit * W_OF_A_PICOJOULE
