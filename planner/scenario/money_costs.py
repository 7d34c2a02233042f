"""Further costs by name: amount, what it is counted by, when it falls, how it rises, how it is taxed.

The complete list of cost lines of an AI cluster stands here: each is covered by a model of its own, or is a
further cost that a scenario gives an amount, and is zero where it gives none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from planner.scenario.fields import Fraction, Name, NotNegative, Strict

Rise = Annotated[float, Field(ge=-0.5, le=1, allow_inf_nan=False, strict=True)]


class Driver(StrEnum):
    """What an amount is counted by."""

    TOTAL = "total"
    GPU = "gpu"
    SERVER = "server"
    RACK = "rack"
    SWITCH = "switch"
    TRANSCEIVER = "transceiver"
    RESERVED_KW = "reserved-kw"
    PEAK_KW = "peak-kw"
    KWH = "kwh"
    FTE = "fte"
    HARDWARE = "hardware"
    """Share of the price of all hardware."""
    BOOK_VALUE = "book-value"
    """Share of what is not yet written off, a year."""
    REVENUE = "revenue"
    """Share of revenue."""


class Falls(StrEnum):
    """When a cost falls."""

    PURCHASE = "purchase"
    """Once, with the purchase and its payment terms."""
    YEAR = "year"
    """Every year in service, a twelfth each month."""
    END = "end"
    """Once, in the last month."""
    DEPOSIT = "deposit"
    """Paid with the first payment, returned in the last month."""


class Escalator(StrEnum):
    """What a yearly cost rises with."""

    NONE = "none"
    INFLATION = "inflation"
    ENERGY = "energy"
    LABOUR = "labour"
    SUPPORT = "support"
    COLOCATION = "colocation"


class TaxClass(StrEnum):
    """How a purchase is written off."""

    SERVER = "server"
    NETWORK = "network"
    FACILITY = "facility"
    """Construction; written off with the servers where the plan has no own building."""


class Amount(Strict):
    """Money in another currency."""

    value: NotNegative
    """How much."""
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
    """Its code; the rate stands in money.currencies."""


class Cost(Strict):
    """A further cost."""

    amount: NotNegative | Amount
    """USD, or {value, currency}, for one of the driver; a share for hardware, book-value and revenue."""
    per: Driver = Driver.TOTAL
    """What it is counted by."""
    falls: Falls | None = None
    """When it falls; known for names of the complete list."""
    label: Name | None = None
    """What a report calls it."""
    escalator: Escalator | None = None
    """What it rises with, for a yearly cost; the list's by default."""
    first_month: Annotated[int, Field(ge=0, le=180, strict=True)] = 0
    """Months in service before a yearly cost begins."""
    tax_class: TaxClass | None = None
    """How a purchase is written off; the list's by default, else with the servers."""
    deductible_fraction: Fraction = 1.0
    """Share of a yearly cost that tax lets deduct."""


class Escalation(Strict):
    """Rise of running costs a year, on each anniversary of the first in-service date."""

    energy_fraction: Rise = 0.0
    """Electricity."""
    labour_fraction: Rise = 0.0
    """Staff."""
    support_fraction: Rise = 0.0
    """Hardware support and software."""
    colocation_fraction: Rise = 0.0
    """Rent for space, or upkeep of a building."""


@dataclass(frozen=True, slots=True)
class Known:
    """A line of the complete list that no model of its own covers."""

    label: str
    falls: Falls
    escalator: Escalator = Escalator.NONE
    tax_class: TaxClass = TaxClass.SERVER


_BUY, _YEAR, _END = Falls.PURCHASE, Falls.YEAR, Falls.END
_NETWORK, _FACILITY = TaxClass.NETWORK, TaxClass.FACILITY
FURTHER: Final[dict[str, Known]] = {
    "racks-pdus-busbars": Known("Racks, PDUs and busbars", _BUY),
    "patch-panels": Known("Patch panels and trunks beyond the design", _BUY, tax_class=_NETWORK),
    "fit-out": Known("Fit-out", _BUY, tax_class=_FACILITY),
    "land": Known("Land", _BUY, tax_class=_FACILITY),
    "grid-connection": Known("Grid connection and network upgrade", _BUY, tax_class=_FACILITY),
    "backup-power": Known("Generators, UPS and batteries beyond construction", _BUY, tax_class=_FACILITY),
    "software-perpetual": Known("Perpetual software licences", _BUY),
    "engineering": Known("Engineering and owner's cost", _BUY),
    "commissioning": Known("Integration and commissioning", _BUY),
    "deposits": Known("Refundable deposits", Falls.DEPOSIT),
    "standby-capacity": Known("Standby and capacity reservation", _YEAR, Escalator.ENERGY),
    "renewable-certificates": Known("Renewable certificates and PPA shape", _YEAR, Escalator.ENERGY),
    "carbon-price": Known("Carbon price", _YEAR, Escalator.ENERGY),
    "water": Known("Water and discharge", _YEAR, Escalator.INFLATION),
    "cross-connects": Known("Cross-connects", _YEAR, Escalator.COLOCATION),
    "remote-hands": Known("Remote hands", _YEAR, Escalator.LABOUR),
    "spares-logistics": Known("Spares consumed and returns", _YEAR, Escalator.SUPPORT),
    "software-subscriptions": Known("Further software subscriptions", _YEAR, Escalator.SUPPORT),
    "facility-operation": Known("Facility operation and maintenance", _YEAR, Escalator.LABOUR),
    "wan-transit": Known("WAN and transit", _YEAR, Escalator.INFLATION),
    "property-tax": Known("Property tax", _YEAR),
    "security-compliance": Known("Security and compliance", _YEAR, Escalator.LABOUR),
    "monitoring": Known("Monitoring", _YEAR, Escalator.INFLATION),
    "fx-hedge": Known("Currency hedges", _YEAR),
    "letters-of-credit": Known("Letters of credit", _YEAR),
    "commitment-fee": Known("Commitment fees", _YEAR),
    "decommissioning": Known("Decommissioning", _END, Escalator.INFLATION),
    "e-waste": Known("Electronic waste", _END, Escalator.INFLATION),
    "lease-return": Known("Lease return conditions", _END),
    "colocation-restoration": Known("Colocation restoration and early termination", _END, Escalator.COLOCATION),
}  # fmt: skip
"""Lines that are zero unless the scenario gives an amount."""

SHARES: Final = frozenset({Driver.HARDWARE, Driver.BOOK_VALUE, Driver.REVENUE})
"""Drivers whose amount is a share."""
AT_PURCHASE: Final = frozenset(Driver) - {Driver.KWH, Driver.BOOK_VALUE, Driver.REVENUE}
"""Drivers that are known when the purchase is made."""


def wrong_costs(
    costs: Mapping[str, Cost], currencies: frozenset[str], *, sold: bool
) -> list[tuple[tuple[str, ...], str]]:
    """What no line can be made of: every problem, behind the path of the field that should change.

    Args:
        currencies: Codes whose rate is known.
        sold: Whether hours are sold.

    >>> wrong_costs({"odd": Cost(amount=5.0)}, frozenset(), sold=False)
    [(('odd',), "cost 'odd' is not of the complete list and needs falls (purchase, year, end, deposit)")]
    """
    said = [
        ((name, *field), text)
        for name, cost in costs.items()
        for field, text in _wrong(name, cost, currencies)
    ]
    said += [
        (
            (name, "per"),
            f"cost '{name}' is a share of revenue, and nothing is sold (money.sell_usd_per_gpu_hour)",
        )
        for name, cost in costs.items()
        if cost.per is Driver.REVENUE and not sold
    ]
    return said


def _wrong(name: str, cost: Cost, currencies: frozenset[str]) -> list[tuple[tuple[str, ...], str]]:
    falls = falls_of(name, cost)
    found: list[tuple[tuple[str, ...], str]] = []
    if falls is None:
        needs = f"cost '{name}' is not of the complete list and needs falls ({', '.join(Falls)})"
        found.append(((), needs))
    elif falls is not Falls.YEAR and cost.per not in AT_PURCHASE:
        once = f"cost '{name}' falls once and can't be counted by {cost.per.value}, which runs by month"
        found.append((("per",), once))
    amount = cost.amount
    if isinstance(amount, Amount):
        if cost.per in SHARES:
            found.append((("amount",), f"cost '{name}' is a share of {cost.per.value} and has no currency"))
        if amount.currency not in currencies | {"USD"}:
            missing = f"cost '{name}' is in {amount.currency}, whose rate is missing in money.currencies"
            found.append((("amount", "currency"), missing))
    elif cost.per in SHARES and isinstance(amount, float) and amount > 1:
        found.append((("amount",), f"cost '{name}' is a share of {cost.per.value}, and {amount:g} is over 1"))
    return found


def falls_of(name: str, cost: Cost) -> Falls | None:
    """When a cost falls: as typed, else as the list has it."""
    known = FURTHER.get(name)
    return cost.falls or (known.falls if known is not None else None)
