"""Where the data that ships lies, installed or in a checkout."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def shipped(name: str) -> Path:
    """Folder of shipped data: ``catalog`` or ``templates``.

    An installed package carries it below itself, a checkout beside itself.

    Raises:
        FileNotFoundError: The folder is in neither place, so the installation is broken.
    """
    package = Path(str(files("planner")))
    for folder in (package / "_data" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"shipped data '{name}' is missing; install cluster-planner again")
