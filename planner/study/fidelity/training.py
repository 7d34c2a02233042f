"""Measured training steps, each predicted from the row's own model, machine, layout and software."""

from __future__ import annotations

from collections.abc import Sequence

from planner.catalog.store import Catalog
from planner.performance.software import Figures
from planner.study.fidelity.cases import Case, Cases, Unfit
from planner.study.fidelity.schema import TrainingRow
from planner.study.fidelity.scoring import DENSE, MOE, Result
from planner.study.fidelity.steps import Batch, figures_of

OTHER = "other"
"""Generation of accelerators without measured rows."""


def predict_training(rows: Sequence[TrainingRow], catalog: Catalog) -> list[Result]:
    """Predicted step time beside the measured one, a result for each row.

    Errors are always of the step time: a row that states a rate is scored by the step that the rate stands for.
    """
    maker = Cases(catalog)
    found = [maker.of(row) for row in rows]
    cases = [one for one in found if isinstance(one, Case)]
    figure = catalog_figures(catalog)
    steps = iter(Batch(cases).step_s(figure) if cases else ())
    return [
        _unpredicted(one) if isinstance(one, Unfit) else _result(one, float(next(steps)), figure)
        for one in found
    ]


def catalog_figures(catalog: Catalog) -> Figures:
    """The catalog's figures of the performance model, by key."""
    return figures_of(lambda key: catalog.figure("performance", key)[0].value)


def _unpredicted(one: Unfit) -> Result:
    row = one.row
    return Result(
        row.id, "", row.family, row.gpu, row.src, unit="s", kind=kind_of(row), why_not=one.why_not,
        assumed=one.assumed,
    )  # fmt: skip


def kind_of(row: TrainingRow) -> str:
    """Dense, or mixture of experts."""
    return MOE if row.arch.moe is not None else DENSE


def band_of(case: Case) -> str:
    """Figure of the catalog with the half width of a case's band: by the kind of what is known of it."""
    if kind_of(case.row) == MOE:
        kind = "moe"
    elif not case.known_stack:
        kind = "unknown_stack"
    else:
        kind = "new_generation" if case.setting.generation == OTHER else "known_stack"
    return f"model_band_{kind}_fraction"


def _result(case: Case, step_s: float, figure: Figures) -> Result:
    row = case.row
    band = float(figure(band_of(case))[0])
    return Result(
        row.id, case.target, row.family, row.gpu, row.src, unit="s", kind=kind_of(row), assumed=case.assumed,
        measured=case.measured_s, predicted=step_s, low=step_s * (1.0 - band), high=step_s * (1.0 + band),
    )  # fmt: skip
