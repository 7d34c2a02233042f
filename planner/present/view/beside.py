"""Networks beside the GPUs' fabric, what storage is sized for, and what follows where it is too small."""

from __future__ import annotations

from planner.evaluate import Evaluation
from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Table
from planner.present.view.reading import Reading, words

COLUMNS = (
    Column("Storage", numeric=False),
    Column("Needed"),
    Column("A block"),
    Column("Built"),
    Column("Blocks for it"),
)
ROWS = (
    ("Writing checkpoints", "write_gbyte_per_s"),
    ("Reading", "read_gbyte_per_s"),
    ("Room", "capacity_tb"),
)


def storage_warnings(evaluation: Evaluation) -> tuple[str, ...]:
    """What follows from storage that is smaller than the workloads need, a sentence each; none where it isn't."""
    built = evaluation.built
    plan = built.cluster.beside.storage if built is not None else None
    return plan.shortfalls if plan is not None else ()


def storage_table(reading: Reading) -> Table | None:
    """Needs of the workloads beside what is built; None without storage."""
    plan = reading.built.cluster.beside.storage
    if plan is None:
        return None
    rows: list[tuple[Cell, ...]] = [
        (
            words(name), reading.quantity(f"design.storage.needed_{key}"), reading.quantity(f"storage.{key}"),
            reading.quantity(f"design.storage.{key}"), words(fmt.count(getattr(plan.by_need, key))),
        )
        for name, key in ROWS
    ]  # fmt: skip
    return Table("storage", f"Storage: {plan.why}", COLUMNS, tuple(rows))


def beside_notes(reading: Reading) -> tuple[str, ...]:
    """Why the networks beside the fabric are built as they are, and what storage lacks."""
    made = reading.built.cluster.beside
    named = (("In-band", made.inband), ("Storage network", made.storage_network), ("Out of band", made.oob))
    said = [f"{name}: {network.why}" for name, network in named if network is not None]
    if made.management.servers or made.management.managers:
        said.append(f"Management: {made.management.why}")
    return (*storage_warnings(reading.evaluation), *said)
