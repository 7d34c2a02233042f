"""What of the hardware, the load and the energy is network, beside published shares."""

from __future__ import annotations

from dataclasses import dataclass

from planner.finance.network_share import LABELS, Part
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Figure, Table
from planner.present.view.reading import Reading, share, words

NOTES = (
    "Shares follow the boundary of the published ones: adapters stand with the servers, and installation and the "
    "building are left out.",
)


def shares_figure(reading: Reading) -> Figure | None:
    """Cost and load by part as two bars of a hundred per cent; None where there is no network."""
    if not reading.has("share.cost.network_fraction"):
        return None
    cost, power = (_parts(reading, name, suffix) for name, suffix in (("cost", "usd"), ("power", "w")))
    bars = [
        {
            "label": label, "text": said,
            "parts": [
                {"part": LABELS[part], "value": value * 100, "text": f"{LABELS[part]}, {label.lower()}: {fmt.percent(value)} %"}
                for part, value in found.items()
            ],
        }
        for label, found, said in (
            ("Hardware cost", cost, f"network {fmt.percent(_network(cost))} %"),
            ("IT load", power, f"network {fmt.percent(_network(power))} %"),
        )
    ]  # fmt: skip
    per_gpu = fmt.money(reading.value("share.cost.network_usd_per_gpu"))
    return Figure(
        "C14f", "bars",
        f"The network is {fmt.percent(_network(cost))} % of the hardware's cost and {fmt.percent(_network(power))} % of "
        f"the IT load: {per_gpu} for a GPU",
        "Both bars are the whole; three networks stand between the servers and the storage.",
        {"bars": bars, "parts": [LABELS[part] for part in Part if part in cost or part in power], "axis": "%", "hues": "shares"},
        _table(reading, cost, power),
    )  # fmt: skip


def _parts(reading: Reading, name: str, suffix: str) -> dict[Part, float]:
    whole = reading.value(f"share.{name}.whole_{suffix}")
    keys = {part: f"share.{name}.{part.value}_{suffix}" for part in Part}
    return {part: reading.value(key) / whole for part, key in keys.items() if reading.has(key)}


def _network(parts: dict[Part, float]) -> float:
    return sum(value for part, value in parts.items() if part.is_network)


def _table(reading: Reading, cost: dict[Part, float], power: dict[Part, float]) -> Table:
    rows = []
    for part in Part:
        if part not in cost and part not in power:
            continue
        key, watts = f"share.cost.{part.value}_usd", f"share.power.{part.value}_w"
        rows.append(
            (
                words(LABELS[part]),
                reading.number(key, 1e-6) if part in cost else words(fmt.NOTHING), share(cost.get(part, 0.0)),
                reading.number(watts, 1e-3) if part in power else words(fmt.NOTHING), share(power.get(part, 0.0)),
            )
        )  # fmt: skip
    rows.append(
        (
            words("All hardware"), reading.number("share.cost.whole_usd", 1e-6), share(1.0),
            reading.number("share.power.whole_w", 1e-3), share(1.0),
        )
    )  # fmt: skip
    return Table(
        "network-share",
        "Cost and load by what it serves",
        (
            Column("Part", numeric=False), Column("Cost", "M USD"), Column("Of the cost", "%"),
            Column("Load", "kW"), Column("Of the load", "%"),
        ),
        tuple(rows),
        total=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Published:
    """A published figure to stand beside one of ours.

    Attributes:
        key: Ledger line of ours.
        figures: Keys of catalog/assumptions/network.yaml, by the number of switch tiers; 0 for any.
        kind: ``rack`` for rack-scale systems, ``server`` for boxes of eight, empty for both.
        why: What sets the two apart, whatever the plan.
    """

    label: str
    key: str
    figures: dict[int, str]
    kind: str
    why: str


GB300 = (
    "a rack budget of a GB300 model with network prices of its own; prices of an XDR switch and of a 1.6T module here "
    "are derived from it, so with those parts only the counts are compared"
)
PUBLISHED = (
    Published(
        "Network, share of hardware cost", "share.cost.network_fraction",
        {2: "gb300_network_two_layer_share_fraction", 3: "gb300_network_three_layer_share_fraction"}, "rack", GB300,
    ),
    Published(
        "Network for a GPU", "share.cost.network_usd_per_gpu",
        {2: "gb300_network_two_layer_usd_per_gpu", 3: "gb300_network_three_layer_usd_per_gpu"}, "rack", GB300,
    ),
    Published(
        "Optical modules, share of network cost", "share.cost.optics_of_network_fraction",
        {2: "gb300_transceivers_two_layer_of_network_fraction", 3: "gb300_transceivers_three_layer_of_network_fraction"},
        "rack", "the model spends 1,900 USD on modules for a GPU and further tier; ours takes copper where it reaches",
    ),
    Published(
        "Modules, cables and fibre for a GPU", "share.cost.cabling_usd_per_gpu",
        {1: "ndr_cabling_one_tier_usd_per_gpu", 2: "ndr_cabling_two_tier_usd_per_gpu", 3: "ndr_cabling_three_tier_usd_per_gpu"},
        "server", "modules and fibre at prices of August 2024; ours have later prices, and take copper where it reaches",
    ),
    Published(
        "Scale-out, share of network cost", "share.cost.scale_out_of_network_fraction",
        {0: "backend_share_of_network_cost_fraction"}, "", "the source gives no design of its front end; ours has two links a node to pairs of switches",
    ),
    Published(
        "Scale-out, share of network load", "share.power.scale_out_of_network_fraction",
        {0: "backend_share_of_network_power_fraction"}, "", "as the cost",
    ),
    Published(
        "Network, share of the cluster's cost", "share.cost.network_fraction",
        {0: "network_share_of_capex_fraction"}, "", "an uncited tutorial without conditions, a band for a sanity check",
    ),
)  # fmt: skip


def published_table(reading: Reading) -> Table | None:
    """Ours beside what others published of like clusters; None where there is no network."""
    if not reading.has("share.cost.network_fraction"):
        return None
    catalog = reading.evaluation.parts.catalog
    kinds = {"rack" if one.server.item.is_rack else "server" for one in reading.built.cluster.parts.kinds}
    rows: list[tuple[Cell, ...]] = []
    for one in PUBLISHED:
        if (one.kind and kinds != {one.kind}) or not reading.has(one.key):
            continue
        name = one.figures.get(0) or one.figures.get(reading.built.cluster.fabric.tiers, "")
        if not name:
            continue
        figure, source = catalog.figure("network", name)
        entry = catalog.sources.get(source.source)
        unit = reading.ledger[one.key].unit
        said = fmt.quantity(figure.value, unit)
        if figure.low is not None and figure.high is not None:
            said = f"{fmt.quantity(figure.low, unit)} to {fmt.quantity(figure.high, unit)}"
        rows.append(
            (
                words(one.label), reading.quantity(one.key), Cell(said, figure.value, letter=source.basis.letter),
                words(source.basis.letter), words(entry.title if entry is not None else source.source),
                words(source.as_of), words(one.why),
            )
        )  # fmt: skip
    return Table(
        "published-shares",
        "Network share beside published ones",
        (
            Column("Figure", numeric=False), Column("This plan"), Column("Published"), Column("Basis", numeric=False),
            Column("Source", numeric=False), Column("Date", numeric=False), Column("What sets them apart", numeric=False),
        ),
        tuple(rows),
    )  # fmt: skip
