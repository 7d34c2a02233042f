"""A measured training step on its way to a case: the row, and what was settled on it."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.choices import Precision
from planner.study.fidelity.schema import TrainingRow


@dataclass(slots=True)
class Draft:
    """A row on its way to a case.

    Attributes:
        precision: Arithmetic of its matrix products.
        assumed: What was settled on the row, each once.
    """

    row: TrainingRow
    precision: Precision = Precision.BF16
    assumed: list[str] = field(default_factory=list)

    def settle(self, what: str) -> None:
        """Note what the row leaves open and what is taken for it."""
        if what not in self.assumed:
            self.assumed.append(what)
