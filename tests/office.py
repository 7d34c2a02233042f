"""Recalculates workbooks with a headless office program, the oracle of the workbook tests.

Two traps are closed here. The office program keeps a formula's stored value unless its profile
says otherwise, so the profile forces a recalculation. And it exits with 0 when a file can't be
read, so the output has to exist and be newer than the input.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"
           xmlns:xs="http://www.w3.org/2001/XMLSchema"
           xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <item oor:path="/org.openoffice.Office.Calc/Formula/Load">
    <prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop>
  </item>
</oor:items>
"""
_SECONDS = 240


def require(what: str, *programs: str) -> str:
    """Path of the first program that is installed.

    Without any, the test is skipped; in CI (``CI=true``) it fails, so that nothing goes unchecked.
    """
    for program in programs:
        found = shutil.which(program)
        if found:
            return found
    message = f"no {what} on this machine (looked for {', '.join(programs)})"
    if os.environ.get("CI", "").lower() in {"true", "1"}:
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def office_or_skip() -> str:
    """Path of the office program."""
    return require("office program", "soffice", "libreoffice")


def browser_or_skip() -> str:
    """Path of a browser that runs headless."""
    return require("browser", "chromium", "chromium-browser", "google-chrome")


def recalculate_all(paths: Sequence[Path]) -> list[Path]:
    """Workbooks with every formula worked out anew, in one start of the office program.

    Args:
        paths: Workbooks of different names.

    Returns:
        New files, each in a folder ``recalculated`` beside the first workbook.
    """
    program = office_or_skip()
    assert len({path.name for path in paths}) == len(paths), "two workbooks of one name"
    folder = paths[0].parent / "recalculated"
    folder.mkdir(exist_ok=True)
    made = [folder / path.name for path in paths]
    for path in made:
        path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="planner-office-") as profile:
        settings = Path(profile, "user", "registrymodifications.xcu")
        settings.parent.mkdir()
        settings.write_text(_PROFILE, encoding="utf-8")
        done = subprocess.run(
            [
                program,
                f"-env:UserInstallation={Path(profile).as_uri()}",
                "--headless",
                "--norestore",
                "--convert-to",
                "xlsx:Calc MS Excel 2007 XML",
                "--outdir",
                str(folder),
                *(str(path) for path in paths),
            ],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    for before, after in zip(paths, made, strict=True):
        fresh = after.is_file() and after.stat().st_mtime_ns > before.stat().st_mtime_ns
        assert fresh, f"{program} made nothing of {before}\n{done.stdout}\n{done.stderr}"
    return made


def recalculate(path: Path) -> Path:
    """A workbook with every formula worked out anew, as a new file."""
    return recalculate_all([path])[0]


def values(path: Path) -> dict[tuple[str, str], Any]:
    """Stored values of all cells that have one, by sheet and address such as ``C3``."""
    book = openpyxl.load_workbook(path, data_only=True)
    try:
        return {
            (sheet.title, cell.coordinate): cell.value
            for sheet in book.worksheets
            for row in sheet.iter_rows()
            for cell in row
            if cell.value is not None
        }
    finally:
        book.close()
