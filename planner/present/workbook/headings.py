"""What a ledger key is grouped under: the group of an input, the heading of a row."""

from __future__ import annotations

GROUPS = {
    "performance": "Workload",
    "workload": "Workload",
    "cluster": "Cluster",
    "network": "Network",
    "storage": "Network",
    "site": "Site",
    "power": "Site",
    "money": "Money",
    "rent": "Money",
    "cost": "Money",
    "costs": "Money",
    "landed": "Money",
    "fx": "Money",
    "escalation": "Money",
    "erosion": "Money",
    "debt": "Finance",
    "lease": "Finance",
    "wc": "Finance",
    "tax": "Tax",
    "tariff": "Site",
    "phase": "Phases",
    "timing": "Phases",
    "price": "Prices",
    "watts": "Power of parts",
    "bom": "Counts",
    "design": "Counts",
    "accelerator": "Accelerator",
    "assumption": "Assumptions",
    "": "Other",
}
"""Groups of inputs by the first word of their keys, in the scenario's order."""


def group_of(key: str) -> str:
    """Title of the group an input belongs to."""
    return GROUPS.get(key.split(".", 1)[0], GROUPS[""])


_HEADINGS = {
    "performance.training": "Training",
    "performance.serving": "Serving",
    "performance": "The cluster's goodput",
    "outcome.parts": "Where paid GPU time goes",
    "outcome": "Outcomes",
    "design": "Counts of the design",
    "design.cabling": "What the cabling adds up to",
    "share.cost": "Cost of the hardware",
    "share.power": "IT load under load",
    "share.idle": "IT load, idle",
    "share.energy": "Energy of the networks",
    "share.of": "Parts that several networks take",
    "power.chain": "Losses, stage by stage",
    "power.electrical": "Losses, stage by stage",
    "power.ups": "Uninterruptible supply",
    "power.transformer": "Transformers",
    "power.rack": "Racks and their feeds",
    "power.it_transient_w": "Racks and their feeds",
    "power.utility": "Connection to the utility",
    "power.demand": "Connection to the utility",
    "power.load": "Connection to the utility",
    "bom": "Other counts",
    "capex": "Purchase by class",
    "cash.capex": "Payments by month",
    "opex": "Totals",
    "energy": "Energy",
    "cash.opex": "Running costs by month",
    "money.staff": "Staff",
    "phase": "Phases",
    "timing": "Time axis and GPU-hours",
    "power": "Power, energy and carbon of the site",
    "watts": "Draw that depends on the work",
    "book": "Straight line, by class and phase",
    "debt": "Loan",
    "lease": "Lease against purchase",
    "wc": "Working capital",
    "tax": "Income tax",
    "tariff": "Electricity by contract",
    "cash": "Cash, in positive",
    "money": "Rates",
    "tco": "Cost of ownership",
    "metrics": "Value",
    "unit": "Unit costs",
    "rent": "Own against rent",
}


def heading_of(key: str) -> str:
    """Heading a line stands under on its sheet."""
    words = key.split(".")
    if words[0] == "workload":
        return f"Workload {words[1]}, the same by its own name"
    if key.startswith(("outcome.waiting_usd", "outcome.scheduled_gpu_hours")):
        return "Unit costs"
    two = f"{words[0]}.{words[1]}"
    for known in (two, two.split("_", 1)[0], words[0]):
        if known in _HEADINGS:
            return _HEADINGS[known]
    return words[0].capitalize()
