"""The list of edits: undo, redo, and going back to any of them. The list is the record of the decision."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.documents import Path_
from planner.present.view.changes import Change


@dataclass(frozen=True, slots=True)
class Step:
    """One edit, and the text it left.

    Attributes:
        time: Time of day as shown.
        path: Field that was edited; empty for a jump back.
        changes: What it did to the headline cells, once evaluated.
    """

    time: str
    path: Path_
    label: str
    old: str
    new: str
    text: str
    changes: tuple[Change, ...] = ()

    @property
    def said(self) -> str:
        """The edit in words."""
        return f"{self.label} {self.old} > {self.new}" if self.old or self.new else self.label


@dataclass(frozen=True, slots=True)
class Timeline:
    """Edits since the plan was opened; ``at`` of them are in force."""

    first: str
    steps: tuple[Step, ...] = ()
    at: int = 0

    @property
    def text(self) -> str:
        """Text in force."""
        return self.steps[self.at - 1].text if self.at else self.first

    @property
    def last(self) -> Step | None:
        """The last edit in force."""
        return self.steps[self.at - 1] if self.at else None

    @property
    def changed(self) -> frozenset[Path_]:
        """Fields that edits in force have touched."""
        return frozenset(step.path for step in self.steps[: self.at] if step.path)

    def before(self, path: Path_) -> str:
        """A field's value before the last edit of it; empty where there was none."""
        return next((step.old for step in reversed(self.steps[: self.at]) if step.path == path), "")

    def with_step(self, step: Step) -> Timeline:
        """The list with one more edit; edits that were undone are gone."""
        return Timeline(self.first, (*self.steps[: self.at], step), self.at + 1)

    def undone(self) -> Timeline | None:
        """One edit back; None at the beginning."""
        return replace(self, at=self.at - 1) if self.at else None

    def redone(self) -> Timeline | None:
        """One edit forward; None at the end."""
        return replace(self, at=self.at + 1) if self.at < len(self.steps) else None

    def moved(self, at: int) -> Timeline:
        """So many edits in force."""
        return replace(self, at=max(0, min(at, len(self.steps))))

    def judged(self, changes: tuple[Change, ...]) -> Timeline:
        """The list with the last edit's effect entered; an effect once entered stays."""
        if not self.at or self.steps[self.at - 1].changes:
            return self
        steps = list(self.steps)
        steps[self.at - 1] = replace(steps[self.at - 1], changes=changes)
        return replace(self, steps=tuple(steps))
