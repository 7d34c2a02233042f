"""A number with its source: what every figure of the catalog and of the report carries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Basis(StrEnum):
    """How a figure is known. The letter is the badge beside it on every surface."""

    MEASURED = "measured"
    DATASHEET = "datasheet"
    PUBLISHED = "published"
    QUOTE = "quote"
    CLAIM = "claim"
    ESTIMATE = "estimate"
    USER = "user"

    @property
    def letter(self) -> str:
        """Badge: M, D, P, Q, E, and u for a value the user typed; a vendor's claim shows as E."""
        return {"measured": "M", "datasheet": "D", "published": "P", "quote": "Q", "user": "u"}.get(
            self.value, "E"
        )


DATE: Final = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
"""A date as precise as its source gives it: a year, a month or a day."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value came from: the file that holds it and the publication behind it.

    Attributes:
        where: ``catalog/servers/dgx-h200.yaml:14``, ``scenario.yaml:9``, ``default`` or ``--set``.
        source: Id in ``catalog/sources.yaml``; empty for a user's value.
        basis: How it is known.
        as_of: Date of the figure, as precise as the source gives it.
        verified: False when nobody read the figure in a source.
        note: Why, for estimates and defaults.
        field: Path of the scenario's field that states the value, or would in place of a default.
    """

    where: str
    source: str = ""
    basis: Basis = Basis.USER
    as_of: str = ""
    verified: bool = True
    note: str = ""
    field: tuple[str | int, ...] = ()
