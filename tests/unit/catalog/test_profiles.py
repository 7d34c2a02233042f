"""The schema of calibration profiles: what is no curve is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.catalog.profiles import Mode, Profile
from planner.catalog.profiles import Path as Way
from planner.catalog.store import Catalog, open_catalog
from planner.errors import CatalogError

TEXT = """id: h200-sxm-141gb.mine
name: Mine
accelerator: h200-sxm-141gb
as_of: 2026-05-01
raw:
  - {file: raw/mine.csv.gz, sha256: SHA}
collectives:
  - {op: all_reduce, ranks: 2, dtype: bf16, min_bytes: 1024, max_bytes: 4096, regimes: [{from_bytes: 0.0, start_us: 1.0, ps_per_byte: 2.0}, {from_bytes: 2048.0, start_us: 1.0, ps_per_byte: 2.0}], errors: {points: 3, median_fraction: 0.01, p90_fraction: 0.02, worst_fraction: 0.03, worst_at: 1024 bytes}}
""".replace("SHA", "a" * 64)
BROKEN = {
    "no collective": ("op: all_reduce", "op: all_reduction", 8, "'all_reduction' is no collective"),
    "one rank": ("ranks: 2", "ranks: 1", 8, "2"),
    "regimes that fall": ("from_bytes: 2048.0", "from_bytes: 0.0", 8, "rising from_bytes"),
    "sizes turned round": ("min_bytes: 1024", "min_bytes: 8192", 8, "min_bytes 8192 is above max_bytes 4096"),
    "a negative start": ("start_us: 1.0", "start_us: -1.0", 8, "0"),
    "a path nobody knows": ("dtype: bf16", "dtype: bf16, path: carrier_pigeon", 8, "network"),
    "a hash cut short": ("a" * 64, "a" * 63, 6, "sha256"),
    "a day that is none": ("2026-05-01", "2026-13-01", 4, "as_of"),
}


def read(folder: Path, text: str) -> Profile:
    (folder / "profiles").mkdir(parents=True, exist_ok=True)
    (folder / "profiles" / "h200-sxm-141gb.mine.yaml").write_text(text, encoding="utf-8")
    return Catalog([folder]).get(Profile, "h200-sxm-141gb.mine")


def test_a_profile_is_read_with_its_defaults(tmp_path: Path) -> None:
    profile = read(tmp_path, TEXT)
    (fit,) = profile.collectives
    assert (fit.path, fit.mode, fit.nodes, fit.left_out) == (Way.SCALE_UP, Mode.DEVICE, 1, None)
    assert fit.regimes[0].ramp_ns_per_sqrt_byte == 0.0


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_profile_is_refused_with_its_line(fault: str, tmp_path: Path) -> None:
    old, new, line, said = BROKEN[fault]
    with pytest.raises(CatalogError) as caught:
        read(tmp_path, TEXT.replace(old, new, 1) if old != "from_bytes: 2048.0" else TEXT.replace(old, new))
    problem = caught.value.problems[0]
    assert said in str(problem)
    assert problem.place is not None
    assert problem.place.line == line


def test_the_shipped_h200_holds_both_ways_through_the_box_and_both_ways_of_calling() -> None:
    fits = open_catalog().get(Profile, "h200-sxm-141gb.bench").collectives
    assert {(one.path, one.mode) for one in fits if one.op == "all_reduce"} == {
        (way, mode) for way in (Way.SCALE_UP, Way.HOST_STAGED) for mode in Mode
    }
