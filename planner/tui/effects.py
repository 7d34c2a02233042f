"""What a plan comes to with another part in it, and how that is told in a list, a sentence and a comparison."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any, Final

from planner.documents import Path_
from planner.errors import PlannerError
from planner.present import format as fmt
from planner.present.view.changes import BETTER, Change, changes, scale_of
from planner.present.view.model import Headline
from planner.tui.draft import Draft, preview
from planner.tui.lines import Line, Part, left, plain, right, wrapped

if TYPE_CHECKING:
    from planner.catalog.store import Catalog
    from planner.tui.evaluating import Evaluate

COST: Final = ("CAPEX", "$/GPUh")
WORK: Final = ("DAYS", "tok/s", "MW")
"""The first of these that the plan has stands beside its cost."""
CELLS: Final = 10
"""Cells of one effect in a list: a gap, a signed number, a glyph."""
_NAMES: Final = {
    "util": "UTIL %", "wait": "WAIT %", "days": "DAYS", "p99": "p99 ms", "tok": "tok/s", "mw": "MW",
    "capex": "CAPEX", "gpuh": "$/GPUh", "mtok": "$/Mtok",
}  # fmt: skip
"""Outcomes as a filter names them."""
_OPERATORS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<=": le, ">=": ge, "!=": ne, "<": lt, ">": gt, "=": eq,
}  # fmt: skip
_SCALES: Final = {"": 1.0, "k": 1e3, "m": 1e6}


@dataclass(frozen=True, slots=True)
class Effect:
    """What came of a plan with one part exchanged.

    Attributes:
        text: The plan it was worked out for; of another one it is stale.
        headlines: The nine cells; without values where it can't be built.
        changes: Each cell against the plan as it stands.
        why_not: Why it can't be built; empty where it can.
        note: What was changed besides, so that it could be worked out.
    """

    text: str
    headlines: tuple[Headline, ...] = ()
    changes: tuple[Change, ...] = ()
    why_not: str = ""
    note: str = ""

    def against(self, base: Sequence[Headline]) -> Effect:
        """The same with its changes counted from other cells."""
        return replace(self, changes=changes(tuple(base), self.headlines))

    def change(self, bar: str) -> Change | None:
        """Change of one cell."""
        return next((one for one in self.changes if one.bar == bar), None)

    def difference(self, bar: str, base: Sequence[Headline]) -> float | None:
        """Change of one cell in the bar's unit, 0 where the digits shown are the same; None where a value is missing."""
        new = next((one for one in self.headlines if one.bar == bar), None)
        old = next((one for one in base if one.bar == bar), None)
        if new is None or old is None or new.value is None or old.value is None:
            return None
        return 0.0 if new.short == old.short else (new.value - old.value) * scale_of(new)


def effect_of(
    draft: Draft,
    path: Path_,
    part: str | None,
    base: Sequence[Headline],
    catalog: Callable[[], Catalog],
    evaluate: Evaluate,
) -> Effect:
    """Evaluate a plan with a part in it; a fault of ours with one part is told of that part alone."""
    from planner.present.view.outcomes import headlines

    try:
        changed = preview(draft, path, part)
        if changed.loaded is None:  # the list says already what is wrong with the part, or the plan does
            return Effect(draft.text)
        found = evaluate(changed.loaded, catalog())
        cells = headlines(found)
    except PlannerError as error:
        return Effect(draft.text, why_not=error.problems[0].message)
    except Exception as fault:  # the list goes on without this one
        return Effect(draft.text, why_not=f"internal error: {type(fault).__name__}")
    refused = found.refusal.problems[0].message if found.refusal is not None else ""
    return Effect(draft.text, cells, changes(tuple(base), cells), refused)


def columns_of(cells: Sequence[Headline]) -> tuple[str, ...]:
    """Outcomes that stand beside parts: cost, and what the cluster is for."""
    there = {one.bar for one in cells if one.value is not None}
    return (*COST, next((bar for bar in WORK if bar in there or not there), WORK[-1]))


def effect_parts(
    effect: Effect | None, columns: Sequence[str], *, stale: bool, alone: bool
) -> tuple[Part, ...]:
    """Columns of a list's row; ``…`` while it is worked out, ``~`` before what is stale.

    Args:
        alone: The plan as it stands has no values, so values stand in place of changes.
    """
    if effect is None:
        return tuple((right("…", CELLS - 2) + "  ", "dim") for _ in columns)
    found: list[Part] = []
    for bar in columns:
        one = effect.change(bar)
        text, style = (one.new, "plain") if one is not None and alone else ("", "dim")
        if one is not None and not alone:
            text, style = one.text, "dim" if not one.glyph else "good" if one.glyph == BETTER else "bad"
        glyph = one.glyph if one is not None and not alone else ""
        mark = "~" if stale and text else ""
        found.append((f"{right(f'{mark}{text}', CELLS - 2)} {glyph or ' '}", "dim" if stale else style))
    return tuple(found)


def effect_said(effect: Effect, columns: Sequence[str], *, stale: bool) -> str:
    """One part's effect in a sentence: cost and work always, other cells where they moved."""
    if effect.why_not:
        return ""
    told = [
        f"{one.bar} {one.new}" + (f" ({one.text}{f' {one.glyph}' if one.glyph else ''})" if one.text else "")
        for one in effect.changes
        if (one.bar in columns or one.glyph) and one.new != fmt.NOTHING
    ]
    note = f"; {effect.note}" if effect.note else ""
    return f"{'~ before the last edit: ' if stale else ''}with it: {', '.join(told)}{note}"


def beside_lines(one: Effect | None, two: Effect | None, sizes: tuple[int, int, int]) -> list[Line]:
    """Outcomes of the plan with one part and with another, and their difference; a line that says so where they lack.

    Args:
        sizes: Cells of names, of a part's column, and of the difference.
    """
    if one is None or two is None:
        return [plain(" outcomes of the plan with each are being worked out …", "dim")]
    lines = []
    names, size, last = sizes
    for place, effect in (("the first", one), ("the second", two)):
        said = f"✗ with {place}: {effect.why_not}" if effect.why_not else ""
        lines += [plain(f" {text}", "warn") for text in wrapped(said, names + 2 * size + last) if text]
    for change in changes(one.headlines, two.headlines):
        if fmt.NOTHING in (change.old, change.new):
            continue
        style = "dim" if not change.glyph else "good" if change.glyph == BETTER else "bad"
        head = f" {'≠' if change.glyph else ' '} {left(change.name, names)} {right(change.old, size)} {right(change.new, size)} "
        lines.append(
            Line(
                ((head, "plain"), (right(f"{change.text} {change.glyph or ' '}", last), style)),
                change.bar,
                True,
            )
        )
    return lines


@dataclass(frozen=True, slots=True)
class Wanted:
    """``capex<0`` of a filter: an outcome, and what its change against the plan must be."""

    bar: str
    operator: str
    number: float

    def holds(self, effect: Effect | None, base: Sequence[Headline]) -> bool:
        """Whether a part's effect is such; one that isn't known yet, or has no values, is not."""
        found = None if effect is None or effect.why_not else effect.difference(self.bar, base)
        return found is not None and _OPERATORS[self.operator](found, self.number)


def split_filter(text: str) -> tuple[str, tuple[Wanted, ...]]:
    """What a filter says of effects, and the rest of it.

    >>> split_filter("800g capex<-100k days<=0")
    ('800g', (Wanted(bar='CAPEX', operator='<', number=-100000.0), Wanted(bar='DAYS', operator='<=', number=0.0)))
    >>> split_filter("price<900 capex<")
    ('price<900', ())
    """
    rest, found = [], []
    for word in text.lower().split():
        match = re.fullmatch(r"([a-z0-9]+)(<=|>=|!=|<|>|=)(?:([+-]?[0-9.]+)([km]?))?", word)
        if match is None or match[1] not in _NAMES:
            rest.append(word)
        elif match[3] is not None and match[3].strip("+-").count(".") <= 1 and match[3].strip("+-.") != "":
            found.append(Wanted(_NAMES[match[1]], match[2], float(match[3]) * _SCALES[match[4]]))
    return " ".join(rest), tuple(found)


class Known:
    """Effects that were worked out, by field and part; the last few fields are kept, from any thread."""

    MOST: Final = 12

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[Path_, dict[str, Effect]] = {}

    def at(self, path: Path_) -> dict[str, Effect]:
        """What is known of a field."""
        with self._lock:
            return dict(self._found.get(path, {}))

    def enter(self, path: Path_, part: str, effect: Effect) -> None:
        """Keep one part's effect."""
        with self._lock:
            found = self._found.pop(path, {})
            self._found[path] = {**found, part: effect}
            while len(self._found) > self.MOST:
                del self._found[next(iter(self._found))]

    def clear(self) -> None:
        """Let go of all, for instance with another catalog."""
        with self._lock:
            self._found.clear()


def effect_key(effect: Effect | None, bar: str, base: Sequence[Headline]) -> tuple[int, float]:
    """Place of a part in a list sorted by one outcome: best first, unknown and unbuildable ones last."""
    found: Any = None if effect is None or effect.why_not else effect.difference(bar, base)
    if found is None and effect is not None and not effect.why_not:
        cell = next((one for one in effect.headlines if one.bar == bar), None)
        found = cell.value if cell is not None else None  # the plan as it stands has no value
    if found is None:
        return (1, 0.0)
    from planner.present.view.model import Better

    higher = any(
        one.bar == bar and one.better is Better.HIGHER for one in (effect.headlines if effect else ())
    )
    return (0, -found if higher else found)
