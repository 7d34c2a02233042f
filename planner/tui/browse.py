"""Screen 6: the catalog as a filtered list, and every figure of the item under the cursor."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.widgets import Input

from planner.catalog.figure import Figure
from planner.catalog.index import CatalogIndex, IndexRow
from planner.catalog.schema import FAMILIES
from planner.catalog.store import Catalog
from planner.catalog.summaries import unit_of
from planner.errors import InputError
from planner.ledger import Ledger
from planner.present import format as fmt
from planner.present.view.price_path import price_path
from planner.tui.lines import MOST_TYPED, Line, Lines, LinesView, cut, left, plain, right, wrapped
from planner.tui.part_compare import side_by_side
from planner.tui.state import State

ALL = "all"


def figures_of(item: Any) -> list[tuple[str, Figure]]:
    """Every figure of an item, those of an assumptions file by their keys."""
    found: list[tuple[str, Figure]] = []
    for name in type(item).model_fields:
        value = getattr(item, name)
        if isinstance(value, Figure):
            found.append((name, value))
        elif isinstance(value, dict):
            found += [(str(key), one) for key, one in value.items() if isinstance(one, Figure)]
    return found


def price_lines(
    row: IndexRow, price: Figure, catalog: Catalog, width: int, ledger: Ledger | None = None
) -> list[Line]:
    """Prices over time: a dot a date on one scale from zero, ``●`` stated and ``○`` expected, with its range."""
    path = price_path(row.family, row.id, price, catalog, ledger)
    room = max(8, width - 44)
    most = max((one.high for one in path), default=0.0)
    if len(path) < 2 or most <= 0:
        return []
    lines = [plain("     price over time  ● stated  ○ expected  ─ range", "dim")]
    for one in path:
        cells = [" "] * room
        first, last, at = (round(value / most * (room - 1)) for value in (one.low, one.high, one.usd))
        for cell in range(first, last + 1):
            cells[cell] = "─"
        cells[at] = "●" if one.known else "○"
        lines.append(plain(f"     {left(one.date, 10)} {right(fmt.money(one.usd), 14)}  {''.join(cells)}"))
    said = [one.said for one in path if one.known][1:] + [one.said for one in path if not one.known][:1]
    return [*lines, *(plain(f"     {one}", "dim") for text in said for one in wrapped(text, width - 7))]


def detail_lines(row: IndexRow, catalog: Catalog, width: int, ledger: Ledger | None = None) -> list[Line]:
    """An item: what it is, whether it can be ordered, and its figures with source, letter and date."""
    entry = catalog.entry(FAMILIES[row.family], row.id)
    vendor = f", {row.vendor}" if row.vendor else ""
    lines = [plain(f" {cut(f'{row.name}{vendor}', width - 2)}", "head")]
    lines += [plain(f" {one}") for one in wrapped(row.summary, width - 2)]
    if not row.orderable:
        told = f"✗ can't be ordered: {row.why_not_orderable or 'it is a roadmap part'}"
        lines += [plain(f" {one}", "warn") for one in wrapped(told, width - 2)]
    elif row.available:
        lines.append(plain(f" orderable from {row.available}", "dim"))
    for name, figure in figures_of(entry.item):
        lines += _figure(name, figure, catalog, width)
        if name == "price_usd":
            lines += price_lines(row, figure, catalog, width, ledger)
    lines += _plain_fields(entry.item, width)
    lines.append(plain(f" {cut(row.path, width - 2)}", "dim"))
    return lines


def _figure(name: str, figure: Figure, catalog: Catalog, width: int) -> list[Line]:
    unit = unit_of(name)
    value = f"{fmt.written(figure.value)} {unit}".strip()
    spread = ""
    if figure.low is not None or figure.high is not None:
        low = figure.value if figure.low is None else figure.low
        high = figure.value if figure.high is None else figure.high
        spread = f"{fmt.written(low)} - {fmt.written(high)}"
    size = max(20, min(40, width - 44))
    mark = "" if figure.verified else " unread"
    head = f" {left(name, size)} {right(value, 18)}  {left(spread, 16)}"
    source = catalog.sources.get(figure.source)
    title = source.title if source is not None else figure.source
    return [
        Line(((cut(head, width - 4), "plain"), (f" {figure.basis.letter}", "accent"))),
        plain(
            cut(
                f"     {figure.as_of}{mark} · {title}{f' · {figure.note}' if figure.note else ''}", width - 1
            ),
            "dim",
        ),
    ]


def _plain_fields(item: Any, width: int) -> list[Line]:
    lines: list[Line] = []
    skipped = {"id", "name", "vendor", "orderable", "available", "why_not_orderable", "sources", "figures"}
    for name in type(item).model_fields:
        value = getattr(item, name)
        if name in skipped or isinstance(value, Figure | dict) or value in (None, "", (), False):
            continue
        if isinstance(value, str | int | float | tuple):
            shown = ", ".join(str(one) for one in value) if isinstance(value, tuple) else fmt.written(value)
            lines += [plain(f" {one}", "dim") for one in wrapped(f"{name}: {shown}", width - 2, "  ")]
    return lines


class CatalogPane(Container):
    """Browses the catalog."""

    DEFAULT_CSS = """
    CatalogPane { height: 1fr; }
    CatalogPane #catalog-families { height: 1; }
    CatalogPane #catalog-filter { height: 1; border: none; padding: 0 1; background: $boost; }
    CatalogPane #catalog-body { height: 1fr; layout: vertical; }
    CatalogPane #catalog-list { height: 1fr; }
    CatalogPane #catalog-detail { height: 1fr; border-top: solid $foreground 20%; }
    CatalogPane.wide #catalog-body { layout: horizontal; }
    CatalogPane.wide #catalog-list { width: 1fr; }
    CatalogPane.wide #catalog-detail { width: 1fr; border-top: none; border-left: solid $foreground 20%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter", id="catalog.filter"),
        Binding("left", "family(-1)", "family", show=False, id="catalog.previous"),
        Binding("right", "family(1)", "family", show=False, id="catalog.next"),
        Binding("space", "mark", "compare", id="catalog.mark"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.index: CatalogIndex | None = None
        self.catalog: Catalog | None = None
        self.family = "switches"
        self.found: list[IndexRow] = []
        self.marked: list[str] = []
        self.ledger: Ledger | None = None
        self._made: dict[tuple[str, str], Line] = {}
        self._made_for: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """Families, filter, list and detail."""
        yield Lines([Line()], id="catalog-families")
        yield Input(
            id="catalog-filter",
            compact=True,
            max_length=MOST_TYPED,
            placeholder="/ filter, for instance 800g price<9000 orderable",
        )
        with Horizontal(id="catalog-body"):
            yield LinesView(id="catalog-list")
            yield LinesView(id="catalog-detail")

    @property
    def view(self) -> LinesView:
        """The list of items."""
        return self.query_one("#catalog-list", LinesView)

    def show_catalog(self, index: CatalogIndex, catalog: Catalog) -> None:
        """Take the index, once it is read."""
        self.index, self.catalog = index, catalog
        self.fill()

    def on_resize(self, event: events.Resize) -> None:
        """List and detail stand side by side where there is room."""
        self.set_class(event.size.width >= 110, "wide")
        self.call_after_refresh(self.fill)

    @property
    def _room(self) -> int:
        """Cells of a line in the list, and in the detail."""
        width = self.size.width or self.app.size.width
        return max(10, (width // 2 if self.has_class("wide") else width) - 2)

    def fill(self) -> None:
        """Draw families and the items that pass the filter."""
        families = (ALL, *FAMILIES)
        width = self.size.width or self.app.size.width
        at = families.index(self.family)
        parts = [("  ← ", "dim"), (f"[{self.family}]", "head"), (" → ", "dim")]
        following = " ".join(families[at + 1 :] + families[:at])
        parts.append((cut(following, max(0, width - len(self.family) - 12)), "dim"))
        text = self.query_one("#catalog-filter", Input).value.strip()
        if text:
            told = "" if self.family == ALL else f", {self.family} first"
            parts = [
                ("  all families", "head"),
                (cut(f"{told}: the filter looks in every one", width - 16), "dim"),
            ]
        self.query_one("#catalog-families", Lines).show([Line(tuple(parts))])
        if self.index is None:
            self.view.show([plain(" reading the catalog …", "dim")])
            return
        wrong = ""
        try:
            self.found = self._passing(text)
        except InputError as error:
            self.found, wrong = [], "; ".join(str(one) for one in error.problems)
        room = self._room
        mixed = bool(text) or self.family == ALL
        lines = self._lines(room, mixed)
        if wrong:
            lines = [plain(f" {one}", "bad") for one in wrapped(wrong, room)]
        elif not lines:
            lines = [plain(f" nothing in any family passes '{text}'; take a word away", "warn")]
        self.view.show(lines)
        self._detail()

    def _passing(self, text: str) -> list[IndexRow]:
        """Items of the family in front; of all families once a filter is typed, that family's first."""
        assert self.index is not None
        if self.family == ALL:
            return self.index.rows(None, text)
        if not text:
            return self.index.rows(self.family)
        try:
            found = self.index.rows(None, text)
        except InputError:  # a comparison may be clear within the family alone
            return self.index.rows(self.family, text)
        return sorted(found, key=lambda row: row.family != self.family)

    def _lines(self, room: int, mixed: bool) -> list[Line]:
        """Items that pass, as lines; those that were made for the same room and marks are taken again."""
        made_for = (room, mixed, tuple(self.marked), self.index)
        if made_for != self._made_for:
            self._made_for, self._made = made_for, {}
        made = self._made
        for row in self.found:
            if (row.family, row.id) not in made:
                made[row.family, row.id] = self._line(row, room, mixed=mixed)
        return [made[row.family, row.id] for row in self.found]

    def _line(self, row: IndexRow, room: int, *, mixed: bool) -> Line:
        price = row.figure("price_usd")
        cost = f"{fmt.money(price.value)} {price.letter}" if price is not None else ""
        mark = " " if row.orderable else "✗"
        if f"{row.family}/{row.id}" in self.marked:
            mark = "+"
        size = max(18, min(30, room - 30))
        told = cut(f"{left(row.family, 13)}{row.summary}" if mixed else row.summary, max(0, room - size - 20))
        head = f"{mark} {left(row.id, size)}"
        return Line(
            ((head, "plain" if row.orderable else "dim"), (f" {right(cost, 14)}  ", "accent"), (told, "dim")),
            f"{row.family}/{row.id}", True,
        )  # fmt: skip

    def _row_of(self, key: str) -> IndexRow | None:
        """The item of a list's key, which is its family and its id."""
        family, _, item = key.partition("/")
        return self.index.by_id.get((family, item)) if self.index is not None else None

    def show(self, state: State) -> None:
        """Take the open plan, whose own prices stand beside the catalog's."""
        last = state.last
        ledger = last.evaluation.ledger if last is not None and last.evaluation is not None else None
        if ledger is not self.ledger:
            self.ledger = ledger
            self._detail()

    def _detail(self) -> None:
        pane = self.query_one("#catalog-detail", LinesView)
        row = self._row_of(self.view.key)
        if row is None or self.catalog is None:
            pane.show([])
            return
        width = self._room
        others = [one for one in self.marked if one != self.view.key]
        try:
            if others:
                other = self._row_of(others[0]) or row
                pane.show(side_by_side(other, row, self.catalog, width))
            else:
                pane.show(detail_lines(row, self.catalog, width, self.ledger))
        except InputError as error:
            pane.show([plain(f" {one}", "bad") for one in wrapped(str(error), width)])
        pane.scroll_to(y=0, animate=False)

    @on(LinesView.Moved, "#catalog-list")
    def _moved(self, event: LinesView.Moved) -> None:
        event.stop()
        self._detail()

    @on(Input.Changed, "#catalog-filter")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.fill()

    @on(Input.Submitted, "#catalog-filter")
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.view.focus()

    def on_key(self, event: events.Key) -> None:
        """Escape and down leave the filter."""
        if self.query_one("#catalog-filter").has_focus and event.key in ("escape", "down"):
            event.stop()
            event.prevent_default()
            self.view.focus()

    def action_filter(self) -> None:
        """Type a filter."""
        self.query_one("#catalog-filter").focus()

    def action_mark(self) -> None:
        """Keep the item under the cursor beside whichever the cursor goes to next; again lets go of it."""
        key = self.view.key
        if not key:
            return
        self.marked = [] if key in self.marked else [key]
        self.fill()

    def action_family(self, step: int) -> None:
        """Another family."""
        families = (ALL, *FAMILIES)
        self.family = families[(families.index(self.family) + step) % len(families)]
        self.view.cursor = 0
        self.fill()
