"""Draw of memory-bound work on an accelerator, which both its power and its rate under a power limit rest on."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats


def memory_bound_w(
    *,
    limit_w: Floats,
    memory_tbyte_per_s: Floats,
    ready_share: Floats,
    w_per_tbyte_per_s: Floats,
    least_share: Floats,
) -> Floats:
    """Power of work that waits for the device memory, without a limit below the one as sold.

    Args:
        limit_w: Power limit as sold.
        memory_tbyte_per_s: Rate of the device memory, of the data sheet.
        ready_share: With a program that does nothing, share of the limit.
        w_per_tbyte_per_s: Beyond that, for each TB/s of the data sheet.
        least_share: Least that it draws, share of the limit.

    Source:
        planner-bench (idle and memory states of H200: 124 and 604 W at 4.8 TB/s).

    >>> import numpy as np
    >>> memory_bound_w(limit_w=np.array([700.0]), memory_tbyte_per_s=np.array([4.8]), ready_share=np.array([0.177]),
    ...     w_per_tbyte_per_s=np.array([100.0]), least_share=np.array([0.6])).round(1)
    array([603.9])
    """
    drawn = np.maximum(limit_w * ready_share + w_per_tbyte_per_s * memory_tbyte_per_s, limit_w * least_share)
    return np.minimum(drawn, limit_w)
