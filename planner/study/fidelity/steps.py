"""Steps of many cases in a few calls: those of one machine and kind of model are stacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.arrays import Floats
from planner.performance.corrections import TrainingConstants
from planner.performance.software import Figures, Setting, training_constants
from planner.performance.training import TrainingStep, training_step
from planner.study.fidelity.cases import Case

T = TypeVar("T")


def stacked(values: Sequence[T]) -> T:
    """Dataclasses of arrays of shape (1,) as one of shape (n,); what is anything else is the first one's."""
    first = values[0]
    assert is_dataclass(first) and not isinstance(first, type)
    joined: dict[str, Any] = {}
    for field in fields(first):
        parts = [getattr(one, field.name) for one in values]
        if isinstance(parts[0], np.ndarray):
            if all(part.shape == (1,) for part in parts):
                joined[field.name] = np.concatenate(parts)
        elif is_dataclass(parts[0]):
            joined[field.name] = stacked(parts)
    return replace(first, **joined)


def _kind(case: Case) -> tuple[object, ...]:
    """Cases with one kind run in one call: one machine's curves, one set of flags of the model."""
    shape = case.shape
    flags = tuple(getattr(shape, field.name) for field in fields(shape) if field.type == "bool")
    return case.server, flags, bool(shape.experts[0] > 0.0), bool(shape.dense_layers[0] > 0.0)


class Batch:
    """Cases stacked once, to be evaluated with several sets of figures.

    Attributes:
        cases: In the order of the results.
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = tuple(cases)
        kinds: dict[tuple[object, ...], list[int]] = {}
        for index, case in enumerate(self.cases):
            kinds.setdefault(_kind(case), []).append(index)
        self._groups = [_Group([self.cases[i] for i in rows], np.array(rows)) for rows in kinds.values()]

    def step_s(self, figure: Figures) -> Floats:
        """Predicted steps.

        Args:
            figure: Figures by key, each of shape (1,), or (draws, 1).

        Returns:
            Shape (n,), or (draws, n).
        """
        found = [(group.rows, group.step(figure).step_s) for group in self._groups]
        draws = np.broadcast_shapes(*(steps.shape[:-1] for _, steps in found))
        joined = np.empty((*draws, len(self.cases)))
        for rows, steps in found:
            joined[..., rows] = steps
        return joined


class _Group:
    """Cases of one kind, stacked."""

    def __init__(self, cases: Sequence[Case], rows: NDArray[np.intp]) -> None:
        self.rows = rows
        self.shape = stacked([case.shape for case in cases])
        self.plan = stacked([case.plan for case in cases])
        self.chip = stacked([case.chip for case in cases])
        self.state = stacked([case.state for case in cases])
        self.links = stacked([case.links for case in cases])
        self.settings = list(dict.fromkeys(case.setting for case in cases))
        self.setting_of = np.array([self.settings.index(case.setting) for case in cases])

    def step(self, figure: Figures) -> TrainingStep:
        return training_step(
            shape=self.shape, plan=self.plan, chip=self.chip, links=self.links, state=self.state,
            constants=_constants(figure, self.settings, self.setting_of),
        )  # fmt: skip


def _constants(
    figure: Figures, settings: Sequence[Setting], setting_of: NDArray[np.intp]
) -> TrainingConstants:
    """Corrections of each row, figures read once for each setting."""
    by_setting = [training_constants(figure, setting) for setting in settings]
    joined = {}
    for field in fields(TrainingConstants):
        parts = [getattr(one, field.name) for one in by_setting]
        draws = max((part.shape[:-1] for part in parts), key=len)
        columns = np.empty((*draws, len(parts)))
        for at, part in enumerate(parts):
            columns[..., at] = part[..., 0]
        joined[field.name] = columns[..., setting_of]
    return TrainingConstants(**joined)


def figures_of(read: Callable[[str], float]) -> Figures:
    """Figures as arrays of shape (1,), each read once."""
    known: dict[str, Floats] = {}

    def figure(key: str) -> Floats:
        if key not in known:
            known[key] = np.array([read(key)])
        return known[key]

    return figure
