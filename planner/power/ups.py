"""Units of a stage of the power chain: how many, how large, how loaded, with spare ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats
from planner.power.psu import Curve, efficiency_fraction
from planner.scenario.schema import Redundancy


@dataclass(frozen=True, slots=True)
class Units:
    """Units of one stage that share the load.

    Attributes:
        needed: Units that carry the peak.
        installed: With spare ones.
        rating_w: Of one.
    """

    needed: Floats
    installed: Floats
    rating_w: Floats

    @property
    def capacity_w(self) -> Floats:
        """Rating of all of them."""
        return self.installed * self.rating_w


def installed_units(*, needed: Floats, redundancy: Redundancy) -> Floats:
    """Units with spare ones: none, one more, or all twice.

    >>> import numpy as np
    >>> [float(installed_units(needed=np.array([3.0]), redundancy=one)[0]) for one in Redundancy]
    [3.0, 4.0, 6.0]
    """
    spare = {Redundancy.N: 0.0 * needed, Redundancy.N_PLUS_1: 0.0 * needed + 1.0, Redundancy.TWO_N: needed}
    return np.asarray(needed + spare[redundancy])


def shared_load_w(*, average_w: Floats, others_w: Floats, others_load: Floats) -> Floats:
    """Load of a building's equipment in an average year, which a tenant shares with others.

    Args:
        average_w: Average draw of the tenant.
        others_w: What the others may draw at most; zero in a building of one's own.
        others_load: Their average draw as a share of that.

    >>> import numpy as np
    >>> shared_load_w(average_w=np.array([5e3]), others_w=np.array([9.99e6]), others_load=np.array([0.5]))
    array([5000000.])
    """
    return np.asarray(average_w + others_w * others_load)


def units_for(
    *,
    peak_w: Floats,
    largest_w: Floats,
    step_w: Floats,
    load_limit: Floats,
    redundancy: Redundancy,
    small_step_w: Floats | None = None,
) -> Units:
    """Fewest units that carry a peak, each as small as its steps allow.

    Args:
        peak_w: Draw that the needed units carry without the spare ones.
        largest_w, step_w: Largest rating, and what ratings are multiples of.
        load_limit: Share of a rating that is planned with.
        redundancy: Spare units.
        small_step_w: What ratings below one step are multiples of; there are none below it by default.

    >>> import numpy as np
    >>> units = units_for(peak_w=np.array([2.0e6]), largest_w=np.array([1.25e6]), step_w=np.array([5e4]),
    ...     load_limit=np.array([0.8]), redundancy=Redundancy.N_PLUS_1)
    >>> units.needed, units.installed, units.rating_w
    (array([2.]), array([3.]), array([1250000.]))
    """
    asked = peak_w / load_limit
    needed = np.maximum(np.ceil(asked / largest_w - 1e-9), 1.0)
    each = asked / needed
    step = step_w if small_step_w is None else np.where(each < step_w, small_step_w, step_w)
    rating = np.minimum(np.ceil(each / step - 1e-9) * step, largest_w)
    return Units(needed, installed_units(needed=needed, redundancy=redundancy), np.asarray(rating))


def loss_fraction(*, load_w: Floats, capacity_w: Floats, curve: Curve) -> Floats:
    """Power lost in a stage over the power that leaves it, at the load that its units share.

    Twice the units carry half the load each, and lose what the curve says there.

    >>> import numpy as np
    >>> curve = [(0.25, np.array([0.945])), (0.5, np.array([0.96]))]
    >>> loss_fraction(load_w=np.array([1.0, 1.0]), capacity_w=np.array([2.0, 4.0]), curve=curve).round(4)
    array([0.0417, 0.0582])
    """
    load = np.asarray(load_w / capacity_w)
    return np.asarray(1.0 / efficiency_fraction(load_fraction=load, curve=curve) - 1.0)
