"""What a purchase is worth on the day of its order under a vendor's terms of payment."""

from __future__ import annotations

from planner.arrays import Floats

DAYS_PER_YEAR = 365.0


def payment_factor(
    *,
    deposit_fraction: Floats,
    on_ship_fraction: Floats,
    on_acceptance_fraction: Floats,
    net_days: Floats,
    ship_days: Floats,
    acceptance_days: Floats,
    rate: Floats,
) -> Floats:
    """Present value of the payments for one unit of price, on the day of the order.

    Args:
        deposit_fraction: Share that falls due with the order; the three shares add up to 1.
        on_ship_fraction: Share that falls due when it is shipped.
        on_acceptance_fraction: Share that falls due when it is accepted.
        net_days: Days from each of them to its payment.
        ship_days: Days from the order to shipment.
        acceptance_days: Days from the order to acceptance.
        rate: Discount rate per year.

    Returns:
        Shape (n,), or what the arguments broadcast to: below 1 where payments come later than the order.

    Source:
        planner-finance-notes (cash by payment terms: deposit, ship, accept); days over 365.

    >>> import numpy as np
    >>> payment_factor(deposit_fraction=np.array([0.3]), on_ship_fraction=np.array([0.7]),
    ...     on_acceptance_fraction=np.array([0.0]), net_days=np.array([0.0]), ship_days=np.array([365.0]),
    ...     acceptance_days=np.array([400.0]), rate=np.array([0.1])).round(6)
    array([0.936364])
    """
    paid = (
        deposit_fraction
        + on_ship_fraction * (1.0 + rate) ** (-ship_days / DAYS_PER_YEAR)
        + on_acceptance_fraction * (1.0 + rate) ** (-acceptance_days / DAYS_PER_YEAR)
    )
    return paid * (1.0 + rate) ** (-net_days / DAYS_PER_YEAR)
