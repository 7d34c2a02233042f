"""Puts the view together: outcomes, time, power, money, network, parts, assumptions."""

from __future__ import annotations

from dataclasses import replace

from planner.evaluate import Evaluation
from planner.present import format as fmt
from planner.present.view.assumptions import assumptions_section
from planner.present.view.brief import brief
from planner.present.view.choices import choices, unknowns
from planner.present.view.fidelity import GLOSSARY, fidelity_section
from planner.present.view.model import Cell, Column, Headline, Section, Table, View
from planner.present.view.money import money_section
from planner.present.view.network import network_section
from planner.present.view.parts import parts_section
from planner.present.view.power import power_section
from planner.present.view.reading import Reading
from planner.present.view.risk import risk_section
from planner.present.view.time import time_section


def view(evaluation: Evaluation) -> View:
    """The view of one evaluation."""
    above = brief(evaluation)
    reading = Reading(evaluation, evaluation.built) if evaluation.built is not None else None
    return replace(
        above,
        sections=_sections(evaluation, reading, above.headlines),
        choices=choices(reading) if reading is not None else None,
        unknowns=unknowns(reading) if reading is not None else None,
        glossary=GLOSSARY,
    )


NOT_BUILT = "Nothing to show: the plan can't be built."


def _sections(
    evaluation: Evaluation, reading: Reading | None, cells: tuple[Headline, ...]
) -> tuple[Section, ...]:
    """The nine sections, always all of them and in the same order."""
    if reading is None:
        empty = tuple(
            Section(name, title, missing=NOT_BUILT)
            for name, title in (
                ("outcomes", "Outcomes"), ("time", "Time"), ("power", "Power"), ("money", "Money"),
                ("network", "Network"), ("parts", "Parts"), ("risk", "Risk"),
            )
        )  # fmt: skip
        return (*empty, assumptions_section(evaluation), fidelity_section(evaluation))
    return (
        _outcomes(cells),
        time_section(reading),
        power_section(reading),
        money_section(reading),
        network_section(reading),
        parts_section(reading),
        risk_section(reading),
        assumptions_section(evaluation),
        fidelity_section(evaluation),
    )


def _outcomes(cells: tuple[Headline, ...]) -> Section:
    judged = {True: "met", False: "missed", None: ""}
    rows = tuple(
        (
            Cell(cell.name),
            Cell(cell.text, cell.value, cell.key if cell.value is not None else ""),
            Cell(cell.range_text or fmt.NOTHING),
            Cell(cell.limit_text or fmt.NOTHING, cell.limit),
            Cell(judged[cell.met]),
            Cell(cell.letter),
            Cell(cell.note),
        )
        for cell in cells
    )
    table = Table(
        "outcomes",
        "All outcomes",
        (
            Column("Outcome", numeric=False),
            Column("Value"),
            Column("P10 to P90"),
            Column("Limit"),
            Column("Limit is", numeric=False),
            Column("Basis", numeric=False),
            Column("Also", numeric=False),
        ),
        rows,
    )
    return Section("outcomes", "Outcomes", tables=(table,))
