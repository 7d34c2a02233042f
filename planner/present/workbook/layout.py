"""Where every ledger line lies in the workbook: one place each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from planner.design.bom import LABELS, AssetClass, BomRow
from planner.design.cabling import LengthClass
from planner.evaluate import Built, Evaluation
from planner.finance.three_views import STRUCTURAL
from planner.ledger import Axis, Kind, Ledger, Line
from planner.power.it_load import Load
from planner.present.workbook.constants import constants_of
from planner.present.workbook.headings import GROUPS, group_of, heading_of

SUMMARY, INPUTS, TIMING, BOM, PERFORMANCE = "Summary", "Inputs", "Timing", "BOM", "Performance"
CAPEX, POWER, OPEX, DEPRECIATION = "Capex", "Power", "Opex", "Depreciation"
CASH, METRICS, SOURCES, CHECKS, CHANGES = "Cash flow", "Metrics", "Sources", "Checks", "Changes"
CABLES, CHAIN, SHARE = "Cables", "Power chain", "Network share"
SCENARIOS, FINANCE, TAX, RISK = "Scenarios", "Finance", "Tax", "Risk"
ORDER = (
    SUMMARY, INPUTS, SCENARIOS, TIMING, BOM, CABLES, PERFORMANCE, CAPEX, SHARE, POWER, CHAIN, OPEX, DEPRECIATION,
    FINANCE, TAX, CASH, METRICS, RISK, SOURCES, CHECKS, CHANGES,
)  # fmt: skip
MONTHLY = (TIMING, CAPEX, OPEX, DEPRECIATION, FINANCE, TAX, CASH)
"""Sheets with months along their rows; lines over months lie nowhere else."""

# One column structure for all sheets of formulas: name, unit, value, total, key, how, then months.
NAME, UNIT, VALUE, TOTAL, KEY, HOW, FIRST_MONTH = range(7)
FIRST_YEAR = KEY
"""The roll-up by year has no keys: its years stand right after the totals, and print with them."""
STATUS_ROW, NOTE_ROW, DATE_ROW, YEAR_ROW, HEAD_ROW, FIRST_ROW = range(6)
"""Rows of a sheet of formulas, from 0: title and checks, what it holds, dates, years, headings."""

INPUT_LOW, INPUT_HIGH = 4, 5
INPUT_VALUE, INPUT_PLANNED, INPUT_CHANGED, INPUT_BASIS, INPUT_KEY, INPUT_TABLE = 2, 6, 7, 8, 11, 13
INPUT_HEAD = 2
INPUT_COUNT_ROW = 1
"""Row of how many inputs a reader changed, above the column that says so."""
CHANGED = "changed"
"""What that column says of a changed input; it is empty beside all others."""

# Scenarios: rows of the selected case and its number, then a row for each followed input, a column for each case.
CASE_SELECTOR, CASE_NUMBER, CASE_HEAD, CASE_FIRST_ROW = 2, 3, 7, 8
CASE_LIVE, CASE_FIRST = 2, 3
ANY_CHANGE = f"{INPUTS}!$H${INPUT_COUNT_ROW + 1}+{SCENARIOS}!$C${CASE_NUMBER + 1}>1"
"""Formula that holds once an input is changed or another case than the first is selected."""

# The bill of materials, the cable schedule and the power table have columns of their own after name and unit.
BOM_SERVICE, BOM_BOUGHT, BOM_PRICE, BOM_COST = 2, 3, 4, 5
POWER_COUNT, POWER_STATES = 2, (3, 4, 5)
CABLE_LINKS, CABLE_ORDERED, CABLE_LONGEST, CABLE_PARTS = 2, 3, 4, 5


@dataclass(frozen=True, slots=True)
class Spot:
    """A cell, or the first cell of a row; counted from 0."""

    sheet: str
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a sheet of formulas: a line, or a heading where there is none."""

    row: int
    line: Line | None
    heading: str = ""


@dataclass(frozen=True, slots=True)
class InputGroup:
    """Given lines that belong together, the row of their heading, and that of the first line."""

    title: str
    row: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A wish of the scenario that is no ledger line, such as the topology."""

    group: str
    key: str
    value: str | float
    where: str


@dataclass(slots=True)
class Layout:
    """Places of all lines and the plan of every sheet.

    Attributes:
        spots: Home of each line by key.
        followed: Groups of inputs that the workbook's formulas follow.
        locked: Groups of inputs that need a new run.
        choices: Wishes without a ledger line, shown under the locked inputs.
        tables: Given tables with their rows.
        rows: Rows of the sheets of formulas.
        bom: Parts with their row, in classes.
        loads: Consumers of power with their row.
        cables: Length classes of the cable schedule with their row.
        live: Cells that formulas read for the inputs that are followed: the selected case's values.
        constants: Cells of the numbers that stand in formulas.
    """

    ledger: Ledger
    spots: dict[str, Spot] = field(default_factory=dict)
    followed: list[InputGroup] = field(default_factory=list)
    locked: list[InputGroup] = field(default_factory=list)
    choices: list[tuple[int, Choice]] = field(default_factory=list)
    tables: list[tuple[int, Line]] = field(default_factory=list)
    rows: dict[str, list[Row]] = field(default_factory=dict)
    bom: list[tuple[int, BomRow | AssetClass]] = field(default_factory=list)
    loads: list[tuple[int, Load]] = field(default_factory=list)
    cables: list[tuple[int, LengthClass]] = field(default_factory=list)
    live: dict[str, Spot] = field(default_factory=dict)
    constants: dict[float, Spot] = field(default_factory=dict)
    constants_row: int = 0
    locked_row: int = 0
    tables_row: int = 0
    end: dict[str, int] = field(default_factory=dict)

    def home(self, key: str, sheet: str, row: int, column: int) -> bool:
        """Claim a cell for a line; False where the line already lives elsewhere."""
        if key in self.spots:
            return False
        self.spots[key] = Spot(sheet, row, column)
        return True

    def lives_at(self, key: str, sheet: str, row: int) -> bool:
        """Whether a line's home is in this row."""
        spot = self.spots[key]
        return spot.sheet == sheet and spot.row == row


def lay_out(evaluation: Evaluation, choices: Sequence[Choice]) -> Layout:
    """Give every line of a built evaluation its place."""
    assert evaluation.built is not None
    layout = Layout(evaluation.ledger)
    _inputs(layout, evaluation.built, choices)
    _live(layout)
    _bill(layout, evaluation.built)
    _cables(layout, evaluation.built)
    _power(layout, evaluation.built)
    waiting: dict[str, list[Line]] = {}
    for line in evaluation.ledger:
        if line.key not in layout.spots:
            waiting.setdefault(sheet_of(line), []).append(line)
    for sheet, lines in waiting.items():
        _rows(layout, sheet, lines, layout.end.get(sheet, FIRST_ROW - 1) + 1)
    return layout


def needs_a_run(ledger: Ledger, built: Built) -> frozenset[str]:
    """Given lines whose change needs a new run.

    Those that computed lines rest on; how many GPUs a phase buys, since phases make up the designed
    cluster; when a phase starts to work and what is ordered first, since the time axis hangs on them;
    and what no formula reads, such as a further cost that the scenario has not planned.
    """
    phases = {f"phase.{phase.id}.{name}" for phase in built.phases for name in ("gpus", "service_month")}
    first = {f"phase.{phase.id}.order_month" for phase in built.phases if phase.order_month == 0}
    read = {key for line in ledger for key in ledger.inputs_of(line.key)}
    unread = {line.key for line in ledger if line.kind is Kind.GIVEN} - read
    return (
        ledger.locked()
        | phases
        | first
        | unread
        | {"timing.hours_per_month"}
        | (ledger.lines.keys() & set(STRUCTURAL))
    )


def _inputs(layout: Layout, built: Built, choices: Sequence[Choice]) -> None:
    ledger, fixed = layout.ledger, needs_a_run(layout.ledger, built)
    given = [line for line in ledger if line.kind is Kind.GIVEN and line.axis is Axis.SCALAR]
    row = INPUT_HEAD + 2  # the heading of the zone stands in between
    row = _groups(layout, layout.followed, [line for line in given if line.key not in fixed], row)
    layout.locked_row = row
    row = _groups(layout, layout.locked, [line for line in given if line.key in fixed], row + 1)
    for choice in choices:
        layout.choices.append((row, choice))
        row += 1
    layout.constants_row = row
    for value in constants_of(ledger):
        row += 1
        layout.constants[value] = Spot(INPUTS, row, INPUT_VALUE)
    row += 1
    tables = [line for line in ledger if line.axis is Axis.TABLE]
    layout.tables_row = row
    for line in tables:
        row += 1
        layout.tables.append((row, line))
        layout.home(line.key, INPUTS, row, INPUT_TABLE)
    layout.end[INPUTS] = row


def _live(layout: Layout) -> None:
    """A row of Scenarios for each input that is followed."""
    row = CASE_FIRST_ROW
    for group in layout.followed:
        for line in group.lines:
            layout.live[line.key] = Spot(SCENARIOS, row, CASE_LIVE)
            row += 1
    layout.end[SCENARIOS] = row - 1


def _groups(layout: Layout, into: list[InputGroup], lines: Iterable[Line], row: int) -> int:
    by_title: dict[str, list[Line]] = {title: [] for title in GROUPS.values()}
    for line in lines:
        by_title[group_of(line.key)].append(line)
    for title, members in by_title.items():
        if not members:
            continue
        into.append(InputGroup(title, row, tuple(members)))
        for offset, line in enumerate(members, start=1):
            layout.home(line.key, INPUTS, row + offset, INPUT_VALUE)
        row += len(members) + 1
    return row


def _bill(layout: Layout, built: Built) -> None:
    row = FIRST_ROW
    for kind in AssetClass:
        parts = [part for part in built.bom if part.demand.asset_class is kind]
        if not parts:
            continue
        layout.bom.append((row, kind))
        for part in parts:
            row += 1
            layout.bom.append((row, part))
            layout.home(part.demand.designed.key, BOM, row, BOM_SERVICE)
            layout.home(part.count.key, BOM, row, BOM_BOUGHT)
            layout.home(part.cost.key, BOM, row, BOM_COST)
        row += 1
    layout.end[BOM] = row + 2  # the total, and a blank


def _cables(layout: Layout, built: Built) -> None:
    classes = built.cluster.cabling.classes
    layout.cables = list(enumerate(classes, start=FIRST_ROW))
    layout.end[CABLES] = FIRST_ROW + len(classes) + 1  # the total, and a blank


def _power(layout: Layout, built: Built) -> None:
    row = FIRST_ROW
    for load in built.loads:
        layout.loads.append((row, load))
        layout.home(load.consumer.count.key, POWER, row, POWER_COUNT)
        for column, line in zip(POWER_STATES, load.watts.values(), strict=True):
            layout.home(line.key, POWER, row, column)
        row += 1
    layout.end[POWER] = row + 1


CHAIN_KEYS = (
    "power.chain.", "power.ups.", "power.transformer.", "power.rack.", "power.utility.", "power.electrical_",
    "power.demand_", "power.load_factor", "power.it_transient",
)  # fmt: skip
"""Beginnings of the keys that belong to the way from the utility to the racks."""
_SHEETS = (
    ("timing.", TIMING), ("phase.", TIMING), ("design.cabling.", CABLES), ("design.", BOM), ("bom.", BOM),
    ("share.", SHARE), *((start, CHAIN) for start in CHAIN_KEYS), ("outcome.waiting_usd", METRICS),
    ("outcome.scheduled_gpu_hours", METRICS), ("outcome.", PERFORMANCE), ("performance.", PERFORMANCE),
    ("workload.", PERFORMANCE), ("capex.", CAPEX), ("cash.capex_", CAPEX), ("power.", POWER),
    ("watts.", POWER), ("energy.", OPEX), ("cash.opex_", OPEX), ("opex.", OPEX), ("money.staff", OPEX),
    ("book.", DEPRECIATION), ("debt.", FINANCE), ("lease.", FINANCE), ("wc.", FINANCE), ("tax.", TAX),
    ("tariff.", OPEX), ("cash.", CASH),
)  # fmt: skip


def sheet_of(line: Line) -> str:
    """Sheet of a line that is no input, by its key; lines over months go to a monthly sheet."""
    sheet = next((sheet for start, sheet in _SHEETS if line.key.startswith(start)), METRICS)
    return CASH if line.axis is Axis.MONTH and sheet not in MONTHLY else sheet


def _rows(layout: Layout, sheet: str, lines: Sequence[Line], row: int) -> None:
    found = layout.rows.setdefault(sheet, [])
    by_heading: dict[str, list[Line]] = {}
    for line in lines:
        by_heading.setdefault(heading_of(line.key), []).append(line)
    for heading, members in by_heading.items():
        found.append(Row(row, None, heading))
        for line in members:
            row += 1
            found.append(Row(row, line))
            layout.home(line.key, sheet, row, FIRST_MONTH if line.axis is Axis.MONTH else VALUE)
        row += 2
    layout.end[sheet] = row - 2


def class_label(kind: AssetClass) -> str:
    """Name of an asset class."""
    return LABELS[kind]
