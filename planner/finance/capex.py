"""Purchases: class totals, site construction, installation, and when they are paid."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.schema import Site
from planner.design.bom import LABELS, AssetClass, BomRow
from planner.finance.timeline import Timeline
from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import added
from planner.scenario.givens import assume, figure_line
from planner.scenario.parts import Parts
from planner.scenario.schema import Housing


@dataclass(frozen=True, slots=True)
class Capex:
    """Ledger lines of the purchase.

    Attributes:
        classes: Total of each class that is bought, by its key's last word.
        compute: Servers, NICs and storage with their installation; the servers' life.
        network: Switches, optics and cables with theirs; the network's life.
        facility: Construction; None under colocation.
        payments: Monthly payments of each of the three, cash in positive (so these are negative).
    """

    classes: tuple[Line, ...]
    compute: Line
    network: Line
    facility: Line | None
    total: Line
    payments: tuple[Line, ...]


def capex(ledger: Ledger, parts: Parts, rows: tuple[BomRow, ...], time: Timeline) -> Capex:
    """Enter class totals, the sum, and the payments by month."""
    classes: dict[AssetClass, Line] = {}
    for kind in AssetClass:
        costs = [row.cost for row in rows if row.demand.asset_class is kind]
        if costs:
            classes[kind] = ledger.derive(
                f"capex.{kind.value}_usd", LABELS[kind], "USD", added(costs), sign=Sign.COST
            )
    rate = assume(
        ledger,
        parts.catalog,
        "finance",
        "installation_fraction",
        "Installation, share of hardware",
        "fraction",
    )
    hardware = added(classes.values())
    install = ledger.derive(
        "capex.installation_usd", "Racks, installation, burn-in", "USD", hardware * rate, sign=Sign.COST
    )
    facility = _facility(ledger, parts)
    bought = [*classes.values(), install, *([facility] if facility is not None else [])]
    total = ledger.derive("capex.total_usd", "Purchase", "USD", added(bought), sign=Sign.COST)
    network = ledger.derive(
        "capex.network_with_installation_usd", "Network, installed", "USD",
        added(line for kind, line in classes.items() if kind.is_network) * (1 + rate), sign=Sign.COST,
    )  # fmt: skip
    compute = ledger.derive(
        "capex.compute_with_installation_usd", "Servers and storage, installed", "USD",
        added(line for kind, line in classes.items() if not kind.is_network) * (1 + rate),
        sign=Sign.COST,
    )  # fmt: skip
    payments = [
        _payments(ledger, "compute", "Servers and storage paid", compute, time, network=False),
        _payments(ledger, "network", "Network paid", network, time, network=True),
    ]
    if facility is not None:
        payments.append(_payments(ledger, "facility", "Construction paid", facility, time, network=False))
    return Capex(tuple(bought), compute, network, facility, total, tuple(payments))


def _facility(ledger: Ledger, parts: Parts) -> Line | None:
    if parts.loaded.scenario.site.housing is not Housing.OWN:
        return None
    known = parts.site.item.construction_usd_per_w is not None
    place = parts.site if known else parts.catalog.entry(Site, "world")
    per_watt = figure_line(
        ledger, "site.construction_usd_per_w", "Construction for a watt of IT", "USD/W", place,
        "construction_usd_per_w",
    )  # fmt: skip
    return ledger.derive(
        "capex.facility_usd", "Data-centre construction", "USD", per_watt * ledger["power.it_peak_w"],
        sign=Sign.COST,
    )  # fmt: skip


def _payments(ledger: Ledger, name: str, label: str, amount: Line, time: Timeline, *, network: bool) -> Line:
    shares = [(phase.network_share if network else phase.server_share) * phase.paid for phase in time.phases]
    return ledger.derive(f"cash.capex_{name}_usd", label, "USD", -amount * added(shares), sign=Sign.CASH)
