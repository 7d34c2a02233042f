"""How far predictions deserve trust: the bands that stand in for a comparison, and the glossary."""

from __future__ import annotations

from planner.evaluate import Evaluation
from planner.present import format as fmt
from planner.present.view.calibration import calibration
from planner.present.view.model import Cell, Column, Section, Table

BANDS = (
    ("model_band_unknown_stack_fraction", "Step time, an unknown stack or GPU generation"),
    ("model_band_moe_fraction", "Step time, mixture of experts"),
)
GLOSSARY = (
    ("UTIL", "Useful model arithmetic over what the scheduled GPU-hours could do at dense peak."),
    ("WAIT", "Share of scheduled GPU time in which GPUs wait: for data, for each other, for a restart."),
    ("MFU", "Model FLOP utilisation: arithmetic the model needs over peak, within a step."),
    ("HFU", "The same counting arithmetic done twice (recompute)."),
    ("Goodput", "Share of running time that survives failures, restarts and checkpoints."),
    ("Exposed communication", "Transfers that no computing hides, so GPUs stand still."),
    ("Pipeline bubble", "Time a pipeline stage has no microbatch to work on."),
    ("TP, PP, DP, EP, CP", "Ranks that share a layer, the layers, the batch, the experts, the sequence."),
    ("TTFT", "Time from a request to its first token."),
    ("TPOT", "Time between one output token and the next."),
    ("p99", "Value that 99 of 100 requests stay within."),
    ("Leaf, spine, core", "Switch tiers, from the one servers plug into to the topmost."),
    ("Rail", "The leaf set that NICs of one position in every server share."),
    ("Oversubscription", "Bandwidth down over bandwidth up of a leaf; 1 is non-blocking."),
    ("Bisection", "Bandwidth between two halves of the cluster, one direction."),
    ("PUE", "Energy of the facility over that of the IT equipment."),
    ("Capex, opex", "What is spent once, and what is spent every month."),
    ("Present value", "Money of later months in today's, at the discount rate."),
    ("GPU-hour", "Installed: owned; available: not under repair; scheduled: given to work; useful: goodput of it."),
    ("P10, P90", "Values that one in ten, and nine in ten, plausible cases stay below."),
)  # fmt: skip


def fidelity_section(evaluation: Evaluation) -> Section:
    """The stated bands, and what isn't in this version."""
    table = _bands(evaluation)
    if table is None:
        refused = "The plan was refused before a model of performance was asked."
        return Section("fidelity", "Fidelity", missing=refused)
    if evaluation.built is None:
        refused = "The plan was refused; below stand the half widths of the models alone."
        return Section("fidelity", "Fidelity", tables=(table,), missing=refused)
    figures, tables, notes = calibration(evaluation)
    lead = (
        "Bandwidths inside a server or rack come from measured curves where there are any; the table says which. "
        "Half widths of the models were found on published measured runs; the command planner fidelity predicts every one."
    )
    return Section("fidelity", "Fidelity", lead=lead, figures=figures, tables=(*tables, table), notes=notes)


def _bands(evaluation: Evaluation) -> Table | None:
    catalog = evaluation.parts.catalog
    if not any((family, name) == ("assumptions", "performance") for family, name, _ in catalog.used()):
        return None
    rows = []
    for key, label in BANDS:
        figure, source = catalog.figure("performance", key)
        entry = catalog.sources.get(source.source)
        rows.append(
            (
                Cell(label),
                Cell(f"±{fmt.percent(figure.value, 0)}", figure.value * 100, letter=source.basis.letter),
                Cell(source.basis.letter),
                Cell(entry.title if entry is not None else source.source),
                Cell(source.as_of),
            )
        )
    return Table(
        "bands",
        "Half width of P10 to P90 of the performance models",
        (
            Column("Prediction", numeric=False),
            Column("Band", "%"),
            Column("Basis", numeric=False),
            Column("Source", numeric=False),
            Column("Date", numeric=False),
        ),
        tuple(rows),
    )
