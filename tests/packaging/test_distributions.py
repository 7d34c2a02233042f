"""Wheel, source archive and editable install all find the data they ship."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def install(archive: Path, target: Path) -> None:
    command = [
        sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
        "--disable-pip-version-check", "--target", str(target), str(archive),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run_installed(target: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the planner from an installed copy, away from the checkout."""
    code = (
        f"import sys; sys.path.insert(0, {str(target)!r})\n"
        "import planner; assert planner.__file__.startswith(sys.path[0]), planner.__file__\n"
        "from planner.cli.app import run_app\n"
        "sys.exit(run_app(['run', 'h100-8-lab', '-o', 'out']))"
    )
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_an_installed_copy_runs_a_shipped_scenario(kind: str, built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob(kind)
    install(archive, tmp_path / "site")
    done = run_installed(tmp_path / "site", tmp_path)
    assert done.returncode == 0, done.stderr
    written = sorted(path.suffix for path in (tmp_path / "out").iterdir())
    assert written == [".html", ".json", ".xlsx"]


def test_the_wheel_holds_the_data_once_and_no_tests(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "planner/_data/catalog/servers/hgx-h200.yaml" in names
    assert "planner/_data/templates/scenarios/h200-1024-ndr.yaml" in names
    assert not [name for name in names if name.startswith(("tests/", "catalog/", "templates/"))]


def test_the_source_archive_holds_what_the_tests_need(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = [name.partition("/")[2] for name in opened.getnames()]
    for needed in ("catalog/sources.yaml", "tests/office.py", "Makefile", "LICENSE", "requirements-ci.txt"):
        assert needed in names


def test_the_checkout_reads_its_own_data_live() -> None:
    from planner.resources import shipped

    assert shipped("catalog") == ROOT / "catalog"
    assert shipped("templates") == ROOT / "templates"


def test_data_folders_hold_no_code_and_no_links() -> None:
    for name in ("catalog", "templates"):
        for path in (ROOT / name).rglob("*"):
            assert path.suffix != ".py"
            assert not path.is_symlink()
