"""The ladder of collectives in a box: measured, scaled from a like one, from the link; each says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planner.catalog.schema import Accelerator, ScaleUp
from planner.catalog.store import Catalog, open_catalog
from planner.curves.collective import Regime
from planner.ledger import Ledger
from planner.performance.assumed import Assumed
from planner.performance.collectives import Collective, bus_factor
from planner.performance.domain import ScaleUpDomain, scale_up_domain
from planner.performance.group_curves import Bands, DomainCurves, GroupCurve, LinkRates, Rung
from planner.performance.ladder import domain_curves, regimes_of
from planner.performance.shelf import Shelf, shelf_for

BANDS = Bands(0.05, 0.2, 0.5, 0.05)
RATES = LinkRates(
    bytes_per_s=400e9, pair_bytes_per_s=400e9, start_s=5e-6, hop_s=1e-6, half_rate_bytes=1e6,
    reduction_gain_ratio=1.0, raw_bytes_per_s=450e9, ceiling_bytes_per_s=0.0, reduction_ceiling_bytes_per_s=0.0,
)  # fmt: skip
LARGE = 2.0**33


def domain(
    accelerator: str, ranks: int = 8, *named: str, catalog: Catalog | None = None, staged: bool = False
) -> ScaleUpDomain:
    catalog = catalog or open_catalog()
    entry = catalog.entry(Accelerator, accelerator)
    scaleup = catalog.entry(ScaleUp, entry.item.scaleup) if entry.item.scaleup else None
    return scale_up_domain(
        Assumed(Ledger(months=1), catalog), entry, scaleup, domain_ranks=ranks, named=named, staged=staged
    )


def group(found: ScaleUpDomain | DomainCurves, operation: Collective, ranks: int) -> GroupCurve:
    return (found.curves if isinstance(found, ScaleUpDomain) else found).groups[operation, ranks]


def bus_gbyte_per_s(curves: DomainCurves, operation: Collective, ranks: float, size: float = LARGE) -> float:
    time = curves.time_s(operation, message_bytes=np.array([size]), ranks=np.array([ranks]))[0]
    return float(bus_factor(operation, ranks=np.array([ranks]))[0] * size / time / 1e9)


def table(folder: Path, profile_id: str, accelerator: str, *fits: str, day: str = "2026-05-01") -> Catalog:
    (folder / "profiles").mkdir(parents=True, exist_ok=True)
    (folder / "profiles" / f"{profile_id}.yaml").write_text(
        f"id: {profile_id}\nname: Mine\naccelerator: {accelerator}\nas_of: {day}\ncollectives:\n"
        + "".join(f"  - {one}\n" for one in fits),
        encoding="utf-8",
    )
    return open_catalog([folder])


def fit(ranks: int, start_us: float, ps_per_byte: float, *, largest: int = 2**33, more: str = "") -> str:
    return (
        f"{{op: all_reduce, ranks: {ranks}, dtype: bf16, min_bytes: 1024, max_bytes: {largest}, regimes: "
        f"[{{from_bytes: 0.0, start_us: {start_us}, ps_per_byte: {ps_per_byte}}}], "
        "errors: {points: 9, median_fraction: 0.01, p90_fraction: 0.02, worst_fraction: 0.03, worst_at: 1024 bytes}"
        f"{more}}}"
    )


# --- rungs of shipped machines


def test_h200_is_measured_for_two_and_scaled_from_its_sibling_for_eight() -> None:
    found = domain("h200-sxm-141gb")
    for operation in (
        Collective.ALL_REDUCE,
        Collective.ALL_GATHER,
        Collective.REDUCE_SCATTER,
        Collective.ALL_TO_ALL,
    ):
        two, eight = group(found, operation, 2), group(found, operation, 8)
        assert (two.rung, two.profile) == (Rung.MEASURED, "h200-sxm-141gb.bench")
        assert two.how == "measured on 2 ranks of this accelerator"
        assert (eight.rung, eight.profile) == (Rung.SCALED, "h100-sxm5-80gb.nccl-tables")
        assert "at this accelerator's rate and start as measured on 2 ranks" in eight.how
        assert two.half_width_fraction < eight.half_width_fraction
        assert not eight.beyond_groups
    assert found.speaking == group(found, Collective.ALL_REDUCE, 8)


@pytest.mark.parametrize("accelerator", ["a100-sxm4-80gb", "h100-sxm5-80gb", "b200-sxm-180gb"])
def test_every_group_of_a_measured_box_is_measured(accelerator: str) -> None:
    found = domain(accelerator)
    for ranks in (2, 4, 8):
        assert group(found, Collective.ALL_REDUCE, ranks).rung is Rung.MEASURED


def test_a_rack_of_72_is_extrapolated_and_says_so() -> None:
    found = domain("gb200", 72)
    assert found.curves.sizes == (2, 4, 8, 16, 32, 64, 72)
    assert group(found, Collective.ALL_REDUCE, 4).rung is Rung.MEASURED
    assert not group(found, Collective.ALL_REDUCE, 8).beyond_groups
    widths = []
    for ranks in (16, 32, 64, 72):
        one = group(found, Collective.ALL_REDUCE, ranks)
        assert one.rung is Rung.SCALED
        assert one.beyond_groups
        assert one.how.endswith(f"extrapolated from 8 to {ranks} ranks")
        widths.append(one.half_width_fraction)
    assert widths == sorted(set(widths)), "the further out, the wider"


def test_beyond_measured_groups_starts_grow_as_they_did_by_the_rank_or_by_the_doubling() -> None:
    found = domain("gb200", 64)
    for operation, times in ((Collective.ALL_GATHER, 56 / 4), (Collective.ALL_REDUCE, 3.0)):
        four, eight, many = (group(found, operation, ranks).regimes[0].start_s for ranks in (4, 8, 64))
        assert many - eight == pytest.approx((eight - four) * times)


def test_h800_runs_its_siblings_curves_at_the_rate_of_its_slower_link() -> None:
    found, sibling = domain("h800-sxm-80gb"), domain("h100-sxm5-80gb")
    eight = group(found, Collective.ALL_GATHER, 8)
    assert (eight.rung, eight.profile) == (Rung.SCALED, "h100-sxm5-80gb.nccl-tables")
    assert "its link 0.44 times as fast" in eight.how
    whole = bus_gbyte_per_s(sibling.curves, Collective.ALL_GATHER, 8)
    assert bus_gbyte_per_s(found.curves, Collective.ALL_GATHER, 8) == pytest.approx(
        whole * 200 / 450, rel=0.02
    )


def test_ranks_of_a_mesh_see_one_link_of_each_peer() -> None:
    found = domain("mi300x")
    for ranks in (2, 8):
        assert group(found, Collective.ALL_GATHER, ranks).rung is Rung.PHYSICS
    two, four, eight = (
        found.curves.endless_bytes_per_s(Collective.ALL_GATHER, ranks=np.array([n])) for n in (2.0, 4.0, 8.0)
    )
    np.testing.assert_allclose([four[0], eight[0]], [3 * two[0], 7 * two[0]], rtol=0.01)
    send = found.curves.endless_bytes_per_s(Collective.SEND_RECEIVE, ranks=np.array([8.0]))
    np.testing.assert_allclose(send, two, rtol=0.01)


def test_cards_on_pcie_stand_on_physics_without_a_profile() -> None:
    found = domain("l40s")
    one = group(found, Collective.ALL_REDUCE, 8)
    assert (one.rung, one.profile, one.min_bytes, one.max_bytes) == (Rung.PHYSICS, "", 0, 0)
    assert "nothing measured on this link" in one.how
    assert one.half_width_fraction == max(
        group(domain(name), Collective.ALL_REDUCE, 8).half_width_fraction
        for name in ("l40s", "h200-sxm-141gb", "h100-sxm5-80gb")
    )


def test_without_peer_access_bytes_go_through_host_memory() -> None:
    direct, staged = domain("h200-sxm-141gb", 2), domain("h200-sxm-141gb", 2, staged=True)
    one = group(staged, Collective.ALL_REDUCE, 2)
    assert (one.rung, one.profile) == (Rung.MEASURED, "h200-sxm-141gb.bench")
    slow, quick = (bus_gbyte_per_s(found.curves, Collective.ALL_REDUCE, 2) for found in (staged, direct))
    assert slow < 60.0 < 300.0 < quick


# --- profiles of the user


def test_a_named_profile_of_this_accelerator_speaks_first(tmp_path: Path) -> None:
    catalog = table(tmp_path, "lab", "h200-sxm-141gb", fit(2, 50.0, 4.0), day="2020-01-01")
    one = group(domain("h200-sxm-141gb", 8, "lab", catalog=catalog), Collective.ALL_REDUCE, 2)
    assert (one.rung, one.profile) == (Rung.MEASURED, "lab")
    assert one.regimes[0] == Regime(0.0, pytest.approx(50e-6), 0.0, pytest.approx(4e-12))  # type: ignore[arg-type]


def test_a_named_profile_of_another_accelerator_speaks_before_shipped_siblings(tmp_path: Path) -> None:
    catalog = table(tmp_path, "lab", "h800-sxm-80gb", fit(8, 50.0, 9.0), day="2020-01-01")
    one = group(domain("h200-sxm-141gb", 8, "lab", catalog=catalog), Collective.ALL_REDUCE, 8)
    assert (one.rung, one.profile) == (Rung.SCALED, "lab")
    # 200 GB/s against 450
    assert one.how == "h800-sxm-80gb on the same link, its link 2.25 times as fast"
    assert one.regimes[0].s_per_byte == pytest.approx(9e-12 * 200 / 450)


def test_sizes_that_show_no_rate_speak_only_where_nothing_else_does(tmp_path: Path) -> None:
    small = [fit(2, 50.0, 9.0, largest=2**20), fit(8, 60.0, 9.0, largest=2**20)]
    beside_others = table(tmp_path / "a", "lab", "h800-sxm-80gb", *small)
    one = group(domain("h200-sxm-141gb", 8, "lab", catalog=beside_others), Collective.ALL_REDUCE, 8)
    assert one.profile == "h100-sxm5-80gb.nccl-tables"
    alone = table(tmp_path / "b", "lab", "mi325x", *small)
    one = group(domain("mi300x", 8, "lab", catalog=alone), Collective.ALL_REDUCE, 8)
    assert (one.rung, one.profile) == (Rung.SCALED, "lab")


def test_a_larger_group_that_was_measured_carries_those_beyond_it(tmp_path: Path) -> None:
    catalog = table(tmp_path, "lab", "gb200", fit(64, 90.0, 3.0))
    found = domain("gb200", 72, "lab", catalog=catalog)
    assert group(found, Collective.ALL_REDUCE, 64).rung is Rung.MEASURED
    last = group(found, Collective.ALL_REDUCE, 72)
    assert (last.profile, last.beyond_groups) == ("lab", True)
    assert last.how.endswith("extrapolated from 64 to 72 ranks")


# --- rules of the rungs, on a shelf made by hand


def by_hand(accelerator: str, *, keep: tuple[int, ...], siblings: bool = False) -> Shelf:
    """The shipped shelf of an accelerator with only some groups of its own."""
    catalog = open_catalog()
    shelf = shelf_for(catalog, catalog.get(Accelerator, accelerator))
    own = tuple(
        replace(
            entry,
            item=entry.item.model_copy(
                update={"collectives": tuple(one for one in entry.item.collectives if one.ranks in keep)}
            ),
        )
        for entry in shelf.own
    )
    return replace(shelf, own=own, siblings=shelf.siblings if siblings else ())


def test_a_group_nobody_measured_grows_as_it_does_on_other_links() -> None:
    curves = domain_curves(by_hand("h100-sxm5-80gb", keep=(2, 4)), RATES, domain_ranks=8, bands=BANDS)
    one = group(curves, Collective.ALL_GATHER, 8)
    assert (one.rung, one.half_width_fraction) == (Rung.SCALED, BANDS.scaled_fraction)
    assert one.how.startswith("measured on 4 ranks, and grown to 8 as on ")
    assert "a100-sxm4-80gb" in one.how
    assert "b200-sxm-180gb" in one.how


def test_a_ring_without_any_measurement_follows_the_link() -> None:
    curves = domain_curves(Shelf(open_catalog(), (), ()), RATES, domain_ranks=8, bands=BANDS)
    gather = group(curves, Collective.ALL_GATHER, 8)
    (regime,) = gather.regimes
    assert (regime.start_s, regime.s_per_byte) == (pytest.approx(5e-6 + 7e-6), pytest.approx(0.875 / 400e9))
    assert (gather.rung, gather.half_width_fraction) == (Rung.PHYSICS, BANDS.physics_fraction)
    # an all-reduce takes a tree where that has fewer steps: 6 of 14
    assert group(curves, Collective.ALL_REDUCE, 8).regimes[0].start_s == pytest.approx(5e-6 + 6e-6)


def test_sums_in_the_switch_quicken_an_all_reduce_of_more_than_two() -> None:
    gain = replace(RATES, reduction_gain_ratio=1.4)
    curves = domain_curves(Shelf(open_catalog(), (), ()), gain, domain_ranks=8, bands=BANDS)
    plain = domain_curves(Shelf(open_catalog(), (), ()), RATES, domain_ranks=8, bands=BANDS)
    for ranks, ratio in ((2, 1.0), (4, 1.4), (8, 1.4)):
        quick, slow = (
            group(one, Collective.ALL_REDUCE, ranks).regimes[0].s_per_byte for one in (curves, plain)
        )
        assert slow / quick == pytest.approx(ratio)
    assert "sum in the switch" in group(curves, Collective.ALL_REDUCE, 8).how


def test_beyond_measured_sizes_no_collective_passes_the_ceiling_of_its_link() -> None:
    low = replace(RATES, ceiling_bytes_per_s=200e9, reduction_ceiling_bytes_per_s=200e9)
    curves = domain_curves(by_hand("h100-sxm5-80gb", keep=(2, 4, 8)), low, domain_ranks=8, bands=BANDS)
    fits = {
        (one.op, one.ranks): one
        for one in by_hand("h100-sxm5-80gb", keep=(2, 4, 8)).own[0].item.collectives
        if one.dtype == "fp16"
    }
    measured = fits["all_gather", 8]
    regimes = group(curves, Collective.ALL_GATHER, 8).regimes
    assert regimes[:-1] == regimes_of(measured), "what was measured stays as it is"
    assert regimes[-1].from_bytes >= measured.max_bytes
    assert bus_gbyte_per_s(curves, Collective.ALL_GATHER, 8, 2.0**40) == pytest.approx(200.0, rel=1e-3)


def test_a_broadcast_goes_round_like_an_all_gather_and_a_send_is_half_of_one_of_two() -> None:
    curves = domain_curves(by_hand("h100-sxm5-80gb", keep=(2, 4, 8)), RATES, domain_ranks=8, bands=BANDS)
    for operation, ranks in ((Collective.BROADCAST, 8), (Collective.SEND_RECEIVE, 2)):
        one = group(curves, operation, ranks)
        assert one.rung is Rung.SCALED
        assert one.how.startswith("from its all-gather, by what each rank moves")
        rate = bus_gbyte_per_s(curves, Collective.ALL_GATHER, ranks, 2.0**44)
        assert bus_gbyte_per_s(curves, operation, ranks, 2.0**44) == pytest.approx(rate, rel=1e-3)


def test_between_group_sizes_times_lie_between() -> None:
    curves = domain("h100-sxm5-80gb").curves
    size = np.array([1e6])
    times = [
        curves.time_s(Collective.ALL_GATHER, message_bytes=size, ranks=np.array([n]))[0]
        for n in (4.0, 5.0, 6.0, 8.0)
    ]
    assert times == sorted(times)
    middle = curves.time_s(Collective.ALL_GATHER, message_bytes=size, ranks=np.array([np.sqrt(32.0)]))[0]
    assert middle == pytest.approx(np.sqrt(times[0] * times[-1]), rel=1e-9)
    assert curves.group(Collective.ALL_GATHER, 6).ranks == 8


def test_one_rank_takes_no_time_and_has_no_rate_to_reach() -> None:
    curves = domain("h100-sxm5-80gb").curves
    for operation in Collective:
        assert curves.time_s(operation, message_bytes=np.array([1e9]), ranks=np.array([1.0]))[0] == 0.0
        assert curves.endless_bytes_per_s(operation, ranks=np.array([1.0]))[0] == np.inf


def test_curves_are_made_once_for_a_catalog_and_anew_for_another_link() -> None:
    shelf = open_catalog()
    profiles = shelf_for(shelf, shelf.get(Accelerator, "h200-sxm-141gb"))
    first = domain_curves(profiles, RATES, domain_ranks=8, bands=BANDS)
    assert domain_curves(profiles, RATES, domain_ranks=8, bands=BANDS) is first
    others = (
        domain_curves(profiles, replace(RATES, bytes_per_s=200e9), domain_ranks=8, bands=BANDS),
        domain_curves(profiles, RATES, domain_ranks=16, bands=BANDS),
        domain_curves(profiles, RATES, domain_ranks=8, bands=replace(BANDS, measured_fraction=0.2)),
        domain_curves(profiles, RATES, domain_ranks=8, bands=BANDS, narrow=True),
        domain_curves(replace(profiles, own=()), RATES, domain_ranks=8, bands=BANDS),
    )
    assert len({id(one) for one in (first, *others)}) == 6
