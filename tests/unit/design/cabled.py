"""Tables of links with lengths that a test chooses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.design.lengths import LinkTable


def links_of(tier: str, lengths_m: Sequence[float], *, uppers: int = 1) -> LinkTable:
    """One link a lower item, in its order to `uppers` upper items in turn; every item in a rack of its own."""
    count = len(lengths_m)
    each = np.arange(count)
    zero = np.zeros(count, np.int64)
    lower, upper = tier.split("-")
    return LinkTable(
        tier, lower, upper, each, each % uppers, each, zero, each // uppers, each, count + each % uppers,
        np.asarray(lengths_m, np.float64), np.zeros(count),
    )  # fmt: skip
