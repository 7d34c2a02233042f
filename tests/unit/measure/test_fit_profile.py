"""Profiles made of measurement files: whose they are, when they were made, what is refused; and shipped ones again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from planner.catalog.profiles import Path as Way
from planner.catalog.profiles import Profile
from planner.catalog.store import open_catalog
from planner.errors import CalibrationError, CatalogError
from planner.measure.fit.profile import Fitted, digest, fit_profile
from planner.measure.parse.read import read_points
from planner.resources import shipped

CATALOG = open_catalog()
PROFILES = Path(shipped("catalog")) / "profiles"
SAVED = Path(__file__).parent / "data"
HEAD = "gpu,op,dtype,num_gpus,message_bytes,latency_us,library,row_version"


def table(folder: Path, name: str = "table.csv", *, gpu: str = "h200", ranks: int = 4) -> Path:
    sizes = [2**power for power in range(10, 31, 2)]
    rows = [f"{gpu},all_reduce,half,{ranks},{size},{10 + size / 4e5:.3f},nccl,2.27.3" for size in sizes]
    path = folder / name
    path.write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    return path


def fit(*paths: Path, **options: Any) -> Fitted:
    values = {"catalog": CATALOG, "profile_id": "mine", "as_of": "2026-05-01"}
    return fit_profile([read_points(path) for path in paths], **(values | options))


def changed(source: Path, target: Path, **changes: Any) -> Path:
    """A saved run with some of its top level replaced."""
    document = json.loads(gzip.decompress(source.read_bytes()))
    target.write_text(json.dumps(document | changes), encoding="utf-8")
    return target


def test_a_table_becomes_a_profile_of_the_accelerator_it_names(tmp_path: Path) -> None:
    path = table(tmp_path)
    profile = fit(path, source="aiconfigurator-nccl").profile
    assert (profile.accelerator, profile.scaleup) == ("h200-sxm-141gb", "nvlink-4")
    assert (profile.as_of, profile.source) == ("2026-05-01", "aiconfigurator-nccl")
    assert profile.environment == {"library": "nccl 2.27.3"}
    assert [(one.op, one.ranks) for one in profile.collectives] == [("all_reduce", 4)]
    assert [(one.file, one.sha256) for one in profile.raw] == [("table.csv", digest(path))]


def test_a_run_of_the_benchmark_knows_its_device_day_and_versions() -> None:
    found = fit(SAVED / "h200-x2-again.json.gz", as_of="1999-01-01")
    profile = found.profile
    assert (profile.accelerator, profile.as_of) == ("h200-sxm-141gb", "2026-11-30")
    assert profile.environment["torch_version"] == "2.11.0+cu130"
    assert {one.path for one in profile.collectives} == {Way.SCALE_UP}


def test_a_run_through_host_memory_is_told_by_what_the_library_used() -> None:
    profile = fit(SAVED / "h200-x2-peer-to-peer-off.json.gz").profile
    assert {one.path for one in profile.collectives} == {Way.HOST_STAGED}
    assert profile.environment["variable NCCL_P2P_DISABLE"] == "1"


def test_files_of_several_accelerators_are_refused_by_name(tmp_path: Path) -> None:
    first, second = table(tmp_path), table(tmp_path, "other.csv", gpu="b200_sxm")
    with pytest.raises(CalibrationError) as caught:
        fit(first, second)
    said = str(caught.value)
    assert "several accelerators" in said
    assert str(first) in said
    assert str(second) in said


def test_naming_one_accelerator_does_not_make_files_of_another_its_own(tmp_path: Path) -> None:
    with pytest.raises(
        CalibrationError, match=r"is of 'b200_sxm' .b200-sxm-180gb., and the profile is of h200"
    ):
        fit(table(tmp_path), table(tmp_path, "other.csv", gpu="b200_sxm"), accelerator="h200-sxm-141gb")
    # another board with the same chip may be meant: drivers call several of them alike
    assert fit(table(tmp_path), accelerator="h200-nvl-141gb").profile.accelerator == "h200-nvl-141gb"


def test_a_run_on_cpus_is_refused_and_its_file_named(tmp_path: Path) -> None:
    path = changed(
        SAVED / "h200-x2-again.json.gz", tmp_path / "gloo.json", backend="gloo", usable_for_calibration=False
    )
    with pytest.raises(CalibrationError) as caught:
        fit(path)
    assert "backend is gloo" in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("gpu", ["h2000", "Tesla V100"])
def test_an_unknown_device_is_refused_with_a_remedy(gpu: str, tmp_path: Path) -> None:
    with pytest.raises(CalibrationError) as caught:
        fit(table(tmp_path, gpu=gpu))
    (problem,) = caught.value.problems
    assert f"no accelerator called '{gpu}'" in problem.message
    assert problem.remedy
    assert fit(table(tmp_path, gpu=gpu), accelerator="h200-sxm-141gb").profile.accelerator == "h200-sxm-141gb"


def test_a_file_that_names_no_device_needs_to_be_told(tmp_path: Path) -> None:
    path = table(tmp_path, gpu="")
    with pytest.raises(CalibrationError, match=r"don't say which accelerator.*--accelerator"):
        fit(path)
    with pytest.raises(CatalogError, match="no item 'h2000' in catalog/accelerators"):
        fit(path, accelerator="h2000")


def test_a_table_without_a_day_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match=r"when this was measured.*--as-of"):
        fit(table(tmp_path), as_of="")


def test_what_has_too_few_points_is_refused_beside_what_has_enough(tmp_path: Path) -> None:
    few = tmp_path / "few.csv"
    few.write_text(f"{HEAD}\nh200,all_reduce,half,8,1024,9,nccl,2.27.3\n", encoding="utf-8")
    assert fit(table(tmp_path), few).refused == (
        "all_reduce, 8 ranks, fp16, device: 1 sizes, and a curve needs 3",
    )
    with pytest.raises(CalibrationError, match="a curve needs 3"):
        fit(few)


@pytest.mark.parametrize("profile_id", CATALOG.ids(Profile))
def test_a_shipped_profile_is_what_its_raw_files_make(profile_id: str) -> None:
    known = CATALOG.get(Profile, profile_id)
    paths = [PROFILES / one.file for one in known.raw]
    assert [digest(path) for path in paths] == [one.sha256 for one in known.raw]
    again = fit(
        *paths, profile_id=profile_id, as_of=known.as_of, source=known.source, name=known.name
    ).profile
    assert again.model_dump(exclude={"raw"}).keys() == known.model_dump(exclude={"raw"}).keys()
    same(again.model_dump(exclude={"raw"}), known.model_dump(exclude={"raw"}), profile_id)


def same(found: Any, known: Any, where: str) -> None:
    """Equal, numbers to 1e-4: least squares differ in their last digits between machines."""
    if isinstance(known, dict):
        assert found.keys() == known.keys(), where
        for key, value in known.items():
            same(found[key], value, f"{where}.{key}")
    elif isinstance(known, list | tuple):
        assert len(found) == len(known), where
        for place, value in enumerate(known):
            same(found[place], value, f"{where}[{place}]")
    elif isinstance(known, float):
        assert found == pytest.approx(known, rel=1e-4, abs=1e-4), where
    else:
        assert found == known, where


@pytest.mark.parametrize(("gpu", "ranks", "way"), [("h100", 8, Way.NETWORK), ("gb200", 8, Way.SCALE_UP)])
def test_ranks_on_two_servers_cross_a_network_and_on_two_trays_of_a_rack_do_not(
    gpu: str, ranks: int, way: Way, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    rows = [f"{gpu},all_reduce,half,{ranks},2,{2**power},{10 + 2**power / 4e5}" for power in range(10, 31, 2)]
    path.write_text("\n".join(["gpu,op,dtype,num_gpus,num_nodes,message_bytes,latency_us", *rows]))
    found = fit_profile([read_points(path)], catalog=CATALOG, profile_id="mine", as_of="2026-05-01")
    (curve,) = found.profile.collectives
    assert curve.path is way
    assert curve.nodes == (2 if way is Way.NETWORK else 1)


def test_an_accelerator_may_be_called_as_people_call_it(tmp_path: Path) -> None:
    found = fit(table(tmp_path, gpu=""), accelerator="h100", as_of="2026-08-21")
    assert found.profile.accelerator == "h100-sxm5-80gb"
