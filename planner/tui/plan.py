"""Screen 1: the property grid, one list widget with one input box moved over the value being edited."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.message import Message
from textual.widgets import Input

from planner.catalog.index import CatalogIndex
from planner.documents import Path_
from planner.present import format as fmt
from planner.scenario.yamltext import typed
from planner.tui.fields import Field, Holds
from planner.tui.gridlines import effect_lines, help_lines, row_line, value_column
from planner.tui.lines import MOST_TYPED, Lines, LinesView
from planner.tui.listing import part_at
from planner.tui.nexts import next_lines
from planner.tui.rows import GROUPS, PLAN, Is, Row, Sheet, dotted, rows_of
from planner.tui.screens import shell
from planner.tui.state import Stand, State

HELP_ROWS = 5
MOST_HELP = 11
"""Rows of the help pane while it shows remedies."""
SIDE_FROM = 120
LOW = 14
"""Under so many rows the grid has all of them."""


class Grid(LinesView):
    """The list of rows. Enter opens the box at once, so that keys typed right behind it reach the box."""

    def action_choose(self) -> None:
        """Edit the field under the cursor, or open and close its group."""
        self.query_ancestor(PlanPane).choose()


class PlanPane(Container):
    """Shows a state's plan and says what the user wants changed; it changes nothing itself."""

    DEFAULT_CSS = """
    PlanPane { layers: below above; height: 1fr; }
    PlanPane #plan-body { height: 1fr; layer: below; }
    PlanPane #plan-left { width: 1fr; }
    PlanPane #side { width: 58; border-left: solid $foreground 20%; height: 1fr; display: none; }
    PlanPane #next { height: 3; display: none; background: $boost; }
    PlanPane #help { height: 5; }
    PlanPane #edit {
        layer: above; position: absolute; display: none; height: 1; border: none; padding: 0;
        background: $boost; color: $text;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "fold(True)", "close group", show=False, id="plan.close"),
        Binding("right", "fold(False)", "open group", show=False, id="plan.open"),
        Binding("d", "restore", "default", id="plan.default"),
        Binding("n", "problem(1)", "next problem", show=False, id="plan.next_problem"),
        Binding("N", "problem(-1)", "previous problem", show=False, id="plan.previous_problem"),
        Binding("slash", "find", "find", id="plan.find"),
        Binding("a", "add(False)", "add item", show=False, id="plan.add"),
        Binding("A", "add(True)", "copy item", show=False, id="plan.copy"),
        Binding("delete", "remove", "remove item", show=False, id="plan.remove"),
        Binding("K,alt+up", "move(-1)", "move item up", show=False, id="plan.move_up"),
        Binding("J,alt+down", "move(1)", "move item down", show=False, id="plan.move_down"),
    ]

    class Wants(Message):
        """What the user wants: ``preview``, ``keep``, ``drop``, ``pick``, ``restore``, ``add``, ``copy``, ``remove``, ``move``, ``find``."""

        def __init__(
            self, what: str, path: Path_ = (), value: Any = None, field: Field | None = None
        ) -> None:
            super().__init__()
            self.what, self.path, self.value, self.field = what, path, value, field

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.state = State()
        self.index: CatalogIndex | None = None
        self.closed: frozenset[Path_] = frozenset()
        self.rows: tuple[Row, ...] = ()
        self.editing: Row | None = None
        self._opened: object = None

    def compose(self) -> ComposeResult:
        """Grid over help, with what the last edit did beside it on a wide screen."""
        with Horizontal(id="plan-body"):
            with Container(id="plan-left"):
                yield Grid(id="grid")
                yield Lines(id="next")
                yield Lines(id="help")
            yield LinesView(id="side")
        yield Input(id="edit", compact=True, select_on_focus=False, max_length=MOST_TYPED)

    @property
    def grid(self) -> Grid:
        """The list of rows."""
        return self.query_one("#grid", Grid)

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        index = self.grid.cursor
        return self.rows[index] if 0 <= index < len(self.rows) else None

    def show(self, state: State, index: CatalogIndex | None = None) -> None:
        """Draw a state."""
        self.state = state
        self.index = index or self.index
        self._fill()

    def _fill(self) -> None:
        draft = self.state.shown
        if draft is None or not self.is_mounted:
            return
        if self._opened != (draft.path, self.state.timeline.first):
            self._opened = (draft.path, self.state.timeline.first)
            self.closed = self._at_first()
        as_of = draft.loaded.scenario.as_of if draft.loaded is not None else None
        sheet = Sheet(
            draft.document,
            self.state.problems,
            self.closed,
            self.index,
            as_of or "",
            self.state.timeline.changed,
            self.state.last.used if self.state.last is not None else {},
        )
        self.rows = rows_of(sheet)
        self._draw()

    def _at_first(self) -> frozenset[Path_]:
        """Groups that are closed when a plan is opened: those people change last."""
        return frozenset({("site",), ("money",), ("limits",), ("phases",), ("overrides",), (PLAN,)})

    def _draw(self) -> None:
        grid = self.grid
        width = grid.scrollable_content_region.width or self.app.size.width
        self._next(width)
        lines = [row_line(row, width, cursor=index == grid.cursor) for index, row in enumerate(self.rows)]
        grid.show(lines)
        self._help()
        side = self.query_one("#side", LinesView)
        if side.display:
            side.show(effect_lines(self.state, 57))

    def _next(self, width: int) -> None:
        """What to try next, as long as there is something and room for it."""
        pane, lines = self.query_one("#next", Lines), next_lines(self.state, width)
        pane.display = bool(lines) and self.size.height >= LOW
        pane.show(lines)

    def _help(self) -> None:
        pane = self.query_one("#help", Lines)
        width = pane.size.width or self.app.size.width
        offered = self.state.previewed is None and (bool(self.state.problems) or self.state.applying)
        room = MOST_HELP if self.state.stand is Stand.REFUSED or offered else HELP_ROWS
        lines = help_lines(self.row, self.state, width, room)
        height = max(HELP_ROWS, len(lines))
        if pane.styles.height is None or pane.styles.height.value != height:
            pane.styles.height = height
        pane.show(lines)

    def on_resize(self, event: events.Resize) -> None:
        """The side pane comes and goes with the width."""
        wide = event.size.width >= SIDE_FROM
        self.query_one("#side").display = wide
        low = event.size.height < LOW
        self.query_one("#help").display = not low
        self.call_after_refresh(self._fill)
        if self.editing is not None:
            self.call_after_refresh(self._place)

    @on(LinesView.Moved, "#grid")
    def _moved(self, event: LinesView.Moved) -> None:
        event.stop()
        if self.editing is None:
            self._draw()

    def choose(self) -> None:
        """Edit the field under the cursor, or open and close its group."""
        row = self.row
        if row is None or self.editing is not None:
            return
        if row.kind is not Is.FIELD:
            self._fold(row, closed=row.open)
        elif row.field is not None:
            self.open_field(row, row.field)

    def open_field(self, row: Row, field: Field) -> None:
        """Edit a field the way its kind is edited."""
        if field.holds in (Holds.CHOICE, Holds.CATALOG, Holds.FIELDS):
            self.post_message(self.Wants("pick", row.path, row.value, field))
        elif field.holds is Holds.FLAG:
            self.post_message(self.Wants("keep", row.path, not row.value, field))
        elif shell(self.app).refuses_edits():
            return
        else:
            self._edit(row)

    def _edit(self, row: Row) -> None:
        self.editing = row
        box = self.query_one("#edit", Input)
        with box.prevent(Input.Changed):
            box.value = "" if row.empty or row.text == fmt.NOTHING else row.text
        box.select_all()
        box.display = True
        self._place()
        box.focus()
        shell(self.app).draw_pane()  # the foot tells the keys of the box

    def _place(self) -> None:
        """Move the box over the value of the row under the cursor."""
        grid, box = self.grid, self.query_one("#edit", Input)
        width = grid.scrollable_content_region.width
        offset, size = value_column(width)
        top = grid.cursor - int(grid.scroll_offset.y)
        box.styles.offset = (offset, top)
        box.styles.width = size + 11

    @property
    def typing(self) -> bool:
        """Whether a value is being typed."""
        return self.editing is not None

    def _value(self, text: str) -> Any:
        assert self.editing is not None
        field = self.editing.field
        assert field is not None
        text = text.strip()
        if field.holds is Holds.WORDS:
            parts = [part.strip() for part in text.strip("[]").split(",") if part.strip()]
            return [typed(part) for part in parts] if field.numbers else parts
        if not text:
            return None
        return typed(text) if field.holds is Holds.NUMBER else text

    @on(Input.Changed, "#edit")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.editing is not None:
            self.post_message(
                self.Wants("preview", self.editing.path, self._value(event.value), self.editing.field)
            )

    @on(Input.Submitted, "#edit")
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.submit()

    def take(self) -> tuple[Path_, Any] | None:
        """Close the box and give what was typed; None where it is what was there before."""
        if self.editing is None:
            return None
        text = self.query_one("#edit", Input).value
        row, value = self.editing, self._value(text)
        same = text.strip() == ("" if row.empty else row.text)
        self.close_box()
        return None if same else (row.path, value)

    def submit(self) -> None:
        """Keep what is typed."""
        if self.editing is not None:
            path = self.editing.path
            found = self.take()
            self.post_message(self.Wants("keep", *found) if found is not None else self.Wants("drop", path))

    def drop(self) -> None:
        """Leave the box; the value is as before."""
        if self.editing is not None:
            path = self.editing.path
            self.close_box()
            self.post_message(self.Wants("drop", path))

    def close_box(self) -> None:
        """Put the box away."""
        self.editing = None
        self.query_one("#edit", Input).display = False
        self.grid.focus()

    def on_key(self, event: events.Key) -> None:
        """Escape and tab leave the box."""
        if self.editing is not None and event.key in ("escape", "tab", "shift+tab"):
            event.stop()
            event.prevent_default()
            self.late_key(event)

    def late_key(self, event: events.Key) -> None:
        """A key for the box, be it one that was on its way to the grid when the box opened."""
        if event.key == "escape":
            self.drop()
        elif event.key in ("tab", "shift+tab", "enter"):
            self.submit()
        elif event.character is not None and event.is_printable:
            box = self.query_one("#edit", Input)
            box.replace(event.character, *sorted(box.selection))

    def _fold(self, row: Row, *, closed: bool) -> None:
        self.closed = self.closed | {row.path} if closed else self.closed - {row.path}
        self._fill()

    def action_fold(self, closed: bool) -> None:
        """Close or open the group under the cursor, or the group a field stands in."""
        row = self.row
        if row is None:
            return
        if row.kind is Is.FIELD or (closed and not row.open):
            index = next(
                (i for i in range(self.grid.cursor - 1, -1, -1) if self.rows[i].depth < row.depth),
                self.grid.cursor,
            )
            self.grid.put(index)
        else:
            self._fold(row, closed=closed)

    def action_restore(self) -> None:
        """Put the field back to its default."""
        if self.row is not None and self.row.kind is Is.FIELD:
            self.post_message(self.Wants("restore", self.row.path, None, self.row.field))

    def action_add(self, whole: bool) -> None:
        """Add an item to the list the cursor is in, or copy the one it is on."""
        row = self.row
        if row is not None:
            path: Path_ = ("cluster", "groups") if row.path == ("cluster",) else row.path
            self.post_message(self.Wants("copy" if whole else "add", path))

    def action_remove(self) -> None:
        """Remove the item or optional part the cursor is in, or a value typed over the planner's."""
        path = part_at(self.row.path) if self.row is not None else None
        if path is not None:
            self.post_message(self.Wants("remove", path))
        else:
            self.app.bell()

    def action_move(self, step: int) -> None:
        """Move the item the cursor is in up or down its list."""
        path = self.row.path if self.row is not None else ()
        while path and not isinstance(path[-1], int):
            path = path[:-1]
        if path:
            self.post_message(self.Wants("move", path, step))
        else:
            self.app.bell()

    def action_find(self) -> None:
        """Find a field by its name, value or help."""
        self.post_message(self.Wants("find"))

    def go(self, path: Path_) -> None:
        """Put the cursor on a field, opening what hides it; on the nearest group where it isn't shown."""
        hidden = {path[:length] for length in range(1, len(path) + 1)}
        if path and path[0] not in GROUPS:
            hidden.add((PLAN,))
        if self.closed & hidden:
            self.closed = self.closed - hidden
            self._fill()
        for length in range(len(path), 0, -1):
            at = next((i for i, row in enumerate(self.rows) if row.path == path[:length]), None)
            if at is None:  # a part without a row of its own: its first field
                at = next((i for i, row in enumerate(self.rows) if row.path[:length] == path[:length]), None)
            if at is not None:
                self.grid.put(at)
                self._draw()
                return

    def action_problem(self, step: int) -> None:
        """To the next or previous row with a problem."""
        paths = sorted(self.state.marked, key=dotted)
        if not paths:
            self.app.bell()
            return
        here = self.row.path if self.row is not None else ()
        index = paths.index(here) + step if here in paths else (0 if step > 0 else -1)
        self.go(paths[index % len(paths)])

    def all_rows(self) -> tuple[Row, ...]:
        """Every field, whatever is closed."""
        draft = self.state.shown
        if draft is None:
            return ()
        used = self.state.last.used if self.state.last is not None else {}
        return rows_of(Sheet(draft.document, self.state.problems, index=self.index, used=used))
