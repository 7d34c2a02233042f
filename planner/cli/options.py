"""Options that several commands share, and what they mean together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Scenarios = Annotated[list[str], typer.Argument(help="Scenario files, or names of shipped ones.")]
OneScenario = Annotated[str, typer.Argument(help="A scenario file, or the name of a shipped one.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a value, such as site.pue=1.2. Repeatable."),
]
Folders = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalog", metavar="DIR", help="Folder laid out like catalog/ that adds or replaces items."
    ),
]
Calibrations = Annotated[
    list[str] | None,
    typer.Option(
        "--calibration", metavar="PROFILE",
        help="Calibration profile, an id or a file of planner calibrate, before the shipped ones. Repeatable.",
    ),
]  # fmt: skip
Anchors = Annotated[
    list[Path] | None,
    typer.Option(
        "--anchor", metavar="FILE",
        help="Measured runs of your own stack (YAML) or endpoint (CSV) that correct the model; see planner bench anchor. Repeatable.",
    ),
]  # fmt: skip
QuoteFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--quotes", metavar="FILE",
        help="Vendor quotes, CSV or workbooks, whose prices go before the catalog's; see planner quotes. Repeatable.",
    ),
]  # fmt: skip
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]


def profile_files(profiles: list[str]) -> list[Path]:
    """Profiles given as files, which stand beside the catalog's folders."""
    return [Path(one) for one in profiles if one.endswith(".yaml")]


def profile_ids(profiles: list[str]) -> list[str]:
    """Ids of profiles given as ids or as files.

    >>> profile_ids(["h200-sxm-141gb.bench", "lab/mine.yaml"])
    ['h200-sxm-141gb.bench', 'mine']
    """
    return [Path(one).stem if one.endswith(".yaml") else one for one in profiles]


def with_profiles(
    changes: list[str], folders: list[Path], profiles: list[str]
) -> tuple[list[str], list[Path]]:
    """Changes and catalog folders of a call that names calibration profiles.

    >>> with_profiles([], [], ["lab/mine.yaml"])[0]
    ['calibration=[mine]']
    """
    if not profiles:
        return changes, folders
    said = f"calibration=[{', '.join(profile_ids(profiles))}]"
    return [*changes, said], [*folders, *profile_files(profiles)]
