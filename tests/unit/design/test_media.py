"""Which parts may join two cages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.catalog.schema import Medium as Fibre
from planner.catalog.schema import Nic, Switch, Transceiver
from planner.catalog.store import Catalog, open_catalog
from planner.design.media import Bought, candidates, nic_end, optics_class, switch_end
from planner.design.medium import Medium, MediumKind


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return open_catalog()


def ways(
    catalog: Catalog, lower: str, upper: str, rate: float, *, links: int = 1
) -> tuple[tuple[Medium, ...], dict[str, Bought]]:
    nics = catalog.ids(Nic)
    low = (
        nic_end(catalog, catalog.entry(Nic, lower), links, None)
        if lower in nics
        else switch_end(catalog, catalog.entry(Switch, lower), rate, None)
    )
    return candidates(
        catalog, low, switch_end(catalog, catalog.entry(Switch, upper), rate, None), copper=True
    )


def test_xdr_has_no_passive_copper_no_multimode_and_no_active_optical_cable(catalog: Catalog) -> None:
    """network-notes, rule 9: at 200G a lane NVIDIA lists linear copper and single-mode modules only."""
    for lower in ("connectx-8-800g", "q3400"):
        found, bought = ways(catalog, lower, "q3400", 800.0)
        assert {one.kind for one in found} == {MediumKind.ACC, MediumKind.TRANSCEIVER_PAIR}
        modules = [module.item for part in bought.values() for module in (part.lower, part.upper) if module]
        assert {module.medium for module in modules} == {Fibre.SINGLEMODE}
        assert {module.lane_rate_gbit_per_s for module in modules} == {200}


def test_a_module_at_a_co_packaged_port_speaks_its_light(catalog: Catalog) -> None:
    """Four single-mode lanes of 200G, so neither a multimode module nor one of 100G lanes."""
    found, bought = ways(catalog, "connectx-8-800g", "q3450", 800.0)
    assert {part.lower.item.id for part in bought.values() if part.lower} == {"osfp-800g-dr4"}
    assert {(one.fibres, one.wavelengths, one.optics) for one in found} == {(8, 1, "CPO to DR")}
    assert all(part.upper is None for part in bought.values())


def test_co_packaged_ports_of_four_colours_take_duplex_fibre(catalog: Catalog) -> None:
    found, bought = ways(catalog, "tomahawk-5-bailly", "tomahawk-5-bailly", 400.0)
    assert [(one.fibres, one.wavelengths) for one in found] == [(2, 4)]
    assert [part.cable.item.id for part in bought.values()] == ["fibre-lc-os2"]


@pytest.mark.parametrize(
    ("module", "named", "fibres", "colours"),
    [
        ("osfp-800g-2xdr4", "DR", 8, 1),
        ("osfp-800g-2xfr4", "FR", 2, 4),
        ("osfp-800g-2xlr4", "LR", 2, 4),
        ("osfp-800g-2xsr4", "SR", 8, 1),
        ("osfp-800g-zr", "ZR", 1, 1),
    ],
)
def test_fibres_and_colours_of_a_400g_link(
    catalog: Catalog, module: str, named: str, fibres: int, colours: int
) -> None:
    """Two links share an 800G cage; DR4 has four fibres each way, FR4 four colours on one."""
    found, _ = ways(catalog, "celestica-ds5000", "celestica-ds5000", 400.0)
    one = next(way for way in found if way.id == f"{module} + {module}")
    assert (one.optics, one.fibres, one.wavelengths) == (named, fibres, colours)


def test_a_coherent_module_is_never_paired_with_another_kind(catalog: Catalog) -> None:
    found, _ = ways(catalog, "celestica-ds5000", "celestica-ds5000", 400.0)
    assert [one.id for one in found if "zr" in one.id] == ["osfp-800g-zr + osfp-800g-zr"]
    assert max(found, key=lambda one: one.reach_m).id == "osfp-800g-zr + osfp-800g-zr"


def test_classes_are_read_from_ids(catalog: Catalog) -> None:
    named = {one: optics_class(catalog.get(Transceiver, one)) for one in catalog.ids(Transceiver)}
    assert {name.split(",")[0] for name in named.values()} == {"SR", "DR", "FR", "LR", "ZR"}


def test_without_copper_there_is_only_light(catalog: Catalog) -> None:
    low = nic_end(catalog, catalog.entry(Nic, "connectx-7-400g"), 1, None)
    up = switch_end(catalog, catalog.entry(Switch, "qm9700"), 400.0, None)
    with_copper, without = (candidates(catalog, low, up, copper=wanted)[0] for wanted in (True, False))
    assert {one.kind for one in with_copper} - {one.kind for one in without} == {
        MediumKind.DAC,
        MediumKind.ACC,
    }
    fixed = replace(up, cage=replace(up.cage, pluggable=False), modules=())
    assert all(
        one.kind is MediumKind.TRANSCEIVER_PAIR for one in candidates(catalog, low, fixed, copper=True)[0]
    )
