"""Screen 7: measured points against the curves a plan uses, their errors and age; a log fitted into a profile."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message

from planner.catalog.profiles import Profile
from planner.catalog.store import Catalog
from planner.errors import CalibrationError, PlannerError
from planner.evaluate import Evaluation
from planner.measure.fit.profile import Fitted, fit_profile
from planner.performance.evidence import SHOWN
from planner.present.profile_files import read_all, write_profile
from planner.present.profile_text import report
from planner.present.view.calibration import calibration
from planner.present.view.model import Figure, Table
from planner.present.view.reading import months_old
from planner.tui.drawing import figure_lines, table_lines
from planner.tui.lines import Line, LinesView, cut, plain, wrapped
from planner.tui.listed import ListPane
from planner.tui.overlay import Prompt
from planner.tui.screens import shell
from planner.tui.state import State
from planner.tui.working import Desk

WIDEST = 130
DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
MOST_WRONG = 6
"""Rows that what is wrong with a file may take."""
OLD_MONTHS = 12
"""From this age on a measurement is called old: drivers and libraries have moved since."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a plan's bandwidths rest on.

    Attributes:
        profiles: Those in use with their age in months at the plan's date, where it is known.
    """

    source: Evaluation
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    profiles: tuple[tuple[Profile, int | None], ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """A profile fitted here, the files it came of, and where it was written; no path before that."""

    fitted: Fitted
    files: tuple[Path, ...]
    notes: tuple[str, ...]
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Undated:
    """Files that don't say when they were measured, and a day to propose."""

    files: tuple[Path, ...]
    day: str


class CalibrationPane(ListPane):
    """Draws the calibration of the plan, one operation at a time, and takes logs."""

    NAME: ClassVar[str] = "calibration"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "curve(-1)", "curve", show=False, id="calibration.previous"),
        Binding("right", "curve(1)", "curve", show=False, id="calibration.next"),
        Binding("i", "read", "import a log", id="calibration.read"),
        Binding("f", "fits", "fit errors", id="calibration.fits"),
    ]

    class Uses(Message):
        """A profile that was written is to be used by the plan."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.evidence: Evidence | None = None
        self.asked: Evaluation | None = None
        self.imported: Imported | None = None
        self.at = 0
        self.fits = False

    def show(self, state: State) -> None:
        """Draw a state; the evidence of another plan is looked up again."""
        self.state = state
        if not (self.display and self.is_mounted):
            return
        plan = state.last.evaluation if state.last is not None else None
        if (
            plan is not None
            and plan.feasible
            and not state.awaiting
            and plan is not self.asked
            and not self.busy
        ):
            self.asked = plan
            self.work(lambda desk: _evidence(plan), "reading the measured points …")
        self.fill()

    def took(self, found: Any) -> None:
        """Keep the evidence, or what was read of a log."""
        if isinstance(found, Evidence):
            self.evidence = found
        elif isinstance(found, Undated):
            note = "Nothing in the files says when this was measured. Proposed: the day the file was last written."
            prompt = Prompt("day of the measurement, YYYY-MM-DD", found.day, note=note)
            self.app.push_screen(prompt, partial(self._day_given, found.files))
        else:
            self.imported = found
            self.view.cursor = 0

    # What it does

    @property
    def curves(self) -> list[str]:
        """Operations that have a curve."""
        rows = self.evidence.figures[0].data["model"] if self.evidence and self.evidence.figures else ()
        return list(dict.fromkeys(str(row["name"]) for row in rows))

    def action_curve(self, step: int) -> None:
        """Another operation's curve."""
        self.at += step
        self.fill()

    def action_fits(self) -> None:
        """The errors of every fit of the profiles in use, or the plan's curves."""
        self.fits = not self.fits
        self.view.cursor = 0
        self.fill()

    def action_read(self) -> None:
        """Ask for measurement files."""
        if len(self.app.screen_stack) > 1:
            return
        note = (
            "Results of planner bench, logs of nccl-tests, or CSV tables; several with commas between them."
        )
        self.app.push_screen(Prompt("import measurements", "", note=note), self._files_given)

    def _files_given(self, text: str | None) -> None:
        if text is None:
            return
        files = tuple(Path(one.strip()).expanduser() for one in text.split(",") if one.strip())
        self._read(files, "")

    def _day_given(self, files: tuple[Path, ...], day: str | None) -> None:
        if day is None:
            return
        if not DAY.fullmatch(day):
            self.wrong = (f"'{day}' is no day (write it as 2026-11-30)",)
            self.fill()
        else:
            self._read(files, day)

    def _read(self, files: tuple[Path, ...], day: str) -> None:
        shelf = shell(self.app).catalog
        told = f"reading {len(files)} file{'s' if len(files) > 1 else ''} …"
        self.work(lambda desk: _read(desk, files, shelf(), day), told)

    def _save(self) -> None:
        if self.imported is None or len(self.app.screen_stack) > 1 or shell(self.app).refuses_edits():
            return
        note = "The profile, and the files it was fitted from in a folder 'raw' beside it. Its name becomes its id."
        proposed = f"{self.imported.fitted.profile.accelerator}.mine.yaml"
        self.app.push_screen(Prompt("write the profile to", proposed, note=note), self._path_given)

    def _path_given(self, text: str | None) -> None:
        if text is None or self.imported is None:
            return
        path = Path(text).expanduser()
        path = path if path.suffix == ".yaml" else path.with_name(f"{path.name}.yaml")
        try:
            profile = Profile.model_validate({**self.imported.fitted.profile.model_dump(), "id": path.stem})
            write_profile(profile, self.imported.files, path)
        except PlannerError as error:
            self.wrong = tuple(str(problem) for problem in error.problems)
        except ValueError:
            self.wrong = (f"'{path.stem}' is no id: small letters, digits, points and hyphens",)
        else:
            self.imported, self.wrong = replace(self.imported, path=path), ()
        self.fill()

    @on(LinesView.Chosen, "#calibration-list")
    def _chosen(self, event: LinesView.Chosen) -> None:
        event.stop()
        match self.view.key:
            case "read":
                self.action_read()
            case "write":
                self._save()
            case "use" if self.imported is not None and self.imported.path is not None:
                self.post_message(self.Uses(self.imported.path.resolve()))
                self.imported = None
                self.asked = None
            case "drop":
                self.imported = None
                self.fill()

    # What it shows

    def fill(self) -> None:
        """Draw what is in front."""
        if not self.is_mounted:
            return
        width = min(WIDEST, (self.size.width or self.app.size.width) - 1)
        lines: list[Line] = []
        title = " calibration"
        if self.imported is not None:
            title = " a profile fitted from your files"
            lines += imported_lines(self.imported, width)
        elif self.evidence is not None and self.fits:
            title = " errors of the fits; f goes back to the curves"
            lines += fit_lines(self.evidence, width)
        elif self.evidence is not None:
            names = self.curves
            title = f" ← {names[self.at % len(names)]} →" if names else title
            lines += evidence_lines(self.evidence, names[self.at % len(names)] if names else "", width)
        elif not self.busy:
            lines.append(plain(" nothing measured to show: the plan has no values", "dim"))
        plan = self.state.last.evaluation if self.state.last is not None else None
        stale = "~" if self.evidence is not None and self.evidence.source is not plan else ""
        told = f"{stale}{title}   {self.said}  esc cancels" if self.busy else f"{stale}{title}"
        wrong = [plain(f" ✗ {one}", "bad") for text in self.wrong for one in wrapped(text, width - 4)]
        self.head([plain(told, "warn" if self.busy else "head"), *wrong[:MOST_WRONG]])
        self.view.show(lines)


def _evidence(plan: Evaluation) -> Evidence:
    figures, tables, notes = calibration(plan)
    found: dict[str, Profile] = {}
    if plan.built is not None:
        domain, between = plan.built.performance.domain, plan.built.performance.links.measured.profiles
        ranks = domain.curves.sizes[-1]
        names = [domain.curves.group(operation, ranks).profile for operation in SHOWN]
        found = {name: plan.parts.catalog.get(Profile, name) for name in (*names, *between.values()) if name}
    aged = tuple((one, months_old(one.as_of, plan.parts.as_of)) for one in found.values())
    return Evidence(plan, figures, tables, notes, aged)


def _read(desk: Desk, files: tuple[Path, ...], shelf: Catalog, day: str) -> Imported | Undated:
    """Read and fit, as ``planner calibrate`` does.

    Raises:
        PlannerError: A file is damaged, or nothing can be fitted.
    """
    read = read_all(files)
    desk.go_on("fitting …")
    try:
        fitted = fit_profile(read, catalog=shelf, profile_id="profile", as_of=day)
    except CalibrationError as error:
        if day or not any("when this was measured" in problem.message for problem in error.problems):
            raise
        return Undated(files, date.fromtimestamp(files[0].stat().st_mtime).isoformat())
    notes = tuple(f"{one.path}: {note}" for one in read for note in one.notes)
    return Imported(fitted, files, notes)


def evidence_lines(found: Evidence, name: str, width: int) -> list[Line]:
    """One curve with its points, what every curve rests on, and how old that is."""
    lines: list[Line] = []
    for figure in found.figures:
        data = {key: [row for row in rows if row["name"] == name] for key, rows in figure.data.items()}
        lines += figure_lines(replace(figure, data=data), width)
    for one, age in found.profiles:
        aged = "of unknown age" if age is None else f"{age} months old at the plan's date"
        old = age is not None and age >= OLD_MONTHS
        lines.append(
            plain(
                cut(f" {one.id}: measured {one.as_of}, {aged}{' †' if old else ''}", width),
                "warn" if old else "plain",
            )
        )
    if not found.profiles:
        lines.append(plain(" no profile is in use: rates are those of the links, less what is lost", "warn"))
    for table in found.tables:
        lines += [Line(), *table_lines(table, width)]
    for note in found.notes:
        lines += [plain(f" {one}", "dim") for one in wrapped(note, width - 2)]
    return [
        *lines,
        Line(),
        plain(
            "  i  import a log of nccl-tests, a table, or a result of planner bench",
            "accent",
            key="read",
            stop=True,
        ),
    ]


def fit_lines(found: Evidence, width: int) -> list[Line]:
    """What ``planner calibrate`` said when the profiles in use were fitted."""
    lines: list[Line] = []
    for one, _ in found.profiles:
        lines += [plain(cut(f" {text}", width)) for text in report(one)]
        lines.append(Line())
    return lines or [plain(" no profile is in use", "dim")]


def imported_lines(found: Imported, width: int) -> list[Line]:
    """The fit with its errors, what was refused, and what can be done with it."""
    lines = [plain(cut(f" {text}", width)) for text in report(found.fitted.profile)]
    for said, style in (
        *((f"not fitted: {one}", "warn") for one in found.fitted.refused),
        *((f"doubtful: {one}", "warn") for one in found.fitted.doubts),
        *((one, "dim") for one in found.notes),
    ):
        lines += [plain(f" {one}", style) for one in wrapped(said, width - 2, "   ")]
    lines.append(Line())
    if found.path is None:
        lines.append(plain("  write this profile to a file …", "accent", key="write", stop=True))
    else:
        lines.append(plain(cut(f" written: {found.path}", width), "good"))
        lines.append(
            plain(
                "  use it for this plan (calibration), before those that ship", "accent", key="use", stop=True
            )
        )
        said = f"on the command line: --calibration {found.path}"
        lines += [plain(f"  {one}", "dim") for one in wrapped(said, width - 3)]
    return [*lines, plain("  put it away", key="drop", stop=True)]


__all__ = ["CalibrationPane", "Evidence", "Imported", "evidence_lines", "fit_lines", "imported_lines"]
