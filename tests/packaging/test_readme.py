"""The README's table and commands are true."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from planner.scenario.load import shipped_scenarios

README = (Path(__file__).parents[2] / "README.md").read_text()
NAMES = re.findall(r"\| `(planner\.[a-zA-Z_.]+)` \|", README)
MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_every_place_the_readme_names_exists(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert getattr(import_module(module), attribute) is not None


def test_the_table_is_read_at_all() -> None:
    assert len(NAMES) > 15


def test_the_readme_names_every_shipped_scenario() -> None:
    assert all(f"`{name}`" in README for name in shipped_scenarios())


def test_the_make_targets_of_the_readme_exist() -> None:
    assert {"report", "test", "lint", "bench"} <= set(re.findall(r"make ([a-z]+)", README))
    for target in re.findall(r"make ([a-z]+)", README):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


@pytest.mark.parametrize("line", re.findall(r"^    planner ([a-z]+) ", README, re.MULTILINE))
def test_the_commands_of_the_readme_exist(line: str) -> None:
    from planner.cli.app import run_app

    assert run_app([line, "--help"]) == 0
