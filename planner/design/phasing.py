"""What share of the network's cost is bought in which phase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from planner.design.bom import BomRow
from planner.design.cluster import Cluster
from planner.ledger import Ledger


class Step(Protocol):
    """A purchase with its number of GPUs."""

    @property
    def gpus(self) -> int:
        """GPUs bought."""


def network_shares(
    ledger: Ledger, cluster: Cluster, bom: Sequence[BomRow], phases: Sequence[Step]
) -> tuple[float, ...]:
    """Share of the network bought in each phase.

    Spines and cores of the final size come with the first phase, so that growing needs no
    recabling; leaves, modules and cables come with their servers.
    """
    network = [row for row in bom if row.demand.asset_class.is_network]
    total = sum(ledger.scalar(row.cost) for row in network)
    upper = sum(ledger.scalar(row.cost) for row in network if row.demand.where in ("spine", "core"))
    fraction = upper / total if total else 0.0
    gpus = cluster.parts.gpus
    return network_share_by_phase(
        gpu_share=tuple(phase.gpus / gpus for phase in phases), upper_fraction=fraction
    )


def network_share_by_phase(*, gpu_share: tuple[float, ...], upper_fraction: float) -> tuple[float, ...]:
    """Upper tiers with the first phase, the rest with the GPUs.

    >>> network_share_by_phase(gpu_share=(0.5, 0.5), upper_fraction=0.4)
    (0.7, 0.3)
    """
    return tuple(
        share * (1 - upper_fraction) + (upper_fraction if index == 0 else 0.0)
        for index, share in enumerate(gpu_share)
    )
