"""Accelerators by the names that drivers, logs and tables give them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from planner.catalog.schema import Accelerator
from planner.catalog.store import Catalog

FORMS = {"sxm", "sxm2", "sxm4", "sxm5", "pcie", "nvl", "oam"}
"""Form factors as they stand in names; a name without one means the board of a server's baseboard."""
PLAIN = ("sxm", "oam")
SPELLINGS = {"hbm3": "", "hbm2e": "", "hbm3e": ""}


def accelerator_named(catalog: Catalog, name: str) -> str | None:
    """Id of the accelerator that a driver or a table calls so; none where no item fits.

    >>> from planner.catalog.store import open_catalog
    >>> shelf = open_catalog()
    >>> [accelerator_named(shelf, name) for name in ("NVIDIA H200", "h100_sxm", "NVIDIA A100-SXM4-40GB", "abacus")]
    ['h200-sxm-141gb', 'h100-sxm5-80gb', 'a100-sxm4-40gb', None]
    """
    words = _words(name)
    scored = [(_likeness(words, item_id), item_id) for item_id in catalog.ids(Accelerator)]
    best = max((score for score, _ in scored), default=0)
    return min(item_id for score, item_id in scored if score == best) if best > 0 else None


def _words(name: str) -> list[str]:
    found = re.findall(r"[a-z]+\d+\w*|\d+[a-z]+|[a-z]+|\d+", name.lower().replace("_", " "))
    return [SPELLINGS.get(word, word) for word in found]


def _likeness(words: Iterable[str], item_id: str) -> int:
    """How well words fit an id; 0 where the chip differs."""
    own = item_id.split("-")
    given = set(words)
    chip = own[0] if own[0] not in ("tpu", "rtx") else "-".join(own[:2])
    if not set(chip.split("-")) <= given:
        return 0
    score = 10
    for part in own[1:]:
        if part in given or part.rstrip("0123456789") in given:
            score += 3
        elif part.endswith("gb") and any(word.endswith("gb") and word[:-2].isdigit() for word in given):
            score -= 2
    forms = given & FORMS
    own_forms = {part for part in own if part in FORMS}
    if forms and own_forms and not any(form.startswith(one[:3]) for form in forms for one in own_forms):
        score -= 4
    if not forms and own_forms and any(part.startswith(PLAIN) for part in own_forms):
        score += 1
    # of memory sizes not told, the larger one is what is sold today
    size = next((int(part[:-2]) for part in own if part.endswith("gb") and part[:-2].isdigit()), 0)
    return score * 1000 + size
