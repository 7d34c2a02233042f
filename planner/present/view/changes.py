"""What changed between two evaluations, cell by cell: a sign for the direction, a glyph for the judgement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from planner.present import format as fmt
from planner.present.view.model import Better, Headline

BETTER: Final = "▲"
WORSE: Final = "▼"


@dataclass(frozen=True, slots=True)
class Change:
    """Change of one headline cell.

    Attributes:
        text: Signed number in the bar's unit, ``=`` where the digits shown are the same.
        glyph: ``▲`` better, ``▼`` worse, empty where equal or where one side has no value.
        share: Relative change, for picking the one that moved most; 0 where equal.
    """

    bar: str
    name: str
    text: str
    glyph: str
    share: float
    old: str
    new: str


def scale_of(cell: Headline) -> float:
    """Factor from the ledger's unit to the bar's, as its name says.

    >>> from planner.present.view.outcomes import OUTCOMES
    >>> {one.bar: one.scale for one in OUTCOMES}["MW"]
    1e-06
    """
    from planner.present.view.outcomes import OUTCOMES

    return next((one.scale for one in OUTCOMES if one.key == cell.key), 1.0)


def changes(old: tuple[Headline, ...], new: tuple[Headline, ...]) -> tuple[Change, ...]:
    """Change of every cell from ``old`` to ``new``, in the bar's order."""
    before = {cell.key: cell for cell in old}
    return tuple(_change(before.get(cell.key), cell) for cell in new)


def _change(old: Headline | None, new: Headline) -> Change:
    if old is None or old.value is None or new.value is None:
        same = old is None or old.short == new.short
        return Change(
            new.bar, new.name, "" if same else "new", "", 0.0, old.short if old else fmt.NOTHING, new.short
        )
    difference = new.value - old.value
    if old.short == new.short or difference == 0:
        return Change(new.bar, new.name, "=", "", 0.0, old.short, new.short)
    scaled = difference * scale_of(new)
    text = f"{scaled:+.1f}" if scale_of(new) == 100.0 else fmt.signed(scaled, 2)
    good = (difference > 0) == (new.better is Better.HIGHER)
    share = abs(difference / old.value) if old.value else 1.0
    return Change(new.bar, new.name, text, BETTER if good else WORSE, share, old.short, new.short)


def range_short(cell: Headline) -> str:
    """P10 to P90 in the bar's unit, short: ``42-56M``; empty where no draws were made."""
    if cell.low is None or cell.high is None:
        return ""
    scale = scale_of(cell)
    low, high = (fmt.short(value * scale, 2) for value in (cell.low, cell.high))
    if low[-1:] == high[-1:] and low[-1:].isalpha():
        low = low[:-1]
    return f"{low}-{high}"


def moved_most(found: tuple[Change, ...]) -> str:
    """The two cells that moved most, in words; empty where none did.

    >>> moved_most((Change("DAYS", "Training time", "-2.1", "▲", 0.03, "60.7", "58.6"),))
    'DAYS -2.1 ▲'
    """
    moved = sorted((one for one in found if one.glyph), key=lambda one: -one.share)[:2]
    return ", ".join(f"{one.bar} {one.text} {one.glyph}" for one in moved)
