"""Rate that one accelerator gets out of its scale-up domain, the narrowest part of the path."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats


def ring_crossing_fraction(*, nodes: Floats, nodes_per_leaf: Floats) -> Floats:
    """Share of a ring's node-to-node edges that cross a leaf, nodes placed in order.

    Args:
        nodes: Nodes of the job.
        nodes_per_leaf: Nodes that one leaf (or rail group) connects.

    Returns:
        Shape (n,); zero where one leaf holds the job.

    Source:
        Counted: a ring over g groups has g edges between them.

    >>> ring_crossing_fraction(nodes=np.array([8.0, 64.0]), nodes_per_leaf=np.array([32.0, 32.0]))
    array([0.     , 0.03125])
    """
    groups = np.ceil(nodes / nodes_per_leaf)
    return np.where(groups > 1.0, groups / nodes, 0.0)


def uniform_crossing_fraction(*, nodes: Floats, nodes_per_leaf: Floats) -> Floats:
    """Share of all-to-all traffic between nodes that crosses a leaf.

    Args:
        nodes: Nodes of the job.
        nodes_per_leaf: Nodes that one leaf (or rail group) connects.

    Returns:
        Shape (n,); zero where one leaf holds the job.

    Source:
        Counted: of a node's nodes-1 peers, nodes - nodes_per_leaf stand elsewhere.

    >>> uniform_crossing_fraction(nodes=np.array([8.0, 65.0]), nodes_per_leaf=np.array([32.0, 33.0]))
    array([0. , 0.5])
    """
    outside = np.maximum(nodes - nodes_per_leaf, 0.0)
    return np.asarray(outside / np.maximum(nodes - 1.0, 1.0))


def scale_out_bytes_per_s(
    *,
    nic_bytes_per_s: Floats,
    host_bytes_per_s: Floats,
    nic_efficiency_fraction: Floats,
    spine_efficiency_fraction: Floats,
    oversubscription: Floats,
    crossing_fraction: Floats,
) -> Floats:
    """Sustained rate of one accelerator out of its domain, one direction.

    Args:
        nic_bytes_per_s: Line rate of the accelerator's NIC share.
        host_bytes_per_s: Ceiling between accelerator and NIC (PCIe).
        nic_efficiency_fraction: Share of the NIC's rate that collectives sustain.
        spine_efficiency_fraction: Share of the uplinks' rate left after load-balancing losses, against the
            fabric on which the NIC's efficiency was found.
        oversubscription: Downlink over uplink capacity of a leaf, 1 when non-blocking.
        crossing_fraction: Share of the traffic that crosses the spine.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    Source:
        planner-network-notes, `lb-proposed-defaults` of the fabric facts for the efficiencies.

    >>> scale_out_bytes_per_s(nic_bytes_per_s=np.array([50e9]), host_bytes_per_s=np.array([64e9]),
    ...     nic_efficiency_fraction=np.array([0.9]), spine_efficiency_fraction=np.array([0.8]),
    ...     oversubscription=np.array([2.0]), crossing_fraction=np.array([1.0]))
    array([1.8e+10])
    """
    endpoint = np.minimum(nic_bytes_per_s * nic_efficiency_fraction, host_bytes_per_s)
    # A collective runs at its slowest edge: one that crosses gets the balanced share of the uplinks, and
    # less where the leaf's flows that cross at once are more than its uplinks.
    crowding = np.maximum(crossing_fraction * oversubscription, 1.0)
    crossing = endpoint * spine_efficiency_fraction / crowding
    return np.where(crossing_fraction > 0.0, np.minimum(crossing, endpoint), endpoint)
