"""The network's share of cost and load on GB300- and H100-class clusters, beside published shares.

Two of our prices come from the same rack model as the GB300 shares (an XDR switch of 144 ports, a 1.6T module),
so that agreement says that our counts are those of the model, not that our prices are right. Run with ``-s`` to
see the table; the report of any plan has one of its own, "Network share beside published ones".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pytest

from planner.catalog.store import open_catalog
from planner.evaluate import evaluate
from planner.scenario.load import load_scenario

FREE = ("site.limit_mw=null", "limits.site_mw=null", "limits.capex_usd=null", "limits.days=null")
GB300 = (
    "gb200-nvl72-16", "cluster.groups.0.server=gb300-nvl72", "network.leaf.switch=q3400", "network.spine.switch=q3400",
    "network.core.switch=q3400", "network.inband=sn5600", "site.rack_limit_kw=200", *FREE,
)  # fmt: skip
H100 = ("h200-1024-ndr", "cluster.groups.0.server=hgx-h100", "money.rental=null", *FREE)
CASES = {
    "GB300, 2 tiers, 4,608": (*GB300, "cluster.groups.0.gpus=4608", "network.storage.count=16"),
    "GB300, 3 tiers, 41,472": (
        *GB300, "cluster.groups.0.gpus=41472", "network.storage.count=144", "workloads.0.batch_sequences=41472",
    ),
    "H100, 1 tier, 512": (*H100, "cluster.groups.0.gpus=512", "network.topology=rail-only"),
    "H100, 2 tiers, 1,024": (*H100, "cluster.groups.0.gpus=1024"),
    "H100, 3 tiers, 4,096": (
        *H100, "cluster.groups.0.gpus=4096", "network.core.switch=qm9700", "network.inband=sn5600",
    ),
}  # fmt: skip
TIERS = {"GB300, 2 tiers, 4,608": 2, "GB300, 3 tiers, 41,472": 3, "H100, 1 tier, 512": 1, "H100, 2 tiers, 1,024": 2,
         "H100, 3 tiers, 4,096": 3}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A published figure, where it comes from, and what was found of ours.

    Attributes:
        within: Largest relative difference that is agreement; None where they don't agree, and `why` says why.
    """

    case: str
    key: str
    published: float
    source: str
    within: float | None
    why: str


MODEL = "analyst's rack model (On CPO, part 2)"
SHEET = "H100 cost sheet, August 2024"
LESS_OPTICS = (
    "ours buys in-band switches with active cables, out-of-band switches and patch panels besides, "
    "and takes copper where it reaches, so modules weigh less"
)
CHEAPER = (
    "the sheet pays 1,240 USD for a link of each further tier; the catalog's modules of 2025 and 2026 cost less, "
    "and copper or multimode is taken where it reaches"
)
ROWS = (
    Row("GB300, 2 tiers, 4,608", "share.cost.network_fraction", 589_529 / 5_216_624, MODEL, 0.15, ""),
    Row("GB300, 3 tiers, 41,472", "share.cost.network_fraction", 836_944 / 5_464_039, MODEL, 0.15, ""),
    Row("GB300, 2 tiers, 4,608", "share.cost.network_usd_per_gpu", 8188, MODEL, 0.15, ""),
    Row("GB300, 3 tiers, 41,472", "share.cost.network_usd_per_gpu", 11_624, MODEL, 0.15, ""),
    Row("GB300, 2 tiers, 4,608", "share.cost.optics_of_network_fraction", 0.616, MODEL, None, LESS_OPTICS),
    Row("GB300, 3 tiers, 41,472", "share.cost.optics_of_network_fraction", 0.597, MODEL, None, LESS_OPTICS),
    Row("GB300, 3 tiers, 41,472", "share.cost.scale_out_of_network_fraction", 0.85, MODEL, 0.10, ""),
    Row("GB300, 3 tiers, 41,472", "share.power.scale_out_of_network_fraction", 0.86, MODEL, 0.10, ""),
    # Nodes at 310,000 USD, switches at 36,000, connectors and cables by GPU; without building and operation.
    Row("H100, 1 tier, 512", "share.cost.network_fraction", 963_840 / 20_803_840, SHEET, 0.15, ""),
    Row("H100, 2 tiers, 1,024", "share.cost.network_fraction", 1 - 310_000 / 8 / (49_248 - 6_250), SHEET, 0.15, ""),
    Row("H100, 1 tier, 512", "share.cost.cabling_usd_per_gpu", 1320, SHEET, None, CHEAPER),
    Row("H100, 2 tiers, 1,024", "share.cost.cabling_usd_per_gpu", 2560, SHEET, None, CHEAPER),
    Row("H100, 3 tiers, 4,096", "share.cost.cabling_usd_per_gpu", 3800, SHEET, None, CHEAPER),
    Row("H100, 2 tiers, 1,024", "share.cost.network_fraction", 0.15, "uncited tutorial, 15 to 25 %", None,
        "the text gives no conditions; three tiers come near its lower end"),
)  # fmt: skip


@cache
def shares(case: str) -> dict[str, float]:
    """The share lines of one of the examples, and its switch tiers."""
    name, *changes = CASES[case]
    found = evaluate(load_scenario(name, changes=changes), open_catalog())
    assert found.built is not None, found.refusal
    values = {line.key: found.ledger.scalar(line) for line in found.ledger if line.key.startswith("share.")}
    return {**values, "tiers": float(found.built.cluster.fabric.tiers)}


@pytest.mark.parametrize("case", CASES)
def test_an_example_has_the_tiers_its_name_says(case: str) -> None:
    assert shares(case)["tiers"] == TIERS[case]


@pytest.mark.parametrize("row", [row for row in ROWS if row.within], ids=lambda row: f"{row.case}-{row.key}")
def test_a_share_agrees_with_the_published_one(row: Row) -> None:
    assert row.within is not None
    assert shares(row.case)[row.key] == pytest.approx(row.published, rel=row.within)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if not row.within], ids=lambda row: f"{row.case}-{row.key}"
)
def test_a_difference_is_as_large_as_is_said_and_has_a_reason(row: Row) -> None:
    """A miss that grows or goes away is news: the table in this file is then wrong."""
    apart = shares(row.case)[row.key] / row.published - 1
    assert 0.10 < abs(apart) < 0.55
    assert len(row.why) > 30


def test_each_tier_raises_the_networks_share_and_the_money_for_cables() -> None:
    h100 = [shares(case) for case in CASES if case.startswith("H100")]
    gb300 = [shares(case) for case in CASES if case.startswith("GB300")]
    for key in (
        "share.cost.network_fraction",
        "share.cost.network_usd_per_gpu",
        "share.cost.cabling_usd_per_gpu",
    ):
        for found in (h100, gb300):
            values = [one[key] for one in found]
            assert values == sorted(values), key
            assert len(set(values)) == len(values)


def test_modules_are_about_half_of_a_network_of_optics_and_a_third_where_copper_and_multimode_reach() -> None:
    optics = {case: shares(case)["share.cost.optics_of_network_fraction"] for case in CASES}
    assert all(0.45 < share < 0.65 for case, share in optics.items() if case.startswith("GB300"))
    assert all(0.2 < share < 0.45 for case, share in optics.items() if case.startswith("H100"))


def test_the_table_of_shares_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{'example':24} {'figure':42} {'ours':>9} {'published':>10} {'apart':>7}"]
    for row in ROWS:
        ours = shares(row.case)[row.key]
        lines.append(
            f"{row.case:24} {row.key.removeprefix('share.'):42} {ours:9.3f} {row.published:10.3f} "
            f"{ours / row.published - 1:+7.1%}  {row.source}{f': {row.why}' if row.why else ''}"
        )
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert len(lines) == len(ROWS) + 1
