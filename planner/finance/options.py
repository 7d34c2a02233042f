"""Two ways to the same GPU-hours: where they break even, and what the dearer start of one returns.

Cash in is positive, so the flows of an option are negative nearly everywhere.
"""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.finance.returns import irr
from planner.ledger.rates import payment
from planner.units import MONTHS_PER_YEAR


def break_even_utilisation_fraction(
    *, utilisation_fraction: Floats, npv_usd: Floats, varying_usd: Floats, other_npv_usd: Floats,
    other_varying_usd: Floats,
) -> Floats:  # fmt: skip
    """Utilisation at which two options cost the same.

    A part of each cost follows the hours that are used (rent on demand, energy under load), the rest doesn't; so
    each cost is a straight line over the utilisation, and two lines cross once at most.

    Args:
        utilisation_fraction: At which the costs hold, above 0.
        npv_usd, other_npv_usd: Present values of the costs, positive.
        varying_usd, other_varying_usd: Their parts that follow the utilisation.

    Returns:
        Shape (n,); not a number where they don't cross between 0 and 1.

    >>> break_even_utilisation_fraction(utilisation_fraction=np.array([0.8]), npv_usd=np.array([60.0]),
    ...     varying_usd=np.array([0.0]), other_npv_usd=np.array([96.0]), other_varying_usd=np.array([96.0]))
    array([0.5])
    """
    slope = varying_usd - other_varying_usd
    fixed = (other_npv_usd - other_varying_usd) - (npv_usd - varying_usd)
    found = utilisation_fraction * fixed / np.where(slope != 0.0, slope, 1.0)
    return np.where((slope != 0.0) & (found > 0.0) & (found <= 1.0), found, np.nan)


def break_even_month(*, flows: Floats, other_flows: Floats) -> Floats:
    """Month by whose end one option has cost no more than another, and never does again.

    Args:
        flows, other_flows: Shape (n, months), month 0 the first payment.

    Returns:
        Shape (n,): 0 where it is so from the first payment; not a number where it has cost more at the end.

    >>> buy = np.array([[-100.0, -5.0, -5.0, -5.0, -5.0]])
    >>> rent = np.array([[0.0, -40.0, -40.0, -40.0, -40.0]])
    >>> break_even_month(flows=buy, other_flows=rent), break_even_month(flows=rent, other_flows=buy)
    (array([3.]), array([nan]))
    """
    behind = np.cumsum(flows - other_flows, axis=-1) < 0.0
    months = flows.shape[-1]
    last_behind = months - 1 - np.argmax(behind[:, ::-1], axis=-1)
    month = np.where(behind.any(axis=-1), last_behind + 1.0, 0.0)
    return np.where(month < months, month, np.nan)


def difference_rate_fraction(*, flows: Floats, reference_flows: Floats) -> Floats:
    """Yearly rate that the one of two options which pays more at first earns by paying less later.

    Two streams of pure cost have no rate of return of their own; their difference may have one. Swapping the two
    leaves the rate as it is: of renting instead of buying it is what the buyer earns, so a high rate speaks against
    the rent. The present values say which of the two is better.

    Args:
        flows, reference_flows: Shape (n, months).

    Returns:
        Shape (n,); not a number where `planner.finance.returns.why_no_rate` of the difference gives a reason.

    >>> buy, rent = np.array([[-100.0, -10.0, -10.0]]), np.array([[0.0, -70.0, -70.0]])
    >>> yearly = difference_rate_fraction(flows=buy, reference_flows=rent)
    >>> ((1.0 + yearly) ** (1 / 12) - 1.0).round(4)  # 100 more now, 60 less in each of two months
    array([0.1307])
    """
    monthly = irr(flows=flows - reference_flows)
    return np.asarray((1.0 + monthly) ** MONTHS_PER_YEAR - 1.0)


def lease_payment_usd(
    *, price_usd: Floats, residual_usd: Floats, rate: Floats, payments: Floats, in_advance: bool
) -> Floats:
    """Level payment at which a lessor earns a rate on the price less what the asset is worth at the end.

    Args:
        price_usd: What the lessor pays now.
        residual_usd: What it gets for the asset after the last period.
        rate: Per period.
        payments: How many.
        in_advance: Paid at the start of each period.

    Returns:
        What the arguments broadcast to.

    >>> terms = dict(price_usd=np.array([1000.0]), residual_usd=np.array([200.0]), rate=np.array([0.1]),
    ...     payments=np.array([3.0]))
    >>> [lease_payment_usd(in_advance=early, **terms).round(2) for early in (False, True)]
    [array([341.69]), array([310.63])]
    """
    financed = price_usd - residual_usd * (1.0 + rate) ** -payments
    level = payment(rate=rate, periods=payments, present=financed)
    return np.asarray(level / (1.0 + rate) if in_advance else level)
