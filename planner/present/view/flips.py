"""What would change the decision: for every limit, the inputs that alone turn it from met to missed or back."""

from __future__ import annotations

from collections.abc import Sequence

from planner.evaluate import Evaluation
from planner.present import format as fmt
from planner.present.view.compare import flip_text
from planner.present.view.model import Cell, Column, Table
from planner.study.flips import LimitFlips


def flips_table(evaluation: Evaluation, found: Sequence[LimitFlips]) -> Table:
    """A row for each input that turns a limit, the nearest to the plan first; a limit that none turns has one row."""
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        line = evaluation.ledger[one.key]
        state = "met" if one.met else "missed"
        head = Cell(line.label, key=one.key)
        stands = Cell(
            f"{fmt.quantity(one.value, line.unit)} of {fmt.quantity(one.limit, line.unit)}", one.value
        )
        if not one.flips:
            rows.append((head, Cell(state), stands, Cell("no single input within its P10 to P90 turns it")))
        for flip in one.flips:
            said = Cell(
                f"{'missed' if one.met else 'met'} once {flip_text(evaluation, flip)}",
                key=flip.factor.keys[0],
            )
            rows.append((head, Cell(state), stands, said))
    return Table(
        "flips",
        "What would change the decision, one input at a time",
        (
            Column("Limit on", numeric=False), Column("Is", numeric=False), Column("Value of limit"),
            Column("Would be", numeric=False),
        ),
        tuple(rows),
    )  # fmt: skip
