"""Why a measured run can't be predicted."""

from __future__ import annotations


class UnfitError(Exception):
    """A row that can't be predicted; its words say why."""
