"""Every YAML file of the catalog is a test case."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from planner.catalog.figure import Figure
from planner.catalog.item import Item
from planner.catalog.llm import Attention, Model
from planner.catalog.profiles import Profile
from planner.catalog.schema import (
    FAMILIES,
    Accelerator,
    Assumptions,
    Nic,
    Server,
    Site,
    Switch,
    SwitchAsic,
    Transceiver,
)
from planner.catalog.store import RELEASE, Catalog
from planner.documents import load_document
from planner.errors import CatalogError
from planner.performance.models import active_parameters, model_shape, parameters
from planner.resources import shipped
from planner.sourced import Basis

FOLDER = shipped("catalog")
CATALOG = Catalog([FOLDER])
RAW = Path("profiles/raw")
"""Points that profiles were fitted from; their hashes stand in the profiles."""
FILES = sorted(
    path.relative_to(FOLDER).as_posix()
    for family in FAMILIES
    for path in (FOLDER / family).glob("*")
    if path.relative_to(FOLDER) != RAW
)
REFERENCES = {
    "accelerator": "accelerators", "asic": "switch_asics", "needs_asics": "switch_asics", "needs_nics": "nics",
    "model": "models", "nic": "nics", "optics": "optical_engines", "scaleup": "scaleup",
}  # fmt: skip
NAMING_A_PART = {"rate_gbit_per_s", "port_rate_gbit_per_s", "capacity_gbit_per_s", "reach_m"}
"""What a vendor says its own part is; nobody else can say it."""
DENSE = {
    "a100-sxm4-80gb": (312, None), "h100-sxm5-80gb": (989, 1979), "h200-sxm-141gb": (989, 1979),
    "b200-sxm-180gb": (2250, 4500), "gb200": (2500, 5000), "gb300": (2500, 5000), "mi300x": (1307.4, 2614.9),
    "mi355x": (2500, 5000), "gaudi3": (1677, 1677), "tpu-v5p": (459, 459), "trainium2": (667, 1299),
}  # fmt: skip
"""BF16 and FP8 TFLOP/s without structured sparsity, typed from the vendors' tables a second time."""
ONE_WAY = {"a100-sxm4-80gb": 300, "h100-sxm5-80gb": 450, "b200-sxm-180gb": 900, "vr200": 1800, "mi300x": 448}
OPEN_END = re.compile(r"lanes|ASIC|copper|half", re.IGNORECASE)


def item_of(file: str) -> Item:
    family, name = file.split("/")
    return CATALOG.get(FAMILIES[family], Path(name).stem)


def of_family(kind: type[Item]) -> list[str]:
    return [file for file in FILES if file.startswith(kind.family + "/")]


def figures(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Figure]]:
    """Figures of an item with their paths, nested ones included."""
    if isinstance(value, Figure):
        yield path, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from figures(getattr(value, name), (*path, name))
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from figures(inner, (*path, name))


def references(value: BaseModel) -> Iterator[tuple[str, str]]:
    for name in type(value).model_fields:
        inner = getattr(value, name)
        if isinstance(inner, BaseModel) and not isinstance(inner, Figure):
            yield from references(inner)
        elif name in REFERENCES and inner:
            for one in (inner,) if isinstance(inner, str) else inner:
                yield REFERENCES[name], one


@pytest.fixture(scope="module")
def known_sources() -> set[str]:
    """Ids of `sources.yaml`, and of its parts while they are being written."""
    return {key for path in FOLDER.glob("sources*.yaml") for key in load_document(path).data}


@pytest.mark.parametrize("file", FILES)
def test_a_file_holds_one_valid_item_of_its_name(file: str) -> None:
    assert file.endswith(".yaml")
    item = item_of(file)
    assert item.id == Path(file).stem
    assert item.name.strip()


@pytest.mark.parametrize("file", FILES)
def test_figures_have_a_known_source_and_no_future_date(file: str, known_sources: set[str]) -> None:
    item = item_of(file)
    for path, figure in figures(item):
        assert figure.source in known_sources, f"{'.'.join(path)}: no source '{figure.source}'"
        assert figure.as_of <= RELEASE[: len(figure.as_of)], f"{'.'.join(path)} is dated {figure.as_of}"
        assert figure.as_of >= "2000", f"{'.'.join(path)} is dated {figure.as_of}"


@pytest.mark.parametrize("file", FILES)
def test_fractions_are_shares_and_quantities_are_not_negative(file: str) -> None:
    for path, figure in figures(item_of(file)):
        assert figure.value >= 0.0, ".".join(path)
        if path[-1].endswith("_fraction"):
            assert figure.value <= 1.0, ".".join(path)


@pytest.mark.parametrize("file", FILES)
def test_references_name_items_that_exist(file: str) -> None:
    for family, other in references(item_of(file)):
        assert other in CATALOG.ids(FAMILIES[family]), f"no {family} '{other}'"


@pytest.mark.parametrize("file", FILES)
def test_a_part_that_cannot_be_ordered_says_why(file: str) -> None:
    item = item_of(file)
    assert item.orderable or item.why_not_orderable


@pytest.mark.parametrize("file", FILES)
def test_a_vendors_claim_is_never_a_default(file: str) -> None:
    item = item_of(file)
    for path, figure in figures(item):
        if figure.basis is not Basis.CLAIM or not item.orderable:
            continue
        off = isinstance(item, Assumptions) and path[-1].startswith("claim_")
        assert off or path[-1] in NAMING_A_PART, ".".join(path)


@pytest.mark.parametrize("file", FILES)
def test_texts_carry_no_address_and_no_path(file: str) -> None:
    text = (FOLDER / file).read_text(encoding="utf-8")
    assert "://" not in text, "addresses belong in sources.yaml"
    assert not re.search(r"(^|[\s\"'(])/(work|home|tmp|root|shared)/", text)


@pytest.mark.parametrize("file", of_family(SwitchAsic))
def test_lanes_of_an_asic_add_up_to_its_capacity(file: str) -> None:
    asic = CATALOG.get(SwitchAsic, Path(file).stem)
    assert asic.lanes * asic.lane_rate_gbit_per_s == asic.capacity_gbit_per_s.value


@pytest.mark.parametrize("file", of_family(Switch))
def test_cages_of_a_switch_use_the_lanes_of_its_asics(file: str) -> None:
    switch = CATALOG.get(Switch, Path(file).stem)
    asic = CATALOG.get(SwitchAsic, switch.asic)
    front = switch.cages * switch.cage_rate_gbit_per_s
    inside = switch.asics * asic.capacity_gbit_per_s.value
    assert switch.fabric is asic.fabric
    assert front <= inside
    assert front == inside or OPEN_END.search(switch.note), "the note says why lanes stay unused"
    link_rate = switch.cage_rate_gbit_per_s / switch.links_per_cage_max
    assert link_rate % switch.lane_rate_gbit_per_s == 0.0


@pytest.mark.parametrize("file", of_family(Transceiver))
def test_a_modules_rate_is_whole_links_of_whole_lanes(file: str) -> None:
    module = CATALOG.get(Transceiver, Path(file).stem)
    assert module.rate_gbit_per_s.value % (module.links * module.lane_rate_gbit_per_s) == 0.0


@pytest.mark.parametrize("file", of_family(Nic))
def test_a_nic_ports_rate_is_whole_lanes(file: str) -> None:
    nic = CATALOG.get(Nic, Path(file).stem)
    assert nic.port_rate_gbit_per_s.value % nic.lane_rate_gbit_per_s == 0.0


@pytest.mark.parametrize("accelerator", DENSE)
def test_arithmetic_is_dense(accelerator: str) -> None:
    item = CATALOG.get(Accelerator, accelerator)
    bf16, fp8 = DENSE[accelerator]
    assert item.bf16_tflop_per_s.value == bf16
    assert (item.fp8_tflop_per_s.value if item.fp8_tflop_per_s else None) == fp8


@pytest.mark.parametrize("accelerator", ONE_WAY)
def test_scale_up_rates_are_one_direction(accelerator: str) -> None:
    rate = CATALOG.get(Accelerator, accelerator).scaleup_gbyte_per_s
    assert rate is not None and rate.value == ONE_WAY[accelerator]


@pytest.mark.parametrize("file", of_family(Accelerator))
def test_an_accelerator_names_its_scale_up_and_a_reachable_gemm(file: str) -> None:
    item = CATALOG.get(Accelerator, Path(file).stem)
    assert item.scaleup
    for share in (item.gemm_bf16_share_of_peak_fraction, item.gemm_fp8_share_of_peak_fraction):
        assert share is None or 0.3 < share.value < 1.0


@pytest.mark.parametrize("file", of_family(Server))
def test_a_server_draws_least_when_idle_and_feeds_its_gpus(file: str) -> None:
    server = CATALOG.get(Server, Path(file).stem)
    gpu = CATALOG.get(Accelerator, server.accelerator)
    assert server.power_idle_w.value < server.power_typical_w.value < server.power_max_w.value
    assert gpu.tdp_w is None or server.gpus * gpu.tdp_w.value < server.power_max_w.value
    assert server.gpus % server.scaleup_domain_gpus == 0
    assert not server.is_rack or server.trays


@pytest.mark.parametrize("file", of_family(Profile))
def test_a_profile_names_its_accelerator_its_source_and_files_that_are_as_they_were(
    file: str, known_sources: set[str]
) -> None:
    profile = CATALOG.get(Profile, Path(file).stem)
    assert profile.id.startswith(f"{profile.accelerator}."), (
        "so that it is found without reading all profiles"
    )
    assert profile.scaleup == CATALOG.get(Accelerator, profile.accelerator).scaleup
    assert profile.source is None or profile.source in known_sources
    assert profile.as_of <= RELEASE[: len(profile.as_of)]
    assert profile.raw
    for raw in profile.raw:
        path = FOLDER / "profiles" / raw.file
        assert hashlib.sha256(path.read_bytes()).hexdigest() == raw.sha256, raw.file


@pytest.mark.parametrize("path", sorted((FOLDER / RAW).glob("*.json.gz")), ids=lambda path: path.name)
def test_a_raw_result_says_what_was_measured_and_not_on_which_machine(path: Path) -> None:
    assert not {"hostname", "kernel", "pci_bus_id"} & set(
        gzip.decompress(path.read_bytes()).decode().split('"')
    )


def test_every_raw_file_belongs_to_a_profile() -> None:
    named = {raw.file for file in of_family(Profile) for raw in CATALOG.get(Profile, Path(file).stem).raw}
    assert {f"raw/{path.name}" for path in (FOLDER / RAW).iterdir()} == named


@pytest.mark.parametrize("file", of_family(Site))
def test_energy_at_a_site_has_a_believable_price(file: str) -> None:
    site = CATALOG.get(Site, Path(file).stem)
    assert 0.02 < site.electricity_usd_per_kwh.value < 0.5
    assert site.carbon_kg_per_kwh is None or site.carbon_kg_per_kwh.value < 1.0


@pytest.mark.parametrize("file", of_family(Model))
def test_shapes_of_a_model_count_to_its_stated_parameters(file: str) -> None:
    """Within 1 %: publishers round, and leave out norms or prediction modules."""
    item = CATALOG.get(Model, Path(file).stem)
    latent = item.attention is Attention.LATENT
    shape = model_shape(
        layers=item.layers,
        hidden=item.hidden,
        heads=item.heads,
        kv_heads=item.kv_heads,
        head_dim=item.head_size + (item.rope_head_size if latent else 0),
        value_head_dim=item.v_head_size,
        ffn=0 if item.experts and not item.dense_layers else item.ffn,
        vocab=item.vocabulary,
        positions=item.learned_positions,
        dense_layers=item.dense_layers if item.experts else None,
        experts=item.experts,
        experts_per_token=item.experts_per_token,
        expert_ffn=item.expert_ffn,
        shared_expert_ffn=item.shared_experts * item.expert_ffn,
        query_rank=item.q_latent,
        kv_rank=item.kv_latent,
        rope_dim=item.rope_head_size,
        glu=item.gated_ffn,
        tied_embeddings=item.tied_embeddings,
        biases=item.biases,
    )
    assert parameters(shape).item() == pytest.approx(item.parameters_stated.value, rel=0.01)
    if item.active_parameters_stated is not None:
        stated = item.active_parameters_stated.value
        embeddings = 2.0 * item.vocabulary * item.hidden  # counted by some publishers, not by others
        counted = active_parameters(shape).item()
        assert counted - embeddings - 0.03 * stated <= stated <= counted + 0.03 * stated
    assert item.heads % item.kv_heads == 0


BROKEN = {
    "a mistyped field": ("pue: {value: 1.2,", "pu: {value: 1.2,", 3, "no field 'pu' here"),
    "a range beside its value": ("value: 1.2", "value: 9.2", 3, "lies outside low"),
    "an estimate without a reason": ("basis: published", "basis: estimate", 3, "says why in its note"),
    "a text for a number": ("value: 1.2", "value: much", 3, "must be a number"),
    "another id than the file's name": ("id: hall", "id: yard", 1, "differs from the file's name"),
    "a key given twice": ("liquid: true", "name: again", 4, "given twice"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_item_is_refused_with_its_line(fault: str, tmp_path: Path) -> None:
    old, new, line, said = BROKEN[fault]
    text = (
        "id: hall\n"
        "name: A hall\n"
        "pue: {value: 1.2, low: 1.1, high: 1.3, source: someone, basis: published, as_of: 2026-01}\n"
        "liquid: true\n"
    )
    folder = tmp_path / "mine"
    (folder / "cooling").mkdir(parents=True)
    (folder / "cooling" / "hall.yaml").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        Catalog([folder]).get(FAMILIES["cooling"], "hall")
    problems = [problem for problem in caught.value.problems if said in str(problem)]
    assert problems, caught.value
    place = problems[0].place
    assert place is not None and (place.path, place.line) == ("mine/cooling/hall.yaml", line)


def test_a_missing_item_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(CatalogError, match="dgx-h100"):
        CATALOG.get(Server, "dgx-h10")


def test_an_overlay_replaces_a_shipped_item(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    (folder / "cooling").mkdir(parents=True)
    (folder / "cooling" / "air.yaml").write_text(
        "id: air\nname: Our hall\npue: {value: 1.31, source: meter, basis: measured, as_of: 2026-10}\n",
        encoding="utf-8",
    )
    both = Catalog([FOLDER, folder])
    assert both.entry(FAMILIES["cooling"], "air").source("pue").where == "mine/cooling/air.yaml:3"
    assert set(CATALOG.ids(FAMILIES["cooling"])) == set(both.ids(FAMILIES["cooling"]))
