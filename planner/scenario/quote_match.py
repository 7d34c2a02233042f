"""Which part of the catalog a line of a quote means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from planner.catalog.index import catalog_index
from planner.catalog.store import Catalog
from planner.errors import nearest
from planner.scenario.quotes import QuoteLine, Quotes

BOUGHT: Final = (
    "servers", "nics", "switches", "transceivers", "cables", "panels", "storage", "appliances",
)  # fmt: skip
"""Families of parts that a plan buys."""
SHORTEST_NUMBER: Final = 5
"""Characters from which a word with a digit in it can be an order number: MQM9700, never 800G."""


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A line that means no part of the catalog, with the nearest ones."""

    line: QuoteLine
    remedy: str


@dataclass(frozen=True, slots=True)
class Matched:
    """Lines of quotes by the catalog's ids, and those that mean nothing there."""

    by_item: Mapping[str, tuple[QuoteLine, ...]]
    unmatched: tuple[Unmatched, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """Ids of the parts that can be bought, by the names they go under in normal form; of several, all."""

    ids: frozenset[str]
    by_name: Mapping[str, frozenset[str]]
    by_number: Mapping[str, frozenset[str]]


def match_quotes(quotes: Quotes, catalog: Catalog) -> Matched:
    """Say which part each line means: by id, by name, or by an order number that one part's name holds."""
    names = names_of(catalog) if quotes.lines else Names(frozenset(), {}, {})
    found: dict[str, list[QuoteLine]] = {}
    unmatched: list[Unmatched] = []
    for line in quotes.lines:
        ids = meant(line, names)
        if len(ids) == 1:
            found.setdefault(next(iter(ids)), []).append(line)
        else:
            unmatched.append(Unmatched(line, _remedy(line, ids, names)))
    return Matched({key: tuple(lines) for key, lines in found.items()}, tuple(unmatched))


def meant(line: QuoteLine, names: Names) -> frozenset[str]:
    """Ids of the parts that a line may mean; the first way that finds any counts."""
    if line.catalog_id:
        return frozenset({line.catalog_id}) & names.ids
    for text in (line.part, line.description):
        word = normal(text)
        slug = text.strip().lower()
        if slug in names.ids:
            return frozenset({slug})
        if word and word in names.by_name:
            return names.by_name[word]
    for text in (line.part, line.description):
        whole = names.by_number.get(normal(text))
        if whole is not None:
            return whole
        numbered = [names.by_number[word] for word in _numbers(text) if word in names.by_number]
        if numbered:
            return frozenset.intersection(*numbered) or frozenset().union(*numbered)
    return frozenset()


def _remedy(line: QuoteLine, several: Iterable[str], names: Names) -> str:
    if several:
        return f"may be {', '.join(sorted(several))}: name one in a column catalog id"
    word = line.catalog_id or line.part
    within = [number for number in names.by_number if number in normal(word)]
    ids = sorted(names.by_number[max(within, key=len)]) if within else []
    near = f"nearest: {', '.join(ids)}" if ids else nearest(word.lower(), names.ids)
    return f"{near}; name the part in a column catalog id" if near else "name the part in a column catalog id"


def normal(text: str) -> str:
    """A name without marks, blanks and case.

    >>> normal("QM9700, 64-port"), normal("QM 9700 64 port")
    ('qm970064port', 'qm970064port')
    """
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _numbers(text: str) -> list[str]:
    """Words of a name that can be order numbers.

    >>> _numbers("800G OSFP 2xDR4 (MMS4X00-NM)")
    ['mms4x00nm']
    """
    words = [re.sub(r"[^a-z0-9]", "", word) for word in re.split(r"[\s,;()/]+", text.lower())]
    return [
        word for word in words
        if len(word) >= SHORTEST_NUMBER and re.search(r"\d", word) and re.match(r"[a-z]{2}", word)
    ]  # fmt: skip


@lru_cache(maxsize=4)
def names_of(catalog: Catalog) -> Names:
    """Names of the parts of a catalog that can be bought; an open catalog reads each file once."""
    rows = [row for row in catalog_index(catalog).items if row.family in BOUGHT]
    by_name: dict[str, set[str]] = {}
    by_number: dict[str, set[str]] = {}
    for row in rows:
        for name in (row.id, row.name, f"{row.vendor} {row.name}"):
            by_name.setdefault(normal(name), set()).add(row.id)
        for word in {*_numbers(row.name), *_numbers(row.id), *(normal(one) for one in row.part_numbers)}:
            by_number.setdefault(word, set()).add(row.id)
    return Names(
        frozenset(row.id for row in rows),
        {name: frozenset(ids) for name, ids in by_name.items()},
        {name: frozenset(ids) for name, ids in by_number.items()},
    )
