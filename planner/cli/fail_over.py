"""Bounds given on the command line: figures of a plan over which a batch ends with exit code 1."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Final

from planner.errors import InputError, Problem

if TYPE_CHECKING:
    from planner.evaluate import Evaluation

EXAMPLE = "write 'unit.usd_per_gpu_hour>2.5' or 'capex.total_usd_p90>60M'"
_WRITTEN: Final = re.compile(
    r"\s*([A-Za-z0-9_.-]+?)\s*(>=|<=|>|<)\s*([-+]?[0-9.,]+(?:[eE][-+]?\d+)?)\s*([kMG%]?)\s*"
)
_COMPARED: Final = {">": gt, ">=": ge, "<": lt, "<=": le}
_TIMES: Final = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "%": 0.01}
_SPREAD: Final = ("p10", "p50", "p90")


@dataclass(frozen=True, slots=True)
class Bound:
    """One expression: a ledger key, how it is compared, and with what in the key's unit.

    Attributes:
        written: As it was given.
        key: Ledger key; its P10, P50 or P90 where `spread` names one.
    """

    written: str
    key: str
    compared: str
    value: float
    spread: str = ""

    def broken(self, evaluation: Evaluation) -> str | None:
        """The figure in words where the plan is over the bound, None where it isn't.

        Raises:
            InputError: The plan has no such figure, or it is a series.
        """
        found = self._figure(evaluation)
        if not _COMPARED[self.compared](found, self.value):
            return None
        unit = evaluation.ledger.lines[self.key].unit
        of_draws = f" ({self.spread.upper()})" if self.spread else ""
        return f"{self.key}{of_draws} is {found:.6g} {unit}, fails at {self.compared} {self.value:.6g}"

    def _figure(self, evaluation: Evaluation) -> float:
        from planner.present.text import find_keys

        if self.key not in evaluation.ledger:
            near = find_keys(self.key, evaluation.ledger)
            raise InputError(
                Problem(
                    f"no ledger line '{self.key}'", key="--fail-over",
                    remedy=f"perhaps {', '.join(near)}" if near else "planner explain SCENARIO lists the keys",
                )
            )  # fmt: skip
        if not self.spread:
            values = evaluation.ledger.value(self.key)
            if values.size != 1:
                raise InputError(
                    Problem(f"'{self.key}' is a series, and one figure is needed", key="--fail-over")
                )
            return float(values.ravel()[0])
        if self.key not in evaluation.ranges:
            raise InputError(
                Problem(
                    f"'{self.key}' has no range", key="--fail-over",
                    remedy=f"with one: {', '.join(sorted(evaluation.ranges))}",
                )
            )  # fmt: skip
        return float(getattr(evaluation.ranges[self.key], self.spread))


def bounds_of(written: Sequence[str]) -> tuple[Bound, ...]:
    """Expressions such as ``tco.npv_usd>60M``; a key may end in ``_p10``, ``_p50`` or ``_p90``.

    Raises:
        InputError: Every expression that can't be read.

    >>> bounds_of(["capex.total_usd_p90 >= 60M"])[0]
    Bound(written='capex.total_usd_p90 >= 60M', key='capex.total_usd', compared='>=', value=60000000.0, spread='p90')
    """
    found, problems = [], []
    for one in written:
        match = _WRITTEN.fullmatch(one)
        value = _number(match[3], match[4]) if match else None
        if match is None or value is None:
            problems.append(Problem(f"'{one}' is not KEY>NUMBER", key="--fail-over", remedy=EXAMPLE))
            continue
        key, spread = match[1], ""
        if key.rpartition("_")[2] in _SPREAD:
            key, _, spread = key.rpartition("_")
        found.append(Bound(one, key, match[2], value, spread))
    if problems:
        raise InputError(problems)
    return tuple(found)


def broken_bounds(bounds: Sequence[Bound], evaluation: Evaluation) -> tuple[str, ...]:
    """What is over its bound, in words.

    Raises:
        InputError: Every bound whose figure the plan doesn't have.
    """
    said: list[str] = []
    problems: list[Problem] = []
    for bound in bounds:
        try:
            broken = bound.broken(evaluation)
        except InputError as error:
            problems += error.problems
            continue
        if broken is not None:
            said.append(broken)
    if problems:
        raise InputError(problems)
    return tuple(said)


def _number(digits: str, times: str) -> float | None:
    try:
        value = float(digits.replace(",", "")) * _TIMES[times]
    except ValueError:
        return None
    return value if math.isfinite(value) else None
