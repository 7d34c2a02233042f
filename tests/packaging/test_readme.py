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


def test_the_bands_of_the_readme_are_those_of_the_catalog() -> None:
    from planner.catalog.schema import Assumptions
    from planner.catalog.store import open_catalog

    def percent(item: str, name: str) -> str:
        return f"{open_catalog().entry(Assumptions, item).item.figures[name].value * 100:.0f} %"

    text = " ".join(README.split())
    token, first = (percent("serving", f"serving_band_{of}_fraction") for of in ("throughput", "first_token"))
    dense, moe, known = (
        percent("performance", f"model_band_{of}_fraction") for of in ("unknown_stack", "moe", "known_stack")
    )
    assert f"time for each token {token}, on the time to the first token {first}" in text
    assert f"{dense} each way for a dense model and {moe} for a mixture of experts" in text
    assert f"the band of known stacks, {known} each way" in text
