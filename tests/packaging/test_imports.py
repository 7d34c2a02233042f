"""What a fresh process loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("textual", "numpy", "jinja2", "openpyxl", "xlsxwriter", "torch", "vl_convert", "ruamel")


def loaded(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(' '.join(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split()) if done.stdout.strip() else set()


@pytest.mark.parametrize(
    "code",
    [
        "import planner",
        "import planner.cli",
        "from planner.cli.app import run_app; run_app(['--help'])",
        "from planner.cli.app import run_app; run_app(['run', '--help'])",
        "from planner.cli.app import run_app; run_app(['--version'])",
    ],
)
def test_importing_and_help_load_nothing_heavy(code: str) -> None:
    assert loaded(code) == set()


def test_a_json_run_loads_no_presenter_it_does_not_need(tmp_path: object) -> None:
    code = (
        "from planner.cli.app import run_app; "
        f"run_app(['run', 'h100-8-lab', '-o', {str(tmp_path)!r}, '--format', 'json'])"
    )
    assert loaded(code) & {"textual", "jinja2", "openpyxl", "xlsxwriter", "torch", "vl_convert"} == set()


def test_the_public_names_are_pinned() -> None:
    import planner

    assert planner.__all__ == [
        "Catalog", "Evaluation", "Loaded", "__version__", "load_scenario", "open_catalog", "plan",
    ]  # fmt: skip
    for name in planner.__all__:
        assert getattr(planner, name) is not None


def test_the_terminal_draws_its_first_frame_without_the_models() -> None:
    """They are loaded by what evaluates, behind the frame; a third of the time until it stands would be theirs."""
    code = "import planner.tui.app, sys; print([name for name in ('planner.evaluate', 'xlsxwriter') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
