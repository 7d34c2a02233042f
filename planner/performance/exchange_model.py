"""Predicted time of an expert dispatch or combine on a named system, with its band and its rung."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from planner.catalog.schema import Accelerator
from planner.ledger import Ledger
from planner.performance.assumed import Assumed
from planner.performance.collective_model import System
from planner.performance.expert_exchange import (
    USUAL_SMS,
    ExchangeGroup,
    Kernel,
    Phase,
    TokenWork,
    exchange_constants,
    logical_bytes,
    notify_time_s,
    transmit_time_s,
)
from planner.performance.group_curves import Rung
from planner.units import GIGA, bytes_per_s

MEASURED_ON: Final = "h100-sxm5-80gb"
"""Accelerator whose table the constants were found on, on up to `MEASURED_NODES` nodes."""
MEASURED_NODES: Final = 8
NIC_INSIDE_GBIT_PER_S: Final = 400.0
"""Any rate: inside one node no byte takes it."""


@dataclass(frozen=True, slots=True)
class ExchangePrediction:
    """One exchange.

    Attributes:
        time_s: The whole call; low_s and high_s are P10 and P90.
        payload_s: Its payload kernel alone, which published tables hold.
        logical_bytes: Bytes by which published bandwidths of these kernels are counted.
    """

    time_s: float
    low_s: float
    high_s: float
    payload_s: float
    logical_bytes: float
    rung: Rung
    how: str


def predict_exchange(
    system: System, *, phase: Phase, kernel: Kernel, work: TokenWork, ranks: int, nodes: int
) -> ExchangePrediction:
    """Predict a dispatch or combine.

    Args:
        system: Accelerators, and the network between nodes.
        phase, kernel, work: What is exchanged, and by which kernels.
        ranks: Ranks that hold the experts.
        nodes: Nodes they stand in, evenly.

    >>> from planner.catalog.store import open_catalog
    >>> shelf = open_catalog()
    >>> box = System(shelf, shelf.entry(Accelerator, "h100-sxm5-80gb"), None, 8, 8)
    >>> one = np.ones(1)
    >>> found = predict_exchange(box, phase=Phase.DISPATCH, kernel=Kernel.LOW_LATENCY, ranks=8, nodes=1,
    ...     work=TokenWork(128 * one, 7168 * one, 8 * one, 256 * one, one, np.inf * one))
    >>> found.rung.value, found.low_s < found.time_s < found.high_s
    ('measured', True)
    """
    assumed = Assumed(Ledger(months=1), system.catalog)
    group, constants = exchange_group(system, ranks=ranks, nodes=nodes), exchange_constants(assumed)
    payload = float(
        transmit_time_s(phase=phase, kernel=kernel, work=work, group=group, constants=constants)[0]
    )
    time = payload + float(notify_time_s(kernel=kernel, group=group, constants=constants)[0])
    width = 1.0 + float(assumed("expert_exchange_band_fraction")[0])
    rung, how = _standing(system, nodes)
    return ExchangePrediction(
        time, time / width, time * width, payload,
        float(logical_bytes(kernel=kernel, work=work, group=group)[0]), rung, how,
    )  # fmt: skip


def exchange_group(system: System, *, ranks: int, nodes: int) -> ExchangeGroup:
    """Where the ranks stand, at line rates."""
    nic = system.network.nic_bytes_per_s if system.network is not None else bytes_per_s(NIC_INSIDE_GBIT_PER_S)
    inside = system.accelerator.item.scaleup_gbyte_per_s
    return ExchangeGroup(
        ranks=np.array([float(ranks)]), ranks_per_node=np.array([ranks / nodes]),
        nic_bytes_per_s=np.array([nic]),
        scale_up_bytes_per_s=np.array([inside.value * GIGA if inside is not None else nic]),
        sms=np.array([USUAL_SMS]),
    )  # fmt: skip


def _standing(system: System, nodes: int) -> tuple[Rung, str]:
    item = system.accelerator.item
    if item.id == MEASURED_ON and nodes <= MEASURED_NODES:
        return Rung.MEASURED, f"kernels measured on {MEASURED_ON}, 1 to {MEASURED_NODES} nodes"
    reference = system.catalog.get(Accelerator, MEASURED_ON)
    if item.scaleup is not None and item.scaleup == reference.scaleup:
        return Rung.SCALED, f"kernels of {MEASURED_ON}, at this system's link rates"
    return Rung.PHYSICS, f"kernels of {MEASURED_ON} at the rates of another link"
