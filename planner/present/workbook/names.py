"""Names of cells: for scalar inputs and headline outputs only, made from their keys."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_.]")
_LOOKS_LIKE_A_CELL: Final = re.compile(r"[A-Za-z]{1,3}\d+|[Rr]\d*([Cc]\d*)?|[Cc]\d*")
_LIMIT: Final = 250


def excel_names(keys: Iterable[str]) -> dict[str, str]:
    """A valid name for each key; keys that would share one get a number.

    >>> excel_names(["site.pue", "price.qm-9700.price_usd", "price.qm_9700.price_usd", "r1c1"])["site.pue"]
    'site.pue'
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for key in keys:
        name = _NOT_IN_A_NAME.sub("_", key)[:_LIMIT]
        if not (name[:1].isalpha() or name[:1] == "_") or _LOOKS_LIKE_A_CELL.fullmatch(name):
            name = f"_{name}"
        plain, number = name, 1
        while name.lower() in taken:
            number += 1
            name = f"{plain}_{number}"
        taken.add(name.lower())
        found[key] = name
    return found
