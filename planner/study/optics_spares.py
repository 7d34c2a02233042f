"""What a failure keeps waiting: arithmetic without a cluster."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats


def gpus_hit(*, links: Floats, gpus_per_node: Floats, planes: Floats, gpus_max: Floats) -> Floats:
    """GPUs that wait for a repair when a part that carries so many node links fails.

    A node without one of its links does no work for a job that needs all; with several planes it goes on at
    what the others carry.

    Args:
        links: Links from nodes that the part carries.
        gpus_per_node: GPUs behind each of them.
        planes: Networks that share a NIC's rate.
        gpus_max: GPUs that can be behind the part at most.

    Returns:
        Shape (n,), or whatever the arguments broadcast to.

    >>> gpus_hit(links=np.array([1.0, 32.0]), gpus_per_node=np.array([8.0]), planes=np.array([1.0]),
    ...     gpus_max=np.array([128.0]))
    array([  8., 128.])
    """
    return np.asarray(np.minimum(links * gpus_per_node, gpus_max) / planes)
