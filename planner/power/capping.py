"""A power limit set on accelerators: what they draw then. What they still do stands in `planner.performance.capped`."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats


def capped_w(*, wanted_w: Floats, cap_w: Floats) -> Floats:
    """Draw under a power limit: the clock falls until the draw is within it, and lower draws stay as they are.

    >>> import numpy as np
    >>> capped_w(wanted_w=np.array([693.0, 317.0]), cap_w=np.array([500.0, 500.0]))
    array([500., 317.])
    """
    return np.minimum(wanted_w, cap_w)


def saved_fraction(*, free_w: Floats, capped_w: Floats) -> Floats:
    """Share of a draw that a limit takes away.

    >>> import numpy as np
    >>> saved_fraction(free_w=np.array([8000.0]), capped_w=np.array([6000.0]))
    array([0.25])
    """
    return np.asarray(1.0 - capped_w / free_w)
