"""Claims of vendors, apart from what results rest on."""

from __future__ import annotations

import pytest

from planner.catalog.schema import OpticalEngine
from planner.catalog.store import Catalog, open_catalog
from planner.sourced import Basis
from planner.study.optics_claims import NO_CONDITIONS, Claim, vendor_claims


@pytest.fixture(scope="module")
def shelf() -> Catalog:
    return open_catalog()


@pytest.fixture(scope="module")
def claims(shelf: Catalog) -> tuple[Claim, ...]:
    return vendor_claims(shelf, used=False)


def test_every_claimed_figure_of_an_engine_is_listed(shelf: Catalog, claims: tuple[Claim, ...]) -> None:
    listed = {(claim.part, claim.field) for claim in claims}
    for name in shelf.ids(OpticalEngine):
        for field, value in shelf.get(OpticalEngine, name):
            if getattr(value, "basis", None) is Basis.CLAIM:
                assert (name, field) in listed


def test_a_note_that_only_says_who_speaks_is_no_condition(claims: tuple[Claim, ...]) -> None:
    found = next(
        claim
        for claim in claims
        if (claim.part, claim.field) == ("lightmatter-passage-l20", "energy_pj_per_bit")
    )
    assert found.conditions == NO_CONDITIONS


def test_units_follow_the_names_of_figures(claims: tuple[Claim, ...]) -> None:
    units = {claim.field: claim.unit for claim in claims}
    assert (
        units["energy_pj_per_bit"] == "pJ/bit"
        and units["power_w"] == "W"
        and units["rate_gbit_per_s"] == "Gbit/s"
    )


def test_only_the_saving_that_was_asked_for_is_used(shelf: Catalog) -> None:
    used = [claim.field for claim in vendor_claims(shelf, used=True) if claim.used]
    assert used == ["cpo_saving_of_optics_power_fraction"]
