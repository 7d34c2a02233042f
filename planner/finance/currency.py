"""Currencies: forward rates, and amounts that are due in another one.

Flows in EUR are never discounted at a rate for USD: convert them by the forward rate of their date first.
"""

from __future__ import annotations

from planner.arrays import Floats


def forward_rate(*, spot: Floats, rate: Floats, foreign_rate: Floats, years: Floats) -> Floats:
    """Reporting currency for one unit of a foreign one at a later date, by covered interest parity.

    Args:
        spot: Today, such as USD for one EUR.
        rate: Interest per year in the reporting currency.
        foreign_rate: Interest per year in the foreign one.
        years: Until the payment.

    Returns:
        What the arguments broadcast to.

    Source:
        finance_cases.yaml, fx_forward.

    >>> import numpy as np
    >>> forward_rate(spot=np.array([1.10]), rate=np.array([0.05]), foreign_rate=np.array([0.03]),
    ...     years=np.array([1.0])).round(6)
    array([1.121359])
    """
    return spot * ((1.0 + rate) / (1.0 + foreign_rate)) ** years


def converted(*, foreign: Floats, spot: Floats, rate: Floats, foreign_rate: Floats, years: Floats) -> Floats:
    """Flows of a foreign currency in the reporting one, each at the forward rate of its date.

    Args:
        foreign: Shape (n, periods).
        spot: Shape (n,), today.
        rate: Shape (n,), interest per year in the reporting currency.
        foreign_rate: Shape (n,), in the foreign one.
        years: Shape (periods,), dates of the flows.

    Returns:
        Shape (n, periods).

    >>> import numpy as np
    >>> converted(foreign=np.array([[100.0, 100.0]]), spot=np.array([1.1]), rate=np.array([0.05]),
    ...     foreign_rate=np.array([0.03]), years=np.array([0.0, 1.0])).round(3)
    array([[110.   , 112.136]])
    """
    forward = forward_rate(
        spot=spot[:, None], rate=rate[:, None], foreign_rate=foreign_rate[:, None], years=years
    )
    return foreign * forward
